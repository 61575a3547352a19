import { expect } from 'chai';
import { decodeError, encodeError } from '../../../src/core/chat/error-codec.js';
import * as core from '../../../src/index.js';
import type { JsonValue } from '../../../src/core/internal/json.js';

type ErrorClass = new (...args: readonly unknown[]) => core.AdvisorChainError;

/** Values for the parameters of each class, in the order of its constructor. */
const SAMPLES: Readonly<Record<string, readonly unknown[]>> = {
  ApprovalError: ['m', 'pay', 'c1'],
  CancelledError: ['m'],
  ChainError: ['m'],
  ConversationLockError: ['m', 'c', 'lost'],
  DurableTurnError: ['m'],
  DocumentReadError: ['m', { documentId: 'd', format: 'pdf', reason: 'broken' }],
  GuardError: ['m', { where: 'output', rules: ['pii'], reason: 'found' }],
  IncompleteResponseError: ['m', { partialText: 'Wel' }],
  IngestError: ['m', { reason: 'source', report: { added: 1, failed: [] } }],
  InvalidArgumentError: ['m'],
  JsonError: ['m'],
  TurnLogError: [{ reason: 'store', key: 'k', cause: new Error('away') }],
  KeyValueError: [{ operation: 'set', key: 'k', outcome: 'unknown', cause: 'away' }],
  LimitExceededError: ['m', { limit: 'iterations', value: 3, spent: 3, option: 'maxIterations' }],
  McpServerError: ['m', 'files'],
  MemoryConflictError: ['c', 1, 2],
  MemoryReadError: ['c', { version: 1, cause: 'away' }],
  MemoryWriteError: ['c', { outcome: 'unknown', turnId: 't', cause: 'away' }],
  ModelCallError: ['m', { status: 503, retryable: true, retryAfter: 5, providerCode: 'busy' }],
  ModelTimeoutError: ['m', { option: 'idle', retryable: true }],
  NonDeterminismError: ['m', 'model 0', 'clock'],
  PausedStateError: ['m', 'expired', 'r1'],
  RateLimitError: [{ limit: 'requests', value: 1, key: 'm', retryAfter: 5 }],
  RetrievalError: [{ retriever: 'docs', reason: 'failed', cause: 'away' }],
  StoreBusyError: ['m'],
  StructuredOutputError: ['m', 'schema', '{}', ['no number'], {}, []],
  TemplateError: ['m', ['name']],
  ToolDefinitionError: ['m', 'pay'],
  ToolError: ['m'],
  ToolExecutionError: ['m', 'pay', 'c1', { results: [] }],
  ToolOutcomeUnknownError: ['m', 'pay', 'key'],
  ToolOutputError: ['m', 'pay', ['a must be a number']],
  ToolProviderError: ['m', 'files'],
  ToolQuestionError: ['m', { prompt: 'Which?' }],
  TurnPausedError: ['m', { state: 's', requests: [] }],
};

const CLASSES = Object.entries(core).filter(
  ([name]) => name.endsWith('Error') && name !== 'AdvisorChainError',
) as unknown as readonly (readonly [string, ErrorClass])[];

const throughJson = (error: unknown): Error =>
  decodeError(JSON.parse(JSON.stringify(encodeError(error))) as never);

const fieldsOf = (error: object): unknown => JSON.parse(JSON.stringify({ ...error })) as JsonValue;

describe('errors of recorded steps', () => {
  it('have a sample for each class, so that no new class is forgotten', () => {
    expect(CLASSES.map(([name]) => name).sort()).to.deep.equal(Object.keys(SAMPLES).sort());
  });

  for (const [name, ErrorOf] of CLASSES)
    it(`keep class, code and fields of ${name}`, () => {
      const error = new ErrorOf(...(SAMPLES[name] ?? []));

      const decoded = throughJson(error);

      expect(decoded).to.be.instanceOf(ErrorOf);
      expect(decoded.name).to.equal(name);
      expect(decoded.message).to.equal(error.message);
      expect(core.AdvisorChainError.isInstance(decoded)).to.equal(true);
      expect(fieldsOf(decoded)).to.deep.equal(fieldsOf(error));
    });
});
