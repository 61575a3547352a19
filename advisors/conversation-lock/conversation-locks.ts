import type { RunRecord } from '../../src/core/chat/run-record.js';
import { RunSlot } from '../../src/core/chat/context.js';
import { backoffDelay } from '../../src/core/internal/backoff.js';
import type { Cancellable } from '../../src/core/internal/cancellation.js';
import type { KeyValueStore } from '../../src/stores/key-value/key-value-store.js';
import { Lease } from '../../src/stores/key-value/lease.js';
import { ConversationLockError } from '../../src/core/errors/errors.js';
import { endSoon, HeldLock } from './held-lock.js';
import { LockedTurn } from './locked-turn.js';
import { TurnQueue } from './turn-queue.js';

/** Settings of turns that wait for each other. */
export interface LockSettings {
  readonly store: KeyValueStore;
  readonly onBusy: 'wait' | 'reject' | 'interrupt';
  /** Maximum time to wait, in milliseconds. */
  readonly waitTimeout: number;
  /** Lifetime of a lock without renewal, in milliseconds. */
  readonly lease: number;
}

/** A turn that asks for the lock of its conversation. */
export interface LockRequest {
  readonly conversationId: string;
  readonly run: RunRecord;
  readonly cancellation: Cancellable;
  /** Called if it has to wait. */
  readonly onWait: () => void;
}

/** Milliseconds between two attempts while another process has the lock; random, so that processes do not ask in step. */
const BACKOFF = { first: 50, max: 1_000, jitter: 0.5 };
/** Maximum milliseconds until a turn learns that another process interrupts it. */
const INTERRUPT_INTERVAL = 1_000;

const locksOfStore = new WeakMap<KeyValueStore, ConversationLocks>();

/** The locks of one store; turns of this process queue in order of arrival. */
export class ConversationLocks {
  private readonly turns = new TurnQueue();
  private readonly held = new RunSlot<Map<string, HeldLock>>();

  /** The locks of a store, the same for all advisors with this store. */
  static of(store: KeyValueStore): ConversationLocks {
    const locks = locksOfStore.get(store) ?? new ConversationLocks();
    locksOfStore.set(store, locks);
    return locks;
  }

  /** The lock that a run, or one around it, holds, or is about to release. */
  heldBy(run: RunRecord, conversationId: string): HeldLock | undefined {
    for (let each: RunRecord | undefined = run; each; each = each.parent) {
      const lock = this.held.get(each)?.get(conversationId);
      if (lock) return lock;
    }
    return undefined;
  }

  /** The state of a conversation for an inspector: turns count if they are of this process. */
  async inspect({ store }: LockSettings, run: RunRecord, conversationId: string) {
    const isLocked = (await store.get(lockKey(conversationId))) !== undefined;
    const turns = this.turns.running(conversationId).length;
    return { isLocked, isHeld: this.heldBy(run, conversationId) !== undefined, turns };
  }

  /**
   * Waits for the lock of a conversation.
   * @throws {@link ConversationLockError} if it may not wait, or not any longer; {@link CancelledError}
   */
  async acquire(settings: LockSettings, request: LockRequest): Promise<HeldLock> {
    const { conversationId, cancellation, run } = request;
    const turn = new LockedTurn(conversationId, cancellation);
    turn.limitWait(settings.waitTimeout);
    const remove = (): void => {
      turn.end();
      this.turns.remove(turn);
    };
    try {
      await this.queue(turn, settings, request);
    } catch (error) {
      remove();
      throw error;
    }
    const lease = leaseOf(turn, settings);
    try {
      await this.takeLease(turn, lease, settings, request);
    } catch (error) {
      run.track(endSoon(lease.abandon()).then(remove));
      throw error;
    }
    turn.stopWaiting();
    return this.hold(turn, lease, run, remove);
  }

  /** Waits for the turns of this process that came before. */
  private async queue(turn: LockedTurn, { onBusy }: LockSettings, { onWait }: LockRequest) {
    const running = this.turns.running(turn.conversationId);
    if (running.length > 0 && onBusy === 'reject') throw busyError(turn);
    if (onBusy === 'interrupt') for (const each of running) each.interrupt();
    const first = this.turns.add(turn);
    if (!first) return;
    onWait();
    await turn.until(first);
  }

  /** Asks the store until no other process has the lock. */
  private async takeLease(
    turn: LockedTurn,
    lease: Lease,
    { onBusy }: LockSettings,
    { onWait }: LockRequest,
  ): Promise<void> {
    for (let attempt = 0; !(await turn.until(lease.take())); attempt++) {
      if (onBusy === 'reject') throw busyError(turn);
      if (attempt === 0) onWait();
      if (onBusy === 'interrupt') await turn.until(lease.interruptHolder());
      await turn.pause(backoffDelay(attempt, BACKOFF));
    }
  }

  private hold(turn: LockedTurn, lease: Lease, run: RunRecord, remove: () => void): HeldLock {
    const ofRun = this.held.get(run) ?? this.held.set(run, new Map<string, HeldLock>());
    const lock = new HeldLock(turn, lease, () => {
      if (ofRun.get(turn.conversationId) === lock) ofRun.delete(turn.conversationId);
      remove();
    });
    ofRun.set(turn.conversationId, lock);
    return lock;
  }
}

const lockKey = (conversationId: string): string => `conversation-lock:${conversationId}`;

function leaseOf(turn: LockedTurn, { store, onBusy, lease: lifetime }: LockSettings): Lease {
  const { conversationId } = turn;
  const interval = onBusy === 'interrupt' ? INTERRUPT_INTERVAL : Infinity;
  const settings = {
    store,
    key: lockKey(conversationId),
    lifetime,
    interval: Math.min(lifetime / 3, interval),
  };
  return new Lease(settings, {
    interruptKey: `conversation-interrupt:${conversationId}`,
    onLost: (reason) => turn.lose(reason),
    onInterrupt: () => turn.interrupt(),
  });
}

function busyError({ conversationId }: LockedTurn): ConversationLockError {
  const problem = 'Another turn of the conversation is running';
  return new ConversationLockError(problem, conversationId, 'busy');
}
