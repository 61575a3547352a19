import { frozenFields } from '../internal/frozen-copy.js';
import type { JsonValue } from '../internal/json.js';
import { safeJson } from '../internal/safe-json.js';
import type { KnownTool, ToolResult } from './chat-event.js';
import type { ChatResponse, Usage } from './chat-response.js';
import type { Message, ToolCall } from './message.js';
import type { OfferedTool } from './tool-definition.js';

/** One call of a model in the ledger of a run; calls of nested runs count too. */
export interface ModelCallRecord {
  readonly kind: 'chat' | 'embedding' | 'rerank';
  /** Name of the model, from the answer, or else from the request. */
  readonly model: string | undefined;
  /** Index of the iteration, from 0; undefined for a call beside the loop, such as an embedding. */
  readonly iteration: number | undefined;
  /** Number of the call within its kind and iteration, from 1. */
  readonly attempt: number;
  /** As far as the provider reported it. */
  readonly usage: Usage | undefined;
  readonly outcome: 'pending' | 'answered' | 'failed' | 'cancelled';
  /** True if a durable turn ran again, and the model was not called: the end is a recorded one. */
  readonly isReplayed?: boolean;
}

/**
 * One tool call of a run. With `T`, the tools of a client: `toolName` is the discriminant that narrows
 * the type of the result.
 */
export type ToolCallRecord<T extends OfferedTool = OfferedTool> =
  T extends OfferedTool<infer Name, unknown, infer Output>
    ? ToolCallRecordFields<Name, Output>
    : never;

interface ToolCallRecordFields<Name extends string, Output> {
  readonly toolName: Name;
  readonly call: ToolCall<Name>;
  /**
   * `requested`: not started, it has had no effect; `started`: still running; `finished`: it has a
   * result; `unknown`: interrupted, it may have had its effect.
   */
  readonly status: 'requested' | 'started' | 'finished' | 'unknown';
  readonly result: ToolResult<Output> | undefined;
  /** Milliseconds from start to result; undefined if it did not run to its end. */
  readonly duration: number | undefined;
}

/** One iteration of a run: an answer of the model, and the tool calls that it asked for. */
export interface Step<T extends OfferedTool = OfferedTool> {
  /** Index of the iteration, from 0. */
  readonly index: number;
  readonly response: ChatResponse;
  /** In the order of the answer. */
  readonly toolCalls: readonly ToolCallRecord<KnownTool<T>>[];
}

/** A frozen copy: the run changes its steps until it ends, and other code may not. */
export function frozenStep({ index, response, toolCalls }: Step): Step {
  return Object.freeze({
    index,
    response,
    toolCalls: Object.freeze(toolCalls.map(frozenFields)),
  });
}

/** Messages that a memory has stored during a run. */
export interface StoredMessages {
  readonly conversationId: string;
  readonly messages: readonly Message[];
}

/** Report of a run, up to now or up to its end. */
export interface RunReport {
  readonly steps: readonly Step[];
  /** The conversation of the run so far, without answers that were given up. */
  readonly transcript: readonly Message[];
  /** Text of the unfinished iteration. */
  readonly partialText: string;
  /** Sum of the {@link ledger}; undefined if no provider reported usage. */
  readonly usage: Usage | undefined;
  /**
   * Sum of the prices of the {@link ledger}, by the `price` of the client or of the outer run.
   * Undefined without one, and if it throws for a call or returns no number >= 0.
   */
  readonly cost: number | undefined;
  /** All model calls in the order of their start, also those that failed or were refused. */
  readonly ledger: readonly ModelCallRecord[];
  readonly toolCalls: readonly ToolCallRecord[];
  readonly stored: readonly StoredMessages[];
  /** Resolves when all model requests and tools of the run have ended; never rejects. */
  readonly settled: Promise<void>;
}

/** The data of a report, which `JSON.stringify` writes: all fields but `settled`. */
export function reportJson(report: RunReport): JsonValue {
  const { steps, transcript, partialText, usage, cost, ledger, toolCalls, stored } = report;
  const data = { steps, transcript, partialText, usage, cost, ledger, toolCalls, stored };
  return safeJson(data, Infinity) ?? null;
}

declare module '../errors/advisor-chain-error.js' {
  interface AdvisorChainError {
    /** Report of the run that the error has ended. */
    readonly run?: RunReport;
  }
}
