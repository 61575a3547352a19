import { callsOf, textOf, type Message } from '../../src/core/chat/message.js';
import type { ToolReference } from '../../src/stores/tool-indexes/tool-index.js';
import type { CheckedSearchOptions } from './tool-search-options.js';

/** Names of the tools that each conversation has found, in order of discovery. */
export class Discoveries {
  private readonly byConversation = new Map<string, readonly string[]>();

  constructor(private readonly options: CheckedSearchOptions) {}

  /** Returns the names known at the start of a turn; reads the history of an unknown conversation. */
  namesBefore(conversation: string | undefined, messages: readonly Message[]): readonly string[] {
    const { rememberDiscovered, searchToolName, accumulate, maxRemembered } = this.options;
    if (!rememberDiscovered) return [];
    const known = conversation === undefined ? undefined : this.byConversation.get(conversation);
    const names = known ?? discoveredIn(messages, searchToolName, accumulate).slice(-maxRemembered);
    if (conversation !== undefined) this.byConversation.set(conversation, names);
    return names;
  }

  /**
   * Records the names at the end of a turn, unless the conversation was deleted during the turn.
   * @param before names at the start of the turn
   * @param after names at its end
   */
  record(conversation: string, before: readonly string[], after: readonly string[]): void {
    const { accumulate, maxRemembered } = this.options;
    const known = this.byConversation.get(conversation);
    if (!known) return;
    // a concurrent turn of the conversation may have added names
    const others = accumulate ? known : [];
    const locked = new Set(before.filter((name) => !after.includes(name)));
    const names = new Set([...others.filter((name) => !locked.has(name)), ...after]);
    this.byConversation.set(conversation, [...names].slice(-maxRemembered));
  }

  /** The names that a conversation has found. */
  of(conversation: string): readonly string[] {
    return this.byConversation.get(conversation) ?? [];
  }

  delete(conversation: string): void {
    this.byConversation.delete(conversation);
  }
}

/**
 * Reads from a history the names found before: in results of the search tool and in tool calls.
 * They may include tools that the request does not have.
 * @param accumulate false to count only the last batch with searches
 */
export function discoveredIn(
  messages: readonly Message[],
  searchToolName: string,
  accumulate: boolean,
): readonly string[] {
  const names = new Set<string>();
  let isNewBatch = true;
  for (const message of messages) {
    if (message.role === 'assistant') {
      isNewBatch = true;
      if (accumulate) for (const { name } of callsOf(message)) names.add(name);
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
    return Array.isArray(found) ? found.filter(isNamed).map(({ name }) => name) : [];
  } catch {
    return []; // a search without matches, or a failed one, has a result in prose
  }
}

/** True for an object with a name. */
export function isNamed(value: unknown): value is Pick<ToolReference, 'name'> {
  return typeof (value as Partial<ToolReference> | null | undefined)?.name === 'string';
}
