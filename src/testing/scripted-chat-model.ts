import type { ChatEvent } from '../chat/chat-event.js';
import type { ChatModel, ModelRun } from '../chat/chat-model.js';
import type { ChatOptions } from '../chat/chat-options.js';
import { ChatResponse, type Usage } from '../chat/chat-response.js';
import type { Citation } from '../chat/citation.js';
import type { AssistantMessage, Metadata, ToolCall } from '../chat/message.js';
import type { Prompt } from '../chat/prompt.js';
import { AdvisorContext } from '../chat/context.js';
import { withUniqueCallIds } from '../chat/stream-fold.js';
import { AdvisorChainError, InvalidArgumentError } from '../errors.js';
import { cancelledError, onRunCancel } from '../internal/cancellation.js';
import { Observable } from '../internal/rxjs.js';

/** A scripted model was called more often than it has answers. */
export class ScriptExhaustedError extends AdvisorChainError {
  override name = 'ScriptExhaustedError';
  readonly code = 'script_exhausted';
}

/** One answer of a {@link ScriptedChatModel}: a text, an error, a response or its parts. */
export type ScriptedAnswer = string | Error | ChatResponse | ScriptedParts;

/** The parts of a scripted answer. */
export interface ScriptedParts {
  readonly text?: string;
  readonly toolCalls?: readonly ScriptedToolCall[];
  readonly reasoning?: string;
  readonly refusal?: string;
  /** Sources; in a stream after the text. */
  readonly citations?: readonly Citation[];
  /** @default `tool_calls` if there are some, else `stop` */
  readonly finishReason?: string;
  readonly usage?: Usage;
  /** Name of the model in the response. @default 'scripted' */
  readonly model?: string;
  /** Metadata of the message. */
  readonly metadata?: Metadata;
  /** The text in pieces, for streams. @default its words */
  readonly deltas?: readonly string[];
  /** Milliseconds before each delta of a stream and before the response. @default 0: synchronous */
  readonly delay?: number;
  /** Error in place of the response: after all deltas in a stream, immediately in a call. */
  readonly error?: unknown;
}

/** A tool call in a script: arguments as an object or as JSON text; a missing id is generated. */
export interface ScriptedToolCall {
  readonly id?: string;
  readonly name: string;
  readonly arguments?: string | Readonly<Record<string, unknown>>;
  readonly metadata?: Metadata;
}

/** Answers in order, or a function from the prompt and its index (from 0) to an answer. */
export type Script =
  readonly ScriptedAnswer[] | ((prompt: Prompt, index: number) => ScriptedAnswer);

/** A chat model for tests: answers from a script, records every prompt, fails at its end. */
export class ScriptedChatModel implements ChatModel {
  /** The prompts so far, in order. */
  readonly prompts: Prompt[] = [];
  /** Number of answers that were cancelled before their end. */
  cancelled = 0;

  constructor(
    private readonly script: Script,
    readonly defaultOptions: ChatOptions = { model: 'scripted' },
  ) {}

  call(prompt: Prompt, run: ModelRun = {}): Promise<ChatResponse> {
    return new Promise((resolve, reject) => {
      this.events(prompt, run, 'call').subscribe({
        next: (event) => {
          if (event.type === 'response') resolve(event.response);
        },
        error: reject,
      });
    });
  }

  stream(prompt: Prompt, run: ModelRun = {}): Observable<ChatEvent> {
    return this.events(prompt, run, 'stream');
  }

  private events(prompt: Prompt, run: ModelRun, mode: 'call' | 'stream'): Observable<ChatEvent> {
    return new Observable((subscriber) => {
      subscriber.add(onRunCancel(run, (cause) => subscriber.error(cancelledError(cause))));
      if (subscriber.closed) return;
      const answer = this.nextAnswer(prompt);
      const parts = partsOf(answer);
      const response = answer instanceof ChatResponse ? answer : toResponse(parts, prompt);
      const deltas = mode === 'stream' ? toDeltas(response, parts.deltas) : [];
      const { delay = 0, error } = parts;
      let timer: ReturnType<typeof setTimeout> | undefined;
      let emitted = 0;
      subscriber.add(() => {
        clearTimeout(timer);
        if (emitted <= deltas.length) this.cancelled++;
      });
      const emitNext = (): void => {
        const delta = deltas[emitted++];
        if (delta) {
          subscriber.next(delta);
          if (delay > 0 && !subscriber.closed) timer = setTimeout(emitNext, delay);
          return;
        }
        if (error !== undefined) return subscriber.error(error);
        subscriber.next({ type: 'response', response, context: AdvisorContext.empty });
        subscriber.complete();
      };
      if (delay > 0) timer = setTimeout(emitNext, delay);
      else while (!subscriber.closed) emitNext();
    });
  }

  private nextAnswer(prompt: Prompt): ScriptedAnswer {
    const index = this.prompts.push(prompt) - 1;
    const answer =
      typeof this.script === 'function' ? this.script(prompt, index) : this.script[index];
    if (answer !== undefined) return answer;
    throw new ScriptExhaustedError(
      `The scripted model was asked ${index + 1} times but has ${this.script.length} answers. The last message was: ${JSON.stringify(prompt.messages.at(-1))}`,
    );
  }
}

function partsOf(answer: ScriptedAnswer): ScriptedParts {
  if (answer instanceof ChatResponse) return {};
  if (answer instanceof Error) return { error: answer };
  return typeof answer === 'string' ? { text: answer } : answer;
}

function toResponse(parts: ScriptedParts, prompt: Prompt): ChatResponse {
  const { reasoning, refusal, citations, metadata, usage, model = 'scripted' } = parts;
  const toolCalls = (parts.toolCalls ?? []).map(toCall);
  const message: AssistantMessage = {
    role: 'assistant',
    text: textOf(parts),
    toolCalls,
    ...(reasoning !== undefined && { reasoning }),
    ...(refusal !== undefined && { refusal }),
    ...(metadata !== undefined && { metadata }),
  };
  const finishReason = parts.finishReason ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop');
  // ids of a script are unchanged, also where they repeat
  const hasAllIds = toolCalls.every(({ id }) => id !== '');
  const complete = hasAllIds ? message : withUniqueCallIds(message, prompt.messages);
  const generations = [{ message: complete, finishReason, ...(citations && { citations }) }];
  return new ChatResponse({ generations, usage, model });
}

function textOf({ text, deltas, toolCalls = [], refusal }: ScriptedParts): string | null {
  const streamed = deltas?.join('');
  if (text !== undefined && streamed !== undefined && text !== streamed)
    throw new InvalidArgumentError(
      `ScriptedChatModel: the deltas ${JSON.stringify(deltas)} do not add up to the text ${JSON.stringify(text)}`,
    );
  const whole = text ?? streamed ?? '';
  return whole === '' && (toolCalls.length > 0 || refusal !== undefined) ? null : whole;
}

function toCall({ id = '', arguments: args = {}, ...rest }: ScriptedToolCall): ToolCall {
  return { ...rest, id, arguments: typeof args === 'string' ? args : JSON.stringify(args) };
}

function toDeltas(
  { message, citations }: ChatResponse,
  pieces: readonly string[] = message.text?.match(/\S+\s*|\s+/g) ?? [],
): readonly ChatEvent[] {
  const { reasoning, toolCalls } = message;
  return [
    ...(reasoning ? [{ type: 'reasoning-delta', text: reasoning } as const] : []),
    ...pieces.map((piece) => ({ type: 'text-delta', text: piece }) as const),
    ...citations.map((citation) => ({ type: 'citation', citation }) as const),
    ...toolCalls.map(({ id, name, arguments: args }, index) => {
      return { type: 'tool-call-delta', index, id, name, arguments: args } as const;
    }),
  ];
}
