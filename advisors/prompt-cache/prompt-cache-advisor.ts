import { callsOf } from '../../src/core/chat/message.js';
import {
  AdvisorOrder,
  type Advisor,
  type AdvisorNeighbours,
  type AroundChain,
  type Hazards,
  type InspectedState,
  type Next,
} from '../../src/core/advisor/advisor.js';
import { placeOf, type AdvisorPlace } from '../../src/core/advisor/advisor-place.js';
import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import type { ChatClientResponse } from '../../src/core/advisor/chat-client-response.js';
import { inspectedState } from '../../src/core/advisor/inspected-state.js';
import { AnsweredRequest } from '../../src/core/advisor/run-tools.js';
import {
  frozenOptions,
  PROMPT_CACHE,
  type ChatOptions,
  type PromptCache,
} from '../../src/core/chat/chat-options.js';
import type { ChatResponse } from '../../src/core/chat/chat-response.js';
import { CONVERSATION_ID, RunSlot } from '../../src/core/chat/context.js';
import { memoize } from '../../src/core/internal/memoize.js';
import { integer } from '../../src/core/internal/options.js';
import { findBreak, type PromptCacheBreak } from './cache-break.js';
import { prefixOf } from './prefix.js';
import { SentPrefix } from './sent-prefix.js';

declare module '../../src/core/chat/chat-event.js' {
  interface CustomEvents {
    /** A request does not begin like the one before it, so that the provider reads it again. */
    'prompt-cache-break': PromptCacheBreak;
  }
}

/** Options of a {@link PromptCacheAdvisor}. */
export interface PromptCacheAdvisorOptions extends AdvisorPlace {
  /**
   * Parts that the provider caches, and for how long, unless the request has the option
   * `promptCache`; `{}` for none. Writing costs more than reading: on Anthropic 1.25 times the price
   * of input for 5 minutes, twice the price for an hour.
   * @default { tools: '5m', system: '5m', messages: '5m' }
   */
  readonly marks?: PromptCache | undefined;
  /**
   * Estimated number of tokens, >= 0, from which on a request is marked, and a loss is reported:
   * providers cache no shorter one. @default 1_024
   */
  readonly minTokens?: number | undefined;
  /**
   * Maximum number of conversations, >= 0, whose last request is remembered, as hashes, for their next
   * turn; 0 compares the iterations of a turn alone. @default 1_000
   */
  readonly conversations?: number | undefined;
  /** Position, within the tool loop. @default AdvisorOrder.PROMPT_CACHE */
  readonly order?: number | undefined;
}

const NAME = 'PromptCacheAdvisor';
const RULES = { marks: PROMPT_CACHE, minTokens: integer(0), conversations: integer(0) };
const MARKS: PromptCache = { tools: '5m', system: '5m', messages: '5m' };

/** The last requests that do not extend one another, the latest first: the cache has them all. */
type Sent = readonly SentPrefix[];
const NONE: Sent = [];
const MAX_SENT = 4;

/**
 * Marks what the provider caches, and reports when a request breaks the prefix that the one before it
 * has left in the cache: the first difference, the advisor that caused it, and the tokens that it costs.
 */
export class PromptCacheAdvisor implements Advisor {
  readonly name: string;
  readonly order: number;
  private readonly minTokens: number;
  private readonly maxConversations: number;
  private readonly marked: (options: ChatOptions) => ChatOptions;
  private readonly sent = new RunSlot<Sent>();
  /** A cache: what is forgotten is not compared with the next turn. */
  private readonly conversations = new Map<string, Sent>();
  /** @internal As they were given, for inspectors. */
  readonly options: PromptCacheAdvisorOptions;

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(options: PromptCacheAdvisorOptions = {}) {
    this.options = options;
    const place = { name: 'prompt-cache', order: AdvisorOrder.PROMPT_CACHE };
    ({ name: this.name, order: this.order } = placeOf(NAME, options, RULES, place));
    this.minTokens = options.minTokens ?? 1_024;
    this.maxConversations = options.conversations ?? 1_000;
    const promptCache = options.marks ?? MARKS;
    this.marked = memoize((own) => frozenOptions({ ...own, promptCache }));
  }

  hazards({ isLeftOfLoop }: AdvisorNeighbours): Hazards {
    return [
      isLeftOfLoop &&
        `"${this.name}" compares model calls left of the tool loop: it sees one of each turn; give it an order above TOOL_CALLING`,
    ];
  }

  async around(
    request: ChatClientRequest,
    next: Next,
    chain: AroundChain,
  ): Promise<ChatClientResponse> {
    const { run } = request;
    const before = run.answered;
    const response = await next(this.mark(request));
    const answered = AnsweredRequest.of(run);
    // the request as the model received it; another advisor may have answered
    if (answered && answered !== before) this.compare(answered.request, answered.response, chain);
    return response;
  }

  /** The latest `requests` that the provider may have in its cache, the last one first. */
  inspect(request: ChatClientRequest): InspectedState {
    const { run, context } = request;
    const id = context.get(CONVERSATION_ID);
    const sent = this.sent.get(run) ?? (id === undefined ? NONE : this.recall(id));
    const requests = sent.map(({ prefix, cachedTokens }) => {
      const { model, tokens, tools, messages } = prefix;
      return { model, tokens, cachedTokens, tools: tools.length, messages: messages.length };
    });
    return inspectedState({ requests });
  }

  private mark(request: ChatClientRequest): ChatClientRequest {
    const { prompt } = request;
    if (prompt.options.promptCache || prefixOf(request).tokens < this.minTokens) return request;
    return request.withPrompt(prompt.replaceOptions(this.marked(prompt.options)));
  }

  private compare(
    request: ChatClientRequest,
    { usage, message }: ChatResponse,
    { advisors, emit }: AroundChain,
  ): void {
    const { run } = request;
    const id = run.parent ? undefined : request.context.get(CONVERSATION_ID);
    const earlier = this.sent.get(run) ?? (id === undefined ? NONE : this.recall(id));
    const { cachedInputTokens: cachedNow, cacheWriteTokens: written = 0 } = usage ?? {};
    const now = new SentPrefix(request, cachedNow === undefined ? undefined : cachedNow + written);
    const breakOf = (before: SentPrefix) => {
      const found = findBreak(before, now, advisors);
      return found && found.lostTokens >= this.minTokens ? found : undefined;
    };
    const continued = earlier.find((each) => !breakOf(each));
    const before = earlier.find(({ prefix }) => prefix.model === now.prefix.model) ?? earlier[0];
    const found = continued || !before ? undefined : breakOf(before);
    if (found) emit({ type: 'custom', name: 'prompt-cache-break', data: { ...found, cachedNow } });
    const others = earlier.filter((each) => each !== continued).slice(0, MAX_SENT - 1);
    const sent = this.sent.set(run, [now, ...others]);
    if (callsOf(message).length > 0) return;
    for (const each of sent) each.settle();
    if (id !== undefined && this.maxConversations > 0) this.remember(id, sent);
  }

  private recall(id: string): Sent {
    return this.conversations.get(id) ?? NONE;
  }

  /** At the end of a turn: of a turn that runs at the same time, or fails, nothing continues. */
  private remember(id: string, sent: Sent): void {
    const { conversations } = this;
    conversations.delete(id); // the oldest one is the first
    conversations.set(id, sent);
    for (const [oldest] of conversations) {
      if (conversations.size <= this.maxConversations) return;
      conversations.delete(oldest);
    }
  }
}
