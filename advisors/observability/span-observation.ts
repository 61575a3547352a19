import type { Context, Span } from '@opentelemetry/api';
import type { ChatResponse } from '../../src/core/chat/chat-response.js';
import type {
  Observation,
  ObservedEnding,
  ObservedEvent,
  ObservedPart,
} from '../../src/core/observation/observation.js';
import {
  errorLabel,
  errorType,
  isCancellation,
  messageOf,
  stackOf,
} from '../../src/core/errors/error-type.js';
import { Attribute, EventName } from '../../src/core/observation/names.js';
import type { PartSpan, SpanEnd } from './part-span.js';
import type { SpanAttributes } from './telemetry-options.js';
import type { TurnTelemetry } from './turn-telemetry.js';

/** Failure of a part within this one, with the model that it was to ask. */
interface Failure {
  readonly error: unknown;
  readonly model: string | undefined;
}

/** Records a part of a turn as a span, which ends once and after all spans within it. */
export class SpanObservation implements Observation {
  private readonly startTime: number;
  /** Undefined if the tracer failed. */
  private readonly span: Span | undefined;
  private readonly isRecording: boolean;
  /** Context in which the span is the active one. */
  private readonly context: Context;
  private readonly openChildren = new Set<SpanObservation>();
  /** Milliseconds during which a part within this one was open, and the latest such start. */
  private childTime = 0;
  private childStart = 0;
  private hasEnded = false;
  /** True if it has ended with tool calls that may be carried out later. */
  private hasOpenCalls = false;
  private response: ChatResponse | undefined;
  /** Failure of the previous part within this one, until another part follows. */
  private failure: Failure | undefined;
  private retries = 0;
  /** True if it ends by itself after a part around it that has an answer. */
  private mayOutlive = false;
  /** Error of the latest timeout. */
  private timeout: unknown;

  constructor(
    private readonly turn: TurnTelemetry,
    private readonly part: PartSpan,
    parentContext: Context,
    private readonly onEnd?: (end: SpanEnd, time: number) => void,
  ) {
    this.startTime = turn.now();
    const span = turn.startSpan(part, this.startTime, parentContext);
    const isRecording = span && turn.runSafely(() => span.isRecording());
    // an object without a working isRecording() must not become the active span
    this.span = isRecording === undefined ? undefined : span;
    this.isRecording = isRecording === true;
    this.context = this.span ? turn.api.trace.setSpan(parentContext, this.span) : parentContext;
  }

  begin(part: ObservedPart): Observation {
    if (part.type === 'wait') return UNTRACED;
    if (this.hasEnded && !this.mayFollow(part)) return this;
    const model = 'options' in part ? part.options.model : undefined;
    // no call of a tool, and none beside the chain, is another attempt of it
    const isAttempt =
      part.type === 'advisor' || (part.type === 'model-call' && part.iteration !== undefined);
    if (this.failure && isAttempt) this.addNextAttempt(this.failure, model);
    const { turn, context } = this;
    const child: SpanObservation = new SpanObservation(
      turn,
      turn.partSpan(part),
      context,
      ({ outcome, error }, time) => {
        this.openChildren.delete(child);
        if (this.openChildren.size === 0) this.childTime += time - this.childStart;
        if (isAttempt) this.failure = outcome === 'error' ? { error, model } : undefined;
      },
    );
    child.mayOutlive = isBesideChain(part);
    if (this.openChildren.size === 0) this.childStart = child.startTime;
    this.openChildren.add(child);
    return child;
  }

  /** True for a part that is recorded after the end of this one. */
  private mayFollow(part: ObservedPart): boolean {
    return part.type === 'tool-call' ? this.hasOpenCalls : isBesideChain(part);
  }

  note(event: ObservedEvent): void {
    if (this.hasEnded) return;
    const { turn, part, context } = this;
    switch (event.type) {
      case 'chunk':
        return part.onChunk?.((turn.now() - this.startTime) / 1_000, context);
      case 'response':
        this.response = event.response;
        return;
      case 'retry':
        return this.addRetry(event.error);
      case 'request':
        return; // an inspector shows it
      case 'timeout':
        this.timeout = event.error;
        return this.addEvent(EventName.TIMEOUT, {});
      case 'limit':
        turn.runSafely(() => turn.metrics.countLimit(event.limit));
        return this.addEvent(EventName.LIMIT, {
          [Attribute.LIMIT]: event.limit,
          [Attribute.LIMIT_MAX]: event.max,
        });
    }
  }

  run<T>(work: () => T): T {
    return this.turn.api.context.with(this.context, work);
  }

  end(reported: ObservedEnding): void {
    if (this.hasEnded) return;
    const { response, turn, part, startTime, context } = this;
    // the response is the last event, so a caller that has it may unsubscribe
    const ending: ObservedEnding =
      reported.type === 'cancelled' && response ? { type: 'response', response } : reported;
    for (const child of this.openChildren)
      if (ending.type !== 'response' || !child.mayOutlive) child.end({ type: 'cancelled' });
    this.hasEnded = true;
    this.hasOpenCalls = ending.type === 'response' && ending.response.hasToolCalls();
    const time = turn.now();
    const duration = (time - startTime) / 1_000;
    const exclusive = duration - this.childTime / 1_000;
    const outcome = this.outcomeOf(ending);
    const end: SpanEnd = {
      ending,
      outcome,
      error: errorOf(ending),
      errorType: failureType(ending, outcome, errorType),
      errorLabel: failureType(ending, outcome, errorLabel),
      duration,
      exclusive,
      context,
    };
    turn.runSafely(() => part.measure?.(end));
    if (this.isRecording) this.describeEnd(end, time);
    this.change((span) => span.end(time));
    this.onEnd?.(end, time);
  }

  private describeEnd(end: SpanEnd, time: number): void {
    const { turn, part, failure } = this;
    const { outcome, error } = end;
    if (outcome === 'success' && failure)
      this.addEvent(EventName.FALLBACK, { [Attribute.ERROR_TYPE]: errorType(failure.error) }, time);
    const attributes = turn.attributes((add) => {
      add(Attribute.OUTCOME, outcome);
      add(Attribute.ERROR_TYPE, end.errorType);
      part.addEnd(add, end);
    });
    this.change((span) => span.setAttributes(attributes));
    if (end.errorType !== undefined) this.addError(error, time);
  }

  /** Sets the status, and adds the event of the error unless an inner span has it. */
  private addError(error: unknown, time: number): void {
    const { api, content, recordedErrors } = this.turn;
    const message = error === undefined ? undefined : content?.text(messageOf(error), 'exception');
    const status = { code: api.SpanStatusCode.ERROR, ...(message !== undefined && { message }) };
    this.change((span) => span.setStatus(status));
    if (error === undefined || recordedErrors.has(error)) return;
    recordedErrors.add(error);
    const exception = {
      [Attribute.EXCEPTION_TYPE]: errorType(error),
      [Attribute.EXCEPTION_MESSAGE]: message,
      [Attribute.EXCEPTION_STACKTRACE]: content?.text(stackOf(error), 'exception'),
    };
    this.addEvent(EventName.EXCEPTION, exception, time);
  }

  private outcomeOf(ending: ObservedEnding): SpanEnd['outcome'] {
    if (ending.type === 'response' || ending.type === 'documents') return 'success';
    if (ending.type === 'done') return 'success';
    if (ending.type === 'cancelled') return 'cancelled';
    if (ending.type === 'error') return isCancellation(ending.error) ? 'cancelled' : 'error';
    const { outcome, result } = ending;
    const hasTimedOut =
      outcome === 'error' && this.timeout !== undefined && result.error === this.timeout;
    return hasTimedOut ? 'timeout' : outcome;
  }

  /** Records that another attempt follows a failure: a retry, or a fallback to another model. */
  private addNextAttempt({ error, model }: Failure, nextModel: string | undefined): void {
    this.failure = undefined;
    if (model === nextModel) return this.addRetry(error);
    return this.addEvent(EventName.FALLBACK, {
      [Attribute.ERROR_TYPE]: errorType(error),
      [Attribute.REQUEST_MODEL]: nextModel,
    });
  }

  private addRetry(error: unknown): void {
    this.addEvent(EventName.RETRY, {
      [Attribute.ERROR_TYPE]: errorType(error),
      [Attribute.RETRY_ATTEMPT]: ++this.retries,
    });
  }

  private addEvent(name: string, attributes: SpanAttributes, time = this.turn.now()): void {
    if (!this.isRecording) return;
    const recorded = this.turn.attributes((add) => {
      for (const [key, value] of Object.entries(attributes)) add(key, value);
    });
    this.change((span) => span.addEvent(name, recorded, time));
  }

  /** Changes the span; errors of its tracer are reported, never thrown. */
  private change(change: (span: Span) => void): void {
    const { span } = this;
    if (span) this.turn.runSafely(() => change(span));
  }
}

/** The observation of a wait: parts around it have its time. */
const UNTRACED: Observation = {
  begin: () => UNTRACED,
  note: () => undefined,
  run: (work) => work(),
  end: () => undefined,
};

/** True for a call such as the one for a summary, for which the answer of a turn does not wait. */
function isBesideChain(part: ObservedPart): boolean {
  return part.type === 'model-call' && part.iteration === undefined;
}

function errorOf(ending: ObservedEnding): unknown {
  if (ending.type === 'error') return ending.error;
  return ending.type === 'tool-result' ? ending.result.error : undefined;
}

/** The outcome itself where it is more precise than the class of the error. */
function failureType(
  ending: ObservedEnding,
  outcome: SpanEnd['outcome'],
  classify: (error: unknown) => string,
): string | undefined {
  if (outcome === 'success' || outcome === 'cancelled') return undefined;
  if (outcome !== 'error') return outcome;
  const error = errorOf(ending);
  return ending.type === 'error' || error !== undefined ? classify(error) : 'tool_result';
}
