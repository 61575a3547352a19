import { AdvisorOrder } from '../src/advisor/advisor-order.js';
import type { Advisor, AdvisorChain } from '../src/advisor/advisor.js';
import type { ChatClientRequest } from '../src/advisor/chat-client-request.js';
import { ObservedEvents } from '../src/advisor/observe.js';
import type { ChatEvent } from '../src/chat/chat-event.js';
import { CONVERSATION_ID } from '../src/chat/context.js';
import { describe } from '../src/chat/message.js';
import { InvalidArgumentError } from '../src/errors.js';
import { attempt } from '../src/observability/attempt.js';
import type { Redact } from '../src/observability/content-capture.js';
import { hookValue, isName, isRecord } from '../src/observability/hook-value.js';
import { loadOpenTelemetry, openTelemetry, type OpenTelemetry } from '../src/observability/open-telemetry.js';
import { Outside } from '../src/observability/outside.js';
import { Telemetry } from '../src/observability/telemetry.js';
import type { MeterLike, SpanAttributes, TracerLike } from '../src/observability/tracer-like.js';
import { Observable, type Subscriber } from '../src/rxjs.js';

/** Options of an {@link ObservabilityAdvisor}. */
export interface ObservabilityAdvisorOptions {
  /** Makes the spans: a `Tracer` of `@opentelemetry/api`. @default that of the SDK that is registered when a turn begins */
  readonly tracer?: TracerLike | undefined;
  /** Makes the metrics: a `Meter` of `@opentelemetry/api`. @default that of the SDK that is registered when a turn begins */
  readonly meter?: MeterLike | undefined;
  /** Whether what was said is recorded: messages, instructions, arguments, results, tool definitions, texts of errors. @default false */
  readonly captureContent?: boolean | undefined;
  /** Makes each text of content fit to be recorded. @default nothing is changed */
  readonly redact?: Redact | undefined;
  /** Most characters of one recorded value, 1 or more; lists of messages are cut so that they stay JSON. @default 8_192 */
  readonly maxContentLength?: number | undefined;
  /** Attributes for the span of the turn, or a function that gives them for a request. @default none */
  readonly attributes?: SpanAttributes | ((request: ChatClientRequest) => SpanAttributes) | undefined;
  /** Name of the span of the turn. @default `invoke_agent`, and the attribute `gen_ai.agent.name` if there is one */
  readonly spanName?: string | ((request: ChatClientRequest) => string) | undefined;
  /** What is left of it is not observed. @default AdvisorOrder.OBSERVABILITY */
  readonly order?: number | undefined;
}

/**
 * Makes every turn a trace with metrics, for call and stream alike, by the GenAI conventions of OpenTelemetry. Needs the package
 * `@opentelemetry/api`. What tracers, exporters and the hooks here throw changes no turn; it is told to `diag` of that package.
 */
export class ObservabilityAdvisor implements Advisor {
  readonly name = 'observability';
  readonly order: number;
  private readonly options: ObservabilityAdvisorOptions;
  private readonly telemetry: Telemetry;

  /** @throws {@link InvalidArgumentError} if an option cannot be used */
  constructor(options: ObservabilityAdvisorOptions = {}) {
    const { tracer, meter, captureContent = false, redact, maxContentLength = 8_192, attributes, spanName } = options;
    const { order = AdvisorOrder.OBSERVABILITY } = options;
    check('tracer', tracer, 'a Tracer', isAbsent(tracer) || typeof tracer?.startSpan === 'function');
    check('meter', meter, 'a Meter', isAbsent(meter) || isMeter(meter));
    check('captureContent', captureContent, 'true or false', typeof captureContent === 'boolean');
    check('redact', redact, 'a function', ['function', 'undefined'].includes(typeof redact));
    check('maxContentLength', maxContentLength, 'an integer of 1 or more', Number.isInteger(maxContentLength) && maxContentLength >= 1);
    check(
      'attributes',
      attributes,
      'an object or a function',
      isAbsent(attributes) || typeof attributes === 'function' || isRecord(attributes),
    );
    check('spanName', spanName, 'a non-blank text or a function', isAbsent(spanName) || typeof spanName === 'function' || isName(spanName));
    check('order', order, 'a finite number', Number.isFinite(order));
    this.order = order;
    this.options = options;
    this.telemetry = new Telemetry({ tracer, meter, captureContent, redact, maxContentLength });
    // so that it is there when the first turn begins; who begins one too early or without it waits for it, and is told
    loadOpenTelemetry().catch(() => undefined);
  }

  advise(request: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent> {
    return new Observable((subscriber) => {
      if (subscriber.closed) return undefined;
      const api = openTelemetry();
      if (api) return this.observe(api, request, chain, subscriber);
      const begin = (loaded: OpenTelemetry): void => {
        if (!subscriber.closed) this.observe(loaded, request, chain, subscriber);
      };
      loadOpenTelemetry()
        .then(begin)
        .catch((error: unknown) => subscriber.error(error));
    });
  }

  private observe(api: OpenTelemetry, request: ChatClientRequest, chain: AdvisorChain, subscriber: Subscriber<ChatEvent>): void {
    if (!this.telemetry.isRecording(api)) {
      chain.next(request).subscribe(subscriber);
      return;
    }
    const { prompt, turnId, mode, context } = request;
    const { attributes, spanName } = this.options;
    const root = this.telemetry.beginTurn(api, {
      turnId,
      mode,
      prompt,
      conversationId: context.get(CONVERSATION_ID),
      attributes: attempt(api, () => attributesFor(attributes, request)) ?? {},
      spanName: attempt(api, () => nameFor(spanName, request)),
    });
    const events = new ObservedEvents(root, new Outside(api, subscriber));
    root.run(() => chain.next(request.withObservation(root)).subscribe(events));
  }
}

/** A copy of what they are for a request. */
function attributesFor(setting: ObservabilityAdvisorOptions['attributes'], request: ChatClientRequest): SpanAttributes {
  if (typeof setting !== 'function') return setting ?? {};
  const value: unknown = setting(request) ?? {};
  return { ...(hookValue('attributes', value, 'an object', isRecord) as SpanAttributes) };
}

function nameFor(setting: ObservabilityAdvisorOptions['spanName'], request: ChatClientRequest): string | undefined {
  if (typeof setting !== 'function') return setting;
  const value: unknown = setting(request);
  return value === undefined ? undefined : hookValue('spanName', value, 'a non-blank text', isName);
}

function isMeter(meter: MeterLike | null | undefined): boolean {
  return typeof meter?.createHistogram === 'function' && typeof meter.createCounter === 'function';
}

function isAbsent(value: unknown): boolean {
  return value === undefined;
}

function check(option: string, value: unknown, rule: string, isRight: boolean): void {
  if (!isRight) throw new InvalidArgumentError(`ObservabilityAdvisor: ${option} must be ${rule}, not ${describe(value)}`);
}
