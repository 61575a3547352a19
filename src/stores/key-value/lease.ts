import { randomId } from '../../core/chat/context.js';
import type { Cancellable } from '../../core/internal/cancellation.js';
import { reasonOf } from '../../core/errors/describe.js';
import type { KeyValueOptions, KeyValueStore } from './key-value-store.js';

/** Renewals within a lifetime. */
const RENEWALS = 3;

/** Place and lifetime of a lease. */
export interface LeaseSettings {
  readonly store: KeyValueStore;
  readonly key: string;
  /** Lifetime in milliseconds after the last renewal. */
  readonly lifetime: number;
  /** Milliseconds from one renewal to the next. @default a third of the lifetime */
  readonly interval?: number;
}

/** Listener for the fate of a lease that is held; each is called once at most. */
export interface LeaseListener {
  /** @param reason for an error message */
  readonly onLost: (reason: string) => void;
  /** Key at which another process asks for the end of the work under this lease. */
  readonly interruptKey: string;
  readonly onInterrupt: () => void;
}

/**
 * The right to work on something, which ends by itself some time after its process. Reports loss.
 * Expiry counts from before the request: never later than in the store.
 */
export class Lease {
  /** Random; no other lease has the same. */
  readonly token = randomId();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isHeld = false;
  private taking: Promise<boolean> = Promise.resolve(false);
  /** End of the lease by both clocks: one of them may stand still while the machine sleeps. */
  private end = { monotonic: 0, wall: 0 };
  private failure: unknown;
  private removeListener: (() => void) | undefined;

  constructor(
    private readonly settings: LeaseSettings,
    private readonly listener?: LeaseListener,
  ) {}

  /** Takes a lease, renewed until it is released or its run is cancelled; undefined if another owner has it. */
  static async acquire(settings: LeaseSettings, run: Cancellable): Promise<Lease | undefined> {
    const lease = new Lease(settings);
    if (!(await lease.take())) return undefined;
    lease.removeListener = run.onCancel(() => lease.stop());
    return lease;
  }

  /** Takes the lease if nothing else holds it. */
  take(): Promise<boolean> {
    return (this.taking = this.tryTake());
  }

  private async tryTake(): Promise<boolean> {
    const { store, key, lifetime } = this.settings;
    const start = readClocks();
    const take = (expected: string | null): Promise<boolean> =>
      setOnce(store, key, this.token, { expected, ttl: lifetime });
    const left = unreleased.get(store)?.get(key);
    this.isHeld = (await take(null)) || (left !== undefined && (await take(left)));
    if (left !== undefined) forget(store, key, left);
    if (this.isHeld) {
      this.extend(start);
      this.renewLater();
    }
    return this.isHeld;
  }

  /** Asks the holder of the lease, in another process, to end. */
  async interruptHolder(): Promise<void> {
    const { store, key, lifetime } = this.settings;
    const holder = await store.get(key);
    if (holder !== undefined && this.listener)
      await store.set(this.listener.interruptKey, holder, { ttl: lifetime });
  }

  /** Returns whether the lease is held; asks the store if the clocks leave a doubt. */
  async verify(): Promise<boolean> {
    if (this.isHeld && this.left > 0) return true;
    await this.renew();
    return this.isHeld;
  }

  /** Ends an attempt to take it, also one that has failed: the store may have made the lease. */
  async abandon(): Promise<void> {
    await this.taking.catch(() => undefined);
    await this.release();
  }

  /**
   * Ends the lease, unless it belongs to another holder by now. If the store fails, it ends after its
   * lifetime, or when this process takes it again.
   */
  async release(): Promise<void> {
    const { store, key } = this.settings;
    this.stop();
    noteUnreleased(store, key, this.token);
    await store.delete(key, { expected: this.token }).then(
      () => forget(store, key, this.token),
      () => undefined,
    );
  }

  /** Ends the renewals. */
  private stop(): void {
    this.isHeld = false;
    clearTimeout(this.timer);
    this.removeListener?.();
  }

  /** Milliseconds until the end of the lease. */
  private get left(): number {
    const now = readClocks();
    return Math.min(this.end.monotonic - now.monotonic, this.end.wall - now.wall);
  }

  private extend(start: Clocks): void {
    const { lifetime } = this.settings;
    this.end = { monotonic: start.monotonic + lifetime, wall: start.wall + lifetime };
  }

  private renewLater(): void {
    const { lifetime, interval = lifetime / RENEWALS } = this.settings;
    const wait = Math.max(0, Math.min(interval, this.left));
    this.timer = setTimeout(() => void this.renew(), wait);
  }

  private async renew(): Promise<void> {
    if (!this.isHeld) return;
    const { store, key, lifetime } = this.settings;
    const start = readClocks();
    this.watch();
    try {
      const isRenewed = await store.set(key, this.token, { expected: this.token, ttl: lifetime });
      if (!this.isHeld) return;
      if (!isRenewed) return this.lose();
      this.extend(start);
      this.watch();
      const { listener } = this;
      if (listener && (await store.get(listener.interruptKey)) === this.token)
        listener.onInterrupt();
    } catch (error) {
      this.failure = error;
      if (this.left <= 0) return this.lose();
    }
    if (!this.isHeld) return;
    clearTimeout(this.timer);
    this.renewLater();
  }

  /** Loses the lease if the store does not answer: that must not keep the work going. */
  private watch(): void {
    clearTimeout(this.timer);
    // after a pause of the process, the store has the last word
    const wait = Math.max(this.left, this.settings.lifetime / RENEWALS);
    this.timer = setTimeout(() => this.lose(), wait);
  }

  private lose(): void {
    if (!this.isHeld) return;
    this.stop();
    const cause = this.failure === undefined ? '' : `: ${reasonOf(this.failure)}`;
    this.listener?.onLost(`it was not renewed within ${this.settings.lifetime} ms${cause}`);
  }
}

/** Tokens of leases that the store has not deleted, by key: this process may take them over. */
const unreleased = new WeakMap<KeyValueStore, Map<string, string>>();
/** Leases beyond end after their lifetime. */
const MAX_UNRELEASED = 10_000;

function noteUnreleased(store: KeyValueStore, key: string, token: string): void {
  const tokens = unreleased.get(store) ?? new Map<string, string>();
  unreleased.set(store, tokens);
  if (tokens.size < MAX_UNRELEASED) tokens.set(key, token);
}

function forget(store: KeyValueStore, key: string, token: string): void {
  const tokens = unreleased.get(store);
  if (tokens?.get(key) === token) tokens.delete(key);
}

interface Clocks {
  readonly monotonic: number;
  readonly wall: number;
}

function readClocks(): Clocks {
  return { monotonic: performance.now(), wall: Date.now() };
}

/**
 * Writes a value that no one else writes. True also if the key has it already: a client that sends a
 * command again after a broken connection finds what its first attempt has written.
 */
export async function setOnce(
  store: KeyValueStore,
  key: string,
  value: string,
  options: KeyValueOptions,
): Promise<boolean> {
  return (await store.set(key, value, options)) || (await store.get(key)) === value;
}
