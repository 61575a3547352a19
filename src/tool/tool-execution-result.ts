import type { ChatResponse } from '../chat/chat-response.js';
import { AdvisorContext } from '../chat/context.js';
import type { AssistantMessage, Message, ToolMessage } from '../chat/message.js';
import type { Prompt } from '../chat/prompt.js';
import { LimitExceededError } from '../errors.js';
import { describeBreach, type LimitBreach } from './call-limits.js';
import type { ExecutedToolCall } from './tool-runner.js';
import type { Tool } from './tool.js';

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
  /** What the tools handed to the advisors. */
  readonly context: AdvisorContext;
}

/** Puts the results of a batch behind the answer that asked for them. */
export function toExecutionResult(
  prompt: Prompt,
  message: AssistantMessage,
  results: readonly ExecutedToolCall[],
  tools: ReadonlyMap<string, Tool>,
  before: AdvisorContext = AdvisorContext.empty,
): ToolExecutionResult {
  const messages = results.map(toMessage);
  const next = withoutForcedChoice(prompt).append(message, ...messages);
  return {
    prompt: next,
    get history() {
      return next.messages;
    },
    messages,
    results,
    returnDirect: results.every(({ call, accepted }) => accepted && tools.get(call.name)?.metadata.returnDirect === true),
    unlocks: results.flatMap(({ result }) => result.unlocks ?? []),
    context: results.reduce(
      (context, { result }) => (result.context ? context.merge(result.context.changesSince(before)) : context),
      AdvisorContext.empty,
    ),
  };
}

function toMessage({ call, result }: ExecutedToolCall): ToolMessage {
  return { role: 'tool', toolCallId: call.id, toolName: call.name, content: result.content, ...(result.isError && { isError: true }) };
}

/** A forced choice holds for the first iteration; forced again, the model could never answer. */
function withoutForcedChoice(prompt: Prompt): Prompt {
  const choice = prompt.options.toolChoice;
  return choice === undefined || choice === 'auto' || choice === 'none' ? prompt : prompt.withOptions({ toolChoice: 'auto' });
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
