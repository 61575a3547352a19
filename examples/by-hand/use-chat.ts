// A turn for useChat, written by hand with the AI SDK: what `toUIMessageStreamResponse` of advisor-chain/ui takes the place of.
// It has no retracts, no approvals that continue a message, no tools of the page, and no status for an error before the first event.
import { createUIMessageStream, createUIMessageStreamResponse, type UIMessage } from 'ai';
import type { ChatClient } from '../../src/index.js';

export async function answer(client: ChatClient, request: Request): Promise<Response> {
  const { messages } = (await request.json()) as { readonly messages: readonly UIMessage[] };
  const last = messages.at(-1);
  if (last?.role !== 'user')
    return new Response('a message of the user is missing', { status: 400 });
  const question = last.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const events = client.prompt(question).conversation('anna-7').signal(request.signal).stream();
  const stream = createUIMessageStream({
    onError: () => 'The request could not be answered.',
    execute: async ({ writer }) => {
      const streamed = new Map<number, string>();
      let open: { readonly type: 'text' | 'reasoning'; readonly id: string } | undefined;
      let parts = 0;
      const close = (): void => {
        if (open) writer.write({ type: `${open.type}-end`, id: open.id });
        open = undefined;
      };
      const write = (type: 'text' | 'reasoning', delta: string): void => {
        if (open?.type !== type) close();
        if (!open) {
          open = { type, id: `${type}-${++parts}` };
          writer.write({ type: `${type}-start`, id: open.id });
        }
        writer.write({ type: `${type}-delta`, id: open.id, delta });
      };
      for await (const event of events.events()) {
        switch (event.type) {
          case 'iteration-start':
            if (event.index > 0) writer.write({ type: 'finish-step' });
            streamed.clear();
            writer.write({ type: 'start-step' });
            break;
          case 'text-delta':
            write('text', event.text);
            break;
          case 'reasoning-delta':
            write('reasoning', event.text);
            break;
          case 'tool-call-delta': {
            close();
            const { index, id, name, arguments: inputTextDelta } = event;
            if (id !== undefined && name !== undefined) {
              streamed.set(index, id);
              writer.write({ type: 'tool-input-start', toolCallId: id, toolName: name });
            }
            const toolCallId = streamed.get(index);
            if (toolCallId) writer.write({ type: 'tool-input-delta', toolCallId, inputTextDelta });
            break;
          }
          case 'tool-call': {
            const { id: toolCallId, name: toolName, arguments: json } = event.call;
            const input = JSON.parse(json) as unknown;
            writer.write({ type: 'tool-input-available', toolCallId, toolName, input });
            break;
          }
          case 'tool-result': {
            const { id: toolCallId } = event.call;
            const output = event.result.content;
            if (event.result.isError)
              writer.write({
                type: 'tool-output-error',
                toolCallId,
                errorText: JSON.stringify(output),
              });
            else writer.write({ type: 'tool-output-available', toolCallId, output });
            break;
          }
          case 'iteration':
            close();
            break;
          case 'response': {
            close();
            const { model, usage } = event.response;
            writer.write({ type: 'finish-step' });
            writer.write({ type: 'finish', messageMetadata: { model, usage } });
            break;
          }
          default:
        }
      }
    },
  });
  return createUIMessageStreamResponse({ stream });
}
