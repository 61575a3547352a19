import { randomId } from '../chat/context.js';
import { PausedStateError } from '../errors/paused-state-error.js';
import { parseJson } from '../internal/json.js';
import type { KeyValueStore } from '../key-value/key-value-store.js';
import { setOnce } from '../key-value/lease.js';

/** The record of a state that has been used. */
interface Use {
  /** Differs from that of any other use. */
  readonly token: string;
  /** In milliseconds since 1970. */
  readonly at: number;
  /** Names of people, as their decisions have them. */
  readonly by: readonly string[];
  /** The state in which the turn has come to rest again; undefined while it runs and at its end. */
  readonly next?: string;
}

/** Longer than clocks of processes differ. */
const MARGIN = 3_600_000;

/** Lets each state be used once, by one process. */
export class UsedStates {
  constructor(private readonly store: KeyValueStore) {}

  /**
   * The state in which the turn of a used one has come to rest; undefined for one that is not used.
   * @throws {@link PausedStateError} `used` if its turn runs or has ended, the error of the store
   */
  async nextOf(id: string): Promise<string | undefined> {
    const record = await this.store.get(keyOf(id));
    if (record === undefined) return undefined;
    const { next, at, by } = parseJson(record) as unknown as Use;
    if (next !== undefined) return next;
    const people = by.length > 0 ? `, decided by ${by.join(', ')}` : '';
    throw new PausedStateError(
      `The state was used at ${new Date(at).toISOString()}${people}: its turn goes on, or has ended.`,
      'used',
    );
  }

  /**
   * Uses a state; undefined if another process has done so in the meantime.
   * @throws the error of the store: then the state is not used, unless the store cannot be reached
   */
  async claim(
    id: string,
    expiresAt: number,
    by: readonly string[],
  ): Promise<UsedState | undefined> {
    const use: Use = { token: randomId(), at: Date.now(), by };
    const ttl = Math.max(expiresAt - Date.now(), 0) + MARGIN;
    const value = JSON.stringify(use);
    try {
      const isOwn = await setOnce(this.store, keyOf(id), value, { ttl, expected: null });
      return isOwn ? new UsedState(this.store, keyOf(id), use, ttl) : undefined;
    } catch (error) {
      // the store may have written it all the same
      await this.store.delete(keyOf(id), { expected: value }).catch(() => undefined);
      throw error;
    }
  }
}

/** A state that is used by this process. */
export class UsedState {
  constructor(
    private readonly store: KeyValueStore,
    private readonly key: string,
    private readonly use: Use,
    private readonly ttl: number,
  ) {}

  /** Lets the turn go on from its next state, also for callers with only this one. */
  async replace(next: string): Promise<void> {
    const value = JSON.stringify({ ...this.use, next });
    try {
      await this.store.set(this.key, value, {
        ttl: this.ttl,
        expected: JSON.stringify(this.use),
      });
    } catch {
      // the caller of the turn gets the next state; only this one cannot be repeated
    }
  }
}

const keyOf = (id: string): string => `paused-turn ${id}`;
