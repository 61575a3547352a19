import { SpanStatusCode } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { recordSpans, type Recording } from './recorded-spans.js';

type Start = Recording['tracer']['startSpan'];

/** End of a turn for its caller. */
export type TurnEnd = 'success' | 'error' | 'cancelled';

/** Spans of a test, and the problems found in them. */
export class Watch {
  /** Errors reported to OpenTelemetry's logger. */
  readonly reports: string[] = [];
  private readonly recording = recordSpans();
  private readonly ends: string[] = [];
  private startedSpans = 0;
  private startedTurns = 0;

  startSpan(...[name, options, parent]: Parameters<Start>): ReturnType<Start> {
    this.startedSpans++;
    return this.recording.tracer.startSpan(name, options, parent);
  }

  startTurn(): void {
    this.startedTurns++;
  }

  endTurn(turnId: string, how: TurnEnd): void {
    this.ends.push(`${turnId} ${how}`);
  }

  get spans(): readonly ReadableSpan[] {
    return this.recording.spans;
  }

  get hasOpen(): boolean {
    return this.openTurns > 0 || this.startedSpans > this.spans.length;
  }

  get problems(): readonly string[] {
    return [
      ...new Set([
        ...this.recording.problems,
        ...this.oddities(),
        ...this.wrongEnds(),
        ...this.reports,
      ]),
    ];
  }

  private get openTurns(): number {
    return this.startedTurns - this.ends.length;
  }

  private oddities(): string[] {
    const byId = new Map(this.spans.map((span) => [span.spanContext().spanId, span]));
    const followers = new Map<ReadableSpan, string>();
    return this.spans.flatMap((span) => {
      const parent = byId.get(span.parentSpanContext?.spanId ?? '');
      return [
        ...attributeOddities(span),
        ...placeOddities(span, parent),
        ...(parent ? followerOddities(span, parent, followers) : []),
      ];
    });
  }

  private wrongEnds(): string[] {
    const recorded = this.spans
      .filter(isTurn)
      .map(({ attributes }) =>
        ['turn.id', 'outcome'].map((name) => attributes[`advisor_chain.${name}`]).join(' '),
      );
    if (this.openTurns > 0) return [`turns that have not ended: ${this.openTurns}`];
    const same = recorded.toSorted().join() === this.ends.toSorted().join();
    return same
      ? []
      : [`the turns ended with ${outcomes(this.ends)}, but their spans with ${outcomes(recorded)}`];
  }
}

export function isTurn({ name }: ReadableSpan): boolean {
  return name === 'invoke_agent';
}

function isToolCall({ name }: ReadableSpan): boolean {
  return name.startsWith('execute_tool');
}

function attributeOddities({ name, attributes, status }: ReadableSpan): string[] {
  const outcome = attributes['advisor_chain.outcome'];
  const hasFailed = outcome !== 'success' && outcome !== 'cancelled';
  return [
    ...(outcome === undefined ? [`"${name}" has no outcome`] : []),
    ...((status.code === SpanStatusCode.ERROR) === hasFailed
      ? []
      : [`"${name}" has the status ${status.code}, but ${String(outcome)}`]),
    ...((attributes['error.type'] !== undefined) === hasFailed
      ? []
      : [`"${name}" has an error type or none, but ${String(outcome)}`]),
  ];
}

function placeOddities(span: ReadableSpan, parent: ReadableSpan | undefined): string[] {
  if (isTurn(span)) return [];
  if (!parent) return span.parentSpanContext ? [] : [`"${span.name}" is in no turn`];
  const cutShort = isToolCall(span) && span.attributes['advisor_chain.outcome'] === 'cancelled';
  return [
    ...(isTurn(parent) || parent.name.startsWith('advisor ')
      ? []
      : [`"${span.name}" is in "${parent.name}"`]),
    ...(cutShort && parent.attributes['advisor_chain.outcome'] === 'success'
      ? [`"${span.name}" has no end, but "${parent.name}" has`]
      : []),
  ];
}

/** True for work of an advisor beside the chain: a search, or a call of another model. */
function isBesideChain({ name, attributes }: ReadableSpan): boolean {
  return (
    name.startsWith('retrieval') ||
    (name.startsWith('chat') && attributes['advisor_chain.iteration'] === undefined)
  );
}

/** A position of a chain is always followed by the same part: an advisor or the model. */
function followerOddities(
  span: ReadableSpan,
  parent: ReadableSpan,
  followers: Map<ReadableSpan, string>,
): string[] {
  if (isTurn(span) || isToolCall(span) || isBesideChain(span)) return [];
  const name = span.name.replace(/^chat .*/s, 'chat');
  const known = followers.get(parent);
  followers.set(parent, name);
  return known === undefined || known === name
    ? []
    : [`"${parent.name}" is followed by "${known}" and by "${name}"`];
}

function outcomes(ends: readonly string[]): string {
  return ends.map((end) => end.replace(/.* /, '')).join(', ') || 'nothing';
}
