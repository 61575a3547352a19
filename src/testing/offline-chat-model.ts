import type { ChatEvent } from '../core/chat/chat-event.js';
import type { ChatModel, ModelRun } from '../core/chat/chat-model.js';
import { withModelDefaults, type ChatOptions } from '../core/chat/chat-options.js';
import type { ChatResponse } from '../core/chat/chat-response.js';
import { tokensOfLength } from '../core/chat/estimate-tokens.js';
import { callsOf } from '../core/chat/message.js';
import type { Prompt } from '../core/chat/prompt.js';
import { checkOptions, TEXT, WAIT } from '../core/internal/options.js';
import type { Observable } from '../core/internal/rxjs.js';
import { ScriptedChatModel, wordsIn, type ScriptedParts } from './scripted-chat-model.js';
import { offlineAnswer } from './offline-answer.js';

/** Options of an {@link OfflineChatModel}. */
export interface OfflineChatModelOptions {
  /** Name of the model in responses. @default 'offline' */
  readonly model?: string;
  /** Milliseconds before each event of a stream and before a response, >= 0. @default 0 */
  readonly delay?: number;
}

/**
 * A chat model without a network, for first steps, demonstrations and tests. It calls the tools
 * that match the question and answers with their results, see {@link offlineAnswer}; the same
 * prompt gives the same answer. Usage is an estimate: four characters of JSON are a token.
 */
export class OfflineChatModel implements ChatModel {
  readonly defaultOptions: ChatOptions;
  private readonly delay: number;

  /** @throws {@link InvalidArgumentError} if the delay is out of range */
  constructor(options: OfflineChatModelOptions = {}) {
    checkOptions('OfflineChatModel', options, { model: TEXT, delay: WAIT });
    const { model = 'offline', delay = 0 } = options;
    this.defaultOptions = { model };
    this.delay = delay;
  }

  call(prompt: Prompt, run?: ModelRun): Promise<ChatResponse> {
    return this.scripted().call(prompt, run);
  }

  stream(prompt: Prompt, run?: ModelRun): Observable<ChatEvent> {
    return this.scripted().stream(prompt, run);
  }

  /** A model for one run, since it keeps its prompts. */
  private scripted(): ScriptedChatModel {
    return new ScriptedChatModel((prompt) => this.answer(prompt));
  }

  private answer({ messages, options }: Prompt): ScriptedParts {
    const { tools: offered = [], model, ...rest } = withModelDefaults(this.defaultOptions, options);
    const tools = offered.map(({ definition }) => definition);
    const answer = offlineAnswer({ ...rest, messages, tools });
    const [inputTokens, outputTokens] = [tokensOf([messages, tools]), tokensOf(answer)];
    const earlier = messages.flatMap(callsOf).length;
    return {
      ...(answer.text !== null && { text: answer.text }),
      toolCalls: answer.toolCalls.map(({ name, args }, at) => ({
        id: `call_${earlier + at + 1}`, // a small number: the chain makes it unique in the conversation
        name,
        deltas: wordsIn(JSON.stringify(args)),
      })),
      usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
      ...(model !== undefined && { model }),
      delay: this.delay,
    };
  }
}

/** Estimated tokens of JSON; media are not counted. */
function tokensOf(value: unknown): number {
  const text = JSON.stringify(value, (_key, item: unknown) =>
    item instanceof Uint8Array ? '' : item,
  );
  return tokensOfLength(text.length);
}
