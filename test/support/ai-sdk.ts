import * as ai6 from 'ai';
import { expect } from 'chai';

/** The judge of this version of Node.js: the AI SDK 7 needs Node.js 22, and 6 is the one that Node.js 20 has. */
const isOld = process.versions.node.startsWith('20.');
export const ai = isOld ? ai6 : ((await import('ai7')) as unknown as typeof ai6);

/** A message as the judge folds it. */
export type UIMessage = ai6.UIMessage;
/** A chunk that the judge has accepted. */
export type UIMessageChunk = ai6.UIMessageChunk;

/** Chunks of a stream, and the message that a page makes of them. */
export interface ReadMessage {
  readonly chunks: readonly UIMessageChunk[];
  readonly message: UIMessage;
}

/**
 * Reads a response as `useChat` does; each chunk must pass the schema of the judge.
 * @param message what the page has of the message, for a continued one
 */
export function readUIMessage(response: Response, message?: UIMessage): Promise<ReadMessage> {
  expect(response.headers.get('x-vercel-ai-ui-message-stream')).to.equal('v1');
  if (!response.body) throw new Error('no body');
  const results = ai.parseJsonEventStream({
    stream: response.body,
    schema: ai.uiMessageChunkSchema,
  });
  const stream = results.pipeThrough(
    new TransformStream({
      transform(result, controller: TransformStreamDefaultController<UIMessageChunk>) {
        if (!result.success) throw result.error;
        controller.enqueue(result.value);
      },
    }),
  );
  return foldUIMessage(stream, message);
}

/** Folds chunks by the reader of the judge, which must find no error in their order. */
export async function foldUIMessage(
  stream: ReadableStream<UIMessageChunk>,
  message?: UIMessage,
): Promise<ReadMessage> {
  const chunks: UIMessageChunk[] = [];
  const watched = stream.pipeThrough(
    new TransformStream({
      transform(chunk, controller: TransformStreamDefaultController<UIMessageChunk>) {
        chunks.push(chunk);
        controller.enqueue(chunk);
      },
    }),
  );
  const errors: unknown[] = [];
  let last = message;
  const onError = (error: unknown): number => errors.push(error);
  for await (const each of ai.readUIMessageStream({
    stream: watched,
    onError,
    ...(message && { message: structuredClone(message) }),
  }))
    last = each;
  const sent = chunks.flatMap((chunk) => (chunk.type === 'error' ? [chunk.errorText] : []));
  expect(errors.map((error) => (error as Error).message)).to.deep.equal(sent);
  if (!last) throw new Error('no message');
  return { chunks, message: last };
}
