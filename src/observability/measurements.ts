import type { Attributes, Context, Histogram } from '@opentelemetry/api';

interface Measurement {
  readonly histogram: Histogram;
  readonly value: number;
  readonly labels: Attributes;
  readonly context: Context;
}

/** Milliseconds that a measurement waits at most, and how many of them wait at most. */
const LONGEST_WAIT = 5_000;
const MAX_WAITING = 256;

/**
 * Measurements on their way to a meter, which are handed on together: meters make a text of all labels of each, and in the middle of a turn, between
 * work of other kinds, that takes several times as long as in one go. Spans wait for their exporter as long.
 */
export class Measurements {
  private waiting: Measurement[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** @param report told of what a meter throws */
  constructor(private readonly report: (error: unknown) => void) {}

  /** @param context where the span of what was measured is the active one: meters may keep it as an example (an exemplar) */
  add(histogram: Histogram, value: number, labels: Attributes, context: Context): void {
    const count = this.waiting.push({ histogram, value, labels, context });
    if (count === MAX_WAITING) this.handOn();
    else this.timer ??= this.startTimer();
  }

  handOn(): void {
    const measurements = this.waiting;
    this.waiting = [];
    for (const { histogram, value, labels, context } of measurements) {
      try {
        histogram.record(value, labels, context);
      } catch (error) {
        this.report(error);
      }
    }
  }

  private startTimer(): ReturnType<typeof setTimeout> {
    const timer = setTimeout(() => {
      this.timer = undefined;
      this.handOn();
    }, LONGEST_WAIT);
    // no process goes on for it; in a browser there is nothing to hold up
    (timer as { readonly unref?: () => void }).unref?.();
    return timer;
  }
}
