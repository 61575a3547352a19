import { AdvisorChainError } from './advisor-chain-error.js';
import { reasonOf } from './describe.js';

/** A database was locked by other connections for the whole time limit; nothing was read or written. */
export class StoreBusyError extends AdvisorChainError {
  override name = 'StoreBusyError';
  readonly code = 'store_busy';

  constructor(
    /** The time limit, in milliseconds. */
    readonly timeout: number,
    options?: ErrorOptions,
  ) {
    super(
      `The database was locked by other connections for ${timeout} ms; nothing was read or written. Repeat the call, find the connection with the long transaction, or raise busyTimeout.`,
      options,
    );
  }
}

/** Facts about an operation of a {@link KeyValueStore} that failed. */
export interface FailedOperation {
  readonly operation: 'get' | 'set' | 'delete' | 'add';
  readonly key: string;
  /**
   * `unchanged`: nothing was written; `unknown`: it may have been, for example because the connection
   * broke before the store answered.
   */
  readonly outcome: 'unchanged' | 'unknown';
  /** The error of the store. */
  readonly cause: unknown;
}

/** An operation of a {@link KeyValueStore} failed, or it is unknown whether it did: see {@link outcome}. */
export class KeyValueError extends AdvisorChainError {
  override name = 'KeyValueError';
  readonly code = 'key_value';
  readonly operation: FailedOperation['operation'];
  readonly key: string;
  readonly outcome: FailedOperation['outcome'];

  constructor({ operation, key, outcome, cause }: FailedOperation) {
    const reason = reasonOf(cause).replace(/\.$/, '');
    super(
      outcome === 'unchanged'
        ? `The key-value store has refused ${operation}: ${reason}. Nothing was written; repeat it when the cause is removed.`
        : `It is unknown whether the key-value store has done ${operation}: ${reason}. Read the key before you repeat it.`,
      { cause },
    );
    this.operation = operation;
    this.key = key;
    this.outcome = outcome;
  }
}

/** A conversation was changed concurrently since it was read; nothing was written. */
export class MemoryConflictError extends AdvisorChainError {
  override name = 'MemoryConflictError';
  readonly code = 'memory_conflict';

  constructor(
    readonly conversationId: string,
    readonly expectedVersion: number,
    /** The current version, if the store reports it. */
    readonly version: number | undefined,
  ) {
    super(
      `The conversation was expected to have version ${expectedVersion}, but has ${version ?? 'another one'}. Read it again, then decide.`,
    );
  }
}

/** The reason why a conversation could not be read. */
export interface FailedRead {
  /** Version of the message that cannot be decoded; undefined if the store has failed. */
  readonly version?: number | 'system' | undefined;
  /** The error of the store, or of the codec. */
  readonly cause: unknown;
}

/** A conversation could not be read; nothing was changed and no model was called. */
export class MemoryReadError extends AdvisorChainError {
  override name = 'MemoryReadError';
  readonly code = 'memory_read';
  /** Version of the message that cannot be decoded; undefined if the store has failed. */
  readonly version: FailedRead['version'];

  constructor(
    readonly conversationId: string,
    { version, cause }: FailedRead,
  ) {
    const reason = reasonOf(cause).replace(/\.$/, '');
    super(
      version === undefined
        ? `The conversation could not be read: ${reason}. No model was called.`
        : `The conversation could not be read, because ${version === 'system' ? 'its system messages' : `message ${version}`} cannot be decoded: ${reason}. Correct the stored text, or decode it with onUnreadable of the store.`,
      { cause },
    );
    this.version = version;
  }
}

/** Facts about a write that failed. */
export interface FailedWrite<Response = unknown> {
  /**
   * `not-stored`: nothing was written; `unknown`: the messages may be stored, for example because
   * the connection broke before the store answered.
   */
  readonly outcome: 'not-stored' | 'unknown';
  /** Turn of the messages; those that are stored have it. */
  readonly turnId?: string | undefined;
  /** The answer of the model; undefined if a partial turn was to be stored. */
  readonly response?: Response | undefined;
  /** The error of the store. */
  readonly cause: unknown;
}

/** Messages could not be stored, or it is unknown whether they were: see {@link outcome}. */
export class MemoryWriteError<Response = unknown> extends AdvisorChainError {
  override name = 'MemoryWriteError';
  readonly code = 'memory_write';
  readonly outcome: FailedWrite['outcome'];
  readonly turnId: string | undefined;
  readonly response: Response | undefined;

  constructor(
    readonly conversationId: string,
    failure: FailedWrite<Response>,
  ) {
    super(messageOf(failure), { cause: failure.cause });
    this.outcome = failure.outcome;
    this.turnId = failure.turnId;
    this.response = failure.response;
  }
}

function messageOf({ outcome, turnId, response, cause }: FailedWrite): string {
  const reason = reasonOf(cause).replace(/\.$/, '');
  const messages = turnId === undefined ? 'these messages' : 'messages with this `turnId`';
  const text =
    outcome === 'not-stored'
      ? `Nothing was stored: ${reason}. Ask again, or store the messages, when the cause is removed.`
      : `It is unknown whether the messages were stored: ${reason}. Look for ${messages} in the conversation before you store them again.`;
  return response === undefined ? text : `${text} The answer is in \`response\`.`;
}

/** Facts about a retrieval that failed. */
export interface FailedRetrieval {
  /** Name of the retriever; undefined if none was asked. */
  readonly retriever?: string | undefined;
  /** `no-scope`: the application has set no namespace for the request; `failed`: see the cause. */
  readonly reason: 'failed' | 'no-scope';
  /** The error of the retriever. */
  readonly cause?: unknown;
}

/** No documents could be retrieved, and no model was asked without them. */
export class RetrievalError extends AdvisorChainError {
  override name = 'RetrievalError';
  readonly code = 'retrieval';
  readonly retriever: string | undefined;
  readonly reason: FailedRetrieval['reason'];

  constructor({ retriever, reason, cause }: FailedRetrieval) {
    super(
      reason === 'no-scope'
        ? 'The request has no scope, so nothing was searched; let the option `scope` return the namespace of its documents.'
        : `The retriever "${retriever}" failed: ${reasonOf(cause).replace(/\.$/, '')}. Repeat the request when the cause is removed.`,
      { cause },
    );
    this.retriever = retriever;
    this.reason = reason;
  }
}

/** Facts about a run whose log has failed or is missing. */
export interface TurnLogFailure {
  /**
   * - `running`: another run is under way under the key.
   * - `failed`: the run that a reader reads has failed; the message has the text that clients may see.
   * - `abandoned`: the process of the run has ended, and no other one has continued it.
   * - `lost`: another process writes the log now, or its store has lost entries; the run was cancelled.
   * - `store`: the store has failed.
   */
  readonly reason: 'running' | 'failed' | 'abandoned' | 'lost' | 'store';
  readonly key: string;
  /** The text that clients have seen of a run that has failed. */
  readonly shown?: string | undefined;
  /** The error of the store. */
  readonly cause?: unknown;
}

const TURN_LOG_PROBLEMS: Readonly<Record<TurnLogFailure['reason'], string>> = {
  running: 'Another run is under way under this key. Resume it, stop it, or wait for its end.',
  failed: 'The run has failed',
  abandoned:
    'The process of the run has ended, and no other one has continued it. Start the turn again.',
  lost: 'Another process writes the log of the run, or its store has lost entries. The run was cancelled here.',
  store: 'The turn log has failed',
};

/** A run cannot be logged or read: see {@link reason}. */
export class TurnLogError extends AdvisorChainError {
  override name = 'TurnLogError';
  readonly code = 'turn_log';
  readonly reason: TurnLogFailure['reason'];
  readonly key: string;

  constructor({ reason, key, shown, cause }: TurnLogFailure) {
    const details = shown ?? (cause === undefined ? undefined : reasonOf(cause));
    const problem = TURN_LOG_PROBLEMS[reason];
    super(
      details === undefined ? problem : `${problem}: ${details}`,
      cause === undefined ? {} : { cause },
    );
    this.reason = reason;
    this.key = key;
  }
}
