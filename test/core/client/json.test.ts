import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import * as library from '../../../src/index.js';
import {
  AdvisorOrder,
  ChatClient,
  ChatClientResponse,
  ContextKey,
  defineAdvisor,
  defineTool,
  toolResult,
  type ChatEvent,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { failureOf } from '../../support/modes.js';

const GOLDEN = new URL('../../fixtures/json-of-a-run.json', import.meta.url);
const SECRET = 'canary-secret-4711';
const TOKEN = new ContextKey<string>('app.token', '');

const find = defineTool({
  name: 'find',
  execute: (_, { progress }) => {
    progress({ count: 1n });
    const rows: Record<string, unknown> = { id: 12n };
    rows['self'] = rows;
    return toolResult({ value: rows, content: 'one row' });
  },
});
const fail = defineTool({
  name: 'fail',
  execute: () => {
    throw new Error('The disk is full.');
  },
});

/** Emits an event of its own, and repeats the first attempt. */
const emitter = defineAdvisor({
  name: 'emitter',
  order: AdvisorOrder.RESILIENCE,
  around: async (request, next, chain) => {
    chain.emit({ type: 'custom', name: 'note', data: { when: new Map([['a', 1n]]) } } as never);
    if (request.iteration === 0) await next(request);
    return next(request);
  },
});

const answer = {
  reasoning: 'Hm.',
  toolCalls: [
    { id: 'c1', name: 'find', arguments: '{}' },
    { id: 'c2', name: 'fail', arguments: '{}' },
  ],
  usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
};

function specOf(script: readonly unknown[]) {
  return ChatClient.builder(new ScriptedChatModel(script as never))
    .defaultTools(find, fail)
    .build()
    .prompt('How many?')
    .toolContext({ token: SECRET })
    .advisors((a) => a.param(TOKEN, SECRET))
    .turnId('turn-1');
}

/** Writes a value by `JSON.stringify` and reads it, with durations that no clock decides. */
function written(value: unknown): unknown {
  const text = JSON.stringify(value, (key, inner: unknown) => (key === 'duration' ? 0 : inner));
  return JSON.parse(text);
}

/** An error of each class, with values for its parameters. */
function errorsOfAllClasses(): readonly Error[] {
  const details = { limit: 'rate', value: 1, option: 'o', outcome: 'unknown', operation: 'get' };
  const facts = { ...details, key: 'k', reason: 'found', where: 'input', rules: ['r'], cause: 1 };
  return Object.entries(library).flatMap(([name, type]) => {
    if (!name.endsWith('Error') || name === 'AdvisorChainError') return [];
    const Type = type as unknown as new (...args: readonly unknown[]) => Error;
    const takesFacts = /^(KeyValue|RateLimit|Retrieval|TurnLog)Error$/.test(name);
    const own = name === 'TurnLogError' ? { reason: 'failed' } : {};
    return [
      takesFacts
        ? new Type({ ...facts, ...own })
        : new Type('What happened.', facts, 'third', 'fourth'),
    ];
  });
}

describe('JSON.stringify', () => {
  it('[D76] writes every event of a run, its response, its report and each error, as the golden file', async () => {
    const events: ChatEvent[] = [];
    const stream = specOf([answer, answer, 'One.']).advisors(emitter).stream();
    for await (const event of stream.events()) events.push(event);
    const last = events.at(-1) as Extract<ChatEvent, { type: 'response' }>;
    const failed = specOf([answer, new Error('down')]);
    const error = (await failureOf(failed.call().content())) as Error & { run: unknown };

    const json = {
      events: events.map(written),
      chatClientResponse: written(ChatClientResponse.of(last)),
      failedRun: written(error.run),
      errors: errorsOfAllClasses().map(written),
    };

    if (process.env['UPDATE_GOLDEN']) writeFileSync(GOLDEN, `${JSON.stringify(json, null, 2)}\n`);
    expect(json).to.deep.equal(JSON.parse(readFileSync(GOLDEN, 'utf8')));
    expect(JSON.stringify(json)).not.to.include(SECRET);
  });

  it('[D76] writes the fields of the answer, its context by names, and the report', async () => {
    const response = await specOf(['One.']).call().chatClientResponse();

    const json = written(response) as Readonly<Record<string, unknown>>;

    expect(json).to.have.keys('generations', 'model', 'context', 'run');
    expect(json['context']).to.include('app.token');
    expect(json['run']).to.have.keys('steps', 'transcript', 'partialText', 'ledger', 'toolCalls', 'stored'); // prettier-ignore
  });

  it('[D76] writes an error of an application that has a cycle', () => {
    class OwnError extends library.AdvisorChainError {
      readonly code = 'own';
      readonly list: unknown[] = [];
      readonly count = 1;
    }

    const error = new OwnError('Broken.', {
      cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }),
    });
    error.list.push(error.list);
    expect(written(error)).to.deep.equal({
      name: 'OwnError',
      code: 'own',
      message: 'Broken.',
      count: 1,
      cause: { name: 'Error', message: 'reset', code: 'ECONNRESET' },
    });
  });
});

describe('responseEntity', () => {
  it('[D76] has steps, ledger and context of its response', async () => {
    const schema = { type: 'object', properties: { a: { type: 'number' } } } as const;

    const { response, entity } = await specOf(['{"a":1}']).call().responseEntity(schema);

    expect(entity).to.deep.equal({ a: 1 });
    expect(response.ledger).to.have.length(1);
    expect(response.steps).to.have.length(1);
    expect(response.context.get(TOKEN)).to.equal(SECRET);
  });
});
