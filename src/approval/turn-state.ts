import type { Message } from '../chat/message.js';
import type { Decision, PendingRequest } from '../chat/paused-turn.js';
import type { DurableEntries } from '../durable/in-memory-engine.js';
import { PausedStateError } from '../errors/paused-state-error.js';
import { decodeMessage, encodeMessage } from '../memory/message-codec.js';

/** A request with the decision of a person. */
export interface DecidedRequest {
  readonly request: PendingRequest;
  readonly decision: Decision;
}

/** A turn at rest. */
export interface TurnState {
  /** Random; each state is used once. */
  readonly id: string;
  readonly turnId: string;
  readonly conversationId: string | null;
  /** In milliseconds since 1970. */
  readonly expiresAt: number;
  /** The messages of the request, the system text included. */
  readonly messages: readonly Message[];
  /** The recorded steps of the turn. */
  readonly steps: DurableEntries;
  readonly requests: readonly PendingRequest[];
  /** Earlier requests of the turn. */
  readonly decided: readonly DecidedRequest[];
}

/** @throws {@link InvalidArgumentError} if a message has a value that JSON cannot restore */
export function encodeState({ messages, ...rest }: TurnState): string {
  return JSON.stringify({ ...rest, messages: messages.map(encodeMessage) });
}

/**
 * Fields that are unknown, as those of a newer package with the same version of the format, are
 * ignored.
 * @throws {@link PausedStateError} `invalid` if a field is missing: its signer made another text
 */
export function decodeState(text: string): TurnState {
  let fields: Record<keyof TurnState, never>;
  let messages: readonly Message[] = [];
  try {
    // it is signed: results of tools may have keys that a text from outside may not have
    fields = JSON.parse(text) as typeof fields;
    messages = (fields.messages as readonly string[]).map(decodeMessage);
  } catch (cause) {
    throw new PausedStateError(NO_STATE, 'invalid', undefined, { cause });
  }
  const { id, turnId, conversationId, expiresAt, steps, requests, decided } = fields;
  const isText = [id, turnId, conversationId ?? ''].every((each) => typeof each === 'string');
  const lists: readonly unknown[] = [steps, requests, decided];
  if (!isText || !Number.isFinite(expiresAt) || !lists.every(Array.isArray))
    throw new PausedStateError(NO_STATE, 'invalid');
  return { id, turnId, conversationId, expiresAt, messages, steps, requests, decided };
}

const NO_STATE = 'The text of the state has not the fields of a paused turn.';
