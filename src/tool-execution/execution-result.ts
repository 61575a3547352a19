import { toToolMessage, type ToolResult } from '../chat/chat-event.js';
import type { ChatResponse } from '../chat/chat-response.js';
import { AdvisorContext } from '../chat/context.js';
import {
  textOf,
  type AssistantMessage,
  type Message,
  type ToolCall,
  type ToolMessage,
} from '../chat/message.js';
import type { Prompt } from '../chat/prompt.js';
import { LimitExceededError, ToolExecutionError } from '../errors.js';
import { describeBreach, type LimitBreach } from './call-limits.js';
import type { ToolFailure } from './tool-failure.js';

/** A call and its result. */
export interface ExecutedToolCall {
  readonly call: ToolCall;
  readonly result: ToolResult;
  /** True if the tool is known, the arguments are valid and no limit was reached. */
  readonly accepted: boolean;
}

/** A call that has ended, with an error for the caller when the whole batch has ended. */
export interface FinishedCall {
  readonly executed: ExecutedToolCall;
  readonly returnDirect: boolean;
  readonly thrown: ToolFailure['thrown'];
}

/** The results of a batch. */
export interface ToolExecutionResult {
  /**
   * The prompt with the assistant message and one tool message per call, for the next iteration.
   */
  readonly prompt: Prompt;
  /** The messages of {@link prompt}. */
  readonly history: readonly Message[];
  /** The tool messages of this batch, in call order. */
  readonly messages: readonly ToolMessage[];
  /** In call order. */
  readonly results: readonly ExecutedToolCall[];
  /**
   * True if the results are the answer of the turn: every call was accepted, and its tool is
   * `returnDirect`.
   */
  readonly returnDirect: boolean;
  /** Names of unlocked deferred tools, in order. */
  readonly unlocks: readonly string[];
  /** Names of deferred tools to hide again. */
  readonly locks: readonly string[];
  /** Values from the tools for the advisors. */
  readonly context: AdvisorContext;
}

/** A class, because an object literal with a getter costs more than the rest of a result. */
class BatchResult implements ToolExecutionResult {
  constructor(
    readonly prompt: Prompt,
    readonly messages: readonly ToolMessage[],
    readonly results: readonly ExecutedToolCall[],
    readonly returnDirect: boolean,
    readonly unlocks: readonly string[],
    readonly locks: readonly string[],
    readonly context: AdvisorContext,
  ) {}

  get history(): readonly Message[] {
    return this.prompt.messages;
  }
}

/** Appends the assistant message and the results of its calls to the prompt. */
export function toExecutionResult(
  prompt: Prompt,
  message: AssistantMessage,
  finished: readonly FinishedCall[],
  before: AdvisorContext = AdvisorContext.empty,
): ToolExecutionResult {
  const results = finished.map(({ executed }) => executed);
  const messages = results.map(({ call, result }) => toToolMessage(call, result));
  const returnDirect = finished.every((call) => call.returnDirect);
  const unlocks = results.flatMap(({ result }) => result.unlocks ?? []);
  const locks = results.flatMap(({ result }) => result.locks ?? []);
  const context = results.reduce(
    (merged, { result }) =>
      result.context ? merged.merge(result.context.changesSince(before)) : merged,
    AdvisorContext.empty,
  );
  const next = withoutForcedChoice(prompt).append(message, ...messages);
  return new BatchResult(next, messages, results, returnDirect, unlocks, locks, context);
}

/** A forced choice applies to the first iteration only; otherwise the model could never answer. */
function withoutForcedChoice(prompt: Prompt): Prompt {
  const choice = prompt.options.toolChoice;
  return choice === undefined || choice === 'auto' || choice === 'none'
    ? prompt
    : prompt.withOptions({ toolChoice: 'auto' });
}

/** The error of a failed call, with the results of its batch. */
export function executionError(
  { call, result: { content } }: ExecutedToolCall,
  error: unknown,
  result: ToolExecutionResult,
): ToolExecutionError<ToolExecutionResult> {
  const message = `${textOf(content)} (tool "${call.name}", call ${call.id}; see cause)`;
  return new ToolExecutionError(message, call.name, call.id, result, { cause: error });
}

/** The error of a reached limit, with all results so far. */
export function limitError(
  breach: LimitBreach,
  result: ToolExecutionResult,
  response: ChatResponse,
): LimitExceededError<ToolExecutionResult, ChatResponse> {
  const message = `The turn was stopped: ${describeBreach(breach)}. Raise ${optionOf(breach)} if that is wanted.`;
  return new LimitExceededError(
    message,
    breach.limit,
    breach.max,
    breach.toolName,
    result,
    response,
  );
}

function optionOf({ limit }: LimitBreach): string {
  switch (limit) {
    case 'iterations':
      return 'maxIterations';
    case 'identical-calls':
      return 'maxIdenticalCalls';
    case 'calls-per-tool':
      return 'maxCallsPerTool or maxCallsByTool of the ToolCallingManager';
    case 'total-calls':
      return 'maxTotalCalls of the ToolCallingManager';
  }
}
