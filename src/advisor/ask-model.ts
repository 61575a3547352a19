import { Cancellation } from '../chat/cancellation.js';
import type { ChatEvent } from '../chat/chat-event.js';
import type { ChatModel } from '../chat/chat-model.js';
import type { ChatOptions } from '../chat/chat-options.js';
import { ContextKey } from '../chat/context.js';
import type { Prompt } from '../chat/prompt.js';
import { map, Observable } from '../rxjs.js';
import type { Tool } from '../tool/tool.js';
import type { ChatClientRequest } from './chat-client-request.js';

/**
 * Text that tells the model the form of its answer; the end of the chain adds it to the last user message of each model call,
 * so it never reaches memory or another advisor.
 */
export const OUTPUT_FORMAT = new ContextKey<string | undefined>('advisor-chain.output-format');

/** The end of the chain: the model is asked, and its answer takes the context of the request along. */
export function askModel(model: ChatModel, request: ChatClientRequest): Observable<ChatEvent> {
  const prompt = toPrompt(request);
  const { context, cancellation } = request;
  if (request.mode === 'stream') {
    return model.stream(prompt, cancellation).pipe(map((event) => (event.type === 'response' ? { ...event, context } : event)));
  }
  return new Observable((subscriber) => {
    const own = new Cancellation();
    const release = cancellation.onCancel((reason) => own.cancel(reason));
    let running = true;
    const end = (deliver: () => void): void => {
      running = false;
      deliver();
    };
    model.call(prompt, own).then(
      (response) =>
        end(() => {
          subscriber.next({ type: 'response', response, context });
          subscriber.complete();
        }),
      (error: unknown) => end(() => subscriber.error(error)),
    );
    return () => {
      release();
      if (running) own.cancel();
    };
  });
}

function toPrompt({ prompt, offeredTools: tools, context }: ChatClientRequest): Prompt {
  const format = context.get(OUTPUT_FORMAT);
  const formatted = format === undefined ? prompt : prompt.augmentUserMessage((text) => `${text}\n${format}`);
  return tools.length > 0 ? formatted.replaceOptions(withTools(formatted.options, tools)) : formatted;
}

const optionsWithTools = new WeakMap<ChatOptions, ChatOptions>();

/** Gives the same object for the same options and tools, so that a model can keep what it derives from them. */
function withTools(options: ChatOptions, tools: readonly Tool[]): ChatOptions {
  const known = optionsWithTools.get(options);
  if (known?.tools === tools) return known;
  const changed = { ...options, tools };
  optionsWithTools.set(options, changed);
  return changed;
}
