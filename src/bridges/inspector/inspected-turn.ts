import type { PendingRequest } from '../../core/chat/paused-turn.js';
import type { Message } from '../../core/chat/message.js';
import type { ModelCallRecord, StoredMessages } from '../../core/chat/run-report.js';
import type { ToolDefinition } from '../../core/chat/tool-definition.js';
import type { Usage } from '../../core/chat/chat-response.js';
import type { JsonValue } from '../../core/internal/json.js';

// The data of an inspector about a turn, as JSON, for its page, for exports, and for another inspector that opens
// one. All texts are redacted.

/** A row of the list of turns. */
export interface TurnSummary {
  /** Unique in its inspector; a turn that is resumed is shown again under an id of its own. */
  readonly id: string;
  readonly turnId: string;
  readonly conversationId?: string;
  /** `page`: started by "Try it"; `file`: opened from an export. */
  readonly source: 'application' | 'page' | 'file';
  readonly mode: 'call' | 'stream';
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Milliseconds; absent while the turn runs. */
  readonly duration?: number;
  readonly outcome: 'running' | 'answered' | 'failed' | 'paused' | 'cancelled';
  /** True while a running turn waits for the decision of a person. */
  readonly isWaiting?: true;
  /** The last message of the user, at most 200 characters. */
  readonly question: string;
  /** The answer, so far, at most 200 characters. */
  readonly answer: string;
  readonly error?: InspectedError;
  /** Name of the model that answered last. */
  readonly model?: string;
  readonly iterations: number;
  readonly toolCalls: number;
  readonly usage?: Usage;
  /** In the unit of the prices of the client. */
  readonly cost?: number;
  /** Milliseconds from the start to the first text of the model. */
  readonly firstToken?: number;
  /** Grows with each change of the turn: a page that shows it reads it again. */
  readonly revision: number;
}

/** A turn as a whole. */
export interface InspectedTurn extends TurnSummary {
  readonly chain: InspectedChain;
  /** In the order of their start. */
  readonly timeline: readonly TimelineEntry[];
  /** One for each call of the model, in order. */
  readonly requests: readonly InspectedRequest[];
  /** The whole question and answer. */
  readonly questionText: string;
  readonly answerText: string;
  readonly reasoningText?: string;
  /** The calls of models, each with its cost in the unit of the prices of the client, if that is known. */
  readonly ledger: readonly (ModelCallRecord & { readonly cost?: number })[];
  readonly stored: readonly StoredMessages[];
  /** Requests that wait for a decision. */
  readonly pending: readonly PendingRequest[];
  /** True if this inspector can resume the turn with decisions, or run it again. */
  readonly isLive: boolean;
  /** True if parts were dropped to keep within the bound of memory. */
  readonly isCut: boolean;
}

/** The chain of a turn, or of the client of an inspector. */
export interface InspectedChain {
  readonly advisors: readonly InspectedAdvisor[];
  readonly model?: { readonly name?: string; readonly provider?: string };
  /** Options of the model and of the client. */
  readonly options: JsonValue;
  /** Tools of the request, also those not offered yet. */
  readonly tools: readonly { readonly name: string; readonly isDeferred: boolean }[];
  readonly warnings: readonly string[];
}

/** An advisor of a chain, in order. */
export interface InspectedAdvisor {
  readonly name: string;
  readonly order: number;
  /** `turn`: once per turn; `loop`: the tool loop; `iteration`: once per iteration; `tool`: around tool calls alone. */
  readonly place: 'turn' | 'loop' | 'iteration' | 'tool';
  readonly aroundToolCalls: boolean;
  readonly role?: string;
  readonly traits: readonly string[];
  /** The options that it was made with: secrets hidden, functions by name. */
  readonly options: Readonly<Record<string, JsonValue>>;
  /** Warnings of `explain()` that name it. */
  readonly warnings: readonly string[];
}

/** A part of a turn, or something that happened in it. */
export interface TimelineEntry {
  /** Unique in its turn. */
  readonly id: number;
  /** The entry that it is a part of; absent for parts of the turn itself. */
  readonly parent?: number;
  /**
   * `advisor`, `model-call`, `tool-call`, `retrieval` have a duration; so has a `wait`, such as for a retry, a lock
   * or a limit. `retry`: an attempt failed and is repeated; `retract`: what was streamed is void; `pause`: the turn
   * waits for a decision; `event`: a custom event, or progress of a tool; `limit`: a limit was reached.
   */
  readonly kind:
    | 'advisor'
    | 'model-call'
    | 'tool-call'
    | 'retrieval'
    | 'wait'
    | 'retry'
    | 'retract'
    | 'pause'
    | 'event'
    | 'limit';
  /** Of the advisor, model, tool, data source or event. */
  readonly name: string;
  /** Milliseconds after the start of the turn. */
  readonly start: number;
  /** Absent while it lasts; equal to `start` for what has no duration. */
  readonly end?: number;
  readonly outcome?: 'ok' | 'error' | 'refused' | 'cancelled';
  readonly error?: InspectedError;
  readonly iteration?: number;
  /** True for what a record repeats: a durable or resumed turn. */
  readonly isReplayed?: boolean;
  /** Of a model call: milliseconds from its start to its first chunk. */
  readonly firstToken?: number;
  readonly usage?: Usage;
  /** Of a model call, in the unit of the prices of the client. */
  readonly cost?: number;
  /**
   * Arguments and result of a tool (`{ arguments, result }`), answer of a model (`{ message, finishReason }`),
   * query and documents of a search, data of an event.
   */
  readonly detail?: JsonValue;
}

export interface InspectedError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  /** Name of the advisor that it came from: the innermost that has ended with it. */
  readonly advisor?: string;
}

/** The request of one call of the model, and the changes that led to it. */
export interface InspectedRequest extends SentRequest {
  /** The `model-call` of the timeline. */
  readonly entry: number;
  readonly iteration: number;
  /** From 1, within the iteration. */
  readonly attempt: number;
  /** The body that was sent over the network, as far as the model reports it. */
  readonly wire?: { readonly url?: string; readonly body: JsonValue };
  /**
   * The changes of each advisor on the way, from the request of the application to the model; `advisor` is the name
   * of the advisor, or `model` for what its wire needs, such as texts in place of media.
   */
  readonly steps: readonly AdvisorChanges[];
  /** Changes since the request before, each with its advisor; absent for the first request. */
  readonly sincePrevious?: readonly NamedChange[];
}

/** The request that a model gets. */
export interface SentRequest {
  readonly model?: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
  /** Options, without tools. */
  readonly options: Readonly<Record<string, JsonValue>>;
}

export interface AdvisorChanges {
  readonly advisor: string;
  readonly changes: readonly RequestChange[];
}

export interface NamedChange {
  /** `application` for what no advisor did, such as a new question; the tool loop adds answers and results. */
  readonly advisor: string;
  readonly change: RequestChange;
}

/** A difference of two requests. Places count from 0, in the request that has the message. */
export type RequestChange =
  | { readonly type: 'message-added'; readonly at: number; readonly message: Message }
  | { readonly type: 'message-removed'; readonly at: number; readonly message: Message }
  | {
      readonly type: 'message-changed';
      readonly at: number;
      readonly before: Message;
      readonly after: Message;
    }
  | { readonly type: 'tool-added' | 'tool-removed'; readonly tool: ToolDefinition }
  | {
      readonly type: 'tool-changed';
      readonly before: ToolDefinition;
      readonly after: ToolDefinition;
    }
  | {
      readonly type: 'option-changed';
      readonly name: string;
      readonly before?: JsonValue;
      readonly after?: JsonValue;
    }
  | { readonly type: 'model-changed'; readonly before?: string; readonly after?: string };

/**
 * State of an advisor, read when the page asks for it: fields by name. A memory has `view` (messages that the model
 * gets) and `transcript` (all of the conversation); other advisors what they know, such as `budgets`.
 */
export interface AdvisorState {
  readonly advisor: string;
  readonly state: Readonly<Record<string, JsonValue>>;
}

/** A file with turns, as `GET /api/turns/:id/export` writes it. */
export interface ExportedTurns {
  readonly format: 'advisor-chain/turns';
  readonly version: 1;
  readonly turns: readonly InspectedTurn[];
  /** States of the advisors of a turn, by its id, when it was exported. */
  readonly states: Readonly<Record<string, readonly AdvisorState[]>>;
}
