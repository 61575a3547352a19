import { hasCode } from '../../core/errors/advisor-chain-error.js';
import { MemoryReadError, MemoryWriteError, type FailedWrite } from '../../core/errors/errors.js';

const REFUSALS = ['memory_conflict', 'store_busy', 'invalid_argument', 'cancelled'];

/** Returns the outcome of the write that an error of a memory or a store has ended. */
export function writeOutcomeOf(error: unknown): FailedWrite['outcome'] {
  if (isWriteError(error)) return error.outcome;
  return hasCode(error, ...REFUSALS) ? 'not-stored' : 'unknown';
}

/** Adds to the error of a memory whose messages and which answer could not be stored. */
export function toWriteError<Response>(
  error: unknown,
  conversationId: string,
  turn: Pick<FailedWrite<Response>, 'turnId' | 'response'>,
): MemoryWriteError<Response> {
  const cause = isWriteError(error) ? error.cause : error;
  return new MemoryWriteError(conversationId, { ...turn, outcome: writeOutcomeOf(error), cause });
}

/** True also for an error of a store of a second copy of the package. */
function isWriteError(error: unknown): error is MemoryWriteError {
  return hasCode(error, 'memory_write');
}

/** The error of a read: the library's own, or a {@link MemoryReadError} with the memory's. */
export function toReadError(cause: unknown, conversationId: string): unknown {
  if (hasCode(cause, 'invalid_argument', 'memory_read', 'cancelled')) return cause;
  return new MemoryReadError(conversationId, { cause });
}
