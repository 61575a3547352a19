import type { ChatResponse } from '../../core/chat/chat-response.js';
import { decodeError, encodeError, type EncodedError } from '../../core/chat/error-codec.js';
import { decodeResponse, encodeResponse } from '../../core/chat/response-codec.js';
import { CancelledError, DurableTurnError } from '../../core/errors/errors.js';
import type { JsonValue } from '../../core/internal/json.js';
import { ExecutionEnds } from './turn-executions.js';
import { outsideWorkflows, DBOS, DbosErrors } from './dbos-sdk.js';
import { parseStored } from './recorded-step.js';

const {
  DBOSAwaitedWorkflowCancelledError,
  DBOSAwaitedWorkflowExceededMaxRecoveryAttempts,
  DBOSMaxRecoveryAttemptsExceededError,
  DBOSWorkflowCancelledError,
} = DbosErrors;

/** The answer of a turn as DBOS stores it: text, since its own serialization refuses some names of fields. */
export function encodeAnswer(response: ChatResponse): string {
  return JSON.stringify(encodeResponse(response, 'the answer of the turn'));
}

/** @throws {@link JsonError} if the text is not an answer */
function decodeAnswer(text: unknown): ChatResponse {
  return decodeResponse(parseStored(text, 'The answer') as JsonValue);
}

/** Pause in milliseconds after the end of an execution here, whose outcome DBOS stores then. */
const SOON = 10;

/** The answer of a turn, once it is stored; rejects with the error of the turn. */
export async function outcomeOf(turnId: string, pollInterval: number): Promise<ChatResponse> {
  const ends = new ExecutionEnds(turnId);
  try {
    for (let pause = pollInterval; ; pause = Math.min(2 * pause, pollInterval)) {
      const text = await outsideWorkflows(() => DBOS.getResult(turnId, { timeoutSeconds: 0 }));
      if (text !== null) return decodeAnswer(text);
      if (await ends.pause(pause)) pause = SOON / 2;
    }
  } catch (error) {
    throw errorOfTurn(turnId, error);
  } finally {
    ends.close();
  }
}

/** The error of a turn as DBOS stores it: with its class and its fields as text. */
export class TurnFailure extends Error {
  readonly turnError: string;

  constructor(error: unknown) {
    const encoded = encodeError(error);
    super(encoded.message);
    this.name = encoded.name;
    this.turnError = JSON.stringify(encoded);
  }
}

/** The error that ended the turn, in place of the error of DBOS. */
function errorOfTurn(turnId: string, error: unknown): unknown {
  const { turnError } = (error ?? {}) as Partial<TurnFailure>;
  if (turnError !== undefined)
    return decodeError(parseStored(turnError, 'The error of the turn') as EncodedError);
  if (isOne(error, DBOSAwaitedWorkflowCancelledError, DBOSWorkflowCancelledError))
    return new CancelledError(`The turn '${turnId}' was cancelled.`, { cause: error });
  if (
    isOne(
      error,
      DBOSAwaitedWorkflowExceededMaxRecoveryAttempts,
      DBOSMaxRecoveryAttemptsExceededError,
    )
  )
    // prettier-ignore
    return new DurableTurnError(
      `The turn '${turnId}' was given up: its process has ended too often. Find the step that ends it, then fork the turn.`,
      { cause: error },
    );
  return error;
}

type ErrorClass = abstract new (...args: never[]) => Error;

function isOne(error: unknown, ...classes: readonly ErrorClass[]): boolean {
  return classes.some((each) => error instanceof each);
}
