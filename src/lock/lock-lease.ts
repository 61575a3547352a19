import { randomId } from '../chat/context.js';
import { reasonOf } from '../internal/text.js';
import type { KeyValueStore } from '../key-value/key-value-store.js';
import { setOnce } from '../key-value/lease.js';

/** Place and lifetime of a lease. */
export interface LeaseSettings {
  readonly store: KeyValueStore;
  readonly key: string;
  /** Key at which another process asks for the end of the work under this lease. */
  readonly interruptKey: string;
  /** Lifetime in milliseconds. */
  readonly lifetime: number;
  /** Milliseconds from one renewal to the next. */
  readonly interval: number;
}

/** Listener for the fate of a lease that is held; each is called once at most. */
export interface LeaseListener {
  /** @param reason for an error message */
  readonly onLost: (reason: string) => void;
  readonly onInterrupt: () => void;
}

/**
 * A key that belongs to its holder for a limited time, which renewals extend. Unlike that of a plain
 * lease, its holder learns that it was lost, and counts the time from before it asked, so that its own
 * end is never later than that of the store.
 */
export class LockLease {
  private readonly token = randomId();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isHeld = false;
  private taking: Promise<boolean> = Promise.resolve(false);
  /** End of the lease by both clocks: one of them may stand still while the machine sleeps. */
  private end = { monotonic: 0, wall: 0 };
  private failure: unknown;

  constructor(
    private readonly settings: LeaseSettings,
    private readonly listener: LeaseListener,
  ) {}

  /** Takes the lease if nothing else holds it. */
  take(): Promise<boolean> {
    return (this.taking = this.tryTake());
  }

  private async tryTake(): Promise<boolean> {
    const { store, key, lifetime } = this.settings;
    const start = readClocks();
    this.isHeld = await setOnce(store, key, this.token, { expected: null, ttl: lifetime });
    if (this.isHeld) {
      this.extend(start);
      this.renewLater();
    }
    return this.isHeld;
  }

  /** Asks the holder of the lease, in another process, to end. */
  async interruptHolder(): Promise<void> {
    const { store, key, interruptKey, lifetime } = this.settings;
    const holder = await store.get(key);
    if (holder !== undefined) await store.set(interruptKey, holder, { ttl: lifetime });
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

  /** Ends the lease, unless it belongs to another holder by now. */
  async release(): Promise<void> {
    const { store, key } = this.settings;
    this.isHeld = false;
    clearTimeout(this.timer);
    await store.delete(key, { expected: this.token });
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
    const wait = Math.max(0, Math.min(this.settings.interval, this.left));
    this.timer = setTimeout(() => void this.renew(), wait);
  }

  private async renew(): Promise<void> {
    if (!this.isHeld) return;
    const { store, key, interruptKey, lifetime } = this.settings;
    const start = readClocks();
    const options = { expected: this.token, ttl: lifetime };
    this.watch();
    try {
      const isRenewed = await store.set(key, this.token, options);
      if (!this.isHeld) return;
      if (!isRenewed) return this.lose();
      this.extend(start);
      this.watch();
      if ((await store.get(interruptKey)) === this.token) this.listener.onInterrupt();
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
    const wait = Math.max(this.left, this.settings.lifetime / 3);
    this.timer = setTimeout(() => this.lose(), wait);
  }

  private lose(): void {
    if (!this.isHeld) return;
    this.isHeld = false;
    clearTimeout(this.timer);
    const cause = this.failure === undefined ? '' : `: ${reasonOf(this.failure)}`;
    this.listener.onLost(`it was not renewed within ${this.settings.lifetime} ms${cause}`);
  }
}

interface Clocks {
  readonly monotonic: number;
  readonly wall: number;
}

function readClocks(): Clocks {
  return { monotonic: performance.now(), wall: Date.now() };
}
