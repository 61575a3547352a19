import type { ChatEvent } from '../../chat/chat-event.js';
import type { ChatModel, ModelRun } from '../../chat/chat-model.js';
import { mergeOptions, type ChatOptions } from '../../chat/chat-options.js';
import { ChatResponse, type Usage } from '../../chat/chat-response.js';
import { AdvisorContext } from '../../chat/context.js';
import { textOf, type AssistantMessage, type Message } from '../../chat/message.js';
import type { Prompt } from '../../chat/prompt.js';
import { withUniqueCallIds } from '../../chat/stream-fold.js';
import type { ToolDefinition } from '../../chat/tool-definition.js';
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

/** A delta with arguments: 12 characters. */
const DELTA = /[^]{1,12}/g;

/**
 * A chat model without a network, for first steps, demonstrations and tests. It calls the tools
 * that match the question and answers with their results, see {@link offlineAnswer}; the same prompt
 * gives the same answer. Usage is an estimate (four characters are a token). Without state; may be
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
    const last = (): readonly ChatEvent[] => eventsOf(this.respond(prompt)).slice(-1);
    return responseOf(answerEvents(run, () => ({ events: last(), delay: this.delay })));
  }

  stream(prompt: Prompt, run: ModelRun = {}): Observable<ChatEvent> {
    return answerEvents(run, () => ({ events: eventsOf(this.respond(prompt)), delay: this.delay }));
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
    const usage = estimateUsage(messages, tools, message);
    return new ChatResponse({ generations: [{ message, finishReason }], usage, model });
  }
}

/**
 * The events of a stream in small deltas, as real servers send them: words, and arguments split
 * anywhere.
 */
function eventsOf(response: ChatResponse): readonly ChatEvent[] {
  const { text, toolCalls } = response.message;
  const words = text?.match(/\s*\S+\s*$|\s*\S+/g) ?? [];
  return [
    ...words.map((word) => ({ type: 'text-delta', text: word }) as const),
    ...toolCalls.flatMap(({ id, name, arguments: args }, index): ChatEvent[] => [
      { type: 'tool-call-delta', index, id, name, arguments: '' },
      ...(args.match(DELTA) ?? []).map((delta) => {
        return { type: 'tool-call-delta', index, arguments: delta } as const;
      }),
    ]),
    { type: 'response', response, context: AdvisorContext.empty },
  ];
}

/** Four characters of a text, of arguments or of the definition of a tool are one token. */
function estimateUsage(
  messages: readonly Message[],
  tools: readonly ToolDefinition[],
  answer: AssistantMessage,
): Usage {
  const definitions = tools.map(
    ({ name, description, inputSchema }) => name + description + JSON.stringify(inputSchema),
  );
  const inputTokens = tokensOf([...messages.map(contentOf), ...definitions]);
  const outputTokens = tokensOf([contentOf(answer)]);
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
}

function tokensOf(texts: readonly string[]): number {
  return Math.ceil(texts.join('').length / 4);
}

function contentOf(message: Message): string {
  if (message.role === 'system') return message.text;
  if (message.role !== 'assistant') return textOf(message.content);
  const calls = message.toolCalls.map(({ name, arguments: args }) => name + args);
  return (message.text ?? '') + calls.join('');
}
