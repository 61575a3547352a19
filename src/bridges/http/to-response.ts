import { checkOptions, hasMethods, required, rule } from '../../core/internal/options.js';
import { eventsOf, textsOf, type EventSource } from './event-source.js';
import { formatOf, type FormatName } from './formats.js';
import { SHOWN_EVENTS, type ShownEvents } from './public-event.js';
import { respond, RESPONSE_RULES, type ResponseOptions } from './respond.js';
import type { StreamFormat } from './stream-format.js';

/** Options of {@link toResponse}. */
export interface ToResponseOptions extends ResponseOptions {
  /**
   * - `text`: the text of the turn, as `content()` writes it; the connection breaks after a failure.
   * - `sse`: the events as data of server-sent events, for `EventSource` and readers of `fetch`.
   * - `ndjson`: the events as lines of JSON.
   * - a {@link StreamFormat}: another protocol.
   */
  readonly format: FormatName | StreamFormat;
  /**
   * Names of custom events that `sse` and `ndjson` write, also of an agent in `tool-progress`. Events of
   * advisors may hold what is not for users. @default none
   */
  readonly customEvents?: ShownEvents | undefined;
}

const NAMES: readonly unknown[] = ['text', 'sse', 'ndjson'];
const RULES = {
  format: required(
    rule(
      "'text', 'sse', 'ndjson' or a StreamFormat",
      (format) => NAMES.includes(format) || hasMethods(format, ['encoder']),
    ),
  ),
  customEvents: SHOWN_EVENTS,
  ...RESPONSE_RULES,
};

/**
 * A response with the events of a run. It resolves with the first frame that comes from the model:
 * a run that fails before has the status of its error and a body `{ "error": HttpError }`; after it,
 * the format writes the error. The run is cancelled when the body is cancelled or the signal aborts,
 * and waits for a slow reader; a run of a log of turns does neither. A client that resumes such a run
 * and has all of it is answered by status 204.
 * @throws InvalidArgumentError if the stream, an option or a header is invalid; nothing has run
 */
export async function toResponse(
  stream: EventSource,
  options: ToResponseOptions,
): Promise<Response> {
  checkOptions('toResponse', options, RULES);
  const format = formatOf(options.format, options.customEvents);
  return respond(stream, format, options, options.format === 'text' ? textsOf : eventsOf);
}
