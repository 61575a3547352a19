import { jsonData } from '../internal/json-data.js';
import { safeJson } from '../internal/safe-json.js';
import { checkOption, isPlainObject, rule, TEXT } from '../internal/options.js';
import type { ChatResponse } from './chat-response.js';
import type { Citation } from './citation.js';
import type { AdvisorContext } from './context.js';
import type { CheckedCall, ToolCall, ToolMessage } from './message.js';
import type { RunReport, Step } from './run-report.js';
import type { OfferedTool } from './tool-definition.js';
import { checkOwner } from './owned-events.js';

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
  { id, wireId, name }: ToolCall,
  { content, isError }: ToolResult,
): ToolMessage {
  const message = {
    role: 'tool',
    toolCallId: id,
    ...(wireId !== undefined && { wireId }),
    toolName: name,
    content,
  } as const;
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
  } & Replayed;
}[keyof CustomEvents];

const CUSTOM_EVENT = rule(
  "an event { type: 'custom', name, data }",
  (event) => isPlainObject(event) && event['type'] === 'custom' && TEXT.accepts(event['name']),
);

/** @throws {@link InvalidArgumentError} if it is not an own event of this advisor or tool */
export function checkCustomEvent(event: CustomEvent, where: string): void {
  checkOption(where, 'event', event, CUSTOM_EVENT);
  checkOwner(event, where);
}

/**
 * An event of a run, in order. A run ends with exactly one `response`, or with an error. With `T`,
 * the tools of a client, events of tools have the types of these tools.
 */
export type ChatEvent<T extends OfferedTool = OfferedTool> =
  /** A model is about to be called; the tools of the iteration before have ended. */
  | ({
      readonly type: 'iteration-start';
      readonly index: number;
      readonly model?: string;
    } & Replayed)
  | ({ readonly type: 'text-delta'; readonly text: string } & Replayed)
  | ({ readonly type: 'reasoning-delta'; readonly text: string } & Replayed)
  | ToolCallDelta
  | CitationEvent
  /** A finished iteration that asked for tools. */
  | ({
      readonly type: 'iteration';
      readonly index: number;
      readonly response: ChatResponse;
    } & Replayed)
  | ToolEvent<KnownTool<T>>
  /** An iteration that asked for tools, with their results; the last answer is the `response`. */
  | ({ readonly type: 'step'; readonly step: Step<KnownTool<T>> } & Replayed)
  /** Voids the deltas of this and later iterations: a retry, or another answer, follows. */
  | ({ readonly type: 'retract'; readonly iteration: number } & Replayed)
  | CustomEvent
  | ResponseEvent;

/** The known tools of a client; any tool if none is known. */
export type KnownTool<T extends OfferedTool> = [T] extends [never] ? OfferedTool : T;

/** An event of a tool call. `toolName` is the discriminant: it narrows the type of the result. */
export type ToolEvent<T extends OfferedTool = OfferedTool> =
  T extends OfferedTool<infer Name, infer Input, infer Output>
    ? | ToolEventOf<'tool-call', CheckedCall<Name, Input>>
      /** The tool begins to run; absent if a check, an advisor or a record has the result. */
      | ToolEventOf<'tool-start', CheckedCall<Name, Input>>
      | (ToolEventOf<'tool-progress', CheckedCall<Name, Input>> & { readonly data: unknown })
      | (ToolEventOf<'tool-result', CheckedCall<Name, Input>> & {
          readonly result: ToolResult<Output>;
        })
    : never;

interface ToolEventOf<Type extends string, Call extends ToolCall> extends Replayed {
  readonly type: Type;
  readonly toolName: Call['name'];
  readonly call: Call;
}

/** An event that an earlier execution of a resumed or durable turn may have shown. */
interface Replayed {
  /**
   * True for what is repeated from a record: a model call with all its deltas, the tool calls of its
   * answer, recorded results, and what advisors emit meanwhile.
   */
  readonly isReplayed?: true;
}

/** A piece of a tool call; the first piece has its `id` and `name`. */
export interface ToolCallDelta extends Replayed {
  readonly type: 'tool-call-delta';
  readonly index: number;
  readonly id?: string;
  readonly name?: string;
  readonly arguments: string;
}

/** A source that the answer cites. */
export interface CitationEvent extends Replayed {
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

/** The event, with a form for `JSON.stringify` if its data is no JSON. */
export function writableEvent(event: ChatEvent): ChatEvent {
  if (event.type !== 'tool-progress' && event.type !== 'custom') return event;
  if (jsonData((event as { readonly data: unknown }).data ?? null) !== undefined) return event;
  const copy = { ...(event as object) } as ChatEvent;
  return Object.defineProperty(copy, 'toJSON', { value: () => safeJson({ ...(event as object) }) });
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
