import type { AssistantMessage, Metadata } from './message.js';
import type { Usage } from './usage.js';

/** One alternative of an answer. */
export interface Generation {
  readonly message: AssistantMessage;
  /** Why the model stopped, as the provider says it (`stop`, `tool_calls`, `length`, …); absent if it does not say. */
  readonly finishReason?: string;
  readonly metadata?: Metadata;
}

/** What the provider said about its rate limits; `…Reset` is its own text, such as `6m0s`. */
export interface RateLimit {
  readonly requestsLimit?: number;
  readonly requestsRemaining?: number;
  readonly requestsReset?: string;
  readonly tokensLimit?: number;
  readonly tokensRemaining?: number;
  readonly tokensReset?: string;
}

/** The fields of a {@link ChatResponse}. */
export interface ChatResponseFields {
  readonly generations: readonly Generation[];
  readonly usage?: Usage | undefined;
  readonly id?: string | undefined;
  readonly model?: string | undefined;
  readonly rateLimit?: RateLimit | undefined;
  /** Fields of the provider that have no place of their own. */
  readonly metadata?: Metadata | undefined;
}

const NO_MESSAGE: AssistantMessage = { role: 'assistant', text: null, toolCalls: [] };

/** A complete answer of a model. */
export class ChatResponse {
  readonly generations: readonly Generation[];
  readonly usage: Usage | undefined;
  readonly id: string | undefined;
  readonly model: string | undefined;
  readonly rateLimit: RateLimit | undefined;
  readonly metadata: Metadata | undefined;

  constructor(fields: ChatResponseFields) {
    this.generations = fields.generations;
    this.usage = fields.usage;
    this.id = fields.id;
    this.model = fields.model;
    this.rateLimit = fields.rateLimit;
    this.metadata = fields.metadata;
  }

  /** A response with one text, for advisors that answer by themselves. */
  static ofText(text: string, finishReason = 'stop'): ChatResponse {
    return new ChatResponse({ generations: [{ message: { role: 'assistant', text, toolCalls: [] }, finishReason }] });
  }

  /** The first generation. */
  get result(): Generation | undefined {
    return this.generations[0];
  }

  /** The message of the first generation; an empty one if there is none. */
  get message(): AssistantMessage {
    return this.result?.message ?? NO_MESSAGE;
  }

  /** The text of the first generation. */
  get text(): string | null {
    return this.message.text;
  }

  /** Why the first generation ended. */
  get finishReason(): string | undefined {
    return this.result?.finishReason;
  }

  /** Whether any generation asks for tools. */
  hasToolCalls(): boolean {
    return this.generations.some((generation) => generation.message.toolCalls.length > 0);
  }

  /** Whether any generation ended for one of these reasons; upper and lower case are the same. */
  hasFinishReason(...reasons: readonly string[]): boolean {
    const wanted = reasons.map((reason) => reason.toLowerCase());
    return this.generations.some((generation) => wanted.includes(generation.finishReason?.toLowerCase() ?? ''));
  }

  /** A copy with other fields. */
  with(fields: Partial<ChatResponseFields>): ChatResponse {
    return new ChatResponse({ ...this, ...fields });
  }
}
