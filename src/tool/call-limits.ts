import type { Message, ToolCall } from '../chat/message.js';
import type { LimitKind } from '../errors.js';

/** How many calls a turn has made. */
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

/** The most calls of a turn. */
export interface CallLimits {
  readonly perTool: number;
  readonly byTool: ReadonlyMap<string, number>;
  readonly total: number;
}

/** The calls of the current turn: those that were answered since the last user message. */
export function countCalls(messages: readonly Message[]): CallCounts {
  const counts: CallCounts = { byTool: new Map(), total: 0 };
  const start = messages.findLastIndex((message) => message.role === 'user') + 1;
  for (const message of messages.slice(start)) if (message.role === 'tool') count(counts, message.toolName);
  return counts;
}

/** Decides for a whole batch, before any of it runs, which calls are over a limit; all are counted. */
export function admit(calls: readonly ToolCall[], counts: CallCounts, limits: CallLimits): (LimitBreach | undefined)[] {
  return calls.map(({ name }) => {
    count(counts, name);
    const max = limits.byTool.get(name) ?? limits.perTool;
    if ((counts.byTool.get(name) as number) > max) return { limit: 'calls-per-tool', max, toolName: name };
    return counts.total > limits.total ? { limit: 'total-calls', max: limits.total, toolName: undefined } : undefined;
  });
}

function count(counts: CallCounts, name: string): void {
  counts.byTool.set(name, (counts.byTool.get(name) ?? 0) + 1);
  counts.total++;
}

/** A breach in words, for the model and for errors. */
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
