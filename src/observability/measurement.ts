import type { Attributes, Context, Histogram } from '@opentelemetry/api';
import type { Waiting } from './outbox.js';

/** A value on its way to a meter. */
export class Measurement implements Waiting {
  /** @param context where the span of what was measured is the active one: meters may keep it as an example (an exemplar) */
  constructor(
    private readonly histogram: Histogram,
    private readonly value: number,
    private readonly labels: Attributes,
    private readonly context: Context,
  ) {}

  handOn(): void {
    this.histogram.record(this.value, this.labels, this.context);
  }
}
