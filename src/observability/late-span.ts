import type { Attributes, Context, Span } from '@opentelemetry/api';
import type { ObservedEnding } from '../chat/observation.js';
import type { AttributeSet } from './attribute-set.js';
import { errorType } from './error-type.js';
import { LateContext } from './late-context.js';
import { Attribute, EventName } from './names.js';
import type { Waiting } from './outbox.js';
import type { SpanEnd, SpanRecord } from './span-record.js';
import type { TurnTelemetry } from './turn-telemetry.js';

interface SpanEvent {
  readonly name: string;
  readonly attributes: Attributes;
  readonly at: number;
}

/**
 * The span of a part, with the times of that part. The tracer is asked for it when somebody looks for the active span there, such as a tool that
 * records what it does or an HTTP client that passes the trace on; else when it has waited with what else was recorded.
 */
export class LateSpan implements Waiting {
  private readonly late: LateContext;
  private span: Span | undefined;
  private isRecorded = false;
  private events: SpanEvent[] | undefined;

  /** @param surroundings those of the turn for its own span, else those of the parent */
  constructor(
    private readonly turn: TurnTelemetry,
    private readonly record: SpanRecord,
    private readonly began: number,
    parent: LateSpan | undefined,
    surroundings: Context,
  ) {
    this.late = new LateContext(surroundings, () => this.start(parent, parent?.late.resolve() ?? surroundings));
    turn.later(this);
  }

  /** It has waited long enough to be made, also if the part is still open. What is known of its end, events and content are written with that. */
  handOn(): void {
    this.late.resolve();
  }

  /** The surroundings of the part, in which its span is the active one. */
  get context(): Context {
    return this.late;
  }

  addEvent(name: string, attributes: Attributes, at: number): void {
    (this.events ??= []).push({ name, attributes, at });
  }

  /** The part has ended; what it measured and its span wait with what else was recorded. */
  end(ending: ObservedEnding, end: SpanEnd, at: number): void {
    const { turn, record } = this;
    turn.later({
      handOn: () => {
        turn.attempt(() => record.measure?.(ending, end));
        this.write(ending, end, at);
      },
    });
  }

  private start(parent: LateSpan | undefined, surroundings: Context): Context {
    const { turn, record } = this;
    // nothing within a part that is not recorded is recorded, unless a sampler wants it
    const isWanted = parent?.isRecorded ?? true;
    const span = turn.startSpan(record, surroundings, this.began, isWanted);
    const isRecorded = span && turn.attempt(() => span.isRecording());
    // what cannot say whether it records is no span, and must not be where others look for one
    if (isRecorded === undefined) return surroundings;
    this.span = span;
    this.isRecorded = isRecorded === true;
    if (this.isRecorded && !isWanted) this.addAttributes((to) => record.addBeginning(to));
    return turn.contextOf(surroundings, span as Span);
  }

  private write(ending: ObservedEnding, end: SpanEnd, at: number): void {
    if (this.isRecorded) this.describe(ending, end, at);
    this.change((span) => span.end(at));
  }

  private describe(ending: ObservedEnding, end: SpanEnd, at: number): void {
    const { turn, record } = this;
    const { outcome, error } = end;
    if (turn.capturesContent) this.addAttributes((to) => record.addContent?.(to));
    for (const event of this.events ?? []) this.writeEvent(event);
    this.addAttributes((to) => {
      to.add(Attribute.OUTCOME, outcome);
      if (outcome === 'error') to.add(Attribute.ERROR_TYPE, errorType(error));
      record.addEnd(to, ending, end);
    });
    if (outcome !== 'error') return;
    this.change((span) => span.setStatus({ code: turn.errorStatus, ...turn.statusText(error) }));
    const attributes = turn.attempt(() => turn.exceptionOf(error));
    if (attributes) this.writeEvent({ name: EventName.EXCEPTION, attributes, at });
  }

  private writeEvent({ name, attributes, at }: SpanEvent): void {
    this.change((span) =>
      span.addEvent(
        name,
        this.turn.attributes((to) => to.addAll(attributes)),
        at,
      ),
    );
  }

  private addAttributes(add: (to: AttributeSet) => void): void {
    this.change((span) => span.setAttributes(this.turn.attributes(add)));
  }

  private change(change: (span: Span) => void): void {
    const { span } = this;
    if (!span) return;
    try {
      change(span);
    } catch (error) {
      this.turn.reportFailure(error);
    }
  }
}
