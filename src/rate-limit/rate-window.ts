import type { KeyValueStore } from '../key-value/key-value-store.js';
import type { RateLimitMeasure } from './rate-limit-error.js';

const MINUTE = 60_000;
/** Slots of a minute: the more, the sooner room that is free can be used, and the more counters are read. */
const SLOTS = 12;
const SLOT = MINUTE / SLOTS;

/** Attempts to reserve while other calls add and give up at the same time. */
const ATTEMPTS = 5;
const NOTHING: RateAmounts = { requests: 0, tokens: 0 };

/** Limits per minute; undefined is none. */
export type RateLimits = Readonly<Record<RateLimitMeasure, number | undefined>>;
/** Amounts of a model call. */
export type RateAmounts = Readonly<Record<RateLimitMeasure, number>>;

/** Amounts that were counted, or the time until they fit. */
export type Reservation =
  | { readonly counted: CountedAmounts }
  | { readonly counted?: undefined; readonly limit: RateLimitMeasure; readonly wait: number };

/** Amounts of a call that the window has counted. */
export interface CountedAmounts extends RateAmounts {
  readonly slot: number;
}

/**
 * Counts what was used in the last minute, in slots, so that no minute, wherever it begins, has more
 * than the limits. A slot that is partly older than a minute counts whole.
 */
export class RateWindow {
  private readonly measures: readonly RateLimitMeasure[];

  constructor(
    private readonly store: KeyValueStore,
    private readonly name: string,
    private readonly limits: RateLimits,
  ) {
    const measures = ['requests', 'tokens'] as const;
    this.measures = measures.filter((measure) => limits[measure] !== undefined);
  }

  /** Counts amounts if they fit: they are added first, so that others cannot take the same room. */
  async reserve(amounts: RateAmounts): Promise<Reservation> {
    for (let attempt = 1; ; attempt++) {
      const now = Date.now();
      const slot = Math.floor(now / SLOT);
      const counted = { ...amounts, slot };
      const after = this.longestWait(await this.add(counted), NOTHING, slot, now);
      if (after.wait === 0) return { counted };
      const others = await this.add({ slot, requests: -amounts.requests, tokens: -amounts.tokens });
      const full = this.longestWait(others, amounts, slot, now);
      // without a wait, there was no room only because of another call that has given up, too
      if (full.wait > 0) return full;
      if (attempt === ATTEMPTS) return { ...after, wait: Math.min(after.wait, SLOT) };
    }
  }

  /** Corrects the estimated tokens of a call by what it has used. */
  async correct({ slot, tokens: estimated }: CountedAmounts, tokens: number): Promise<void> {
    const isOver = Date.now() - slot * SLOT >= MINUTE;
    if (this.limits.tokens === undefined || isOver || tokens === estimated) return;
    await this.add({ slot, requests: 0, tokens: tokens - estimated });
  }

  /** Adds to a slot; returns the amounts of the slot and of those that share a minute with it, oldest first. */
  private async add({ slot, ...amounts }: CountedAmounts): Promise<Used> {
    const minute = Math.floor(slot / SLOTS);
    const first = slot - SLOTS;
    const [before, now] = await Promise.all([
      this.store.add(this.keyOf(minute - 1), this.countersOf(first, minute * SLOTS - 1)),
      this.store.add(
        this.keyOf(minute),
        {
          ...this.countersOf(minute * SLOTS, slot),
          ...Object.fromEntries(
            this.measures.map((each) => [counterOf(each, slot), amounts[each]]),
          ),
        },
        { ttl: 3 * MINUTE },
      ),
    ]);
    const sums: Readonly<Record<string, number>> = { ...before, ...now };
    const of = (measure: RateLimitMeasure): readonly number[] =>
      Array.from({ length: SLOTS + 1 }, (_, at) => sums[counterOf(measure, first + at)] ?? 0);
    return { requests: of('requests'), tokens: of('tokens') };
  }

  /** The limit that takes longest to have room, and the milliseconds until then; 0 if all have it now. */
  private longestWait(used: Used, amounts: RateAmounts, slot: number, now: number) {
    const waits = this.measures.map((limit) => {
      const { [limit]: value = Infinity } = this.limits;
      let sum = amounts[limit] + used[limit].reduce((a, b) => a + b, 0);
      let at = 0;
      // until enough slots are older than a minute
      for (; sum > value && at <= SLOTS; at++) sum -= used[limit][at] ?? 0;
      return { limit, wait: at === 0 ? 0 : (slot + at) * SLOT - now };
    });
    return waits.reduce((a, b) => (b.wait > a.wait ? b : a));
  }

  /** Zeros, which read the counters of some slots. */
  private countersOf(first: number, last: number): Readonly<Record<string, number>> {
    const counters: Record<string, number> = {};
    for (let slot = first; slot <= last; slot++)
      for (const measure of this.measures) counters[counterOf(measure, slot)] = 0;
    return counters;
  }

  private keyOf(minute: number): string {
    return `rate:${JSON.stringify([this.name, minute])}`;
  }
}

type Used = Readonly<Record<RateLimitMeasure, readonly number[]>>;

const counterOf = (measure: RateLimitMeasure, slot: number): string => `${measure} ${slot}`;
