import {
  AdvisorOrder,
  type Advisor,
  type AdvisorChain,
  type Next,
} from '../src/advisor/advisor.js';
import type { ChatClientRequest } from '../src/advisor/chat-client-request.js';
import type { ChatClientResponse } from '../src/advisor/chat-client-response.js';
import { sentRequest } from '../src/advisor/sent-request.js';
import { ContextKey } from '../src/chat/context.js';
import type { Message } from '../src/chat/message.js';
import { modelCallError } from '../src/chat/run-record.js';
import { InvalidArgumentError } from '../src/errors.js';
import { hasCode } from '../src/errors/advisor-chain-error.js';
import type { MemoryWriteError } from '../src/memory/memory-error.js';
import { mayGoOn, memoryOfTurn, type TurnMemory } from '../src/durable/recorded-memory.js';
import { notify } from '../src/internal/notify.js';
import {
  BOOLEAN,
  checkOption,
  checkOptions,
  FINITE,
  FUNCTION,
  hasMethods,
  isPlainObject,
  oneOf,
  rule,
} from '../src/internal/options.js';
import { withSignalOf } from '../src/internal/signal.js';
import { conversationIdOf } from '../src/memory/chat-memory-repository.js';
import type { AddOptions, ChatMemory, MemorySnapshot } from '../src/memory/chat-memory.js';
import { repairHistory, withHistory } from '../src/memory/history.js';
import { checkQuestion, newMessagesOf, withoutCalls } from '../src/memory/question.js';
import { answerMessages, partialTurn, turnMessages } from '../src/memory/turn-messages.js';
import { PartialText } from '../src/memory/partial-text.js';
import { toReadError, toWriteError } from '../src/memory/write-outcome.js';

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
   * with open calls, so that it can go on. @default false
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
const CHAT_MEMORY = rule(
  'a ChatMemory',
  (value) =>
    hasMethods(value, ['load', 'add']) && isPlainObject((value as ChatMemory).capabilities),
);
const RULES = {
  order: FINITE,
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
    checkOption(WHERE, 'chatMemory', options?.chatMemory, CHAT_MEMORY);
    checkOptions(WHERE, options, RULES);
    if (options.storeToolMessages && !this.storesToolMessages)
      throw new InvalidArgumentError(
        `${WHERE}: storeToolMessages needs a store that keeps tool messages; this store drops them`,
      );
    this.order = options.order ?? AdvisorOrder.MEMORY;
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
    const loop = advisors.findIndex((advisor) => advisor.role === 'tool-loop');
    return new MemoryTurn(this.options, request, loop < advisors.indexOf(this)).runTurn(next);
  }
}

/** Inside the tool loop: version of the conversation when the turn began, for later iterations. */
const TURN_START_VERSION = new ContextKey<number | undefined>('advisor-chain.chat_memory_began_at');

/** One run of the advisor: a turn, or inside the tool loop an iteration. */
class MemoryTurn {
  private readonly conversationId: string;
  private readonly memory: TurnMemory;
  /** New messages of the request, with tool calls that it brings and their results. */
  private added: readonly Message[] = [];
  private readonly partial = new PartialText();

  constructor(
    private readonly options: MessageChatMemoryAdvisorOptions,
    private readonly request: ChatClientRequest,
    private readonly isInside: boolean,
  ) {
    this.conversationId = conversationIdOf(request.context, WHERE);
    this.memory = memoryOfTurn(options.chatMemory, request);
    checkQuestion(request.prompt.messages, WHERE);
  }

  async runTurn(next: Next): Promise<ChatClientResponse> {
    const { request, options, isInside } = this;
    const { version, messages } = await this.loadSnapshot();
    const prompt = withHistory(messages, request.prompt.messages);
    const repaired = options.repairHistory === false ? prompt : repairHistory(prompt);
    // a later iteration has the calls of the ones before
    const known = request.context.has(TURN_START_VERSION) ? request.prompt.messages : messages;
    this.added = newMessagesOf(request.prompt.messages, known, repaired);
    let response: ChatClientResponse;
    try {
      const onEvent = options.onIncomplete === 'keep-partial' ? this.partial.record : undefined;
      response = await next(request.withMessages(repaired), onEvent);
    } catch (error) {
      await this.storePartialTurn(error);
      throw error;
    }
    await this.storeAnswer(response, version, repaired);
    return isInside && !request.context.has(TURN_START_VERSION)
      ? response.withContext(TURN_START_VERSION, version)
      : response;
  }

  private async loadSnapshot(): Promise<MemorySnapshot> {
    const { context, turnId } = this.request;
    const startVersion = context.get(TURN_START_VERSION);
    const running = startVersion === undefined ? undefined : { turnId, startVersion };
    try {
      const wait = withSignalOf({}, this.request);
      return await this.memory.load(this.conversationId, running, wait);
    } catch (cause) {
      throw toReadError(cause, this.conversationId);
    }
  }

  private storeAnswer(
    response: ChatClientResponse,
    version: number,
    sent: readonly Message[],
  ): Promise<void> {
    const { isInside, request } = this;
    const { chatMemory, storeToolMessages } = this.options;
    // a turn with open calls goes on in a later request, which has to see all of it
    const isPaused = response.hasToolCalls() && chatMemory.capabilities.storesToolMessages;
    const withTools = !isInside && (storeToolMessages === true || isPaused);
    const added = this.withoutKnown(sentRequest(request, response.context).added);
    const before = turnMessages(request.run, sent, added, withTools);
    const answer = answerMessages(response, isInside || isPaused);
    return this.storeTurn([...this.question(withTools), ...before, ...answer], response, version);
  }

  private question(withTools: boolean | undefined): readonly Message[] {
    return withTools || this.isInside ? this.added : withoutCalls(this.added);
  }

  /** Those of the added messages that the request of this advisor did not have. */
  private withoutKnown(added: readonly Message[]): readonly Message[] {
    return added.filter((message) => !this.request.added.includes(message));
  }

  private async storeTurn(
    turn: readonly Message[],
    response?: ChatClientResponse,
    version?: number,
  ): Promise<void> {
    const { onConflict, onIncomplete } = this.options;
    const { turnId, run } = this.request;
    const write: AddOptions = {
      turnId,
      writeId: response && this.isWholeTurn() ? turnId : undefined,
      expectedVersion: onConflict === 'fail' ? version : undefined,
      outlivesAbort: onIncomplete === 'keep-partial',
    };
    // the next turn goes to the first model again, which cannot read data of others
    const messages = run.authors.fitMessages(turn);
    try {
      await this.memory.add(this.conversationId, [...messages], withSignalOf(write, this.request));
      run.stored.push({ conversationId: this.conversationId, messages });
    } catch (error) {
      if (response && hasCode(error, 'cancelled')) throw error;
      throw toWriteError(error, this.conversationId, { turnId, response });
    }
  }

  /**
   * True for the only write of a turn, which has the id of the turn, so that a turn that runs again
   * is stored once. The other writes of a turn must not be taken for repetitions of this one.
   */
  private isWholeTurn(): boolean {
    const { isInside, conversationId, request, added } = this;
    const isStored = request.run.stored.some((each) => each.conversationId === conversationId);
    return !isInside && !isStored && added[0]?.role !== 'tool';
  }

  /** Reports its own failure to `onWriteError`: the caller gets the error that ended the turn. */
  private async storePartialTurn(reason: unknown): Promise<void> {
    const { onIncomplete, storeToolMessages } = this.options;
    const { run } = this.request;
    if (onIncomplete !== 'keep-partial' || mayGoOn(run, reason)) return;
    const text = this.partial.text || modelCallError(reason)?.partialText || '';
    const added = this.withoutKnown(run.added);
    const withTools = storeToolMessages === true && !this.isInside;
    const turn = partialTurn(this.question(storeToolMessages), added, run, text, withTools);
    try {
      if (turn.length > 0) await this.storeTurn(turn);
    } catch (error) {
      notify(() => this.options.onWriteError?.(error as MemoryWriteError));
    }
  }
}
