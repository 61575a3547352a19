import {
  AdvisorOrder,
  type Advisor,
  type AdvisorChain,
  type InspectedState,
  type Next,
} from '../../src/core/advisor/advisor.js';
import { orderOf } from '../../src/core/advisor/advisor-place.js';
import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import type { ChatClientResponse } from '../../src/core/advisor/chat-client-response.js';
import { inspectedState } from '../../src/core/advisor/inspected-state.js';
import { CONVERSATION_ID } from '../../src/core/chat/context.js';
import { InvalidArgumentError, type MemoryWriteError } from '../../src/core/errors/errors.js';
import {
  BOOLEAN,
  FUNCTION,
  hasMethods,
  isPlainObject,
  oneOf,
  required,
  rule,
} from '../../src/core/internal/options.js';
import { conversationIdOf } from '../../src/stores/chat-memory/chat-memory-repository.js';
import type { ChatMemory } from '../../src/stores/chat-memory/chat-memory.js';
import { MemoryTurn } from './memory-turn.js';
import { checkQuestion } from './question.js';

/** Options of a {@link MessageChatMemoryAdvisor}. */
export interface MessageChatMemoryAdvisorOptions {
  readonly chatMemory: ChatMemory;
  /**
   * Above `AdvisorOrder.TOOL_CALLING`, inside the tool loop, every iteration is stored.
   * @default AdvisorOrder.MEMORY
   */
  readonly order?: number | undefined;
  /**
   * Stores tool calls and their results too; always on inside the loop, and for a turn that ends
   * with open calls, so that it can continue. @default false
   */
  readonly storeToolMessages?: boolean | undefined;
  /**
   * Handling of a turn that fails or is cancelled: store nothing, or the partial answer with
   * `incomplete: true` in its metadata. A turn without any text or tool result is never stored.
   * @default 'discard'
   */
  readonly onIncomplete?: 'discard' | 'keep-partial' | undefined;
  /**
   * Handling of a turn that was stored concurrently: keep both turns, or fail with a
   * {@link MemoryWriteError} that has the answer. @default 'append'
   */
  readonly onConflict?: 'append' | 'fail' | undefined;
  /**
   * Repairs a history that providers would reject; stored messages are unchanged. If false, such a
   * history ends the turn with a `ChainError` before a model is called. @default true
   */
  readonly repairHistory?: boolean | undefined;
  /** Listener for an incomplete turn that could not be stored. @default none */
  readonly onWriteError?: ((error: MemoryWriteError) => void) | undefined;
}

const WHERE = 'MessageChatMemoryAdvisor';
/** Maximum number of stored messages that an inspector gets, the newest ones. */
const MAX_INSPECTED = 1_000;
const CHAT_MEMORY = rule(
  'a ChatMemory, such as new MessageWindowChatMemory({ repository })',
  (value) =>
    hasMethods(value, ['load', 'add']) && isPlainObject((value as ChatMemory).capabilities),
);
const RULES = {
  chatMemory: required(CHAT_MEMORY),
  onIncomplete: oneOf('discard', 'keep-partial'),
  onConflict: oneOf('append', 'fail'),
  storeToolMessages: BOOLEAN,
  repairHistory: BOOLEAN,
  onWriteError: FUNCTION,
};

/**
 * Adds the conversation `CONVERSATION_ID` to each request and stores each successful turn, the user
 * messages and the answer, in one write.
 */
export class MessageChatMemoryAdvisor implements Advisor {
  readonly name = 'chat-memory';
  readonly role = 'chat-memory';
  readonly order: number;

  /** @throws {@link InvalidArgumentError} if an option breaks its rule */
  constructor(private readonly options: MessageChatMemoryAdvisorOptions) {
    this.order = orderOf(WHERE, options, RULES, AdvisorOrder.MEMORY);
    if (options.storeToolMessages && !this.storesToolMessages)
      throw new InvalidArgumentError(
        `${WHERE}: storeToolMessages needs a store that keeps tool messages; this store drops them`,
      );
  }

  /** True if the store keeps tool calls and their results. */
  get storesToolMessages(): boolean {
    return this.options.chatMemory.capabilities.storesToolMessages;
  }

  async around(
    request: ChatClientRequest,
    next: Next,
    { advisors }: AdvisorChain,
  ): Promise<ChatClientResponse> {
    const conversationId = conversationIdOf(request.context, WHERE);
    checkQuestion(request.prompt.messages, WHERE);
    const loop = advisors.findIndex((advisor) => advisor.role === 'tool-loop');
    const isInside = loop < advisors.indexOf(this);
    return new MemoryTurn(this.options, request, conversationId, isInside).run(next);
  }

  /**
   * The `view`, messages that the model would get in the next turn, and the stored `transcript`: the
   * newest 1,000 messages, also if a summary covers them.
   */
  async inspect({ context }: Pick<ChatClientRequest, 'context'>): Promise<InspectedState> {
    const id = context.get(CONVERSATION_ID);
    if (id === undefined) return {};
    const { chatMemory } = this.options;
    const { messages: view, version } = await chatMemory.load(id);
    const log = await chatMemory.log?.(id, { limit: MAX_INSPECTED });
    const transcript = log?.messages.map(({ message, ...stored }) => ({ ...message, ...stored }));
    return inspectedState({ conversationId: id, version, view, transcript });
  }
}
