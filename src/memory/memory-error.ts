import { AdvisorChainError } from '../errors.js';

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

/** A conversation could not be read; no model was called. `cause` is the error of the store. */
export class MemoryReadError extends AdvisorChainError {
  override name = 'MemoryReadError';
  readonly code = 'memory_read';

  constructor(
    message: string,
    readonly conversationId: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** A turn could not be stored; `cause` is the error of the store. For the answer see `response`. */
export class MemoryWriteError<Response = unknown> extends AdvisorChainError {
  override name = 'MemoryWriteError';
  readonly code = 'memory_write';

  constructor(
    message: string,
    readonly conversationId: string,
    /** The answer of the model; undefined if a partial turn was to be stored. */
    readonly response: Response | undefined,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
