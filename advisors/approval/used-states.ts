import { randomId } from '../../src/core/chat/context.js';
import { PausedStateError } from '../../src/core/errors/errors.js';
import { parseJson } from '../../src/core/internal/json.js';
import type { KeyValueStore } from '../../src/stores/key-value/key-value-store.js';
import { Lease, setOnce } from '../../src/stores/key-value/lease.js';

/** The record of a state that has been used. */
interface Use {
  /** No other use has the same. */
  readonly token: string;
  /** In milliseconds since 1970. */
  readonly at: number;
  /** End of the record, in milliseconds since 1970. */
  readonly until?: number;
  /** Names of people, as their decisions have them. */
  readonly by: readonly string[];
  /** True until its turn has ended or rests; the process that runs it holds a lease. */
  readonly isRunning?: boolean;
  /** The state in which the turn rests, or from which it continues if its process ends. */
  readonly next?: string;
}

/** Upper bound of clock skew between processes. */
const MARGIN = 3_600_000;

/** Lets each state be used once, by one process. */
export class UsedStates {
  /** @param lifetime milliseconds after which the turn of a process that has ended may be resumed */
  constructor(
    private readonly store: KeyValueStore,
    private readonly lifetime: number,
  ) {}

  /**
   * The state in which the turn of a used one rests; undefined for an unused one. A turn whose process
   * has ended rests in its last state.
   * @throws {@link PausedStateError} `running`, or `used` if its turn has ended; the error of the store
   */
  async nextOf(id: string): Promise<string | undefined> {
    const { store } = this;
    for (;;) {
      const record = await store.get(keyOf(id));
      if (record === undefined) return undefined;
      const { isRunning, ...use } = parseJson(record) as unknown as Use;
      if (!isRunning && use.next !== undefined) return use.next;
      if (!isRunning) throw new PausedStateError(`${usedText(use)}: its turn has ended.`, 'used');
      if ((await store.get(leaseKeyOf(id))) !== undefined) throw running(usedText(use));
      // its process, if it stood still, finds another record before each effect
      const isFree =
        use.next === undefined
          ? await store.delete(keyOf(id), { expected: record })
          : await store.set(keyOf(id), JSON.stringify(use), { ttl: ttlOf(use), expected: record });
      if (isFree) return use.next;
    }
  }

  /**
   * Uses a state; undefined if another process has done so in the meantime.
   * @throws {@link PausedStateError} `running`, the error of the store: then the state is not used, unless
   * the store cannot be reached
   */
  async claim(
    id: string,
    expiresAt: number,
    by: readonly string[],
  ): Promise<UsedState | undefined> {
    const { store, lifetime } = this;
    const lease = new Lease({ store, key: leaseKeyOf(id), lifetime });
    const until = Math.max(expiresAt, Date.now()) + MARGIN;
    const use: Use = { token: randomId(), at: Date.now(), until, by };
    const value = JSON.stringify({ ...use, isRunning: true });
    try {
      if (!(await lease.take())) throw running('The state is used');
      const options = { ttl: ttlOf(use), expected: null };
      if (await setOnce(store, keyOf(id), value, options))
        return new UsedState(store, keyOf(id), use, value, lease);
    } catch (error) {
      // the store may have written it all the same
      await store.delete(keyOf(id), { expected: value }).catch(() => undefined);
      await lease.abandon();
      throw error;
    }
    await lease.release();
    return undefined;
  }
}

/** A state that is used by this process. */
export class UsedState {
  /** Values that the record may have; several after a write whose outcome is unknown. */
  private values: readonly string[];
  private writing: Promise<unknown> = Promise.resolve();
  private released: Promise<void> | undefined;

  constructor(
    private readonly store: KeyValueStore,
    private readonly key: string,
    private readonly use: Use,
    value: string,
    private readonly lease: Lease,
  ) {
    this.values = [value];
  }

  /**
   * Continues the turn from its next state, also for callers with only this one; false if another
   * process has taken the turn.
   * @throws the error of the store
   */
  replace(next: string): Promise<boolean> {
    return this.write({ next });
  }

  /**
   * Keeps a state from which the turn continues if its process ends.
   * @throws {@link PausedStateError} `running` if another process has taken the turn, the error of the store
   */
  async checkpoint(next: string): Promise<void> {
    if (await this.write({ next, isRunning: true })) return;
    throw running('This process has not renewed its lease in time');
  }

  /** Notes that the turn has ended. If the store fails, its last state can be resumed. */
  async end(): Promise<void> {
    await this.write({}).catch(() => undefined);
  }

  /** Ends the lease of this process, once. */
  release(): Promise<void> {
    return (this.released ??= this.lease.release());
  }

  private write(change: Pick<Use, 'next' | 'isRunning'>): Promise<boolean> {
    const value = JSON.stringify({ ...this.use, ...change });
    const written = this.writing.then(() => this.writeNow(value));
    this.writing = written.catch(() => undefined);
    return written;
  }

  private async writeNow(value: string): Promise<boolean> {
    const known = this.values;
    this.values = [...known, value];
    for (const expected of known)
      if (await setOnce(this.store, this.key, value, { ttl: ttlOf(this.use), expected })) {
        this.values = [value];
        return true;
      }
    return false;
  }
}

const keyOf = (id: string): string => `paused-turn ${id}`;
const leaseKeyOf = (id: string): string => `${keyOf(id)} lease`;
const ttlOf = ({ until = 0 }: Use): number => Math.max(until - Date.now(), MARGIN);

function usedText({ at, by }: Use): string {
  const people = by.length > 0 ? `, decided by ${by.join(', ')}` : '';
  return `The state was used at ${new Date(at).toISOString()}${people}`;
}

const running = (what: string): PausedStateError =>
  new PausedStateError(
    `${what}: its turn runs now, in another process or request; repeat the same resume when it has ended.`,
    'running',
  );
