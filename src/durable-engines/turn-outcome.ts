import type { ChatResponse } from '../chat/chat-response.js';
import { decodeError, encodeError, type EncodedError } from '../durable/error-codec.js';
import { decodeResponse, encodeResponse } from '../durable/response-codec.js';
import { parseJson } from '../internal/json.js';

/** The answer of a turn as DBOS stores it: text, since its own serialization refuses some names of fields. */
export function encodeAnswer(response: ChatResponse): string {
  return JSON.stringify(encodeResponse(response, 'the answer of the turn'));
}

export function decodeAnswer(text: string): ChatResponse {
  return decodeResponse(parseJson(text));
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

/** The error of the turn that DBOS has stored; undefined for an error of DBOS. */
export function storedError(error: unknown): Error | undefined {
  const { turnError } = (error ?? {}) as Partial<TurnFailure>;
  if (typeof turnError !== 'string') return undefined;
  return decodeError(parseJson(turnError) as unknown as EncodedError);
}
