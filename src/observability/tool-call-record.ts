import { textOf } from '../chat/message.js';
import type { ObservedEnding, ObservedEvent, ObservedToolCall, ToolCallOutcome } from '../chat/observation.js';
import type { AttributeSet } from './attribute-set.js';
import type { ContentCapture } from './content-capture.js';
import { errorLabel, errorType } from './error-type.js';
import type { Metrics } from './metrics.js';
import { Attribute, Operation } from './names.js';
import type { SpanEnd, SpanRecord } from './span-record.js';

/** A tool call: `execute_tool {name}`. A name that no tool has is the model's invention, and so is content. */
export class ToolCallRecord implements SpanRecord {
  readonly spanName: string;
  /** Undefined where there is no such tool. */
  private readonly toolName: string | undefined;
  /** What the tool was given up with. */
  private timeout: unknown;

  constructor(
    private readonly part: ObservedToolCall,
    private readonly metrics: Metrics,
    private readonly capture: ContentCapture | undefined,
  ) {
    this.toolName = part.tool?.definition.name;
    this.spanName = this.toolName === undefined ? Operation.EXECUTE_TOOL : `${Operation.EXECUTE_TOOL} ${this.toolName}`;
  }

  addBeginning(to: AttributeSet): void {
    const { call, iteration } = this.part;
    to.add(Attribute.OPERATION_NAME, Operation.EXECUTE_TOOL);
    to.add(Attribute.TOOL_NAME, this.toolName);
    to.add(Attribute.TOOL_TYPE, 'function');
    to.add(Attribute.TOOL_CALL_ID, call.id);
    to.add(Attribute.ITERATION, iteration);
  }

  addContent(to: AttributeSet): void {
    const { capture } = this;
    if (!capture) return;
    const { call, tool } = this.part;
    if (this.toolName === undefined) to.add(Attribute.TOOL_NAME, capture.text(call.name, 'tool-arguments'));
    if (tool) to.add(Attribute.TOOL_DESCRIPTION, capture.text(tool.definition.description, 'tool-definition'));
    to.add(Attribute.TOOL_CALL_ARGUMENTS, capture.text(call.arguments, 'tool-arguments'));
  }

  note(event: ObservedEvent): void {
    if (event.type === 'timeout') this.timeout = event.error;
  }

  measure(ending: ObservedEnding, { error, duration, context }: SpanEnd): void {
    const outcome = this.outcomeOf(ending);
    if (outcome !== 'cancelled') this.metrics.toolCall(duration, this.toolName, outcome, typeOf(outcome, error, errorLabel), context);
  }

  addEnd(to: AttributeSet, ending: ObservedEnding, { error }: SpanEnd): void {
    const outcome = this.outcomeOf(ending);
    to.add(Attribute.OUTCOME, outcome);
    to.add(Attribute.ERROR_TYPE, typeOf(outcome, error, errorType));
    if (this.capture && ending.type === 'tool-result')
      to.add(Attribute.TOOL_CALL_RESULT, this.capture.text(textOf(ending.result.content), 'tool-result'));
  }

  private outcomeOf(ending: ObservedEnding): ToolCallOutcome | 'timeout' {
    if (ending.type !== 'tool-result') return 'cancelled'; // it was under way when the turn ended
    const isLate = ending.outcome === 'error' && this.timeout !== undefined && ending.result.error === this.timeout;
    return isLate ? 'timeout' : ending.outcome;
  }
}

/** What is wrong with the call says more than the class of the error that tells the model of it. */
function typeOf(outcome: ToolCallOutcome | 'timeout', error: unknown, classify: (error: unknown) => string): string | undefined {
  if (outcome === 'success' || outcome === 'cancelled') return undefined;
  return outcome === 'error' ? (error === undefined ? 'tool_result' : classify(error)) : outcome;
}
