import { InvalidArgumentError } from '../errors.js';
import {
  MemoryBusyError,
  MemoryConflictError,
  MemoryWriteError,
  type FailedWrite,
} from './memory-error.js';

const REFUSALS = [MemoryConflictError, MemoryBusyError, InvalidArgumentError];

/** Returns the outcome of the write that an error of a memory or a store has ended. */
export function writeOutcomeOf(error: unknown): FailedWrite['outcome'] {
  if (error instanceof MemoryWriteError) return error.outcome;
  return REFUSALS.some((refusal) => error instanceof refusal) ? 'not-stored' : 'unknown';
}

/** Adds to the error of a memory whose messages and which answer could not be stored. */
export function toWriteError<Response>(
  error: unknown,
  conversationId: string,
  turn: Pick<FailedWrite<Response>, 'turnId' | 'response'>,
): MemoryWriteError<Response> {
  const cause = error instanceof MemoryWriteError ? error.cause : error;
  return new MemoryWriteError(conversationId, { ...turn, outcome: writeOutcomeOf(error), cause });
}
