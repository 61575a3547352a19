import { textOf } from '../chat/message.js';
import type {
  ObservedEnding,
  ObservedEvent,
  ObservedToolCall,
  ToolCallOutcome,
} from '../observation/observation.js';
import type { AttributeSet } from './attributes.js';
import type { ContentCapture } from './content-capture.js';
import { errorLabel, errorType } from './error-type.js';
import type { Metrics } from './metrics.js';
import { Attribute, Metric, Operation } from './names.js';
import type { PartSpan, SpanEnd } from './part-span.js';

/** Span of a tool call: `execute_tool {name}`. The name of an unknown tool is content. */
export class ToolCallSpan implements PartSpan {
  readonly spanName: string;
  /** Undefined for an unknown tool. */
  private readonly toolName: string | undefined;
  /** Error of the latest timeout. */
  private timeout: unknown;

  constructor(
    private readonly part: ObservedToolCall,
    private readonly metrics: Metrics,
    private readonly capture: ContentCapture | undefined,
  ) {
    this.toolName = part.tool?.definition.name;
    this.spanName =
      Operation.EXECUTE_TOOL + (this.toolName === undefined ? '' : ` ${this.toolName}`);
  }

  addStart(to: AttributeSet): void {
    const { call, iteration } = this.part;
    to.add(Attribute.OPERATION_NAME, Operation.EXECUTE_TOOL);
    to.add(Attribute.TOOL_NAME, this.toolName);
    to.add(Attribute.TOOL_TYPE, 'function');
    to.add(Attribute.TOOL_CALL_ID, call.id);
    to.add(Attribute.ITERATION, iteration);
  }

  onEvent(event: ObservedEvent): void {
    if (event.type === 'timeout') this.timeout = event.error;
  }

  measure({ ending, error, duration, context }: SpanEnd): void {
    const outcome = this.outcomeOf(ending);
    if (outcome === 'cancelled') return;
    const { metrics, toolName } = this;
    const labels = {
      [Attribute.OPERATION_NAME]: Operation.EXECUTE_TOOL,
      ...metrics.label(Attribute.TOOL_NAME, toolName),
      [Attribute.OUTCOME]: outcome,
      ...metrics.label(Attribute.ERROR_TYPE, typeOf(outcome, error, errorLabel)),
    };
    metrics.record(Metric.TOOL_DURATION, duration, labels, context);
  }

  addEnd(to: AttributeSet, { ending, error }: SpanEnd): void {
    const outcome = this.outcomeOf(ending);
    to.add(Attribute.OUTCOME, outcome);
    to.add(Attribute.ERROR_TYPE, typeOf(outcome, error, errorType));
    if (this.capture) this.addContent(to, this.capture, ending);
  }

  private addContent(to: AttributeSet, capture: ContentCapture, ending: ObservedEnding): void {
    const { call, tool } = this.part;
    const description = tool?.definition.description;
    if (!tool) to.add(Attribute.TOOL_NAME, capture.text(call.name, 'tool-arguments'));
    to.add(Attribute.TOOL_DESCRIPTION, capture.text(description, 'tool-definition'));
    to.add(Attribute.TOOL_CALL_ARGUMENTS, capture.text(call.arguments, 'tool-arguments'));
    if (ending.type === 'tool-result')
      to.add(
        Attribute.TOOL_CALL_RESULT,
        capture.text(textOf(ending.result.content), 'tool-result'),
      );
  }

  private outcomeOf(ending: ObservedEnding): ToolCallOutcome | 'timeout' {
    if (ending.type !== 'tool-result') return 'cancelled'; // the turn ended during the call
    const { outcome, result } = ending;
    const hasTimedOut =
      outcome === 'error' && this.timeout !== undefined && result.error === this.timeout;
    return hasTimedOut ? 'timeout' : outcome;
  }
}

/** The outcome itself where it is more precise than the class of the error. */
function typeOf(
  outcome: ToolCallOutcome | 'timeout',
  error: unknown,
  classify: (error: unknown) => string,
): string | undefined {
  if (outcome === 'success' || outcome === 'cancelled') return undefined;
  if (outcome !== 'error') return outcome;
  return error === undefined ? 'tool_result' : classify(error);
}
