import type { ToolDefinition } from '../chat/tool-definition.js';
import type { PlannedCall } from './offline-plan.js';
import type { Turn } from './offline-turn.js';

const SEARCHES_TOOLS = /tools?[_.-]?search|search[_.-]?tools?|find[_.-]?tools?/i;

/** Whether a tool finds other tools, by its name and the text that it wants. */
export function isToolSearch({ name, inputSchema }: ToolDefinition): boolean {
  const properties = inputSchema['properties'];
  return SEARCHES_TOOLS.test(name) && typeof properties === 'object' && properties !== null && 'query' in properties;
}

/** The search that is made where no tool fits: for what the user has said, and once in a turn. */
export function planSearch({ question, answered }: Turn, tools: readonly ToolDefinition[]): readonly PlannedCall[] {
  const search = tools.find((tool) => isToolSearch(tool) && !answered.some(({ name }) => name === tool.name));
  return search && question.trim() !== '' ? [{ name: search.name, args: { query: question } }] : [];
}
