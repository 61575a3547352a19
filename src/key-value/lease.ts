import { randomId } from '../chat/context.js';
import type { KeyValueStore } from './key-value-store.js';

/** Renewals within a lifetime. */
const RENEWALS = 3;

/**
 * The right to work on something, which ends by itself some time after its process. Renewed until it
 * is released.
 */
export class Lease {
  private readonly timer: ReturnType<typeof setInterval>;

  private constructor(
    private readonly store: KeyValueStore,
    private readonly key: string,
    private readonly ttl: number,
    /** Random; differs from that of any other lease. */
    readonly token: string,
  ) {
    this.timer = setInterval(() => this.renew(), ttl / RENEWALS);
  }

  /**
   * Takes a lease; undefined if another owner has it.
   * @param ttl lifetime in milliseconds after the last renewal
   */
  static async acquire(store: KeyValueStore, key: string, ttl: number): Promise<Lease | undefined> {
    const token = randomId();
    const isFree = await store.set(key, token, { ttl, expected: null });
    return isFree ? new Lease(store, key, ttl, token) : undefined;
  }

  /** Ends the lease now. If the store fails, it ends after its lifetime. */
  async release(): Promise<void> {
    clearInterval(this.timer);
    await this.store.delete(this.key, { expected: this.token }).catch(() => undefined);
  }

  private renew(): void {
    const { key, token, ttl } = this;
    const renewed = this.store.set(key, token, { ttl, expected: token });
    renewed.then(
      (isOwn) => isOwn || clearInterval(this.timer),
      () => undefined, // the next renewal may succeed
    );
  }
}
