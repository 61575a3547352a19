import type { ToolResult } from '../chat/chat-event.js';
import { describe } from '../chat/message.js';
import { ChainError } from '../errors.js';
import type { ToolCallHandler, ToolCallWrapper, ToolInvocation } from '../tool/tool.js';
import type { Advisor } from './advisor.js';

/** The `adviseToolCall` of all advisors as one function, the first advisor outermost; undefined if none has one. */
export function wrapToolCalls(advisors: readonly Advisor[]): ToolCallWrapper | undefined {
  const wrapping = advisors.filter((advisor) => typeof advisor.adviseToolCall === 'function');
  if (wrapping.length === 0) return undefined;
  return (invocation, tool) =>
    wrapping.reduceRight<ToolCallHandler>((next, advisor) => (changed) => adviseToolCall(advisor, changed, next), tool)(invocation);
}

async function adviseToolCall(advisor: Advisor, invocation: ToolInvocation, next: ToolCallHandler): Promise<ToolResult> {
  const result = await advisor.adviseToolCall?.(invocation, next);
  if (result && isContent(result.content)) return result;
  throw new ChainError(`advisor "${advisor.name}": adviseToolCall must return a tool result with content, not ${describe(result)}`);
}

function isContent(content: unknown): boolean {
  return typeof content === 'string' || Array.isArray(content);
}
