import type { ChatEvent, CustomEvent, ToolResult } from '../chat/chat-event.js';
import type { ChatResponse } from '../chat/chat-response.js';
import type { JsonValue } from '../internal/json.js';
import type { Observable } from '../internal/rxjs.js';
import type { ToolRun } from '../tool-execution/tool-run.js';
import type { Tool, ToolCallHandler, ToolInvocation } from '../tool/tool.js';
import type { ChatClientRequest } from './chat-client-request.js';
import type { ChatClientResponse } from './chat-client-response.js';

/**
 * Slots for the order of advisors, with room between them. Advisors below `TOOL_CALLING` run once
 * per turn, advisors above it once per iteration. Equal orders keep their registration order, except
 * that a guard of questions stands left of a memory there, and what changes questions or answers right
 * of it.
 */
export const AdvisorOrder = {
  /** Outside of all others: a turn that is recorded, paused or resumed. */
  TURN: 500,
  OBSERVABILITY: 1_000,
  LOCK: 1_500,
  GUARD: 2_000,
  MEMORY: 3_000,
  TOOL_SEARCH: 4_000,
  /** Once per turn; use an order above `TOOL_CALLING` to retrieve in every iteration. */
  RETRIEVAL: 4_500,
  TOOL_CALLING: 5_000,
  STEERING: 5_200,
  COMPACTION: 5_500,
  STRUCTURED_OUTPUT_VALIDATION: 6_000,
  RESILIENCE: 7_000,
  PROMPT_CACHE: 7_800,
  LOGGER: 8_000,
  /** Around tool calls: approvals stand left of it, caches and ledgers right of it. */
  DURABLE: 8_300,
} as const;

/**
 * Behaviour that several advisors have, so that `explain()` can warn of an order in which it does
 * harm, and other advisors can find them; hazards of one advisor alone are its `hazards`:
 *
 * - `retries`: runs the rest of the chain again after a failure;
 * - `guards-input`: refuses requests;
 * - `guards-output`: refuses or replaces answers; should set `holdDeltas`;
 * - `retrieves`: adds documents to the request;
 * - `rewrites-transcript`: replaces messages of the conversation by `withTranscript`;
 * - `rewrites-question`: changes the message of the user for the model alone;
 * - `rewrites-answers`: changes each answer of the model;
 * - `chooses-model`: sends the request to another model;
 * - `counts-model-calls`: each one before it is made, repeated ones too;
 * - `limits-model-calls`, `limits-turns`: ends them after a time, or at another limit;
 * - `records-tool-calls`: keeps results of tools for later calls;
 * - `records-steps`: records what it does in a durable turn, which repeats none of it.
 */
export type AdvisorTrait =
  | 'retries'
  | 'guards-input'
  | 'guards-output'
  | 'retrieves'
  | 'rewrites-transcript'
  | 'rewrites-question'
  | 'rewrites-answers'
  | 'chooses-model'
  | 'counts-model-calls'
  | 'limits-model-calls'
  | 'limits-turns'
  | 'records-tool-calls'
  | 'records-steps';

/** The advisors around an advisor of a chain. */
export interface AdvisorNeighbours {
  readonly left: readonly Advisor[];
  readonly right: readonly Advisor[];
  readonly isLeftOfLoop: boolean;
  readonly isInsideLoop: boolean;
  /** Name of the memory of the chain, if it stands on that side. */
  readonly memoryLeft: string | undefined;
  readonly memoryRight: string | undefined;
  /** True if an advisor left of this one records the turn, which can be replayed. */
  readonly isDurable: boolean;
  /** The tools of the request; undefined if they are not known yet. */
  readonly tools: readonly Tool[] | undefined;
}

/** Warnings, or problems; anything but a text is none. */
export type Hazards = readonly (string | false | undefined)[];

/** State of an advisor, as JSON, by name: without secrets. */
export type InspectedState = Readonly<Record<string, JsonValue>>;

/** A member of the chain. Its order decides whether it runs once per turn or per iteration. */
export interface Advisor {
  readonly name: string;
  /** Lower runs first on the way in and last on the way out; see `AdvisorOrder`. */
  readonly order: number;
  /** The function of the advisor in the chain, for other advisors and for `explain()`. */
  readonly role?: 'tool-loop' | 'chat-memory' | 'tool-search' | 'turn-recorder';
  /** Its behaviour, for the warnings of `explain()`. @default none */
  readonly traits?: readonly AdvisorTrait[] | undefined;
  /** Warnings of `explain()`: the harm that the advisor does where it stands. @default none */
  hazards?: (neighbours: AdvisorNeighbours) => Hazards;
  /** Reasons to refuse the chain: the advisor cannot work in it. @default none */
  problems?: (neighbours: AdvisorNeighbours) => Hazards;
  /**
   * Changes the request, or returns nothing to keep it; an alternative to `advise` and `around` that
   * costs nothing for the events of the rest, which pass without a stop.
   */
  before?: Before;
  /** Wraps the rest of the chain as a stream of events, for `call` and `stream` alike. */
  advise?(request: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent>;
  /**
   * Wraps the rest of the chain as an async function; an alternative to `advise`. May call `next`
   * any number of times; deltas are passed on meanwhile.
   */
  around?: Around;
  /**
   * Emits deltas only when `around` (or `after`) has returned, from its answer; for advisors
   * that may replace what the model streams, such as guards. @default false
   */
  readonly holdDeltas?: boolean | undefined;
  /** Advisors that belong to this one and stand at positions of their own; the chain adds them. */
  readonly parts?: readonly Advisor[] | undefined;
  /**
   * Prepares one tool call, for example asks a person about it; beside `adviseToolCall`. It is called
   * for all calls of a batch at once, and each call waits for its own promise alone. A rejection is
   * an error of the advisor: the call does not run.
   */
  prepareToolCall?(call: ToolInvocation): Promise<void> | undefined;
  /** Wraps one tool call. */
  adviseToolCall?(call: ToolInvocation, next: ToolCallHandler): Promise<ToolResult>;
  /**
   * State of the advisor now, as far as it concerns a turn, for inspectors: its conversation is
   * `request.context.get(CONVERSATION_ID)`. No turn calls it, and it changes nothing.
   * @param request the request of a turn, which may have ended
   */
  inspect?(request: ChatClientRequest): InspectedState | Promise<InspectedState>;
}

/** The chain from the position of one of its advisors. */
export interface AdvisorChain {
  /** The rest of the chain. Cold; can be called and subscribed any number of times. */
  readonly next: AdvisorHandler;
  /** All advisors of the chain, in order. */
  readonly advisors: readonly Advisor[];
  /**
   * The options of `executeToolCalls` for an advisor with a tool loop of its own: the tools that the
   * model was offered, `adviseToolCall` of all advisors, the signal, the observation and the steps
   * of the run.
   * @param onEvent receives the events of the calls; needed in `advise`; in `around` they are
   * emitted without it
   */
  tools(request: ChatClientRequest, onEvent?: (event: ChatEvent) => void): ToolRun;
}

/** The chain from the position of an advisor that is an async function. */
export interface AroundChain extends AdvisorChain {
  /** Emits an event of the advisor's own, in call and stream; nothing after the end of the run. */
  readonly emit: (event: CustomEvent) => void;
}

/** One position of a chain: passes a request to everything after it. */
export type AdvisorHandler = (request: ChatClientRequest) => Observable<ChatEvent>;

/**
 * The rest of the chain as an async function: resolves with the complete answer, while its events
 * are already passed to the caller. `onEvent` receives each event first.
 */
export type Next = (
  request: ChatClientRequest,
  onEvent?: (event: ChatEvent) => void,
) => Promise<ChatClientResponse>;

/** Changes a request before the rest of the chain, or returns nothing to keep it. */
export type Before = (
  request: ChatClientRequest,
) => ChatClientRequest | void | Promise<ChatClientRequest | void>;

/** True if an advisor takes part in requests, not only in tool calls. */
export function wrapsRest(advisor: Advisor): boolean {
  return (
    advisor.before !== undefined || advisor.advise !== undefined || advisor.around !== undefined
  );
}

/** Wraps the rest of the chain, for `call` and `stream` alike. */
export type Around = (
  request: ChatClientRequest,
  next: Next,
  chain: AroundChain,
) => ChatResponse | Promise<ChatResponse>;
