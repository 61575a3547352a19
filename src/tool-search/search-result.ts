import { textOf, type Message } from '../chat/message.js';
import type { ToolReference } from './tool-index.js';

const MAX_DESCRIPTION = 200;
const NOTHING = 'No tool fits. Describe in other words what the tool is to do, or go on without one.';

/** What the model reads of a search: names with one line on each, as JSON. */
export function searchResultText(references: readonly ToolReference[]): string {
  if (references.length === 0) return NOTHING;
  return JSON.stringify(references.map(({ name, description }) => ({ name, description: oneLine(description) })));
}

function oneLine(description: string): string {
  const line = description.replaceAll(/\s+/g, ' ').trim();
  if (line.length <= MAX_DESCRIPTION) return line;
  const end = line.lastIndexOf(' ', MAX_DESCRIPTION);
  // by whole characters, where a script has no spaces
  return `${end > MAX_DESCRIPTION / 2 ? line.slice(0, end) : Array.from(line.slice(0, MAX_DESCRIPTION)).slice(0, -1).join('')}…`;
}

/**
 * Names that a conversation shows to have been found before: in results of the search tool, and in calls. It says what was found, not
 * what may be called: names of tools that the turn does not have are of no use.
 * @param accumulate false if only the last batch with searches counts
 */
export function discoveredIn(messages: readonly Message[], searchToolName: string, accumulate: boolean): readonly string[] {
  const names = new Set<string>();
  let isNewBatch = true;
  for (const message of messages) {
    if (message.role === 'assistant') {
      isNewBatch = true;
      if (accumulate) for (const { name } of message.toolCalls) names.add(name);
    }
    if (message.role !== 'tool' || message.toolName !== searchToolName) continue;
    const found = namesIn(textOf(message.content));
    if (found.length === 0) continue;
    if (isNewBatch && !accumulate) names.clear();
    isNewBatch = false;
    for (const name of found) names.add(name);
  }
  names.delete(searchToolName);
  return [...names];
}

function namesIn(result: string): readonly string[] {
  try {
    const found: unknown = JSON.parse(result);
    return Array.isArray(found) ? found.flatMap(nameOf) : [];
  } catch {
    return []; // a search that found nothing, or failed, is told in words
  }
}

function nameOf(value: unknown): readonly string[] {
  const { name } = (value ?? {}) as { readonly name?: unknown };
  return typeof name === 'string' ? [name] : [];
}
