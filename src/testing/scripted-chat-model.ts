import type { ChatEvent } from '../chat/chat-event.js';
import type { ChatModel, ModelRun } from '../chat/chat-model.js';
import type { ChatOptions } from '../chat/chat-options.js';
import { ChatResponse } from '../chat/chat-response.js';
import { AdvisorContext } from '../chat/context.js';
import type { AssistantMessage, ToolCall } from '../chat/message.js';
import type { Prompt } from '../chat/prompt.js';
import { withUniqueCallIds } from '../chat/tool-call-ids.js';
import type { Usage } from '../chat/usage.js';
import { AdvisorChainError, CancelledError, type AdvisorChainErrorOptions } from '../errors.js';
import { onAbort } from '../chat/abort.js';
import { Observable, type Subscriber } from '../rxjs.js';

/** A scripted model was asked more often than it has answers. */
export class ScriptExhaustedError extends AdvisorChainError {
  readonly code = 'script_exhausted';

  constructor(message: string, options?: AdvisorChainErrorOptions) {
    super(message, options);
  }
}

/** One answer of a {@link ScriptedChatModel}; a text alone, an error to fail with, or the parts of an answer. */
export type ScriptedAnswer = string | Error | ChatResponse | ScriptedParts;

/** The parts of a scripted answer. */
export interface ScriptedParts {
  readonly text?: string;
  readonly toolCalls?: readonly ScriptedToolCall[];
  readonly reasoning?: string;
  readonly refusal?: string;
  /** @default `tool_calls` if there are some, else `stop` */
  readonly finishReason?: string;
  readonly usage?: Usage;
  /** The pieces of the text in a stream. @default its words */
  readonly deltas?: readonly string[];
  /** Milliseconds before each piece, or before the answer of a call. @default 0: synchronous */
  readonly delay?: number;
  /** Fails with this error: after all deltas in a stream, at once in a call. */
  readonly error?: unknown;
}

/** A tool call in a script: arguments as an object or as the text of a model; a missing id is made up. */
export interface ScriptedToolCall {
  readonly id?: string;
  readonly name: string;
  readonly arguments?: string | Readonly<Record<string, unknown>>;
}

/** Answers, or a function that gives the answer to a prompt; `index` counts from 0. */
export type Script = readonly ScriptedAnswer[] | ((prompt: Prompt, index: number) => ScriptedAnswer);

/** A chat model for tests: answers by a script, records every prompt, and fails loudly when it has nothing left to say. */
export class ScriptedChatModel implements ChatModel {
  /** The prompts it was asked, in order. */
  readonly prompts: Prompt[] = [];
  /** How many answers were cancelled before their end. */
  cancelled = 0;

  constructor(
    private readonly script: Script,
    readonly defaultOptions: ChatOptions = { model: 'scripted' },
  ) {}

  call(prompt: Prompt, run: ModelRun = {}): Promise<ChatResponse> {
    return new Promise((resolve, reject) => {
      const parts = this.next(prompt);
      const answer = (): void => (parts.error === undefined ? resolve(toResponse(parts, prompt)) : reject(parts.error as Error));
      if (!parts.delay) return answer();
      const timer = setTimeout(answer, parts.delay);
      onAbort(run.signal ?? new AbortController().signal, () => {
        clearTimeout(timer);
        this.cancelled++;
        reject(new CancelledError('The scripted answer was cancelled.', { cause: run.signal?.reason }));
      });
      return undefined;
    });
  }

  stream(prompt: Prompt, run: ModelRun = {}): Observable<ChatEvent> {
    return new Observable((subscriber) => {
      const parts = this.next(prompt);
      const timer = play(toEvents(parts, prompt), parts, subscriber);
      const cancel = (): void => {
        clearTimeout(timer());
        this.cancelled++;
      };
      if (run.signal) subscriber.add(onAbort(run.signal, () => subscriber.error(new CancelledError('The scripted answer was cancelled.'))));
      subscriber.add(() => {
        if (timer() !== undefined) cancel();
      });
    });
  }

  private next(prompt: Prompt): ScriptedParts {
    const index = this.prompts.push(prompt) - 1;
    const answer = typeof this.script === 'function' ? this.script(prompt, index) : this.script[index];
    if (answer === undefined) {
      throw new ScriptExhaustedError(
        `The scripted model was asked ${index + 1} times but has ${this.script.length} answers. The last message was: ${JSON.stringify(prompt.messages.at(-1))}`,
      );
    }
    return toParts(answer);
  }
}

/** Emits events with the delay of a script; gives access to the timer under way, undefined when there is none. */
function play(
  events: readonly ChatEvent[],
  { delay, error }: ScriptedParts,
  subscriber: Subscriber<ChatEvent>,
): () => ReturnType<typeof setTimeout> | undefined {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let at = 0;
  const step = (): void => {
    timer = undefined;
    while (at < events.length && !subscriber.closed) {
      if (error !== undefined && at === events.length - 1) return subscriber.error(error);
      subscriber.next(events[at++] as ChatEvent);
      if (delay && at < events.length) {
        timer = setTimeout(step, delay);
        return;
      }
    }
    subscriber.complete();
  };
  if (delay) timer = setTimeout(step, delay);
  else step();
  return () => timer;
}

function toParts(answer: ScriptedAnswer): ScriptedParts {
  if (typeof answer === 'string') return { text: answer };
  if (answer instanceof Error) return { error: answer, text: '' };
  if (!(answer instanceof ChatResponse)) return answer;
  const { message, finishReason, usage } = answer;
  return {
    ...message,
    text: message.text ?? '',
    ...(finishReason !== undefined && { finishReason }),
    ...(usage && { usage }),
  };
}

function toResponse(parts: ScriptedParts, prompt: Prompt): ChatResponse {
  const toolCalls = (parts.toolCalls ?? []).map(toCall);
  const text = parts.text ?? parts.deltas?.join('') ?? '';
  const message: AssistantMessage = {
    role: 'assistant',
    text: text === '' && (toolCalls.length > 0 || parts.refusal) ? null : text,
    toolCalls,
    ...(parts.reasoning !== undefined && { reasoning: parts.reasoning }),
    ...(parts.refusal !== undefined && { refusal: parts.refusal }),
  };
  const finishReason = parts.finishReason ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop');
  return new ChatResponse({
    generations: [{ message: withMissingIds(message, prompt), finishReason }],
    usage: parts.usage,
    model: 'scripted',
  });
}

/** Ids that a script gives are kept as they are, also where they repeat. */
function withMissingIds(message: AssistantMessage, prompt: Prompt): AssistantMessage {
  return message.toolCalls.some((call) => call.id === '') ? withUniqueCallIds(message, prompt.messages) : message;
}

function toCall({ id = '', name, arguments: args = {} }: ScriptedToolCall): ToolCall {
  return { id, name, arguments: typeof args === 'string' ? args : JSON.stringify(args) };
}

function toEvents(parts: ScriptedParts, prompt: Prompt): ChatEvent[] {
  const response = toResponse(parts, prompt);
  const { reasoning, text, toolCalls } = response.message;
  return [
    ...(reasoning ? [{ type: 'reasoning-delta', text: reasoning } as const] : []),
    ...(parts.deltas ?? text?.match(/\S*\s*/g)?.filter(Boolean) ?? []).map((piece) => ({ type: 'text-delta', text: piece }) as const),
    ...toolCalls.map(
      (call, index) => ({ type: 'tool-call-delta', index, id: call.id, name: call.name, arguments: call.arguments }) as const,
    ),
    { type: 'response', response, context: AdvisorContext.empty },
  ];
}
