import type { ChatModel, SentBody } from '../chat/chat-model.js';
import type { ToolResult } from '../chat/chat-event.js';
import type { ChatOptions } from '../chat/chat-options.js';
import type { ChatResponse } from '../chat/chat-response.js';
import type { Document } from '../chat/document.js';
import type { ToolCall } from '../chat/message.js';
import type { Prompt } from '../chat/prompt.js';
import type { OfferedTool } from '../chat/tool-definition.js';

/**
 * Observer of one part of a run: the turn, an advisor, a model call or a tool call. The chain, the
 * model call and the tools report to it; a run without observer has none. Its methods never throw.
 */
export interface Observation {
  /** Reports the start of a part within this one, and returns the observation of that part. */
  begin(part: ObservedPart): Observation;
  /** Reports an event of this part. */
  note(event: ObservedEvent): void;
  /** Runs work in the context of this part, so that spans the work starts belong to the part. */
  run<T>(work: () => T): T;
  /** Reports the end of this part and of all open parts within it. Only the first end counts. */
  end(ending: ObservedEnding): void;
}

/** A part of a run. */
export type ObservedPart =
  ObservedAdvisor | ObservedModelCall | ObservedToolCall | ObservedRetrieval | ObservedWait;

/** An advisor, from its request to its response. */
export interface ObservedAdvisor {
  readonly type: 'advisor';
  readonly name: string;
  readonly order: number;
  /** Options of the request to the advisor. */
  readonly options: ChatOptions;
}

/** One call of the model. */
export interface ObservedModelCall {
  readonly type: 'model-call';
  readonly prompt: Prompt;
  /** Default options of the model; the prompt overrides them. */
  readonly options: ChatOptions;
  readonly provider: ChatModel['provider'];
  readonly mode: 'call' | 'stream';
  /** Index of the iteration, from 0; undefined for a call beside the chain, such as for a summary. */
  readonly iteration: number | undefined;
  /** The request as it left the last advisor, with those before it; undefined beside the chain. */
  readonly request?: ObservedRequest | undefined;
  /** The model of the chain, which gets requests without a model of their own. */
  readonly main?: Pick<ChatModel, 'defaultOptions' | 'provider'> | undefined;
}

/** A request on its way through the chain. */
export interface ObservedRequest {
  readonly prompt: Prompt;
  readonly offeredTools: readonly OfferedTool[];
  readonly model: ChatModel | undefined;
  /** The advisor that made it of another one, if one has. */
  readonly origin:
    | {
        readonly advisor: { readonly name: string; readonly role?: string | undefined };
        readonly received: ObservedRequest;
      }
    | undefined;
}

/** One call of a tool, retries included. */
export interface ObservedToolCall {
  readonly type: 'tool-call';
  readonly call: ToolCall;
  /** Undefined for an unknown tool. */
  readonly tool: OfferedTool | undefined;
  /** Index of the iteration that requested the call, from 0; undefined outside a tool loop. */
  readonly iteration: number | undefined;
}

/** One search for documents. */
export interface ObservedRetrieval {
  readonly type: 'retrieval';
  /** Name of what is searched. */
  readonly dataSource: string;
  readonly query: string;
}

/** A wait, in which a part does nothing. Traces have none. */
export interface ObservedWait {
  readonly type: 'wait';
  readonly reason: WaitReason;
}

/**
 * `retry`: until a failed attempt is repeated; `rate-limit`: until a limit has room; `conversation`: for
 * another turn of the conversation; `budget`, `decision`: for the application, or a person.
 */
export type WaitReason = 'retry' | 'rate-limit' | 'conversation' | 'budget' | 'decision';

/** An event within a part. */
export type ObservedEvent =
  /** The response has arrived; its subscriber may unsubscribe before the part ends. */
  | { readonly type: 'response'; readonly response: ChatResponse }
  /** A chunk of a streamed response has arrived. */
  | { readonly type: 'chunk' }
  /** A model sends a request; of several, such as for tools that are described in texts, the last one counts. */
  | { readonly type: 'request'; readonly request: SentBody }
  /** A failed attempt is repeated; `waited`: milliseconds that a model has waited for it. */
  | { readonly type: 'retry'; readonly error: unknown; readonly waited?: number | undefined }
  /** A tool has timed out. */
  | { readonly type: 'timeout'; readonly error: unknown }
  /** The turn has reached a limit. */
  | { readonly type: 'limit'; readonly limit: string; readonly max: number };

/** End of a part. */
export type ObservedEnding =
  | { readonly type: 'response'; readonly response: ChatResponse }
  | {
      readonly type: 'tool-result';
      readonly result: ToolResult;
      readonly outcome: ToolCallOutcome;
      /** True for a recorded result: the tool has not run now. @default false */
      readonly isReplayed?: boolean | undefined;
    }
  | { readonly type: 'documents'; readonly documents: readonly Document[] }
  /** Of a wait. */
  | { readonly type: 'done' }
  | { readonly type: 'error'; readonly error: unknown }
  | { readonly type: 'cancelled' };

/** Outcome of a tool call; a limit or a truncated response makes a call `refused`. */
export type ToolCallOutcome =
  'success' | 'error' | 'invalid_arguments' | 'unknown_tool' | 'refused' | 'cancelled';
