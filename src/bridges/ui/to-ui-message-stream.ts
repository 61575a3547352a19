import type { ChatEvent } from '../../core/chat/chat-event.js';
import { checkOptions, FUNCTION } from '../../core/internal/options.js';
import { notify } from '../../core/internal/notify.js';
import { eventsOf, type EventSource } from '../http/event-source.js';
import { printError, toHttpError } from '../http/http-error.js';
import type { ResponseOptions } from '../http/respond.js';
import type { UIMessageChunk } from './ui-message-chunk.js';
import { chunksFor, RULES, type UIMessageStreamOptions } from './ui-message-stream.js';

/** Options of {@link toUIMessageStream}. */
export type UIMessageChunksOptions = UIMessageStreamOptions &
  Pick<ResponseOptions, 'toError' | 'onError'>;

const WHERE = 'toUIMessageStream';

/**
 * The chunks of a run, for `writer.merge` of `createUIMessageStream`, or for a transport of your own. A failure of the run is
 * its last chunk: `error` with a safe text, or `abort`. The run begins with the first read, waits for a slow reader, and is cancelled when
 * the stream is.
 * @throws {@link InvalidArgumentError} if the stream or an option is invalid
 */
export function toUIMessageStream(
  stream: EventSource,
  options: UIMessageChunksOptions = {},
): ReadableStream<UIMessageChunk> {
  const { toError = toHttpError, onError = printError, ...others } = options;
  checkOptions(WHERE, options, { ...RULES, toError: FUNCTION, onError: FUNCTION });
  const events = eventsOf(stream, WHERE);
  const chunks = chunksFor(others);
  const fail = (error: unknown): readonly UIMessageChunk[] => {
    const shown = toError(error);
    notify(() => onError(error, shown));
    return chunks.fail(shown);
  };
  const next = async (): Promise<Piece> => {
    try {
      const result = await events.next();
      if (result.done) return { chunks: [], isLast: true };
      return { chunks: chunks.of(result.value), isLast: false };
    } catch (error) {
      return { chunks: fail(error), isLast: true };
    }
  };
  return new ReadableStream<UIMessageChunk>(
    { pull: (controller) => pull(controller, next), cancel: () => leave(events) },
    { highWaterMark: 0 }, // nothing is read ahead
  );
}

/** The chunks of one event. */
interface Piece {
  readonly chunks: readonly UIMessageChunk[];
  readonly isLast: boolean;
}

async function pull(
  controller: ReadableStreamDefaultController<UIMessageChunk>,
  next: () => Promise<Piece>,
): Promise<void> {
  for (;;) {
    const { chunks, isLast } = await next();
    for (const chunk of chunks) controller.enqueue(chunk);
    if (isLast) return controller.close();
    if (chunks.length > 0) return;
  }
}

async function leave(events: AsyncIterator<ChatEvent>): Promise<void> {
  await events.return?.();
}
