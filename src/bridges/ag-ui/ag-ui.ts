import { BOOLEAN, checkOptions, required, TEXT } from '../../core/internal/options.js';
import { SHOWN_EVENTS, type ShownEvents } from '../http/public-event.js';
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
}

const RULES = {
  threadId: required(TEXT),
  runId: required(TEXT),
  showReplayed: BOOLEAN,
  customEvents: SHOWN_EVENTS,
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
  const { threadId, runId, showReplayed = false, customEvents = [] } = options;
  return {
    contentType: 'text/event-stream; charset=utf-8',
    encoder: () => new AgUIEncoder({ threadId, runId, showReplayed, customEvents }),
  };
}
