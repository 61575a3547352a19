import type { Message, ToolCall } from '../chat/message.js';
import type { LimitKind } from '../errors.js';

/** Numbers of calls of a turn. */
export interface CallCounts {
  readonly byTool: Map<string, number>;
  total: number;
}

/** A limit that was reached. */
export interface LimitBreach {
  readonly limit: LimitKind;
  readonly max: number;
  readonly toolName: string | undefined;
}

/** Maximum numbers of calls of a turn. */
export interface CallLimits {
  readonly perTool: number;
  readonly byTool: ReadonlyMap<string, number>;
  readonly total: number;
}

/**
 * Counts the calls of the current turn, which are the tool messages after the last user message.
 */
export function countCalls(messages: readonly Message[]): CallCounts {
  const counts: CallCounts = { byTool: new Map(), total: 0 };
  const start = messages.findLastIndex((message) => message.role === 'user') + 1;
  for (const message of messages.slice(start))
    if (message.role === 'tool') countCall(counts, message.toolName);
  return counts;
}

/** Counts all calls of a batch, before any runs; returns the exceeded limit of each call. */
export function admitCalls(
  calls: readonly ToolCall[],
  counts: CallCounts,
  limits: CallLimits,
): (LimitBreach | undefined)[] {
  return calls.map(({ name }) => {
    countCall(counts, name);
    const max = limits.byTool.get(name) ?? limits.perTool;
    if ((counts.byTool.get(name) as number) > max)
      return { limit: 'calls-per-tool', max, toolName: name };
    return counts.total > limits.total
      ? { limit: 'total-calls', max: limits.total, toolName: undefined }
      : undefined;
  });
}

function countCall(counts: CallCounts, name: string): void {
  counts.byTool.set(name, (counts.byTool.get(name) ?? 0) + 1);
  counts.total++;
}

/** Describes a breach, for the model and for errors. */
export function describeBreach(breach: LimitBreach): string {
  switch (breach.limit) {
    case 'calls-per-tool':
      return `the limit of ${breach.max} calls of the tool "${breach.toolName}" in a turn is reached`;
    case 'total-calls':
      return `the limit of ${breach.max} tool calls in a turn is reached`;
    case 'iterations':
      return `the limit of ${breach.max} iterations in a turn is reached`;
    case 'identical-calls':
      return `the same tool calls were made more than ${breach.max} times in a row`;
  }
}
