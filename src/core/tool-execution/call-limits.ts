import type { ChatResponse } from '../chat/chat-response.js';
import { callsOf, type Message, type ToolCall } from '../chat/message.js';
import {
  LimitExceededError,
  ToolError,
  type LimitDetails,
  type LimitKind,
} from '../errors/errors.js';
import type { CallRound } from './call-identity.js';

/** Numbers of calls of a turn. */
export interface CallCounts {
  readonly byTool: Map<string, number>;
  total: number;
  /** In the order of the model; equal calls of a turn differ by their number. */
  readonly rounds: CallRound[];
}

/** A limit that was reached. */
export interface LimitBreach {
  readonly limit: LimitKind;
  readonly max: number;
  /** The number that reached it. */
  readonly spent: number;
  readonly toolName: string | undefined;
}

/** A breach, by default of a limit that is not of one tool. */
export function breachOf(
  limit: LimitKind,
  max: number,
  spent: number,
  toolName?: string,
): LimitBreach {
  return { limit, max, spent, toolName };
}

/** Maximum numbers of calls of a turn. */
export interface CallLimits {
  readonly perTool: number;
  readonly byTool: ReadonlyMap<string, number>;
  readonly total: number;
}

/**
 * Counts the calls of the current turn, whose messages are those after the last user message.
 */
export function countCalls(messages: readonly Message[]): CallCounts {
  const rounds: { readonly calls: readonly ToolCall[]; readonly failed: Set<string> }[] = [];
  const counts: CallCounts = { byTool: new Map(), total: 0, rounds };
  const start = messages.findLastIndex((message) => message.role === 'user') + 1;
  for (const message of messages.slice(start))
    if (message.role === 'assistant') rounds.push({ calls: callsOf(message), failed: new Set() });
    else if (message.role === 'tool') {
      countCall(counts, message.toolName);
      if (message.isError) rounds.at(-1)?.failed.add(message.toolCallId);
    }
  return counts;
}

/** Counts all calls of a batch, before any runs; returns the exceeded limit of each call. */
export function admitCalls(
  calls: readonly ToolCall[],
  counts: CallCounts,
  limits: CallLimits,
): (LimitBreach | undefined)[] {
  return calls.map((call) => {
    const { name } = call;
    const max = limits.byTool.get(name) ?? limits.perTool;
    const spent = countCall(counts, name);
    if (spent > max) return breachOf('calls-per-tool', max, spent, name);
    const { total } = counts;
    return total > limits.total ? breachOf('total-calls', limits.total, total) : undefined;
  });
}

/** Counts a call; returns the number of calls of its tool. */
function countCall(counts: CallCounts, name: string): number {
  const count = (counts.byTool.get(name) ?? 0) + 1;
  counts.byTool.set(name, count);
  counts.total++;
  return count;
}

/** Options that raise the limits. */
const OPTIONS: Readonly<Record<LimitKind, string>> = {
  iterations: 'maxIterations',
  'identical-calls': 'maxIdenticalCalls',
  'no-progress': 'noProgress.answerAfter',
  'calls-per-tool': 'maxCallsByTool', // it counts before maxCallsPerTool
  'total-calls': 'maxTotalCalls',
};

/** Describes a breach, for the model and for errors. */
export function describeBreach({ limit, max, toolName }: LimitBreach): string {
  switch (limit) {
    case 'calls-per-tool':
      return `the limit of ${max} calls of the tool "${toolName}" in a turn is reached`;
    case 'total-calls':
      return `the limit of ${max} tool calls in a turn is reached`;
    case 'iterations':
      return `the limit of ${max} iterations in a turn is reached`;
    case 'identical-calls':
      return `the same tool calls were made more than ${max} times in a row`;
    case 'no-progress':
      return `${max} iterations in a row brought nothing new`;
  }
}

/** The text for the model in place of the results of calls that were made too often. */
export function describeRefusal(breach: LimitBreach): string {
  return `Not run: ${describeBreach(breach)}. Answer with what you have, or do something else.`;
}

/** The error of a reached limit, with all results so far. */
export function limitError<R>(
  breach: LimitBreach,
  result: R,
  response: ChatResponse,
): LimitExceededError<R, ChatResponse> {
  const { limit, max: value, spent, toolName } = breach;
  const problem = `The turn was stopped: ${describeBreach(breach)}`;
  const option = OPTIONS[limit];
  const details = { limit, value, spent, option, toolName, result, response };
  return new LimitExceededError(problem, details);
}

/**
 * A failed call for exceeding a limit: the model reads the problem, the application finds a
 * {@link LimitExceededError} in the cause.
 */
export function exceededError(
  problem: string,
  toolName: string,
  limit: Pick<LimitDetails, 'limit' | 'value' | 'spent' | 'option'>,
): ToolError {
  const cause = new LimitExceededError(problem, { ...limit, toolName });
  return new ToolError(`${problem}.`, { cause });
}
