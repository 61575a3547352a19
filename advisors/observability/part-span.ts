import type { Context } from '@opentelemetry/api';
import { textOf } from '../../src/core/chat/message.js';
import type {
  ObservedAdvisor,
  ObservedEnding,
  ObservedRetrieval,
  ObservedToolCall,
  ToolCallOutcome,
} from '../../src/core/observation/observation.js';
import { Attribute, Metric, Operation } from '../../src/core/observation/names.js';
import type { SpanAttributes } from './telemetry-options.js';
import type { TurnTelemetry } from './turn-telemetry.js';

/** Adds an attribute; one without a value is not recorded. Lists of them would cost more time. */
export type AddAttribute = (name: string, value: SpanAttributes[string]) => void;

/** End of a part, as its span records it. */
export interface SpanEnd {
  readonly ending: ObservedEnding;
  /** Only tool calls have others than success, error and cancelled. */
  readonly outcome: ToolCallOutcome | 'timeout';
  readonly error: unknown;
  /** Undefined unless the part failed. */
  readonly errorType: string | undefined;
  /** The error type from a closed set, for metrics. */
  readonly errorLabel: string | undefined;
  /** Seconds from start to end. */
  readonly duration: number;
  /** Seconds during which no part within this one was open. */
  readonly exclusive: number;
  /** Context in which the span is the active one. */
  readonly context: Context;
}

/** Name, attributes and metrics of the span of one kind of part. */
export interface PartSpan {
  readonly spanName: string;
  /** True for requests to another system. */
  readonly isClient?: boolean;
  /** Adds the attributes that are known at the start; samplers see them. */
  addStart(add: AddAttribute): void;
  /**
   * @param seconds time since the start of the part
   * @param context context in which the span is the active one
   */
  onChunk?(seconds: number, context: Context): void;
  /** Records the metrics of the part, whether the span is recorded or not. */
  measure?(end: SpanEnd): void;
  /** Adds the attributes of the end, then the content; called only if the span is recorded. */
  addEnd(add: AddAttribute, end: SpanEnd): void;
}

/** Span of an advisor: `advisor {name}`. */
export function advisorSpan({ name, order }: ObservedAdvisor): PartSpan {
  return {
    spanName: `advisor ${name}`,
    addStart: (add) => {
      add(Attribute.ADVISOR_NAME, name);
      add(Attribute.ADVISOR_ORDER, order);
    },
    addEnd: (add, { exclusive }) => add(Attribute.ADVISOR_EXCLUSIVE_TIME, exclusive),
  };
}

/** Span of a tool call: `execute_tool {name}`. The name of an unknown tool is content. */
export function toolCallSpan(
  { call, tool, iteration }: ObservedToolCall,
  { metrics, content }: TurnTelemetry,
): PartSpan {
  const { name, description } = tool?.definition ?? {};
  return {
    spanName: name === undefined ? Operation.EXECUTE_TOOL : `${Operation.EXECUTE_TOOL} ${name}`,
    addStart: (add) => {
      add(Attribute.OPERATION_NAME, Operation.EXECUTE_TOOL);
      add(Attribute.TOOL_NAME, name);
      add(Attribute.TOOL_TYPE, 'function');
      add(Attribute.TOOL_CALL_ID, call.id);
      add(Attribute.ITERATION, iteration);
    },
    measure: ({ ending, outcome, errorLabel, duration, context }) => {
      if (outcome === 'cancelled' || isReplayed(ending)) return;
      const labels = {
        [Attribute.OPERATION_NAME]: Operation.EXECUTE_TOOL,
        ...metrics.label(Attribute.TOOL_NAME, name),
        [Attribute.OUTCOME]: outcome,
        ...metrics.label(Attribute.ERROR_TYPE, errorLabel),
      };
      metrics.record(Metric.TOOL_DURATION, duration, labels, context);
    },
    addEnd: (add, { ending }) => {
      add(Attribute.REPLAYED, isReplayed(ending) || undefined);
      if (!content) return;
      if (name === undefined) add(Attribute.TOOL_NAME, content.text(call.name, 'tool-arguments'));
      add(Attribute.TOOL_DESCRIPTION, content.text(description, 'tool-definition'));
      add(Attribute.TOOL_CALL_ARGUMENTS, content.text(call.arguments, 'tool-arguments'));
      if (ending.type !== 'tool-result') return;
      const result = textOf(ending.result.content);
      add(Attribute.TOOL_CALL_RESULT, content.text(result, 'tool-result'));
    },
  };
}

/** Span of a search for documents: `retrieval {data source}`. */
export function retrievalSpan(
  { dataSource, query }: ObservedRetrieval,
  { metrics, content }: TurnTelemetry,
): PartSpan {
  return {
    spanName: `${Operation.RETRIEVAL} ${dataSource}`,
    isClient: true,
    addStart: (add) => {
      add(Attribute.OPERATION_NAME, Operation.RETRIEVAL);
      add(Attribute.DATA_SOURCE_ID, dataSource);
    },
    measure: ({ outcome, errorLabel, duration, context }) => {
      if (outcome === 'cancelled') return;
      const labels = {
        [Attribute.OPERATION_NAME]: Operation.RETRIEVAL,
        ...metrics.label(Attribute.DATA_SOURCE_ID, dataSource),
        ...metrics.label(Attribute.ERROR_TYPE, errorLabel),
      };
      metrics.record(Metric.OPERATION_DURATION, duration, labels, context);
    },
    addEnd: (add, { ending }) => {
      if (!content) return;
      add(Attribute.RETRIEVAL_QUERY_TEXT, content.text(query, 'message'));
      if (ending.type !== 'documents') return;
      const found = ending.documents.map(({ id, score }) => ({ id, score }));
      add(Attribute.RETRIEVAL_DOCUMENTS, content.text(JSON.stringify(found), 'tool-result'));
    },
  };
}

const isReplayed = (ending: ObservedEnding): boolean =>
  ending.type === 'tool-result' && ending.isReplayed === true;
