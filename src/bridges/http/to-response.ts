import {
  BOOLEAN,
  CHECKED_APART,
  checkOptions,
  FUNCTION,
  hasMethods,
  required,
  rule,
  WAIT,
  withMethods,
} from '../../core/internal/options.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import { eventsOf, readerOf, type EventReader, type EventSource } from './event-source.js';
import { formatOf, type FormatName } from './formats.js';
import { FramedBody } from './framed-body.js';
import {
  errorResponse,
  headersOf,
  toHttpError,
  type HeaderFields,
  type HttpError,
} from './http-error.js';
import { IdentifiedFrames } from './identified-frames.js';
import { SHOWN_EVENTS, type ShownEvents } from './public-event.js';
import type { StreamEncoder, StreamFormat } from './stream-format.js';

/** Options of {@link toResponse}. */
export interface ToResponseOptions {
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
  /** Signal of the request, which aborts when its client has left. @default the body's `cancel` alone */
  readonly signal?: AbortSignal | undefined;
  /** Headers of the response, also of an error, such as the headers of CORS. @default none */
  readonly headers?: HeaderFields | undefined;
  /**
   * Milliseconds of silence after which the format's heartbeat is written, and the headers are sent
   * if nothing was; 0 for never.
   * @default 15_000
   */
  readonly heartbeat?: number | undefined;
  /**
   * True if the run goes to its end when the client has left, so that a memory stores the answer. Runs
   * of a log of turns do so anyway.
   * @default false: it is cancelled
   */
  readonly keepRunning?: boolean | undefined;
  /** The form in which a client sees an error. @default toHttpError */
  readonly toError?: ((error: unknown) => HttpError) | undefined;
  /**
   * Receives each error with the form that the client sees: log the `id` of it. Not called for a
   * client that has left.
   * @default none
   */
  readonly onError?: ((error: unknown, shown: HttpError) => void) | undefined;
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
  signal: withMethods('an AbortSignal', 'addEventListener'),
  headers: CHECKED_APART,
  heartbeat: WAIT,
  keepRunning: BOOLEAN,
  toError: FUNCTION,
  onError: FUNCTION,
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
  const { signal, heartbeat = 15_000, keepRunning = false, onError } = options;
  const { toError = toHttpError } = options;
  const format = formatOf(options.format, options.customEvents);
  const headers = responseHeaders(format, options.headers);
  const reader = readerOf(stream);
  const isResumed = reader?.isResumed === true;
  const settings = { signal, heartbeat, keepRunning, isResumed, toError, onError };
  const encoder = reader ? identified(format, reader) : format.encoder();
  const body = new FramedBody(reader ?? eventsOf(stream, options.format), encoder, settings);
  const failure = await body.open();
  if (isResumed && body.isEmpty)
    return new Response(null, { status: 204, headers: headersOf(options.headers) });
  if (failure && !isResumed) return errorResponse(failure, options.headers);
  return new Response(body.stream(), { headers });
}

function identified(format: StreamFormat, reader: EventReader): StreamEncoder {
  const hasIds = format.contentType.startsWith('text/event-stream');
  return new IdentifiedFrames(format.encoder(), reader, hasIds);
}

function responseHeaders(format: StreamFormat, own: HeaderFields | undefined): Headers {
  try {
    const headers = new Headers({
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
      ...format.headers,
      'content-type': format.contentType,
    });
    headersOf(own).forEach((value, name) => headers.set(name, value));
    return headers;
  } catch (cause) {
    throw new InvalidArgumentError(
      'toResponse: headers must be headers of HTTP, in names and values without line breaks',
      { cause },
    );
  }
}
