import type { ChatEvent } from '../../chat/chat-event.js';
import type { ChatModel, ModelRun } from '../../chat/chat-model.js';
import { mergeOptions, type ChatOptions } from '../../chat/chat-options.js';
import { ChatResponse } from '../../chat/chat-response.js';
import type { Prompt } from '../../chat/prompt.js';
import { withUniqueCallIds } from '../../chat/stream-fold.js';
import { checkOption, numberBetween } from '../../internal/options.js';
import type { Observable } from '../../internal/rxjs.js';
import { answerEvents, responseOf } from '../in-process-answer.js';
import { offlineAnswer } from './offline-answer.js';

/** Options of an {@link OfflineChatModel}. */
export interface OfflineChatModelOptions {
  /** Name of the model in responses. @default 'offline' */
  readonly model?: string;
  /**
   * Milliseconds before each event of a stream and before the response of a call, >= 0. @default 0:
   * synchronous
   */
  readonly delay?: number;
}

/**
 * A chat model without a network, for first steps, demonstrations and tests. It calls the tools
 * that match the question and answers with their results, see {@link offlineAnswer}; the same prompt
 * gives the same answer. Usage is an estimate (four characters of JSON are a token). Without state; may be
 * shared.
 */
export class OfflineChatModel implements ChatModel {
  readonly defaultOptions: ChatOptions;
  private readonly delay: number;

  /** @throws {@link InvalidArgumentError} if the delay is out of range */
  constructor({ model = 'offline', delay = 0 }: OfflineChatModelOptions = {}) {
    checkOption('OfflineChatModel', 'delay', delay, numberBetween(0, 2 ** 31 - 1));
    this.defaultOptions = { model };
    this.delay = delay;
  }

  call(prompt: Prompt, run: ModelRun = {}): Promise<ChatResponse> {
    return responseOf(this.answer(prompt, run, 'call'));
  }

  stream(prompt: Prompt, run: ModelRun = {}): Observable<ChatEvent> {
    return this.answer(prompt, run, 'stream');
  }

  private answer(prompt: Prompt, run: ModelRun, mode: 'call' | 'stream'): Observable<ChatEvent> {
    // real servers split arguments anywhere
    const rest = { argumentPiece: /[^]{1,5}/g, delay: this.delay };
    return answerEvents(run, mode, () => ({ response: this.respond(prompt), ...rest }));
  }

  private respond({ messages, options }: Prompt): ChatResponse {
    const { tools: offered = [], model, ...rest } = mergeOptions(this.defaultOptions, options);
    const tools = offered.map(({ definition }) => definition);
    const { text, toolCalls } = offlineAnswer({ ...rest, messages, tools });
    const calls = toolCalls.map(({ name, args }) => ({
      id: '',
      name,
      arguments: JSON.stringify(args),
    }));
    const message = withUniqueCallIds({ role: 'assistant', text, toolCalls: calls }, messages);
    const finishReason = calls.length > 0 ? 'tool_calls' : 'stop';
    const [inputTokens, outputTokens] = [tokensOf([messages, tools]), tokensOf(message)];
    const usage = { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
    return new ChatResponse({ generations: [{ message, finishReason }], usage, model });
  }
}

/** Four characters of JSON are a token; media are not counted. */
function tokensOf(value: unknown): number {
  const text = JSON.stringify(value, (_key, item: unknown) =>
    item instanceof Uint8Array ? '' : item,
  );
  return Math.ceil(text.length / 4);
}
