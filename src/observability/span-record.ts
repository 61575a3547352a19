import type { Context } from '@opentelemetry/api';
import type { ObservedEnding, ObservedEvent } from '../chat/observation.js';
import type { AttributeSet } from './attribute-set.js';

/** What came of a part, for all kinds of parts; tool calls have more. */
export type Outcome = 'success' | 'error' | 'cancelled';

/** How a part ended, as its span records it. */
export interface SpanEnd {
  readonly outcome: Outcome;
  /** What it failed with. */
  readonly error?: unknown;
  /** Seconds from beginning to end. */
  readonly duration: number;
  /** Seconds in which no part within this part was open. */
  readonly exclusive: number;
  /** Where the span is the active one. */
  readonly context: Context;
}

/** What one kind of part makes of its span, and of its metrics. */
export interface SpanRecord {
  readonly spanName: string;
  /** Whether the part is a request to another system. */
  readonly isClient?: boolean;
  /** Adds what is known when the part begins, also to samplers. */
  addBeginning(to: AttributeSet): void;
  /** Adds what was said by then; asked for only where it is recorded. */
  addContent?(to: AttributeSet): void;
  /**
   * @param seconds since the part began
   * @param context where the span is the active one
   */
  note?(event: ObservedEvent, seconds: number, context: Context): void;
  /** What goes into metrics when the part ends, recorded or not. */
  measure?(ending: ObservedEnding, end: SpanEnd): void;
  /** Adds what the end of a part says of it; asked for only where it is recorded. */
  addEnd(to: AttributeSet, ending: ObservedEnding, end: SpanEnd): void;
}
