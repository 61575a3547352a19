import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { STATUSES } from '../../../src/bridges/http/error-statuses.js';
import { errorResponse, readInput, toHttpError } from '../../../src/bridges/http/index.js';
import {
  CancelledError,
  ConversationLockError,
  GuardError,
  InvalidArgumentError,
  LimitExceededError,
  ModelCallError,
  ModelTimeoutError,
  PausedStateError,
  RateLimitError,
} from '../../../src/index.js';

const SECRET = 'sk-canary-4711 at https://10.0.0.7/v1';

/** Codes of errors that are none of the client, nor of the model. */
const INTERNAL = [
  'approval',
  'chain',
  'document_read',
  'durable_turn',
  'ingest',
  'key_value',
  'mcp_server',
  'memory_read',
  'memory_write',
  'non_determinism',
  'retrieval',
  'script_exhausted',
  'tool',
  'tool_definition',
  'tool_execution',
  'tool_outcome_unknown',
  'tool_output',
  'tool_provider',
  'tool_question',
];

function limit(name: string): LimitExceededError {
  return new LimitExceededError(SECRET, { limit: name, value: 1, spent: 2, option: 'o' });
}

function rate(retryAfter: number | undefined): RateLimitError {
  return new RateLimitError({ limit: 'requests', value: 1, key: SECRET, retryAfter });
}

describe('the status of an error', () => {
  it('is known for each code of docs/errors.md', () => {
    const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
    const codes = new Set([...page.matchAll(/^- \*\*Code:\*\* `(\w+)`/gm)].map(([, code]) => code));

    expect([...STATUSES.keys(), ...INTERNAL]).to.have.members([...codes]);
  });

  for (const [error, status, code] of [
    [new ModelCallError(SECRET, { status: 429, retryAfter: 1_200 }), 429, 'model_call'],
    [new ModelCallError(SECRET, { status: 400, contextOverflow: true }), 413, 'model_call'],
    [new ModelCallError(SECRET, { status: 401 }), 502, 'model_call'],
    [new ModelCallError(SECRET, { status: 529 }), 503, 'model_call'],
    [new ModelCallError(SECRET), 502, 'model_call'],
    [new ModelTimeoutError(SECRET), 504, 'model_timeout'],
    [rate(1), 429, 'rate_limit'],
    [limit('cost'), 402, 'limit_exceeded'],
    [limit('tokens'), 402, 'limit_exceeded'],
    [limit('iterations'), 429, 'limit_exceeded'],
    [limit('duration'), 504, 'limit_exceeded'],
    [limit('request-tokens'), 413, 'limit_exceeded'],
    [limit('response-bytes'), 502, 'limit_exceeded'],
    [new GuardError(SECRET, { where: 'input', rules: ['r'], reason: 'found' }), 422, 'guard'],
    [new GuardError(SECRET, { where: 'input', rules: ['r'], reason: 'failed' }), 500, 'guard'],
    [new ConversationLockError(SECRET, 'c', 'busy'), 409, 'conversation_lock'],
    [new ConversationLockError(SECRET, 'c', 'lost'), 503, 'conversation_lock'],
    [new PausedStateError(SECRET, 'unknown'), 404, 'paused_state'],
    [new PausedStateError(SECRET, 'owner'), 404, 'paused_state'],
    [new PausedStateError(SECRET, 'signature'), 400, 'paused_state'],
    [new PausedStateError(SECRET, 'used'), 410, 'paused_state'],
    [new CancelledError(SECRET), 499, 'cancelled'],
    [
      new CancelledError(SECRET, { cause: new DOMException('x', 'TimeoutError') }),
      504,
      'cancelled',
    ],
    [new CancelledError(SECRET, { cause: new ConversationLockError(SECRET, 'c', 'interrupted') }), 409, 'conversation_lock'], // prettier-ignore
    [new InvalidArgumentError(SECRET), 500, 'invalid_argument'],
    [new DOMException('x', 'AbortError'), 499, 'cancelled'],
    [new DOMException('x', 'TimeoutError'), 504, 'timeout'],
    [new TypeError(SECRET), 500, 'internal'],
    [SECRET, 500, 'internal'],
    [undefined, 500, 'internal'],
  ] as const)
    it(`is ${status} for ${String((error as Error | undefined)?.name)} ${JSON.stringify(error)?.slice(0, 90)}`, () => {
      const shown = toHttpError(error);

      expect(shown).to.include({ status, code });
      expect(JSON.stringify(shown)).not.to.match(/canary|10\.0|stack|TypeError/);
      expect(shown.id === undefined).to.equal(status < 500);
    });

  it('is 400, with its text, for what came with the request', async () => {
    const invalid = (): never => {
      throw new InvalidArgumentError('id must be a string, not 7');
    };
    const thrown = [
      () => readInput(invalid),
      () => readInput(() => JSON.parse('{') as unknown),
      () => readInput(() => Promise.reject(Object.assign(new Error(SECRET), { issues: [1] }))),
      () => readInput(() => Promise.resolve().then(invalid)),
    ];

    const errors = await Promise.all(
      thrown.map(async (work) => Promise.resolve().then(work).then(() => undefined, toHttpError)), // prettier-ignore
    );

    expect(errors.map((error) => error?.status)).to.deep.equal([400, 400, 400, 400]);
    expect(errors.map((error) => error?.message)).to.deep.equal([
      'id must be a string, not 7',
      'It is not JSON.',
      'It does not fit its schema.',
      'id must be a string, not 7',
    ]);
  });

  it('passes other errors of the work on a request unchanged', () => {
    const failure = new TypeError('x');
    const work = (): never => {
      throw failure;
    };

    expect(() => readInput(work)).to.throw(TypeError, 'x');
    expect(toHttpError(failure).status).to.equal(500);
  });

  it('has one id for one error', () => {
    const error = new Error('x');

    expect(toHttpError(error).id).to.equal(toHttpError(error).id);
    expect(toHttpError(new Error('x')).id).not.to.equal(toHttpError(error).id);
  });

  it('has whole seconds to wait, as a header, too', async () => {
    const response = errorResponse(toHttpError(rate(1_001)), {
      'access-control-allow-origin': '*',
    });

    expect(response.status).to.equal(429);
    expect(response.headers.get('retry-after')).to.equal('2');
    expect(response.headers.get('access-control-allow-origin')).to.equal('*');
    expect(response.headers.get('content-type')).to.equal('application/json; charset=utf-8');
    expect(await response.json()).to.deep.equal({
      error: {
        status: 429,
        code: 'rate_limit',
        message: 'There are too many requests; try again later.',
        retryAfter: 2,
      },
    });
  });

  it('is 500 for an error that throws when it is read, and for a wait that is no number', () => {
    const hostile = new Proxy(new Error('x'), {
      get: () => {
        throw new Error(SECRET);
      },
    });
    const odd = new ModelCallError('x', { status: 429, retryAfter: Number.NaN });

    expect(toHttpError(hostile)).to.include({ status: 500, code: 'internal' });
    expect(toHttpError(odd)).not.to.have.property('retryAfter');
  });
});
