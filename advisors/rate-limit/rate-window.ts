import type { KeyValueStore } from '../../src/stores/key-value/key-value-store.js';
import type { RateLimitMeasure } from '../../src/core/errors/errors.js';

const MINUTE = 60_000;
/** Slots of a minute: the more, the sooner room that is free can be used, and the more counters are read. */
const SLOTS = 12;
const SLOT = MINUTE / SLOTS;
/** Attempts to reserve while other calls add and give up at the same time. */
const ATTEMPTS = 5;
/** Longer than a count is read. */
const LIFETIME = { ttl: 3 * MINUTE };

/** Limits per minute; undefined means unlimited. */
export type RateLimits = Readonly<Record<RateLimitMeasure, number | undefined>>;
/** Amounts of a model call. */
export type RateAmounts = Readonly<Record<RateLimitMeasure, number>>;

/** Amounts of a call that were counted. */
export interface CountedAmounts {
  readonly owner: string;
  readonly slot: number;
  readonly amounts: RateAmounts;
}

/** A limit without room, and the milliseconds until it has some. */
export interface FullLimit {
  readonly limit: RateLimitMeasure;
  readonly wait: number;
}

/** Amounts that were counted, or the limit that has no room for them. */
export type Reservation =
  | { readonly counted: CountedAmounts; readonly full?: undefined }
  | { readonly counted?: undefined; readonly full: FullLimit };

/** Sums of amounts; one without a limit is not counted. */
type Total = Readonly<Partial<Record<string, number>>>;

/** Amounts of slots in a row, oldest first. */
type Slots = Readonly<Record<RateLimitMeasure, readonly number[]>>;

/**
 * Counts what was used in the last minute, in slots, so that no minute, wherever it begins, has more
 * than the limits. A slot that is partly older than a minute counts whole. The counters of each minute
 * of the clock, its total and its slots, have one key.
 */
export class RateWindow {
  private readonly measures: readonly RateLimitMeasure[];
  /** Amounts that read the totals of a minute. */
  private readonly zeros: Readonly<Record<string, number>>;

  constructor(
    private readonly store: KeyValueStore,
    private readonly limits: RateLimits,
  ) {
    const measures = ['requests', 'tokens'] as const;
    this.measures = measures.filter((measure) => limits[measure] !== undefined);
    this.zeros = Object.fromEntries(this.measures.map((measure) => [measure, 0]));
  }

  /**
   * Counts amounts if they fit. They are added first, so that no other call takes the same room: the
   * total of this minute counts the calls until then, and the minute before does not change.
   */
  async reserve(owner: string, amounts: RateAmounts): Promise<Reservation> {
    for (let attempt = 1; ; attempt++) {
      const now = Date.now();
      const slot = Math.floor(now / SLOT);
      const counted = { owner, slot, amounts };
      const minute = Math.floor(slot / SLOTS);
      const [before, total] = await Promise.all([
        this.store.add(minuteKey(owner, minute - 1), this.zeros),
        this.add(counted, amounts),
      ]);
      if (!this.fullLimit(total, before)) return { counted };
      const older = await this.slotsOf(owner, minute - 1, slot - SLOTS, minute * SLOTS);
      const full = this.fullLimit(total, sumOf(older));
      if (!full) return { counted };
      const others = await this.add(counted, negative(amounts));
      // otherwise there was no room only because of another call that has given up, too
      if (this.fullLimit(others, sumOf(older), amounts)) {
        const newer = await this.slotsOf(owner, minute, minute * SLOTS, slot + 1);
        const longest = this.longestWait(older, newer, amounts, slot * SLOT - now);
        if (longest.wait > 0) return { full: longest };
      }
      if (attempt === ATTEMPTS) return { full: { limit: full, wait: SLOT } };
    }
  }

  /** Sums of the last minute. */
  async used(owner: string): Promise<RateAmounts> {
    const slot = Math.floor(Date.now() / SLOT);
    const minute = Math.floor(slot / SLOTS);
    const [older, newer] = await Promise.all([
      this.slotsOf(owner, minute - 1, slot - SLOTS, minute * SLOTS),
      this.slotsOf(owner, minute, minute * SLOTS, slot + 1),
    ]);
    const [before, now] = [sumOf(older), sumOf(newer)];
    return { requests: before.requests + now.requests, tokens: before.tokens + now.tokens };
  }

  /** Corrects the estimated tokens of a call by what it has used. */
  async correct(counted: CountedAmounts, tokens: number): Promise<void> {
    const { slot, amounts } = counted;
    const isOver = Math.floor(Date.now() / SLOT) - slot > SLOTS;
    if (this.limits.tokens === undefined || isOver || tokens === amounts.tokens) return;
    await this.add(counted, { requests: 0, tokens: tokens - amounts.tokens });
  }

  /** Adds to the slot of a call, and returns the total of its minute. */
  private add({ owner, slot }: CountedAmounts, amounts: RateAmounts): Promise<Total> {
    const changes: Record<string, number> = {};
    for (const measure of this.measures) {
      changes[measure] = amounts[measure];
      changes[nameOf(measure, slot)] = amounts[measure];
    }
    return this.store.add(minuteKey(owner, Math.floor(slot / SLOTS)), changes, LIFETIME);
  }

  /** The slots of a minute from one to another, which is not included. */
  private async slotsOf(owner: string, minute: number, from: number, to: number): Promise<Slots> {
    const slots = Array.from({ length: to - from }, (_, at) => from + at);
    const names = this.measures.flatMap((each) => slots.map((slot) => nameOf(each, slot)));
    const zeros = Object.fromEntries(names.map((name) => [name, 0]));
    const sums = await this.store.add(minuteKey(owner, minute), zeros);
    const of = (measure: RateLimitMeasure): readonly number[] =>
      slots.map((slot) => sums[nameOf(measure, slot)] ?? 0);
    return { requests: of('requests'), tokens: of('tokens') };
  }

  /** A limit that is exceeded by the sum of totals. */
  private fullLimit(...totals: readonly Total[]): RateLimitMeasure | undefined {
    return this.measures.find((measure) => {
      let sum = 0;
      for (const total of totals) sum += total[measure] ?? 0;
      return sum > (this.limits[measure] ?? Infinity);
    });
  }

  /**
   * The limit that takes longest to have room.
   * @param start milliseconds until the start of the present slot, <= 0
   */
  private longestWait(older: Slots, newer: Slots, amounts: RateAmounts, start: number): FullLimit {
    const waits = this.measures.map((limit) => {
      const slots = [...older[limit], ...newer[limit]];
      const room = (this.limits[limit] ?? Infinity) - amounts[limit];
      let sum = slots.reduce((a, b) => a + b, 0);
      let at = 0;
      // until enough slots are older than a minute
      for (; sum > room && at < slots.length; at++) sum -= slots[at] ?? 0;
      return { limit, wait: at === 0 ? 0 : start + at * SLOT };
    });
    return waits.reduce((a, b) => (b.wait > a.wait ? b : a));
  }
}

/** Names of the counters of slots; made once, since each one is checked in every operation. */
const NAMES = { requests: slotNames('requests'), tokens: slotNames('tokens') };

function slotNames(measure: RateLimitMeasure): readonly string[] {
  return Array.from({ length: SLOTS }, (_, at) => `${measure} ${at}`);
}

function nameOf(measure: RateLimitMeasure, slot: number): string {
  return NAMES[measure][slot % SLOTS] as string;
}

function minuteKey(owner: string, minute: number): string {
  return `rate:${minute}:${owner}`;
}

const negative = ({ requests, tokens }: RateAmounts): RateAmounts => {
  return { requests: -requests, tokens: -tokens };
};

function sumOf({ requests, tokens }: Slots): RateAmounts {
  const sum = (amounts: readonly number[]): number => amounts.reduce((a, b) => a + b, 0);
  return { requests: sum(requests), tokens: sum(tokens) };
}
