import { Cancellation } from '../chat/cancellation.js';
import type { ChatEvent } from '../chat/chat-event.js';
import type { ChatModel } from '../chat/chat-model.js';
import type { ChatOptions } from '../chat/chat-options.js';
import { ContextKey, type AdvisorContext } from '../chat/context.js';
import type { Prompt } from '../chat/prompt.js';
import { describe } from '../chat/message.js';
import { CancelledError, ChainError } from '../errors.js';
import { Observable, Subscriber, type Subscription } from '../rxjs.js';
import type { Tool } from '../tool/tool.js';
import type { ChatClientRequest } from './chat-client-request.js';

/**
 * Text that tells the model the form of its answer; the end of the chain adds it to the last user message of each model call,
 * so it never reaches memory or another advisor.
 */
export const OUTPUT_FORMAT = new ContextKey<string | undefined>('advisor-chain.output-format');

/** The end of the chain: the model is asked, and its answer takes the context of the request along. */
export function askModel(model: ChatModel, request: ChatClientRequest): Observable<ChatEvent> {
  return new Observable((subscriber) => {
    if (refuse(request, subscriber)) return undefined;
    return (request.mode === 'stream' ? stream : call)(model, request, subscriber);
  });
}

/**
 * Asks nothing for a request that was cancelled before. Says so only when the chain had the time to end: to an operator that
 * tries again, a cancellation is an error like others, and it would try again and again within the cancellation.
 */
function refuse({ cancellation }: ChatClientRequest, subscriber: Subscriber<ChatEvent>): boolean {
  let cancelled = false;
  cancellation.onCancel((cause) => {
    cancelled = true;
    const error = new CancelledError('The run was cancelled.', cause === undefined ? {} : { cause });
    queueMicrotask(() => subscriber.error(error));
  })();
  return cancelled;
}

function stream(model: ChatModel, request: ChatClientRequest, subscriber: Subscriber<ChatEvent>): Subscription {
  return model.stream(toPrompt(request), request.cancellation).subscribe(new ModelEvents(request.context, subscriber));
}

class ModelEvents extends Subscriber<ChatEvent> {
  constructor(
    private readonly context: AdvisorContext,
    private readonly subscriber: Subscriber<ChatEvent>,
  ) {
    super(subscriber);
  }

  protected override _next(event: ChatEvent): void {
    this.subscriber.next(event.type === 'response' ? { ...event, context: this.context } : event);
  }
}

function call(model: ChatModel, request: ChatClientRequest, subscriber: Subscriber<ChatEvent>): () => void {
  const own = new Cancellation();
  const release = request.cancellation.onCancel((reason) => own.cancel(reason));
  let running = true;
  model.call(toPrompt(request), own).then(
    (response) => {
      running = false;
      if (typeof response?.hasToolCalls !== 'function') {
        return subscriber.error(new ChainError(`the model must answer with a ChatResponse, not ${describe(response)}`));
      }
      subscriber.next({ type: 'response', response, context: request.context });
      return subscriber.complete();
    },
    (error: unknown) => {
      running = false;
      subscriber.error(error);
    },
  );
  return () => {
    release();
    if (running) own.cancel();
  };
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
