import { BOOLEAN, checkOptions, required, TEXT } from '../../core/internal/options.js';
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
}

const RULES = { threadId: required(TEXT), runId: required(TEXT), showReplayed: BOOLEAN };

/**
 * The events of AG-UI 1.0 as server-sent events, for `toResponse`. A turn that waits for people ends
 * with the outcome `interrupt`. A failure is `RUN_ERROR`, with a safe text.
 *
 * @example toResponse(stream, { format: agUI({ threadId, runId }), signal: request.signal })
 * @throws InvalidArgumentError if an option is invalid
 */
export function agUI(options: AgUIOptions): StreamFormat {
  checkOptions('agUI', options, RULES);
  const { threadId, runId, showReplayed = false } = options;
  return {
    contentType: 'text/event-stream; charset=utf-8',
    encoder: () => new AgUIEncoder({ threadId, runId, showReplayed }),
  };
}
