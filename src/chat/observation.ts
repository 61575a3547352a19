import type { ChatModel } from './chat-model.js';
import type { ToolResult } from './chat-event.js';
import type { ChatOptions } from './chat-options.js';
import type { ChatResponse } from './chat-response.js';
import type { ToolCall } from './message.js';
import type { Prompt } from './prompt.js';
import type { OfferedTool } from './tool-definition.js';

/**
 * What watches one part of a run: the turn, an advisor, a model call or a tool call. The chain, the model's end of it and the tools report
 * to it; where nobody watches there is none. Its methods never throw.
 */
export interface Observation {
  /** A part of this part begins. */
  begin(part: ObservedPart): Observation;
  /** Something happened in this part. */
  note(event: ObservedEvent): void;
  /** Does the work of this part in its surroundings, so that what the work itself reports elsewhere belongs to this part. */
  run<T>(work: () => T): T;
  /** This part ends, and with it what is still open within it. Only the first end counts. */
  end(ending: ObservedEnding): void;
}

/** What can be a part of a run. */
export type ObservedPart = ObservedAdvisor | ObservedModelCall | ObservedToolCall;

/** An advisor, from its request to its answer. */
export interface ObservedAdvisor {
  readonly type: 'advisor';
  readonly name: string;
  readonly order: number;
  /** Options of the request that it was given. */
  readonly options: ChatOptions;
}

/** One question to the model. */
export interface ObservedModelCall {
  readonly type: 'model-call';
  /** As it is sent. */
  readonly prompt: Prompt;
  /** Those of the prompt on top of the model's own. */
  readonly options: ChatOptions;
  readonly provider: ChatModel['provider'];
  readonly mode: 'call' | 'stream';
  /** From 0. */
  readonly iteration: number;
}

/** One call of a tool, retries included. */
export interface ObservedToolCall {
  readonly type: 'tool-call';
  readonly call: ToolCall;
  /** Undefined if there is none of that name. */
  readonly tool: OfferedTool | undefined;
  /** Number of the answer that asked for it, from 0; undefined where nobody counts. */
  readonly iteration: number | undefined;
}

/** What happens within a part. */
export type ObservedEvent =
  /** The answer is there; whoever has it may leave before the part has ended. */
  | { readonly type: 'response'; readonly response: ChatResponse }
  /** A piece of a streamed answer arrived. */
  | { readonly type: 'chunk' }
  /** What failed is tried again. */
  | { readonly type: 'retry'; readonly error: unknown }
  /** A tool was given up because its time was up. */
  | { readonly type: 'timeout'; readonly error: unknown }
  /** A limit of the turn was reached. */
  | { readonly type: 'limit'; readonly limit: string; readonly max: number };

/** How a part ends. */
export type ObservedEnding =
  | { readonly type: 'response'; readonly response: ChatResponse }
  | { readonly type: 'tool-result'; readonly result: ToolResult; readonly outcome: ToolCallOutcome }
  | { readonly type: 'error'; readonly error: unknown }
  | { readonly type: 'cancelled' };

/** What came of a tool call; `refused` was not to run whatever it was, for a limit or an answer that was cut off. */
export type ToolCallOutcome = 'success' | 'error' | 'invalid_arguments' | 'unknown_tool' | 'refused' | 'cancelled';
