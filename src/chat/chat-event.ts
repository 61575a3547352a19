import { checkOption, isPlainObject, rule, TEXT } from '../internal/options.js';
import type { ChatResponse } from './chat-response.js';
import type { Citation } from './citation.js';
import type { AdvisorContext } from './context.js';
import type { ToolCall, ToolMessage } from './message.js';
import type { RunReport } from './run-report.js';
import type { OfferedTool } from './tool-definition.js';

/** The result of a tool call. */
export interface ToolResult<Value = unknown> {
  /** The content for the model. */
  readonly content: ToolMessage['content'];
  /** True if the content describes a failure. */
  readonly isError?: boolean;
  /** The error that the tool threw, for the application; never sent to the model. */
  readonly error?: unknown;
  /** The value that the tool returned, for the application; absent if it did not return. */
  readonly value?: Value;
  /** Names of deferred tools to offer to the model from now on. */
  readonly unlocks?: readonly string[];
  /** Names of deferred tools to hide again, unless a result of the same batch unlocks them. */
  readonly locks?: readonly string[];
  /** Values of the tool for the advisors. */
  readonly context?: AdvisorContext;
}

/** The message that reports a result to the model. */
export function toToolMessage(
  { id, name }: ToolCall,
  { content, isError }: ToolResult,
): ToolMessage {
  const message = { role: 'tool', toolCallId: id, toolName: name, content } as const;
  return Object.freeze<ToolMessage>(isError ? { ...message, isError } : message);
}

/**
 * Events of applications and their advisors: name and type of the data. Extend it by declaration
 * merging: `declare module 'advisor-chain' { interface CustomEvents { sources: Source[] } }`.
 */
export interface CustomEvents {}

/** An event that an advisor or a tool has defined. */
export type CustomEvent = {
  readonly [N in keyof CustomEvents]: {
    readonly type: 'custom';
    readonly name: N;
    readonly data: CustomEvents[N];
  };
}[keyof CustomEvents];

const CUSTOM_EVENT = rule(
  "an event { type: 'custom', name, data }",
  (event) => isPlainObject(event) && event['type'] === 'custom' && TEXT.accepts(event['name']),
);

/** @throws {@link InvalidArgumentError} if it is no event of an advisor's or tool's own */
export function checkCustomEvent(event: CustomEvent, where: string): void {
  checkOption(where, 'event', event, CUSTOM_EVENT);
}

/**
 * An event of a run, in order. A run ends with exactly one `response`, or with an error. With `T`,
 * the tools of a client, events of tools have the types of these tools.
 */
export type ChatEvent<T extends OfferedTool = OfferedTool> =
  /** A model is about to be called; the tools of the iteration before have ended. */
  | { readonly type: 'iteration-start'; readonly index: number; readonly model?: string }
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'reasoning-delta'; readonly text: string }
  | ToolCallDelta
  | CitationEvent
  /** A finished iteration that asked for tools. */
  | { readonly type: 'iteration'; readonly index: number; readonly response: ChatResponse }
  | ToolEvent<KnownTool<T>>
  /** Voids the deltas of this and later iterations: a retry, or another answer, follows. */
  | { readonly type: 'retract'; readonly iteration: number }
  | CustomEvent
  | ResponseEvent;

/** The known tools of a client; any tool if none is known. */
export type KnownTool<T extends OfferedTool> = [T] extends [never] ? OfferedTool : T;

/** An event of a tool call. `toolName` is the discriminant: it narrows the type of the result. */
export type ToolEvent<T extends OfferedTool = OfferedTool> =
  T extends OfferedTool<infer Name, unknown, infer Output>
    ? | ToolEventOf<'tool-call', Name>
      | (ToolEventOf<'tool-progress', Name> & { readonly data: unknown })
      | (ToolEventOf<'tool-result', Name> & { readonly result: ToolResult<Output> })
    : never;

interface ToolEventOf<Type extends string, Name extends string> {
  readonly type: Type;
  readonly toolName: Name;
  readonly call: ToolCall<Name>;
}

/** A piece of a tool call; the first piece has its `id` and `name`. */
export interface ToolCallDelta {
  readonly type: 'tool-call-delta';
  readonly index: number;
  readonly id?: string;
  readonly name?: string;
  readonly arguments: string;
}

/** A source that the answer cites. */
export interface CitationEvent {
  readonly type: 'citation';
  readonly citation: Citation;
}

/** The complete answer: always the last event, exactly one. */
export interface ResponseEvent {
  readonly type: 'response';
  readonly response: ChatResponse;
  readonly context: AdvisorContext;
  /** Report of the run; in the last event of a run of a client. */
  readonly run?: RunReport;
}

/** True for the events that are pieces of an answer. */
export function isDelta({ type }: ChatEvent): boolean {
  return (
    type === 'text-delta' ||
    type === 'reasoning-delta' ||
    type === 'tool-call-delta' ||
    type === 'citation'
  );
}
