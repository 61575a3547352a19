import { onAbort } from '../chat/abort.js';
import type { ChatEvent } from '../chat/chat-event.js';
import type { ChatModel } from '../chat/chat-model.js';
import { ContextKey } from '../chat/context.js';
import type { Prompt } from '../chat/prompt.js';
import { map, Observable } from '../rxjs.js';
import type { ChatClientRequest } from './chat-client-request.js';

/**
 * Text that tells the model the form of its answer; the end of the chain adds it to the last user message of each model call,
 * so it never reaches memory or another advisor.
 */
export const OUTPUT_FORMAT = new ContextKey<string | undefined>('advisor-chain.output-format');

/** The end of the chain: the model is asked, and its answer takes the context of the request along. */
export function askModel(model: ChatModel, request: ChatClientRequest): Observable<ChatEvent> {
  const prompt = toPrompt(request);
  const { context, signal } = request;
  if (request.mode === 'stream') {
    return model.stream(prompt, { signal }).pipe(map((event) => (event.type === 'response' ? { ...event, context } : event)));
  }
  return new Observable((subscriber) => {
    const controller = new AbortController();
    const release = onAbort(signal, () => controller.abort(signal.reason));
    let running = true;
    const end = (deliver: () => void): void => {
      running = false;
      deliver();
    };
    model.call(prompt, { signal: controller.signal }).then(
      (response) =>
        end(() => {
          subscriber.next({ type: 'response', response, context });
          subscriber.complete();
        }),
      (error: unknown) => end(() => subscriber.error(error)),
    );
    return () => {
      release();
      if (running) controller.abort();
    };
  });
}

function toPrompt({ prompt, offeredTools: tools, context }: ChatClientRequest): Prompt {
  const format = context.get(OUTPUT_FORMAT);
  const formatted = format === undefined ? prompt : prompt.augmentUserMessage((text) => `${text}\n${format}`);
  return tools.length > 0 ? formatted.replaceOptions({ ...formatted.options, tools }) : formatted;
}
