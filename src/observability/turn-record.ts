import type { Attributes } from '@opentelemetry/api';
import type { ObservedEnding, ObservedPart } from '../chat/observation.js';
import type { Prompt } from '../chat/prompt.js';
import type { AttributeSet } from './attribute-set.js';
import type { ContentCapture } from './content-capture.js';
import { errorLabel } from './error-type.js';
import type { Metrics } from './metrics.js';
import { addResponse } from './model-call-record.js';
import { Attribute, Operation } from './names.js';
import type { SpanEnd, SpanRecord } from './span-record.js';
import type { SpanAttributes } from './tracer-like.js';

/** A turn as it begins. */
export interface TurnStart {
  readonly turnId: string;
  readonly mode: 'call' | 'stream';
  readonly prompt: Prompt;
  readonly conversationId: string | undefined;
  /** What the application adds. */
  readonly attributes: SpanAttributes;
  /** @default `invoke_agent`, and the name of the agent if there is one among the attributes */
  readonly spanName: string | undefined;
}

/** A turn: `invoke_agent`. Hears of every part within it. */
export class TurnRecord implements SpanRecord {
  readonly spanName: string;
  private iterations = 0;
  private toolCalls = 0;
  private provider: string | undefined;

  constructor(
    private readonly start: TurnStart,
    private readonly metrics: Metrics,
    private readonly capture: ContentCapture | undefined,
  ) {
    const agent = start.attributes[Attribute.AGENT_NAME];
    const usual = typeof agent === 'string' ? `${Operation.INVOKE_AGENT} ${agent}` : Operation.INVOKE_AGENT;
    this.spanName = typeof start.spanName === 'string' ? start.spanName : usual;
  }

  get conversationId(): string | undefined {
    return this.start.conversationId;
  }

  hear(part: ObservedPart): void {
    if (part.type === 'tool-call') this.toolCalls++;
    if (part.type !== 'model-call') return;
    this.iterations = Math.max(this.iterations, part.iteration + 1);
    this.provider ??= part.provider?.name;
  }

  addBeginning(to: AttributeSet): void {
    const { turnId, mode, prompt, conversationId, attributes } = this.start;
    to.add(Attribute.OPERATION_NAME, Operation.INVOKE_AGENT);
    to.add(Attribute.TURN_ID, turnId);
    to.add(Attribute.CONVERSATION_ID, conversationId);
    to.add(Attribute.REQUEST_MODEL, prompt.options.model);
    if (mode === 'stream') to.add(Attribute.REQUEST_STREAM, true);
    to.addAll(attributes as Attributes);
  }

  addContent(to: AttributeSet): void {
    const { prompt } = this.start;
    to.add(Attribute.SYSTEM_INSTRUCTIONS, this.capture?.instructions(prompt));
    to.add(Attribute.INPUT_MESSAGES, this.capture?.messages(prompt));
  }

  measure(_ending: ObservedEnding, { outcome, error, duration, context }: SpanEnd): void {
    this.metrics.turn(duration, this.iterations, outcome, outcome === 'error' ? errorLabel(error) : undefined, context);
  }

  addEnd(to: AttributeSet, ending: ObservedEnding): void {
    to.add(Attribute.PROVIDER_NAME, this.provider);
    to.add(Attribute.TURN_ITERATIONS, this.iterations);
    to.add(Attribute.TURN_TOOL_CALLS, this.toolCalls);
    if (ending.type === 'response') addResponse(to, ending.response, this.capture);
  }
}
