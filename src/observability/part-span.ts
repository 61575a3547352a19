import type { Context } from '@opentelemetry/api';
import type { ObservedAdvisor, ObservedEnding, ObservedEvent } from '../observation/observation.js';
import type { AttributeSet } from './attributes.js';
import { Attribute } from './names.js';

/** Outcome of a part of any kind; tool calls have further ones. */
export type Outcome = 'success' | 'error' | 'cancelled';

/** End of a part, as its span records it. */
export interface SpanEnd {
  readonly ending: ObservedEnding;
  readonly outcome: Outcome;
  readonly error?: unknown;
  /** Seconds from start to end. */
  readonly duration: number;
  /** Seconds during which no part within this one was open. */
  readonly exclusive: number;
  /** Context in which the span is the active one. */
  readonly context: Context;
}

/** Name, attributes and metrics of the span of one kind of part. */
export interface PartSpan {
  readonly spanName: string;
  /** True for requests to another system. */
  readonly isClient?: boolean;
  /** Adds the attributes that are known at the start; samplers see them. */
  addStart(to: AttributeSet): void;
  /**
   * @param seconds time since the start of the part
   * @param context context in which the span is the active one
   */
  onEvent?(event: ObservedEvent, seconds: number, context: Context): void;
  /** Records the metrics of the part, whether the span is recorded or not. */
  measure?(end: SpanEnd): void;
  /** Adds the attributes of the end, then the content; called only if the span is recorded. */
  addEnd(to: AttributeSet, end: SpanEnd): void;
}

/** Span of an advisor: `advisor {name}`. */
export class AdvisorSpan implements PartSpan {
  readonly spanName: string;

  constructor(private readonly advisor: ObservedAdvisor) {
    this.spanName = `advisor ${advisor.name}`;
  }

  addStart(to: AttributeSet): void {
    to.add(Attribute.ADVISOR_NAME, this.advisor.name);
    to.add(Attribute.ADVISOR_ORDER, this.advisor.order);
  }

  addEnd(to: AttributeSet, { exclusive }: SpanEnd): void {
    to.add(Attribute.ADVISOR_EXCLUSIVE_TIME, exclusive);
  }
}
