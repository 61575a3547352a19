import type { Message } from '../../src/core/chat/message.js';
import { InvalidArgumentError } from '../../src/core/errors/errors.js';
import { memoize } from '../../src/core/internal/memoize.js';
import { checkOption } from '../../src/core/internal/options.js';
import { Discoveries } from './discoveries.js';
import { SearchSessions, type SignalSource } from './search-session.js';
import { searchTool } from './search-tool.js';
import { SearchTurn } from './search-turn.js';
import { type HiddenTools, hideTools } from './searchable-tools.js';
import { NON_EMPTY } from '../../src/stores/tool-indexes/tool-index.js';
import { type CheckedSearchOptions } from './tool-search-options.js';
import type { Tool } from '../../src/core/tool/tool.js';

/** A tool search: its sessions, the tools found in them, and the tools that it hides. */
export class ToolSearch {
  private readonly sessions: SearchSessions;
  private readonly discoveries: Discoveries;
  /**
   * Hides tools behind the search tool; undefined if there are too few. Cached, since a client
   * passes the same list with each request.
   * @throws {@link InvalidArgumentError} if one of them has the name of the search tool
   */
  readonly hideTools = memoize((tools: readonly Tool[]): HiddenTools | undefined => {
    const { searchToolName: name, minTools, maxResults } = this.options;
    return hideTools(tools, minTools, (categories) => {
      if (tools.every(({ definition }) => definition.name !== name))
        return searchTool(name, maxResults, categories);
      throw new InvalidArgumentError(
        `ToolSearchAdvisor: the request has another tool named "${name}"; set searchToolName`,
      );
    });
  });

  constructor(private readonly options: CheckedSearchOptions) {
    this.discoveries = new Discoveries(options);
    this.sessions = new SearchSessions(options, this.discoveries);
  }

  /**
   * @param id id of the conversation, if any
   * @param unlocked names of deferred tools that the model has already
   * @throws {@link InvalidArgumentError} if the id is invalid; whatever the index throws
   */
  startTurn(
    tools: HiddenTools,
    id: unknown,
    messages: readonly Message[],
    unlocked: readonly string[],
    run: SignalSource,
  ): SearchTurn {
    const conversation = this.checkConversation(id);
    const session = this.sessions.open(conversation, tools.references, run);
    const names = [...unlocked, ...this.discoveries.namesBefore(conversation, messages)];
    const known = [...new Set(names)].filter((name) => tools.byName.has(name));
    const { accumulate } = this.options;
    return new SearchTurn(this.sessions, session, tools, known, accumulate, conversation);
  }

  /** @param unlocked names of the tools unlocked at the end; undefined if the turn failed */
  endTurn(turn: SearchTurn, unlocked: readonly string[] | undefined): void {
    turn.end();
    const { conversation, known, tools } = turn;
    if (conversation === undefined || unlocked === undefined) return;
    const names = unlocked.filter((name) => tools.byName.has(name));
    this.discoveries.record(conversation, known, names);
  }

  /** Names of the tools that a conversation has found, in order of discovery. */
  foundIn(conversation: string): readonly string[] {
    return this.discoveries.of(conversation);
  }

  evict(conversation: string): Promise<void> {
    return this.sessions.evict(conversation);
  }

  private checkConversation(id: unknown): string | undefined {
    const where = `the session ("${this.options.sessionKey.name}" in the context)`;
    if (id !== undefined && id !== null) checkOption('ToolSearchAdvisor', where, id, NON_EMPTY);
    return (id ?? undefined) as string | undefined;
  }
}
