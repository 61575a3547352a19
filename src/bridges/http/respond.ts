import type { ChatEvent } from '../../core/chat/chat-event.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import {
  BOOLEAN,
  CHECKED_APART,
  FUNCTION,
  WAIT,
  withMethods,
} from '../../core/internal/options.js';
import { eventsOf, readerOf, type EventReader, type EventSource } from './event-source.js';
import { FramedBody } from './framed-body.js';
import {
  errorResponse,
  headersOf,
  printError,
  toHttpError,
  type HeaderFields,
  type HttpError,
} from './http-error.js';
import { IdentifiedFrames } from './identified-frames.js';
import type { StreamEncoder, StreamFormat } from './stream-format.js';

/** Options of a response, whatever its format. */
export interface ResponseOptions {
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
   * @default `console.error` from status 500 on; none for a log of turns, which has an `onError`
   */
  readonly onError?: ((error: unknown, shown: HttpError) => void) | undefined;
}

/** Checks of {@link ResponseOptions}. */
export const RESPONSE_RULES = {
  signal: withMethods('an AbortSignal', 'addEventListener'),
  headers: CHECKED_APART,
  heartbeat: WAIT,
  keepRunning: BOOLEAN,
  toError: FUNCTION,
  onError: FUNCTION,
};

/**
 * The response with the events of a run, of checked options; see `toResponse`. Without the built-in formats, which the
 * other protocols do not need.
 * @param open the events of a source without ids
 */
export async function respond(
  stream: EventSource,
  format: StreamFormat,
  options: ResponseOptions,
  open: (stream: EventSource) => AsyncIterator<ChatEvent> = eventsOf,
): Promise<Response> {
  const { signal, heartbeat = 15_000, keepRunning = false, toError = toHttpError } = options;
  const headers = responseHeaders(format, options.headers);
  const reader = readerOf(stream);
  const isResumed = reader?.isResumed === true;
  const { onError = reader ? undefined : printError } = options;
  const settings = { signal, heartbeat, keepRunning, isResumed, toError, onError };
  const encoder = reader ? identified(format, reader) : format.encoder();
  const body = new FramedBody(reader ?? open(stream), encoder, settings);
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
