import type { KeyValueStore } from '../../src/stores/key-value/key-value-store.js';

const MINUTE = 60_000;

/**
 * Lets requests pass evenly: the clock is divided into periods that have a burst of requests each. A
 * request is counted in its period before it passes; what a full period counts has no effect.
 */
export class RatePace {
  private readonly period: number;

  constructor(
    private readonly store: KeyValueStore,
    perMinute: number,
    private readonly burst: number,
  ) {
    this.period = (burst * MINUTE) / perMinute;
  }

  /** Counts a request; returns the milliseconds until the next period if this one is full, or 0. */
  async enter(owner: string): Promise<number> {
    const period = Math.floor(Date.now() / this.period);
    const key = `pace:${period}:${owner}`;
    const { requests } = await this.store.add(key, { requests: 1 }, { ttl: 2 * this.period });
    if (requests <= this.burst) return 0;
    return Math.max(1, Math.ceil((period + 1) * this.period - Date.now()));
  }
}
