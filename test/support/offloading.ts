import {
  AdvisorOrder,
  defineTool,
  InMemoryKeyValueStore,
  type Advisor,
  type Prompt,
  type Tool,
  type ToolMessage,
} from '../../src/index.js';
import type { OffloadOptions } from '../../advisors/compaction/offload-options.js';
import { OffloadedResults } from '../../advisors/compaction/offloaded-results.js';

export const OVER = 2_000;

/** A text of numbered lines with about 100 characters each. */
export function linesOf(count: number): string {
  return Array.from({ length: count }, (_, at) => `${at + 1}: `.padEnd(99, 'abc ')).join('\n');
}

/** An advisor that offloads results, and the part that does it. */
export function offloading(options: Partial<OffloadOptions> = {}): {
  readonly advisor: Advisor;
  readonly results: OffloadedResults;
} {
  const store = new InMemoryKeyValueStore();
  const results = new OffloadedResults('TestAdvisor', { store, over: OVER, ...options });
  const advisor: Advisor = {
    name: 'offloading',
    order: AdvisorOrder.COMPACTION,
    around: (request, next) => next(results.offer(request)),
    adviseToolCall: (call, next) => results.offloadResult(call, next),
  };
  return { advisor, results };
}

/** A tool with a result. */
export function returning(
  name: string,
  result: unknown,
  more: Partial<Tool['metadata']> = {},
): Tool {
  return defineTool({ name, description: name, ...more, execute: () => result });
}

/** Contents of the tool messages of a prompt. */
export function resultsOf(prompt: Prompt | undefined): readonly ToolMessage['content'][] {
  return (prompt?.messages ?? []).flatMap((message) =>
    message.role === 'tool' ? [message.content] : [],
  );
}

/** Names of the tools that the model was offered. */
export function offeredIn(prompt: Prompt | undefined): readonly string[] {
  return (prompt?.options.tools ?? []).map(({ definition }) => definition.name);
}

/** The id in a shortened result. */
export function idIn(content: ToolMessage['content'] | undefined): string {
  return /with the id \W+([a-z]{20})/.exec(JSON.stringify(content ?? ''))?.[1] ?? '';
}
