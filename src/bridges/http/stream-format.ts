import type { ChatEvent } from '../../core/chat/chat-event.js';
import type { HttpError } from './http-error.js';

/** A wire format of the events of a run. */
export interface StreamFormat {
  /** Value of the header `content-type`. */
  readonly contentType: string;
  /** Headers that the protocol asks for. */
  readonly headers?: Readonly<Record<string, string>>;
  /** An encoder of one response; it keeps the state of that response alone. */
  encoder(): StreamEncoder;
}

/**
 * Encodes the events of one response. The same events give the same frames (ids come from the run,
 * not from a clock or a random number), so that a log can be encoded again from its start.
 */
export interface StreamEncoder {
  /** The frames of an event; an empty text for an event without one. */
  encode(event: ChatEvent): string;
  /**
   * The frames after a failure, in place of the rest. After an empty text the connection breaks, so
   * that the reader does not take the cut text for a whole one.
   */
  fail(error: HttpError): string;
  /** The frames after the last event. */
  end(): string;
  /** A frame that readers ignore; an empty text if the format has none. */
  readonly heartbeat: string;
}
