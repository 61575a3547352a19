import { describe, type Message } from '../chat/message.js';
import { InvalidArgumentError } from '../errors.js';
import type { Tool } from '../tool/tool.js';
import { Discoveries } from './discoveries.js';
import { SearchSessions } from './search-sessions.js';
import { searchTool } from './search-tool.js';
import { SearchTurn } from './search-turn.js';
import { searchableTools, type SearchableTools } from './searchable-tools.js';
import type { CheckedSearchOptions } from './tool-search-options.js';

/** What a turn begins with. */
export interface TurnStart {
  /** The conversation that the request names, if it does. */
  readonly conversation: unknown;
  readonly messages: readonly Message[];
  /** Names of deferred tools that the model has already. */
  readonly unlocked: readonly string[];
}

/** A turn that has begun. */
export interface StartedTurn {
  readonly search: SearchTurn;
  /** Names of the tools that the model has from the start, in order of discovery. */
  readonly known: readonly string[];
  /** To be told how it ended: with which tools, if it did not fail. */
  end(unlocked?: readonly string[]): void;
}

/** A list of tools behind a search. */
export interface HiddenTools extends SearchableTools {
  /** The search tool, and all others behind it. */
  readonly withSearch: readonly Tool[];
}

/** A tool search: its conversations, and the tools that it hides. */
export class ToolSearch {
  private readonly sessions: SearchSessions;
  private readonly discoveries: Discoveries;
  /** A client gives the same list of tools with each request. */
  private readonly prepared = new WeakMap<readonly Tool[], SearchableTools & { withSearch?: readonly Tool[] }>();

  constructor(private readonly options: CheckedSearchOptions) {
    this.discoveries = new Discoveries(options);
    this.sessions = new SearchSessions(options.toolIndex, options.eviction, (conversation) => this.discoveries.delete(conversation));
  }

  /**
   * Hides tools; undefined if there are too few to search for.
   * @throws {@link InvalidArgumentError} if one of them has the name of the search tool
   */
  hide(tools: readonly Tool[]): HiddenTools | undefined {
    let prepared = this.prepared.get(tools);
    if (!prepared) this.prepared.set(tools, (prepared = searchableTools(tools)));
    const count = prepared.references.length;
    if (count === 0 || count < this.options.minTools) return undefined;
    return Object.assign(prepared, { withSearch: prepared.withSearch ?? this.withSearch(prepared) });
  }

  /** @throws {@link InvalidArgumentError} if the conversation is not a text, or the index refuses the tools */
  startTurn(tools: HiddenTools, { conversation: id, messages, unlocked }: TurnStart): StartedTurn {
    const conversation = this.checkConversation(id);
    const { references, byName } = tools;
    const session = conversation === undefined ? this.sessions.enterPrivate(references) : this.sessions.enter(conversation, references);
    const before = [...unlocked, ...this.discoveries.before(conversation, messages)];
    const known = [...new Set(before)].filter((name) => byName.has(name));
    const search = new SearchTurn(this.sessions, session, tools, known, this.options.accumulate);
    const end = (after?: readonly string[]): void => {
      search.close();
      if (conversation === undefined || after === undefined) return;
      this.discoveries.keep(
        conversation,
        known,
        after.filter((name) => byName.has(name)),
      );
    };
    return { search, known, end };
  }

  evict(conversation: string): Promise<void> {
    return this.sessions.evict(conversation);
  }

  private withSearch({ tools, categories }: SearchableTools): readonly Tool[] {
    const { searchToolName: name, maxResults } = this.options;
    if (tools.some(({ definition }) => definition.name === name))
      throw new InvalidArgumentError(`ToolSearchAdvisor: a tool of the request is called "${name}" too; give another searchToolName`);
    return [searchTool({ name, maxResults, categories }), ...tools];
  }

  private checkConversation(id: unknown): string | undefined {
    if (id === undefined || id === null) return undefined;
    if (typeof id === 'string' && id !== '') return id;
    const { name } = this.options.sessionKey;
    throw new InvalidArgumentError(
      `ToolSearchAdvisor: the session ("${name}" in the context) must be a non-empty text, not ${describe(id)}`,
    );
  }
}
