import {
  BOOLEAN,
  CHECKED_APART,
  checkOptions,
  isPlainObject,
  required,
  TEXT,
} from '../../core/internal/options.js';
import { SHOWN_EVENTS, type ShownEvents } from '../http/public-event.js';
import type { CustomEvents } from '../../core/chat/chat-event.js';
import type { StreamFormat } from '../http/stream-format.js';
import { AgUIEncoder } from './encoder.js';

/** Options of {@link agUI}. */
export interface AgUIOptions {
  /** Id of the conversation as the client knows it. */
  readonly threadId: string;
  /** Id of this run, of which the ids of its messages are made: another one for each run. */
  readonly runId: string;
  /**
   * True if what is repeated from a record is written, too: for a client that has not seen the
   * earlier execution of a durable turn. A client appends what it is sent again.
   * @default false
   */
  readonly showReplayed?: boolean | undefined;
  /**
   * Names of custom events that are written, also of an agent in the progress of its tool. Events of
   * advisors may hold what is not for users. @default none
   */
  readonly customEvents?: ShownEvents | undefined;
  /**
   * Name of the custom event whose data is the whole state that the page shares: each one is a
   * `STATE_SNAPSHOT`. @default none
   */
  readonly state?: keyof CustomEvents | undefined;
  /**
   * The body of the request. When a retry voids what was streamed, the client gets the messages of its body back
   * beside the messages of the run that stand (`MESSAGES_SNAPSHOT`), and drops the others.
   * @default none: the client has to remove messages that `advisor-chain.retract` names
   */
  readonly body?: unknown;
}

const RULES = {
  threadId: required(TEXT),
  runId: required(TEXT),
  showReplayed: BOOLEAN,
  customEvents: SHOWN_EVENTS,
  state: TEXT,
  body: CHECKED_APART,
};

/**
 * The events of AG-UI 1.0 as server-sent events, for `toResponse`. A turn that waits for people ends
 * with the outcome `interrupt`. A failure is `RUN_ERROR`, with a safe text.
 *
 * @example toResponse(stream, { format: agUI({ threadId, runId }), signal: request.signal })
 * @throws InvalidArgumentError if an option is invalid
 */
export function agUI(options: AgUIOptions): StreamFormat {
  checkOptions('agUI', options, RULES);
  const { threadId, runId, showReplayed = false, customEvents = [], state, body } = options;
  const clientMessages = messagesOf(body);
  const settings = { threadId, runId, showReplayed, customEvents, state, clientMessages };
  return {
    contentType: 'text/event-stream; charset=utf-8',
    encoder: () => new AgUIEncoder(settings),
  };
}

/** The messages go back to their sender alone, so that they need no check. */
function messagesOf(body: unknown): readonly object[] | undefined {
  const messages = isPlainObject(body) ? body['messages'] : undefined;
  return Array.isArray(messages)
    ? (messages as readonly unknown[]).filter(isPlainObject)
    : undefined;
}
