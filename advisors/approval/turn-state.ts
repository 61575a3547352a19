import type { Message } from '../../src/core/chat/message.js';
import type { Decision, PendingRequest } from '../../src/core/chat/paused-turn.js';
import type { DurableEntries } from '../../src/engines/in-memory-engine.js';
import { PausedStateError } from '../../src/core/errors/errors.js';
import { decodeMessage, encodeMessage } from '../../src/core/chat/message-codec.js';

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
  /** Name of the advisor that has paused the turn; undefined in states of earlier packages. */
  readonly client?: string | undefined;
  /** Owner of the turn; undefined if it has none. */
  readonly owner?: string | undefined;
  /** Tools of the request that the turn calls. */
  readonly tools?: readonly string[] | undefined;
  /** True if a process ended while it ran the turn: calls that had begun may have had their effects. */
  readonly isInterrupted?: boolean | undefined;
  /** Id under which the store keeps the turn; undefined in states of earlier packages. */
  readonly keptAs?: string | undefined;
  /** In milliseconds since 1970; undefined in states of earlier packages. */
  readonly pausedAt?: number | undefined;
  /** The messages of the turn that its events have shown; only the store has them. */
  readonly shown?: readonly Message[] | undefined;
}

/** @throws {@link InvalidArgumentError} if a message has a value that JSON cannot restore */
export function encodeState({ messages, shown, ...rest }: TurnState): string {
  const encoded = { messages: messages.map(encodeMessage), shown: shown?.map(encodeMessage) };
  return JSON.stringify({ ...rest, ...encoded });
}

/**
 * Unknown fields, as of a newer package with the same version of the format, are
 * ignored.
 * @throws {@link PausedStateError} `invalid` if a field is missing: its maker wrote another text
 */
export function decodeState(text: string): TurnState {
  let fields: Record<keyof TurnState, never>;
  let messages: readonly Message[] = [];
  let shown: readonly Message[] | undefined;
  try {
    // it is authentic: results of tools may have keys that a text from outside may not have
    fields = JSON.parse(text) as typeof fields;
    messages = (fields.messages as readonly string[]).map(decodeMessage);
    shown = (fields.shown as readonly string[] | undefined)?.map(decodeMessage);
  } catch (cause) {
    throw new PausedStateError(NO_STATE, 'invalid', undefined, { cause });
  }
  const { id, turnId, conversationId, expiresAt, steps, requests, decided } = fields;
  const { client, owner, tools, isInterrupted, keptAs, pausedAt } = fields;
  const isText = [id, turnId, conversationId ?? ''].every((each) => typeof each === 'string');
  const lists: readonly unknown[] = [steps, requests, decided];
  if (!isText || !Number.isFinite(expiresAt) || !lists.every(Array.isArray))
    throw new PausedStateError(NO_STATE, 'invalid');
  const turn = { id, turnId, conversationId, expiresAt, messages, steps, requests, decided };
  return { ...turn, client, owner, tools, isInterrupted, keptAs, pausedAt, shown };
}

const NO_STATE = 'The text of the state has not the fields of a paused turn.';
