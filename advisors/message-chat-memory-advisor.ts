import { AdvisorOrder } from '../src/advisor/advisor-order.js';
import type { Advisor, AdvisorChain } from '../src/advisor/advisor.js';
import { runAround, type Next } from '../src/advisor/around.js';
import type { ChatClientRequest } from '../src/advisor/chat-client-request.js';
import type { ChatClientResponse } from '../src/advisor/chat-client-response.js';
import type { ChatEvent } from '../src/chat/chat-event.js';
import { ContextKey, CONVERSATION_ID } from '../src/chat/context.js';
import { describe, type Message } from '../src/chat/message.js';
import { tell } from '../src/chat/tell.js';
import { InvalidArgumentError, MemoryReadError, MemoryWriteError, ModelCallError } from '../src/errors.js';
import { checkConversationId } from '../src/memory/chat-memory-repository.js';
import type { ChatMemory, Remembered } from '../src/memory/chat-memory.js';
import { newMessagesOf, withHistory } from '../src/memory/prompt-history.js';
import { repairHistory } from '../src/memory/repair-history.js';
import { answerOf, TurnRecorder } from '../src/memory/turn-recorder.js';
import { map, type Observable } from '../src/rxjs.js';

/** Options of a {@link MessageChatMemoryAdvisor}. */
export interface MessageChatMemoryAdvisorOptions {
  readonly chatMemory: ChatMemory;
  /** Above `AdvisorOrder.TOOL_CALLING` the advisor is inside the tool loop, and stores every iteration. @default AdvisorOrder.MEMORY */
  readonly order?: number | undefined;
  /** Whether the tool calls of a turn and their results are stored too; inside the tool loop they always are. @default false */
  readonly storeToolMessages?: boolean | undefined;
  /**
   * What is stored of a turn that fails or is cancelled: nothing, or what was said until then, marked with `incomplete: true` in the
   * metadata of the answer. A turn of which nothing was said is never stored. @default 'discard'
   */
  readonly onIncomplete?: 'discard' | 'keep-partial' | undefined;
  /**
   * What happens if another turn was stored since this one was begun: both are kept, or this one fails with a
   * {@link MemoryWriteError} that has its answer. @default 'append'
   */
  readonly onConflict?: 'append' | 'fail' | undefined;
  /** Whether a history that no provider would take is mended before it is sent; what is stored stays as it is. @default true */
  readonly repairHistory?: boolean | undefined;
  /** Told of an incomplete turn that could not be stored: its caller gets the error that ended it. @default nobody */
  readonly onWriteError?: ((error: MemoryWriteError) => void) | undefined;
}

/**
 * Reminds the model of the conversation, and remembers each turn in one write when it has succeeded: what the user said and the answer.
 * The conversation is the one of `CONVERSATION_ID`.
 */
export class MessageChatMemoryAdvisor implements Advisor {
  readonly name = 'chat-memory';
  readonly role = 'chat-memory';
  readonly order: number;
  private readonly options: MessageChatMemoryAdvisorOptions;

  /** @throws {@link InvalidArgumentError} if an option cannot be used */
  constructor(options: MessageChatMemoryAdvisorOptions) {
    const { chatMemory, order = AdvisorOrder.MEMORY, onIncomplete = 'discard', onConflict = 'append' } = options ?? {};
    check('chatMemory', chatMemory, 'a ChatMemory, with load, add and capabilities', isChatMemory(chatMemory));
    check('order', order, 'a finite number', Number.isFinite(order));
    check('onIncomplete', onIncomplete, "'discard' or 'keep-partial'", ['discard', 'keep-partial'].includes(onIncomplete));
    check('onConflict', onConflict, "'append' or 'fail'", ['append', 'fail'].includes(onConflict));
    for (const name of ['storeToolMessages', 'repairHistory'] as const)
      check(name, options[name], 'true or false', ['boolean', 'undefined'].includes(typeof options[name]));
    check('onWriteError', options.onWriteError, 'a function', ['function', 'undefined'].includes(typeof options.onWriteError));
    if (options.storeToolMessages && !chatMemory.capabilities.storesToolMessages)
      throw new InvalidArgumentError(
        'MessageChatMemoryAdvisor: storeToolMessages needs a store that keeps tool messages, this one does not',
      );
    this.order = order;
    this.options = options;
  }

  /** Whether tool calls and their results survive in the store. */
  get storesToolMessages(): boolean {
    return this.options.chatMemory.capabilities.storesToolMessages;
  }

  /** Asked by the chain for each subscription. */
  advise(request: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent> {
    const loop = chain.advisors.findIndex((advisor) => advisor.role === 'tool-loop');
    const isInside = loop < chain.advisors.indexOf(this);
    const turn = new MemoryTurn(this.options, request, isInside);
    return runAround({ name: this.name, around: (asked, next) => turn.run(asked, next) }, request, (asked) =>
      turn.record(chain.next(asked)),
    );
  }
}

/** Inside the tool loop: the version of the conversation when the turn began, for its later iterations. */
const BEGAN_AT = new ContextKey<number | undefined>('advisor-chain.chat_memory_began_at');

/** One run of the advisor: a turn, or an iteration of one. */
class MemoryTurn {
  private readonly conversationId: string;
  private readonly recorder: TurnRecorder | undefined;

  constructor(
    private readonly options: MessageChatMemoryAdvisorOptions,
    private readonly request: ChatClientRequest,
    private readonly isInside: boolean,
  ) {
    const id = request.context.get(CONVERSATION_ID);
    if (id === undefined)
      throw new InvalidArgumentError(
        'MessageChatMemoryAdvisor: the request has no conversation id; add .advisors((a) => a.param(CONVERSATION_ID, id)), with an id of its own for each conversation',
      );
    checkConversationId(id, 'MessageChatMemoryAdvisor');
    this.conversationId = id;
    const { storeToolMessages, onIncomplete } = options;
    if ((storeToolMessages && !isInside) || onIncomplete === 'keep-partial') this.recorder = new TurnRecorder();
  }

  /** Listens to the events only where something of them is to be stored. */
  record(events: Observable<ChatEvent>): Observable<ChatEvent> {
    const { recorder } = this;
    return recorder ? events.pipe(map((event) => (recorder.hear(event), event))) : events;
  }

  async run(request: ChatClientRequest, next: Next): Promise<ChatClientResponse> {
    const { version, messages } = await this.load();
    const said = newMessagesOf(request.prompt.messages);
    const prompt = withHistory(messages, request.prompt.messages);
    let response: ChatClientResponse;
    try {
      response = await next(request.withMessages(this.options.repairHistory === false ? prompt : repairHistory(prompt)));
    } catch (error) {
      await this.keepPartial(said, error);
      throw error;
    }
    await this.write([...said, ...this.toolMessages(), ...answerOf(response, this.isInside)], response, version);
    return this.isInside && !this.request.context.has(BEGAN_AT) ? response.withContext(BEGAN_AT, version) : response;
  }

  private async load(): Promise<Remembered> {
    const { chatMemory } = this.options;
    const since = this.request.context.get(BEGAN_AT);
    try {
      return await chatMemory.load(this.conversationId, since === undefined ? undefined : { turnId: this.request.turnId, since });
    } catch (cause) {
      if (cause instanceof InvalidArgumentError) throw cause;
      throw new MemoryReadError(`The conversation could not be read: ${reasonOf(cause)}. No model was asked.`, this.conversationId, {
        cause,
      });
    }
  }

  private toolMessages(): readonly Message[] {
    return this.options.storeToolMessages && !this.isInside ? (this.recorder?.toolMessages() ?? []) : [];
  }

  private async write(messages: readonly Message[], response: ChatClientResponse | undefined, version?: number): Promise<void> {
    const { chatMemory, onConflict } = this.options;
    const expectedVersion = onConflict === 'fail' ? version : undefined;
    try {
      await chatMemory.add(this.conversationId, messages, { turnId: this.request.turnId, expectedVersion });
    } catch (cause) {
      const message = `The turn could not be stored: ${reasonOf(cause)}.${response ? ' The answer is in `response`.' : ''}`;
      throw new MemoryWriteError(message, this.conversationId, response, { cause });
    }
  }

  /** The error that ended the turn is the one that its caller gets. */
  private async keepPartial(said: readonly Message[], reason: unknown): Promise<void> {
    if (this.options.onIncomplete !== 'keep-partial') return;
    const tools = this.toolMessages();
    const text = this.recorder?.partialText || (reason instanceof ModelCallError ? reason.partialText : undefined) || '';
    if (text.trim() === '' && tools.length === 0) return;
    try {
      await this.write([...said, ...tools, { role: 'assistant', text, toolCalls: [], metadata: { incomplete: true } }], undefined);
    } catch (error) {
      tell(() => this.options.onWriteError?.(error as MemoryWriteError));
    }
  }
}

/** Not every client throws errors that are made by `Error`. */
function reasonOf(cause: unknown): string {
  const { message } = (cause ?? {}) as { readonly message?: unknown };
  return typeof message === 'string' ? message : describe(cause);
}

function isChatMemory(value: Partial<ChatMemory> | undefined): boolean {
  return typeof value?.load === 'function' && typeof value.add === 'function' && typeof value.capabilities === 'object';
}

function check(option: string, value: unknown, rule: string, isRight: boolean): void {
  if (!isRight) throw new InvalidArgumentError(`MessageChatMemoryAdvisor: ${option} must be ${rule}, not ${describe(value)}`);
}
