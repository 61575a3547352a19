import type { Attributes, Context } from '@opentelemetry/api';
import type { ChatResponse } from '../chat/chat-response.js';
import type { Observation, ObservedEnding, ObservedEvent, ObservedPart } from '../chat/observation.js';
import { errorType, isCancellation } from './error-type.js';
import { LateSpan } from './late-span.js';
import { Attribute, EventName } from './names.js';
import type { Outcome, SpanRecord } from './span-record.js';
import type { TurnTelemetry } from './turn-telemetry.js';

/** A part of a turn, for its span. Ends once, after everything within it has. */
export class ObservedSpan implements Observation {
  private readonly span: LateSpan;
  private open: Set<ObservedSpan> | undefined;
  private readonly began: number;
  /** Milliseconds in which a part within this one was open, and since when one is. */
  private occupied = 0;
  private occupiedSince = 0;
  private hasEnded = false;
  private response: ChatResponse | undefined;
  /** What the part that followed failed with, until it is tried again. */
  private failed: { readonly error: unknown; readonly model: string | undefined } | undefined;
  private retries = 0;

  /** @param surroundings those in which the turn was asked for, or of the parent */
  constructor(
    private readonly turn: TurnTelemetry,
    private readonly record: SpanRecord,
    private readonly parent: ObservedSpan | undefined,
    surroundings: Context,
    private readonly part?: ObservedPart,
  ) {
    this.began = turn.now();
    this.span = new LateSpan(turn, record, this.began, parent?.span, surroundings);
  }

  begin(part: ObservedPart): Observation {
    // what begins after its end cannot be within it; it is not recorded
    if (this.hasEnded) return this;
    if (this.failed && part.type !== 'tool-call') this.goesOn(this.failed, modelOf(part));
    const child = new ObservedSpan(this.turn, this.turn.recordOf(part), this, this.span.context, part);
    const open = (this.open ??= new Set());
    if (open.size === 0) this.occupiedSince = child.began;
    open.add(child);
    return child;
  }

  note(event: ObservedEvent): void {
    if (this.hasEnded) return;
    if (this.record.note) this.tellRecord(event);
    switch (event.type) {
      case 'chunk':
        return;
      case 'response':
        this.response = event.response;
        return;
      case 'retry':
        return this.addEvent(EventName.RETRY, this.reasonOf(event.error));
      case 'timeout':
        return this.addEvent(EventName.TIMEOUT, {});
      case 'limit':
        this.turn.attempt(() => this.turn.metrics.limit(event.limit));
        return this.addEvent(EventName.LIMIT, { [Attribute.LIMIT]: event.limit, [Attribute.LIMIT_MAX]: event.max });
    }
  }

  private tellRecord(event: ObservedEvent): void {
    try {
      this.record.note?.(event, (this.turn.now() - this.began) / 1_000, this.span.context);
    } catch (error) {
      this.turn.reportFailure(error);
    }
  }

  run<T>(work: () => T): T {
    return this.turn.within(this.span.context, work);
  }

  end(told: ObservedEnding): void {
    if (this.hasEnded) return;
    const { response } = this;
    // who has the response needs no more: it is the last event
    const ending: ObservedEnding = told.type === 'cancelled' && response ? { type: 'response', response } : told;
    for (const child of this.open ?? []) child.end({ type: 'cancelled' });
    this.hasEnded = true;
    const ended = this.turn.now();
    const outcome = outcomeOf(ending);
    const error = errorOf(ending);
    if (outcome === 'success' && this.failed)
      this.addEvent(EventName.FALLBACK, { [Attribute.ERROR_TYPE]: errorType(this.failed.error) }, ended);
    const duration = (ended - this.began) / 1_000;
    const exclusive = duration - this.occupied / 1_000;
    this.span.end(ending, { outcome, error, duration, exclusive, context: this.span.context }, ended);
    if (this.parent) this.parent.ended(this, ended, outcome, error);
    else this.turn.metrics.outbox.handOn();
  }

  /** A part within this one has ended. */
  private ended(child: ObservedSpan, at: number, outcome: Outcome, error: unknown): void {
    this.open?.delete(child);
    if (this.open?.size === 0) this.occupied += at - this.occupiedSince;
    const { part } = child;
    if (part && part.type !== 'tool-call') this.failed = outcome === 'error' ? { error, model: modelOf(part) } : undefined;
  }

  /** What failed is followed by another attempt: of the same, or of another model. */
  private goesOn({ error, model }: { readonly error: unknown; readonly model: string | undefined }, next: string | undefined): void {
    this.failed = undefined;
    if (model === next) return this.addEvent(EventName.RETRY, this.reasonOf(error));
    return this.addEvent(EventName.FALLBACK, { [Attribute.ERROR_TYPE]: errorType(error), [Attribute.REQUEST_MODEL]: next });
  }

  private reasonOf(error: unknown): Attributes {
    return { [Attribute.ERROR_TYPE]: errorType(error), [Attribute.RETRY_ATTEMPT]: ++this.retries };
  }

  private addEvent(name: string, attributes: Attributes, at = this.turn.now()): void {
    this.span.addEvent(name, attributes, at);
  }
}

function modelOf(part: ObservedPart): string | undefined {
  return part.type === 'tool-call' ? undefined : part.options.model;
}

function outcomeOf(ending: ObservedEnding): Outcome {
  switch (ending.type) {
    case 'response':
      return 'success';
    case 'cancelled':
      return 'cancelled';
    case 'error':
      return isCancellation(ending.error) ? 'cancelled' : 'error';
    case 'tool-result':
      return ending.outcome === 'success' || ending.outcome === 'cancelled' ? ending.outcome : 'error';
  }
}

function errorOf(ending: ObservedEnding): unknown {
  if (ending.type === 'error') return ending.error;
  return ending.type === 'tool-result' ? ending.result.error : undefined;
}
