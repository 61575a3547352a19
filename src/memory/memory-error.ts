import { AdvisorChainError } from '../errors.js';
import { reasonOf } from '../internal/text.js';

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
