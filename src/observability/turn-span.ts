import type { Attributes } from '@opentelemetry/api';
import type { Prompt } from '../chat/prompt.js';
import type { ObservedPart } from '../observation/observation.js';
import type { AttributeSet } from './attributes.js';
import type { ContentCapture } from './content-capture.js';
import { errorLabel } from './error-type.js';
import type { Metrics } from './metrics.js';
import { addResponse } from './model-call-span.js';
import { Attribute, Metric, Operation } from './names.js';
import type { SpanAttributes } from './telemetry-options.js';
import type { PartSpan, SpanEnd } from './part-span.js';

/** Start of a turn. */
export interface TurnStart {
  readonly turnId: string;
  readonly mode: 'call' | 'stream';
  readonly prompt: Prompt;
  readonly conversationId: string | undefined;
  /** Attributes added by the application. */
  readonly attributes: SpanAttributes | undefined;
  /** @default `invoke_agent`, followed by the attribute `gen_ai.agent.name` if there is one */
  readonly spanName: string | undefined;
}

/** Span of a turn: `invoke_agent`. Counts the parts of the turn. */
export class TurnSpan implements PartSpan {
  readonly spanName: string;
  private iterations = 0;
  private toolCalls = 0;
  private provider: string | undefined;

  constructor(
    private readonly start: TurnStart,
    private readonly metrics: Metrics,
    private readonly capture: ContentCapture | undefined,
  ) {
    const { spanName, attributes } = start;
    const agent = attributes?.[Attribute.AGENT_NAME];
    this.spanName =
      spanName ?? Operation.INVOKE_AGENT + (typeof agent === 'string' ? ` ${agent}` : '');
  }

  countPart(part: ObservedPart): void {
    if (part.type === 'tool-call') this.toolCalls++;
    if (part.type !== 'model-call') return;
    this.iterations = Math.max(this.iterations, part.iteration + 1);
    this.provider ??= part.provider?.name;
  }

  addStart(to: AttributeSet): void {
    const { turnId, mode, prompt, conversationId, attributes } = this.start;
    to.add(Attribute.OPERATION_NAME, Operation.INVOKE_AGENT);
    to.add(Attribute.TURN_ID, turnId);
    to.add(Attribute.CONVERSATION_ID, conversationId);
    to.add(Attribute.REQUEST_MODEL, prompt.options.model);
    if (mode === 'stream') to.add(Attribute.REQUEST_STREAM, true);
    to.addAll((attributes ?? {}) as Attributes);
  }

  measure({ outcome, error, duration, context }: SpanEnd): void {
    const { metrics, iterations } = this;
    const labels = {
      [Attribute.OPERATION_NAME]: Operation.INVOKE_AGENT,
      [Attribute.OUTCOME]: outcome,
      ...metrics.label(Attribute.ERROR_TYPE, outcome === 'error' ? errorLabel(error) : undefined),
    };
    metrics.record(Metric.TURN_DURATION, duration, labels, context);
    metrics.record(Metric.TURN_ITERATIONS, iterations, labels, context);
  }

  addEnd(to: AttributeSet, { ending }: SpanEnd): void {
    to.add(Attribute.PROVIDER_NAME, this.provider);
    to.add(Attribute.TURN_ITERATIONS, this.iterations);
    to.add(Attribute.TURN_TOOL_CALLS, this.toolCalls);
    if (ending.type === 'response') addResponse(to, ending.response, this.capture);
    this.capture?.addPrompt(to, this.start.prompt);
  }
}
