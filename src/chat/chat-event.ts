import type { ChatResponse } from './chat-response.js';
import type { AdvisorContext } from './context.js';
import type { ToolCall, ToolMessage } from './message.js';

/** What a tool call led to. */
export interface ToolResult {
  /** What the model is told. */
  readonly content: ToolMessage['content'];
  /** Whether the content describes a failure. */
  readonly isError?: boolean;
  /** What the tool threw, for the application; the model never sees it. */
  readonly error?: unknown;
  /** What the tool returned, for the application; absent if it did not return. */
  readonly value?: unknown;
  /** Names of deferred tools that are offered to the model from now on. */
  readonly unlocks?: readonly string[];
  /** Names of deferred tools that are hidden again, unless a result of the same batch unlocks them. */
  readonly locks?: readonly string[];
  /** Values that the tool hands to the advisors. */
  readonly context?: AdvisorContext;
}

/** What a model is told of a call. */
export function toToolMessage({ id, name }: ToolCall, { content, isError }: ToolResult): ToolMessage {
  return { role: 'tool', toolCallId: id, toolName: name, content, ...(isError && { isError: true }) };
}

/** Everything that happens in a run, in order. A run ends with exactly one `response`, or with an error. */
export type ChatEvent =
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'reasoning-delta'; readonly text: string }
  | ToolCallDelta
  /** A finished iteration that asked for tools. */
  | { readonly type: 'iteration'; readonly index: number; readonly response: ChatResponse }
  | { readonly type: 'tool-call'; readonly call: ToolCall }
  | { readonly type: 'tool-progress'; readonly call: ToolCall; readonly data: unknown }
  | { readonly type: 'tool-result'; readonly call: ToolCall; readonly result: ToolResult }
  /** The deltas of this iteration, and of later ones, are void: it is tried again, or its answer was replaced. */
  | { readonly type: 'retract'; readonly iteration: number }
  | ResponseEvent;

/** The events that are pieces of an answer. */
export const DELTA_TYPES = ['text-delta', 'reasoning-delta', 'tool-call-delta'] as const;

/** Whether an event is a piece of an answer. */
export function isDelta({ type }: ChatEvent): boolean {
  return type === 'text-delta' || type === 'reasoning-delta' || type === 'tool-call-delta';
}

/** A piece of a tool call; `id` and `name` come with its first piece. */
export interface ToolCallDelta {
  readonly type: 'tool-call-delta';
  readonly index: number;
  readonly id?: string;
  readonly name?: string;
  readonly arguments: string;
}

/** The complete answer: always the last event, exactly one. */
export interface ResponseEvent {
  readonly type: 'response';
  readonly response: ChatResponse;
  readonly context: AdvisorContext;
}
