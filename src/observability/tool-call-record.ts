import type { Attributes } from '@opentelemetry/api';
import { textOf } from '../chat/message.js';
import type { ObservedEnding, ObservedEvent, ObservedToolCall, ToolCallOutcome } from '../chat/observation.js';
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

  attributes(): Attributes {
    const { call, iteration } = this.part;
    return {
      [Attribute.OPERATION_NAME]: Operation.EXECUTE_TOOL,
      [Attribute.TOOL_NAME]: this.toolName,
      [Attribute.TOOL_TYPE]: 'function',
      [Attribute.TOOL_CALL_ID]: call.id,
      [Attribute.ITERATION]: iteration,
    };
  }

  content(): Attributes {
    const { call, tool } = this.part;
    return {
      [Attribute.TOOL_NAME]: this.toolName ?? this.capture?.text(call.name, 'tool-arguments'),
      [Attribute.TOOL_DESCRIPTION]: tool && this.capture?.text(tool.definition.description, 'tool-definition'),
      [Attribute.TOOL_CALL_ARGUMENTS]: this.capture?.text(call.arguments, 'tool-arguments'),
    };
  }

  note(event: ObservedEvent): void {
    if (event.type === 'timeout') this.timeout = event.error;
  }

  measure(ending: ObservedEnding, { error, duration }: SpanEnd): void {
    const outcome = this.outcomeOf(ending);
    if (outcome !== 'cancelled') this.metrics.toolCall(duration, this.toolName, outcome, typeOf(outcome, error, errorLabel));
  }

  endAttributes(ending: ObservedEnding, { error }: SpanEnd): Attributes {
    const outcome = this.outcomeOf(ending);
    return {
      [Attribute.OUTCOME]: outcome,
      [Attribute.ERROR_TYPE]: typeOf(outcome, error, errorType),
      [Attribute.TOOL_CALL_RESULT]:
        ending.type === 'tool-result' ? this.capture?.text(textOf(ending.result.content), 'tool-result') : undefined,
    };
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
