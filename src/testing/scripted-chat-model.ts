import type { ChatEvent } from '../core/chat/chat-event.js';
import type { ChatModel, ModelRun } from '../core/chat/chat-model.js';
import { checkChatOptions, type ChatOptions } from '../core/chat/chat-options.js';
import { ChatResponse, type Usage } from '../core/chat/chat-response.js';
import type { Citation } from '../core/chat/citation.js';
import {
  type AssistantMessage,
  callsOf,
  type Metadata,
  textOf,
  type ToolCall,
} from '../core/chat/message.js';
import type { Prompt } from '../core/chat/prompt.js';
import { AdvisorContext } from '../core/chat/context.js';
import { AdvisorChainError, InvalidArgumentError } from '../core/errors/errors.js';
import { cancelledError, onRunCancel } from '../core/internal/cancellation.js';
import { Observable, type Subscriber } from '../core/internal/rxjs.js';
import { checkedAnswer, checkScript } from './check-script.js';

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

/**
 * A tool call in a script: arguments as an object or as JSON text. A missing id is `scripted_` and a
 * number that is new to the model and its prompt.
 */
export interface ScriptedToolCall {
  readonly id?: string;
  readonly name: string;
  readonly arguments?: string | Readonly<Record<string, unknown>>;
  /** The JSON text of the arguments in pieces, for streams. @default one piece */
  readonly deltas?: readonly string[];
  readonly metadata?: Metadata;
}

/**
 * Answers in order, the text of a single one, or a function from the prompt and its index (from 0) to
 * an answer, or a promise of it.
 */
export type Script =
  | string
  | readonly ScriptedAnswer[]
  | ((prompt: Prompt, index: number) => ScriptedAnswer | Promise<ScriptedAnswer>);

/** A chat model for tests: answers from a script, records every prompt, fails at its end. */
export class ScriptedChatModel implements ChatModel {
  /** The prompts so far, in order. */
  readonly prompts: Prompt[] = [];
  /** Number of answers that were cancelled before their end. */
  cancelled = 0;
  /** The number in the latest id that it has given. */
  private lastNumber = 0;
  private readonly script: Exclude<Script, string>;

  /** @throws {@link InvalidArgumentError} if it cannot play the script, or an option is invalid */
  constructor(
    script: Script,
    readonly defaultOptions: ChatOptions = { model: 'scripted' },
  ) {
    checkScript(script);
    this.script = typeof script === 'string' ? [script] : script;
    checkChatOptions(defaultOptions, 'ScriptedChatModel');
  }

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
      let isWaiting = false;
      subscriber.add(() => {
        if (isWaiting) this.cancelled++;
      });
      const index = this.prompts.push(prompt) - 1;
      const play = (answer: ScriptedAnswer): void => {
        isWaiting = false;
        if (!subscriber.closed) this.play(checkedAnswer(answer, index), prompt, mode, subscriber);
      };
      const answer = this.answerAt(index, prompt);
      if (!(answer instanceof Promise)) return play(answer);
      isWaiting = true;
      answer.then(play).catch((error: unknown) => {
        isWaiting = false;
        subscriber.error(error);
      });
    });
  }

  private play(
    answer: ScriptedAnswer,
    prompt: Prompt,
    mode: 'call' | 'stream',
    subscriber: Subscriber<ChatEvent>,
  ): void {
    const parts = toScriptedParts(answer);
    const toolCalls = this.toCalls(parts, prompt);
    const response = answer instanceof ChatResponse ? answer : toResponse(parts, toolCalls);
    const deltas = mode === 'stream' ? toDeltas(response, parts) : [];
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
  }

  private toCalls({ toolCalls = [] }: ScriptedParts, { messages }: Prompt): readonly ToolCall[] {
    const earlier = messages.flatMap(callsOf);
    this.lastNumber = Math.max(this.lastNumber, earlier.length);
    return toolCalls.map(({ id, deltas, arguments: args = deltas?.join('') ?? {}, ...rest }) => ({
      ...rest,
      id: id || `scripted_${++this.lastNumber}`,
      arguments: whole(typeof args === 'string' ? args : JSON.stringify(args), deltas),
    }));
  }

  private answerAt(index: number, prompt: Prompt): ScriptedAnswer | Promise<ScriptedAnswer> {
    const answer =
      typeof this.script === 'function' ? this.script(prompt, index) : this.script[index];
    if (answer !== undefined) return answer;
    throw new ScriptExhaustedError(
      `The scripted model was asked ${counted(index + 1, 'time')} but has ${counted(this.script.length, 'answer')}; add one, or pass a function. The last message was: ${JSON.stringify(prompt.messages.at(-1))}`,
    );
  }
}

const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;

function toScriptedParts(answer: ScriptedAnswer): ScriptedParts {
  if (answer instanceof ChatResponse) return {};
  if (answer instanceof Error) return { error: answer };
  return typeof answer === 'string' ? { text: answer } : answer;
}

function toResponse(parts: ScriptedParts, toolCalls: readonly ToolCall[]): ChatResponse {
  const { reasoning, refusal, citations, metadata, usage, model = 'scripted' } = parts;
  const message: AssistantMessage = {
    role: 'assistant',
    content: answerText(parts),
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(reasoning !== undefined && { reasoning }),
    ...(refusal !== undefined && { refusal }),
    ...(metadata !== undefined && { metadata }),
  };
  const finishReason = parts.finishReason ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop');
  const generations = [{ message, finishReason, ...(citations && { citations }) }];
  return new ChatResponse({ generations, usage, model });
}

function answerText({ text, deltas, toolCalls = [], refusal }: ScriptedParts): string | null {
  const answer = whole(text ?? deltas?.join('') ?? '', deltas);
  return answer === '' && (toolCalls.length > 0 || refusal !== undefined) ? null : answer;
}

/** The text, to which the deltas must add up. */
function whole(text: string, deltas: readonly string[] = [text]): string {
  if (deltas.join('') === text) return text;
  throw new InvalidArgumentError(
    `ScriptedChatModel: the deltas ${JSON.stringify(deltas)} do not add up to the text ${JSON.stringify(text)}`,
  );
}

function toDeltas(
  { message, citations }: ChatResponse,
  { deltas = wordsIn(textOf(message)), toolCalls: scripted = [] }: ScriptedParts,
): readonly ChatEvent[] {
  const { reasoning, toolCalls = [] } = message;
  return [
    ...(reasoning ? [{ type: 'reasoning-delta', text: reasoning } as const] : []),
    ...deltas.map((piece) => ({ type: 'text-delta', text: piece }) as const),
    ...citations.map((citation) => ({ type: 'citation', citation }) as const),
    ...toolCalls.flatMap(({ id, name, arguments: args }, index) =>
      (scripted[index]?.deltas ?? [args]).map((piece, at) => {
        const first = at === 0 && { id, name };
        return { type: 'tool-call-delta', index, ...first, arguments: piece } as const;
      }),
    ),
  ];
}

/** The words of a text, each with the spaces behind it. */
export function wordsIn(text: string): readonly string[] {
  return text.match(/\S+\s*|\s+/g) ?? [];
}
