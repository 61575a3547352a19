import type { ChatEvent } from '../chat/chat-event.js';
import type { ChatModel, ModelRun } from '../chat/chat-model.js';
import type { ChatOptions } from '../chat/chat-options.js';
import { ChatResponse } from '../chat/chat-response.js';
import { AdvisorContext } from '../chat/context.js';
import type { AssistantMessage, Metadata, ToolCall } from '../chat/message.js';
import type { Prompt } from '../chat/prompt.js';
import { withUniqueCallIds } from '../chat/tool-call-ids.js';
import type { Usage } from '../chat/usage.js';
import { AdvisorChainError, CancelledError, InvalidArgumentError, type AdvisorChainErrorOptions } from '../errors.js';
import { cancellationOf } from '../chat/cancellation.js';
import { Observable, type Subscriber } from '../rxjs.js';

/** A scripted model was asked more often than it has answers. */
export class ScriptExhaustedError extends AdvisorChainError {
  override name = 'ScriptExhaustedError';
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
  /** Metadata of the message. */
  readonly metadata?: Metadata;
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
  readonly metadata?: Metadata;
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
      this.play(prompt, run, 'call').subscribe({
        next: (event) => {
          if (event.type === 'response') resolve(event.response);
        },
        error: reject,
      });
    });
  }

  stream(prompt: Prompt, run: ModelRun = {}): Observable<ChatEvent> {
    return this.play(prompt, run, 'stream');
  }

  private play(prompt: Prompt, run: ModelRun, mode: 'call' | 'stream'): Observable<ChatEvent> {
    return new Observable((subscriber) => {
      subscriber.add(
        onCancel(run, (cause) =>
          subscriber.error(new CancelledError('The scripted answer was cancelled.', cause === undefined ? {} : { cause })),
        ),
      );
      if (subscriber.closed) return;
      const performance = new Performance(toLines(this.next(prompt), prompt, mode), subscriber);
      subscriber.add(() => {
        if (performance.stop()) this.cancelled++;
      });
      performance.start();
    });
  }

  private next(prompt: Prompt): ScriptedAnswer {
    const index = this.prompts.push(prompt) - 1;
    const answer = typeof this.script === 'function' ? this.script(prompt, index) : this.script[index];
    if (answer !== undefined) return answer;
    throw new ScriptExhaustedError(
      `The scripted model was asked ${index + 1} times but has ${this.script.length} answers. The last message was: ${JSON.stringify(prompt.messages.at(-1))}`,
    );
  }
}

function onCancel(run: ModelRun, callback: (reason: unknown) => void): () => void {
  if (run.onCancel) return run.onCancel(callback);
  return run.signal ? cancellationOf(run.signal).onCancel(callback) : () => undefined;
}

/** What is said, line by line. */
interface Lines {
  readonly events: readonly ChatEvent[];
  /** Said in place of the response. */
  readonly error: unknown;
  /** Milliseconds before each line. */
  readonly delay: number;
}

/** One answer on its way. */
class Performance {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private at = 0;
  private ended = false;

  constructor(
    private readonly lines: Lines,
    private readonly subscriber: Subscriber<ChatEvent>,
  ) {}

  start(): void {
    if (this.lines.delay > 0) this.timer = setTimeout(() => this.say(), this.lines.delay);
    else while (!this.subscriber.closed) this.say();
  }

  /** Whether there was something to stop. */
  stop(): boolean {
    clearTimeout(this.timer);
    return !this.ended;
  }

  private say(): void {
    const { events, error } = this.lines;
    const event = events[this.at++] as ChatEvent;
    this.ended = event.type === 'response';
    if (!this.ended) {
      this.subscriber.next(event);
      if (this.lines.delay > 0 && !this.subscriber.closed) this.start();
    } else if (error === undefined) {
      this.subscriber.next(event);
      this.subscriber.complete();
    } else this.subscriber.error(error);
  }
}

function toLines(answer: ScriptedAnswer, prompt: Prompt, mode: 'call' | 'stream'): Lines {
  const { parts, response } = toAnswer(answer, prompt);
  const deltas = mode === 'stream' ? toDeltas(response.message, parts.deltas) : [];
  return {
    events: [...deltas, { type: 'response', response, context: AdvisorContext.empty }],
    error: parts.error,
    delay: parts.delay ?? 0,
  };
}

function toAnswer(answer: ScriptedAnswer, prompt: Prompt): { readonly parts: ScriptedParts; readonly response: ChatResponse } {
  if (answer instanceof ChatResponse) return { parts: {}, response: answer };
  if (answer instanceof Error) return { parts: { error: answer }, response: toResponse({}, prompt) };
  const parts = typeof answer === 'string' ? { text: answer } : answer;
  return { parts, response: toResponse(parts, prompt) };
}

function toResponse(parts: ScriptedParts, prompt: Prompt): ChatResponse {
  const toolCalls = (parts.toolCalls ?? []).map(toCall);
  const message: AssistantMessage = {
    role: 'assistant',
    text: textOf(parts),
    toolCalls,
    ...(parts.reasoning !== undefined && { reasoning: parts.reasoning }),
    ...(parts.refusal !== undefined && { refusal: parts.refusal }),
    ...(parts.metadata !== undefined && { metadata: parts.metadata }),
  };
  const finishReason = parts.finishReason ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop');
  return new ChatResponse({
    generations: [{ message: withMissingIds(message, prompt), finishReason }],
    usage: parts.usage,
    model: 'scripted',
  });
}

function textOf({ text, deltas, toolCalls = [], refusal }: ScriptedParts): string | null {
  const streamed = deltas?.join('');
  if (text !== undefined && streamed !== undefined && text !== streamed)
    throw new InvalidArgumentError(
      `ScriptedChatModel: the deltas ${JSON.stringify(deltas)} do not add up to the text ${JSON.stringify(text)}`,
    );
  const said = text ?? streamed ?? '';
  return said === '' && (toolCalls.length > 0 || refusal !== undefined) ? null : said;
}

/** Ids that a script gives are kept as they are, also where they repeat. */
function withMissingIds(message: AssistantMessage, prompt: Prompt): AssistantMessage {
  return message.toolCalls.some((call) => call.id === '') ? withUniqueCallIds(message, prompt.messages) : message;
}

function toCall({ id = '', arguments: args = {}, ...rest }: ScriptedToolCall): ToolCall {
  return { ...rest, id, arguments: typeof args === 'string' ? args : JSON.stringify(args) };
}

function toDeltas({ reasoning, text, toolCalls }: AssistantMessage, pieces: readonly string[] = words(text)): ChatEvent[] {
  return [
    ...(reasoning ? [{ type: 'reasoning-delta', text: reasoning } as const] : []),
    ...pieces.map((piece) => ({ type: 'text-delta', text: piece }) as const),
    ...toolCalls.map(
      (call, index) => ({ type: 'tool-call-delta', index, id: call.id, name: call.name, arguments: call.arguments }) as const,
    ),
  ];
}

function words(text: string | null): readonly string[] {
  return text?.match(/\S*\s*/g)?.filter(Boolean) ?? [];
}
