import type { Context } from '@opentelemetry/api';
import { AdvisorOrder, type Advisor, type AdvisorChain } from '../../src/core/advisor/advisor.js';
import { orderOf } from '../../src/core/advisor/advisor-place.js';
import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import { ObservedSubscriber } from '../../src/core/advisor/event-subscribers.js';
import type { ChatEvent } from '../../src/core/chat/chat-event.js';
import { CONVERSATION_ID } from '../../src/core/chat/context.js';
import {
  BOOLEAN,
  FUNCTION,
  integer,
  orFunction,
  PLAIN_OBJECT,
  TEXT,
  withMethods,
  type Rule,
} from '../../src/core/internal/options.js';
import { Observable, Subscriber } from '../../src/core/internal/rxjs.js';
import {
  checkHookResult,
  isRecording,
  loadOpenTelemetry,
  openTelemetry,
  runSafely,
  type OpenTelemetry,
} from './open-telemetry.js';
import { SpanObservation } from './span-observation.js';
import type { SpanAttributes, TelemetryOptions } from './telemetry-options.js';
import { TurnTelemetry } from './turn-telemetry.js';
import { TURN_OBSERVATION } from '../../src/core/observation/ask-model.js';
import { both } from '../../src/core/observation/both.js';

/** Options of an {@link ObservabilityAdvisor}. */
export interface ObservabilityAdvisorOptions extends TelemetryOptions {
  /** Attributes of the turn's span, or a function that returns them per request. @default none */
  readonly attributes?:
    SpanAttributes | ((request: ChatClientRequest) => SpanAttributes) | undefined;
  /**
   * Name of the turn's span, or a function that returns it per request.
   * @default `invoke_agent`, followed by the attribute `gen_ai.agent.name` if there is one
   */
  readonly spanName?: string | ((request: ChatClientRequest) => string) | undefined;
  /** Advisors with a lower order are not traced. @default AdvisorOrder.OBSERVABILITY */
  readonly order?: number | undefined;
}

const RULES = {
  tracer: withMethods('a Tracer', 'startSpan'),
  meter: withMethods('a Meter', 'createHistogram', 'createCounter'),
  captureContent: BOOLEAN,
  redact: FUNCTION,
  maxContentLength: integer(1),
  attributes: orFunction(PLAIN_OBJECT),
  spanName: orFunction(TEXT),
};

/**
 * Records every turn as a trace, with metrics, for call and stream alike, by the GenAI conventions
 * of OpenTelemetry. Requires the package `@opentelemetry/api`. Errors of tracers, exporters and the
 * hooks of its options never fail a turn; they are reported to `diag` of that package.
 */
export class ObservabilityAdvisor implements Advisor {
  readonly name = 'observability';
  readonly order: number;

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(private readonly options: ObservabilityAdvisorOptions = {}) {
    const { OBSERVABILITY } = AdvisorOrder;
    this.order = orderOf('ObservabilityAdvisor', options, RULES, OBSERVABILITY);
    // preloads the package for the first turn, which fails if it is not installed
    loadOpenTelemetry().catch(() => undefined);
  }

  advise(request: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent> {
    return new Observable((subscriber) => {
      if (subscriber.closed) return;
      const api = openTelemetry();
      if (api) return this.observeTurn(api, request, chain, subscriber);
      loadOpenTelemetry()
        .then((loaded) => {
          if (!subscriber.closed) this.observeTurn(loaded, request, chain, subscriber);
        })
        .catch((error: unknown) => subscriber.error(error));
    });
  }

  private observeTurn(
    api: OpenTelemetry,
    request: ChatClientRequest,
    chain: AdvisorChain,
    subscriber: Subscriber<ChatEvent>,
  ): void {
    const { attributes, spanName } = this.options;
    if (!isRecording(api, this.options)) {
      chain.next(request).subscribe(subscriber);
      return;
    }
    const { prompt, turnId, mode, context, run } = request;
    const callerContext = api.context.active();
    const start = {
      turnId,
      mode,
      prompt,
      run,
      conversationId: context.get(CONVERSATION_ID),
      attributes: runSafely(api, () => ({
        ...valueFor('attributes', attributes, request, PLAIN_OBJECT),
      })),
      spanName: runSafely(api, () => valueFor('spanName', spanName, request, TEXT)),
    };
    const turn = new TurnTelemetry(api, this.options, start, callerContext);
    const own = new SpanObservation(turn, turn, turn.context);
    // another observer may stand left of this one, such as an Inspector
    const root = request.observation ? both(request.observation, own) : own;
    TURN_OBSERVATION.set(run, root);
    const caller = new CallerContextSubscriber(api, callerContext, subscriber);
    const events = new ObservedSubscriber(own, caller);
    const { onIterationStart } = run;
    if (onIterationStart)
      run.onIterationStart = (event) =>
        api.context.with(callerContext, onIterationStart, undefined, event);
    root.run(() => chain.next(request.with({ observation: root })).subscribe(events));
  }
}

/** The value of an option, or of its function of the request, which may return none. */
function valueFor<T extends string | SpanAttributes>(
  name: string,
  option: T | ((request: ChatClientRequest) => T) | undefined,
  request: ChatClientRequest,
  rule: Rule,
): T | undefined {
  if (typeof option !== 'function') return option;
  const value = option(request) ?? undefined;
  if (value !== undefined) checkHookResult(name, value, rule);
  return value;
}

/**
 * Delivers events in the caller's OpenTelemetry context, so that spans it starts are not children
 * of the turn.
 */
class CallerContextSubscriber extends Subscriber<ChatEvent> {
  constructor(
    private readonly api: OpenTelemetry,
    private readonly callerContext: Context,
    private readonly subscriber: Subscriber<ChatEvent>,
  ) {
    super(subscriber);
  }

  protected override _next(event: ChatEvent): void {
    this.api.context.with(this.callerContext, deliverEvent, undefined, this.subscriber, event);
  }

  protected override _error(error: unknown): void {
    this.api.context.with(this.callerContext, () => super._error(error));
  }

  protected override _complete(): void {
    this.api.context.with(this.callerContext, () => super._complete());
  }
}

/** A function shared by all events: a stream has thousands. */
function deliverEvent(subscriber: Subscriber<ChatEvent>, event: ChatEvent): void {
  subscriber.next(event);
}
