import { describe, type Message } from '../chat/message.js';
import { InvalidArgumentError } from '../errors.js';
import type { Tool } from '../tool/tool.js';
import { discoveredIn } from './search-result.js';
import { SearchSessions, type SearchSession } from './search-sessions.js';
import { searchTool } from './search-tool.js';
import { SearchTurn } from './search-turn.js';
import { searchableTools, type SearchableTools } from './searchable-tools.js';
import type { CheckedSearchOptions } from './tool-search-options.js';

/** What a turn begins with. */
export interface TurnStart {
  /** The session that the request names, if it does. */
  readonly session: unknown;
  readonly messages: readonly Message[];
  /** Names of deferred tools that the model has already. */
  readonly unlocked: readonly string[];
}

/** A list of tools behind a search. */
export interface HiddenTools extends SearchableTools {
  /** The search tool, and all others behind it. */
  readonly withSearch: readonly Tool[];
}

/** A tool search: its sessions, and the tools that it hides. */
export class ToolSearch {
  private readonly sessions: SearchSessions;
  /** A client gives the same list of tools with each request. */
  private readonly hidden = new WeakMap<readonly Tool[], HiddenTools>();

  constructor(private readonly options: CheckedSearchOptions) {
    this.sessions = new SearchSessions(options.toolIndex, options.eviction);
  }

  /**
   * Hides tools; undefined if there are too few to search for.
   * @throws {@link InvalidArgumentError} if one of them has the name of the search tool
   */
  hide(tools: readonly Tool[]): HiddenTools | undefined {
    let hidden = this.hidden.get(tools);
    if (!hidden) this.hidden.set(tools, (hidden = this.withSearch(tools)));
    const count = hidden.references.length;
    return count > 0 && count >= this.options.minTools ? hidden : undefined;
  }

  /** @throws {@link InvalidArgumentError} if the session is not a text, or the index refuses the tools */
  startTurn(tools: HiddenTools, { session: id, messages, unlocked }: TurnStart): SearchTurn {
    const { accumulate, rememberDiscovered, maxRemembered, searchToolName } = this.options;
    const session = this.enter(id, tools);
    session.discovered = session.discovered.slice(-maxRemembered);
    const before = rememberDiscovered ? [...session.discovered, ...discoveredIn(messages, searchToolName, accumulate)] : [];
    const known = new Set([...unlocked, ...before].filter((name) => tools.names.has(name)));
    return new SearchTurn(this.sessions, session, tools, [...known], { accumulate, rememberDiscovered });
  }

  evict(session: string): Promise<void> {
    return this.sessions.evict(session);
  }

  private withSearch(tools: readonly Tool[]): HiddenTools {
    const { searchToolName: name, maxResults } = this.options;
    if (tools.some(({ definition }) => definition.name === name))
      throw new InvalidArgumentError(`ToolSearchAdvisor: a tool of the request is called "${name}" too; give another searchToolName`);
    const hidden = searchableTools(tools);
    return { ...hidden, withSearch: [searchTool({ name, maxResults, categories: hidden.categories }), ...hidden.tools] };
  }

  private enter(id: unknown, { references }: HiddenTools): SearchSession {
    if (id === undefined || id === null) return this.sessions.enterPrivate(references);
    if (typeof id === 'string' && id !== '') return this.sessions.enter(id, references);
    const { name } = this.options.sessionKey;
    throw new InvalidArgumentError(
      `ToolSearchAdvisor: the session ("${name}" in the context) must be a non-empty text, not ${describe(id)}`,
    );
  }
}
