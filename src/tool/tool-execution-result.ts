import { toToolMessage } from '../chat/chat-event.js';
import type { ChatResponse } from '../chat/chat-response.js';
import { AdvisorContext } from '../chat/context.js';
import { textOf, type AssistantMessage, type Message, type ToolMessage } from '../chat/message.js';
import type { Prompt } from '../chat/prompt.js';
import { LimitExceededError, ToolExecutionError } from '../errors.js';
import { describeBreach, type LimitBreach } from './call-limits.js';
import type { EndedCall, ExecutedToolCall } from './tool-runner.js';

/** What came of a batch. */
export interface ToolExecutionResult {
  /** The prompt with the assistant's message and one tool message per call, ready to be sent. */
  readonly prompt: Prompt;
  /** The messages of {@link prompt}. */
  readonly history: readonly Message[];
  /** The tool messages of this batch, in call order. */
  readonly messages: readonly ToolMessage[];
  /** In call order. */
  readonly results: readonly ExecutedToolCall[];
  /** Whether the results are the answer of the turn: all calls were of tools that say so, and none was refused. */
  readonly returnDirect: boolean;
  /** Names of deferred tools that were unlocked, in order. */
  readonly unlocks: readonly string[];
  /** Names of deferred tools that were hidden again. */
  readonly locks: readonly string[];
  /** What the tools handed to the advisors. */
  readonly context: AdvisorContext;
}

/** A class, since an object that is made with a getter costs more than the rest of a result. */
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

/** Puts the results of a batch behind the answer that asked for them. */
export function toExecutionResult(
  prompt: Prompt,
  message: AssistantMessage,
  ended: readonly EndedCall[],
  before: AdvisorContext = AdvisorContext.empty,
): ToolExecutionResult {
  const results = ended.map(({ executed }) => executed);
  const messages = results.map(({ call, result }) => toToolMessage(call, result));
  const returnDirect = ended.every(({ executed, tool }) => executed.accepted && tool?.metadata.returnDirect === true);
  const unlocks = results.flatMap(({ result }) => result.unlocks ?? []);
  const locks = results.flatMap(({ result }) => result.locks ?? []);
  const context = results.reduce(
    (merged, { result }) => (result.context ? merged.merge(result.context.changesSince(before)) : merged),
    AdvisorContext.empty,
  );
  const next = withoutForcedChoice(prompt).append(message, ...messages);
  return new BatchResult(next, messages, results, returnDirect, unlocks, locks, context);
}

/** A forced choice holds for the first iteration; forced again, the model could never answer. */
function withoutForcedChoice(prompt: Prompt): Prompt {
  const choice = prompt.options.toolChoice;
  return choice === undefined || choice === 'auto' || choice === 'none' ? prompt : prompt.withOptions({ toolChoice: 'auto' });
}

/** The error for a call that failed, with everything that was done in its batch. */
export function executionError(
  { call, result: { content } }: ExecutedToolCall,
  error: unknown,
  result: ToolExecutionResult,
): ToolExecutionError<ToolExecutionResult> {
  const message = `${textOf(content)} (tool "${call.name}", call ${call.id}; see cause)`;
  return new ToolExecutionError(message, call.name, call.id, result, { cause: error });
}

/** The error for a breach, with everything that was done so far. */
export function limitError(
  breach: LimitBreach,
  result: ToolExecutionResult,
  response: ChatResponse,
): LimitExceededError<ToolExecutionResult, ChatResponse> {
  const message = `The turn was stopped: ${describeBreach(breach)}. Raise ${optionOf(breach)} if that is wanted.`;
  return new LimitExceededError(message, breach.limit, breach.max, breach.toolName, result, response);
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
