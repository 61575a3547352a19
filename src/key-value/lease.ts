import { randomId } from '../chat/context.js';
import type { Cancellable } from '../internal/cancellation.js';
import type { KeyValueOptions, KeyValueStore } from './key-value-store.js';

/** Renewals within a lifetime. */
const RENEWALS = 3;

/**
 * The right to work on something, which ends by itself some time after its process. Renewed until it
 * is released or its run is cancelled.
 */
export class Lease {
  private readonly stop: () => void;

  private constructor(
    private readonly store: KeyValueStore,
    private readonly key: string,
    private readonly ttl: number,
    /** Random; differs from that of any other lease. */
    readonly token: string,
    run: Cancellable,
  ) {
    const timer = setInterval(() => this.renew(), ttl / RENEWALS);
    const removeListener = run.onCancel(() => clearInterval(timer));
    this.stop = () => {
      clearInterval(timer);
      removeListener();
    };
  }

  /**
   * Takes a lease; undefined if another owner has it.
   * @param ttl lifetime in milliseconds after the last renewal
   */
  static async acquire(
    store: KeyValueStore,
    key: string,
    ttl: number,
    run: Cancellable,
  ): Promise<Lease | undefined> {
    const token = randomId();
    const isOwn = await setOnce(store, key, token, { ttl, expected: null });
    return isOwn ? new Lease(store, key, ttl, token, run) : undefined;
  }

  /** Ends the lease now. If the store fails, it ends after its lifetime. */
  async release(): Promise<void> {
    this.stop();
    await this.store.delete(this.key, { expected: this.token }).catch(() => undefined);
  }

  private renew(): void {
    const { key, token, ttl } = this;
    const renewed = this.store.set(key, token, { ttl, expected: token });
    renewed.then(
      (isOwn) => isOwn || this.stop(),
      () => undefined, // the next renewal may succeed
    );
  }
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
