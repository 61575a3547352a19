import { BOOLEAN, checkOptions, TEXT } from '../../core/internal/options.js';
import type { EventSource } from '../http/event-source.js';
import type { HttpError } from '../http/http-error.js';
import { SHOWN_EVENTS, type ShownEvents } from '../http/public-event.js';
import { respond, RESPONSE_RULES, type ResponseOptions } from '../http/respond.js';
import type { StreamEncoder, StreamFormat } from '../http/stream-format.js';
import type { UIMessageChunk } from './ui-message-chunk.js';
import { UIMessageChunks } from './ui-message-chunks.js';

/** Options of {@link uiMessageStream}. */
export interface UIMessageStreamOptions {
  /** Id of the message. @default the page makes one */
  readonly messageId?: string | undefined;
  /**
   * True if the page has shown the turn until its pause: texts and calls of a resumed turn, which repeat,
   * are left out. @default false
   */
  readonly isContinuation?: boolean | undefined;
  /**
   * Names of events whose data the page gets as parts `data-NAME`; the documents of `sources` and the requests of
   * `tool-approval` become parts of their own without it. @default none: events may hold what is not for users
   */
  readonly customEvents?: ShownEvents | undefined;
}

/** Checks of {@link UIMessageStreamOptions}. */
export const RULES = {
  messageId: TEXT,
  isContinuation: BOOLEAN,
  customEvents: SHOWN_EVENTS,
};

/**
 * The UI message stream of the AI SDK as a format of `toResponse`, for `useChat`.
 * @throws {@link InvalidArgumentError}
 */
export function uiMessageStream(options: UIMessageStreamOptions = {}): StreamFormat {
  checkOptions('uiMessageStream', options, RULES);
  return {
    contentType: 'text/event-stream; charset=utf-8',
    headers: { 'x-vercel-ai-ui-message-stream': 'v1' },
    encoder: () => new UIMessageEncoder(options),
  };
}

/** Options of {@link toUIMessageStreamResponse}. */
export type UIMessageResponseOptions = ResponseOptions & UIMessageStreamOptions;

/**
 * A response for `useChat` of the AI SDK: `toResponse` with {@link uiMessageStream}.
 * @throws {@link InvalidArgumentError}
 */
export async function toUIMessageStreamResponse(
  stream: EventSource,
  options: UIMessageResponseOptions = {},
): Promise<Response> {
  checkOptions('toUIMessageStreamResponse', options, { ...RESPONSE_RULES, ...RULES });
  const { messageId, isContinuation, customEvents } = options;
  return respond(stream, uiMessageStream({ messageId, isContinuation, customEvents }), options);
}

/** Makes the chunks of one run, with the defaults of the options. */
export function chunksFor({
  messageId,
  isContinuation = false,
  customEvents = [],
}: UIMessageStreamOptions): UIMessageChunks {
  return new UIMessageChunks({ messageId, isContinuation, customEvents });
}

class UIMessageEncoder implements StreamEncoder {
  readonly heartbeat = ': \n\n';
  private readonly chunks: UIMessageChunks;

  constructor(options: UIMessageStreamOptions) {
    this.chunks = chunksFor(options);
  }

  encode(event: Parameters<StreamEncoder['encode']>[0]): string {
    return framesOf(this.chunks.of(event));
  }

  fail(error: HttpError): string {
    return framesOf(this.chunks.fail(error)) + this.end();
  }

  end(): string {
    return 'data: [DONE]\n\n';
  }
}

function framesOf(chunks: readonly UIMessageChunk[]): string {
  return chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
}
