import type { ToolCallWrapper } from '../tool/tool.js';
import type { Advisor } from './advisor.js';

/** The `adviseToolCall` of all advisors as one function, the first advisor outermost; undefined if none has one. */
export function wrapToolCalls(advisors: readonly Advisor[]): ToolCallWrapper | undefined {
  const wrappers = advisors.flatMap((advisor) => (advisor.adviseToolCall ? [advisor.adviseToolCall.bind(advisor)] : []));
  if (wrappers.length === 0) return undefined;
  return wrappers.reduceRight<ToolCallWrapper>(
    (inner, wrapper) => (invocation, next) => wrapper(invocation, (changed) => inner(changed, next)),
    (invocation, next) => next(invocation),
  );
}
