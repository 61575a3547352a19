import {
  AdvisorOrder,
  type Advisor,
  type AdvisorChain,
  type AdvisorNeighbours,
  type Around,
  type AroundChain,
  type Hazards,
  type InspectedState,
  type Next,
} from '../../src/core/advisor/advisor.js';
import { placeOf, type AdvisorPlace } from '../../src/core/advisor/advisor-place.js';
import { runAround } from '../../src/core/advisor/around.js';
import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import type { ChatClientResponse } from '../../src/core/advisor/chat-client-response.js';
import { inspectedState } from '../../src/core/advisor/inspected-state.js';
import type { ChatEvent } from '../../src/core/chat/chat-event.js';
import { CONVERSATION_ID } from '../../src/core/chat/context.js';
import { oneOf, rule, TIMEOUT, withMethods } from '../../src/core/internal/options.js';
import type { Observable } from '../../src/core/internal/rxjs.js';
import { observeWait } from '../../src/core/observation/observe-wait.js';
import { InMemoryKeyValueStore } from '../../src/stores/key-value/in-memory-key-value-store.js';
import type { KeyValueStore } from '../../src/stores/key-value/key-value-store.js';
import { ConversationLocks, type LockSettings } from './conversation-locks.js';
import { checkConversationId } from '../../src/stores/chat-memory/chat-memory-repository.js';

/** Options of a {@link ConversationLockAdvisor}. */
export interface ConversationLockAdvisorOptions extends AdvisorPlace {
  /**
   * Place of the locks; share it between processes, and between clients of one process.
   * @default an `InMemoryKeyValueStore` of this advisor
   */
  readonly store?: KeyValueStore | undefined;
  /**
   * Behaviour of a turn while another one of its conversation is running: wait for its end, fail with a
   * {@link ConversationLockError}, or cancel it and run in its place. @default 'wait'
   */
  readonly onBusy?: 'wait' | 'reject' | 'interrupt' | undefined;
  /** Maximum time to wait in milliseconds, > 0, or `Infinity`. @default 300_000 */
  readonly waitTimeout?: number | undefined;
  /**
   * Milliseconds, 100 to 3_600_000, after which the lock of a process that has crashed is free; a
   * running turn renews it. @default 30_000
   */
  readonly lease?: number | undefined;
  /** Position, left of the memory. @default AdvisorOrder.LOCK */
  readonly order?: number | undefined;
}

declare module '../../src/core/chat/chat-event.js' {
  interface CustomEvents {
    /** The turn waits for another one of its conversation. */
    'conversation-wait': { readonly conversationId: string };
  }
}

const WHERE = 'ConversationLockAdvisor';
const RULES = {
  store: withMethods('a KeyValueStore', 'get', 'set', 'delete', 'add'),
  onBusy: oneOf('wait', 'reject', 'interrupt'),
  waitTimeout: TIMEOUT,
  lease: rule(
    'a number of milliseconds from 100 to 3_600_000',
    (value) => typeof value === 'number' && value >= 100 && value <= 3_600_000,
  ),
};

/**
 * Runs one turn of a conversation at a time, in this process and in all that share its store. A
 * request without a conversation id has no lock, and a turn within a turn of its conversation runs
 * under the lock of that one.
 */
export class ConversationLockAdvisor implements Advisor {
  readonly name: string;
  readonly order: number;
  /** Stands right of the memory, which stores nothing of a turn that has lost its lock. */
  readonly parts: readonly Advisor[];
  private readonly settings: LockSettings;
  private readonly locks: ConversationLocks;
  /** @internal As they were given, for inspectors. */
  readonly options: ConversationLockAdvisorOptions;

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(options: ConversationLockAdvisorOptions = {}) {
    this.options = options;
    const place = { name: 'conversation-lock', order: AdvisorOrder.LOCK };
    ({ name: this.name, order: this.order } = placeOf(WHERE, options, RULES, place));
    const { onBusy = 'wait', waitTimeout = 300_000, lease = 30_000 } = options;
    const store = options.store ?? new InMemoryKeyValueStore();
    this.settings = { store, onBusy, waitTimeout, lease };
    this.locks = ConversationLocks.of(store);
    const advise: Advisor['advise'] = (request, chain) => this.verify(request, chain);
    this.parts = [{ name: `${this.name}-check`, order: AdvisorOrder.TOOL_CALLING - 1, advise }];
  }

  hazards({ memoryLeft, isInsideLoop, isDurable }: AdvisorNeighbours): Hazards {
    return [
      memoryLeft === undefined
        ? isInsideLoop &&
          `"${this.name}" locks the conversation inside the tool loop: other turns run between its model calls; give it an order below TOOL_CALLING`
        : `"${memoryLeft}" is left of "${this.name}": a turn reads the conversation before it has the lock; give the lock a lower order`,
      isDurable &&
        `"${this.name}" locks the conversation in a durable turn: one that runs again waits until the lease of the ended process is over; use the queue of the engine`,
    ];
  }

  /** A request without a conversation id passes; the others run one after the other. */
  advise(request: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent> {
    if (request.context.get(CONVERSATION_ID) === undefined) return chain.next(request);
    const around: Around = (locked, next, { emit }) => this.runLocked(locked, next, emit);
    return runAround({ name: this.name, around }, request, chain);
  }

  /** The lock of the conversation: if the turn, or any turn, has it, and how many run or wait. */
  async inspect(request: ChatClientRequest): Promise<InspectedState> {
    const { context, run } = request;
    const id = context.get(CONVERSATION_ID);
    return id === undefined ? {} : inspectedState(await this.locks.inspect(this.settings, run, id));
  }

  private async runLocked(
    request: ChatClientRequest,
    next: Next,
    emit: AroundChain['emit'],
  ): Promise<ChatClientResponse> {
    const { run, cancellation } = request;
    const conversationId = request.context.get(CONVERSATION_ID);
    checkConversationId(conversationId, WHERE);
    const outer = this.locks.heldBy(run, conversationId);
    if (outer && !outer.turn.isEnding) return next(request);
    const lock = await observeWait(request.observation, 'conversation', (begin) => {
      const onWait = (): void => {
        begin();
        emit({ type: 'custom', name: 'conversation-wait', data: { conversationId } });
      };
      return this.locks.acquire(this.settings, { conversationId, run, cancellation, onWait });
    });
    return lock.run(() => next(request), run, this.settings.lease);
  }

  /** Lets an answer pass to the memory while the turn has its lock. */
  private verify(request: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent> {
    const conversationId = request.context.get(CONVERSATION_ID);
    if (conversationId === undefined) return chain.next(request);
    const around: Around = async (checked, next) => {
      const response = await next(checked);
      await this.locks.heldBy(checked.run, conversationId)?.verify();
      return response;
    };
    return runAround({ name: `${this.name}-check`, around }, request, chain);
  }
}
