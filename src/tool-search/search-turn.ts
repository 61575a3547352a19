import type { ToolResult } from '../chat/chat-event.js';
import { ContextKey } from '../chat/context.js';
import { describe } from '../chat/message.js';
import { InvalidArgumentError, ToolError } from '../errors.js';
import { toolResult } from '../tool/tool.js';
import { searchResultText } from './search-result.js';
import type { SearchSession, SearchSessions } from './search-sessions.js';
import type { SearchableTools } from './searchable-tools.js';
import type { ToolReference, ToolSearchRequest } from './tool-index.js';

/** The search of the present turn, for the search tool. */
export const SEARCH_TURN = new ContextKey<SearchTurn | undefined>('advisor-chain.tool-search');

/** What a turn looks for. */
export type TurnSearch = Omit<ToolSearchRequest, 'session'> & { readonly maxResults: number };

/** One turn of a tool search. */
export class SearchTurn {
  /** Names of tools that the model was given, or will be with the next results. */
  private given: readonly string[];
  private closed = false;

  /** @param accumulate whether what was found stays when something else is found */
  constructor(
    private readonly sessions: SearchSessions,
    private session: SearchSession,
    private readonly tools: SearchableTools,
    known: readonly string[],
    private readonly accumulate: boolean,
  ) {
    this.given = known;
  }

  /** Finds tools and unlocks them. Whatever the index says, they are those of the turn. */
  async search(request: TurnSearch): Promise<ToolResult> {
    const names = new Set((await this.ask(request)).map(({ name }) => name));
    const found = [...names].flatMap((name) => this.tools.byName.get(name) ?? []).slice(0, request.maxResults);
    const unlocks = found.map(({ name }) => name);
    // in a batch an unlock wins over a lock, so what other searches of it find stays; a search that finds nothing takes nothing away
    const locks = this.accumulate || unlocks.length === 0 ? [] : this.given;
    this.given = [...new Set([...this.given, ...unlocks])];
    return toolResult({ content: searchResultText(found), value: found, unlocks, locks });
  }

  close(): void {
    this.closed = true;
    this.sessions.leave(this.session);
  }

  private async ask(request: TurnSearch): Promise<readonly Pick<ToolReference, 'name'>[]> {
    const answer = await this.sessions.search(this.session, request).catch(tellModel);
    if (answer === undefined) return this.askPrivately(request);
    const { references } = answer as { readonly references?: unknown };
    if (Array.isArray(references) && references.every(isNamed)) return references;
    throw new ToolError(`The search failed: the index must give { references }, each with a name, not ${describe(references)}.`);
  }

  /** The session was evicted in mid-turn: what this turn finds must not depend on that. */
  private askPrivately(request: TurnSearch): Promise<readonly Pick<ToolReference, 'name'>[]> {
    if (this.closed) throw new ToolError('The search is of no use any more: its turn is over.');
    if (this.session.evicted) {
      this.sessions.leave(this.session);
      this.session = this.sessions.enterPrivate(this.tools.references);
    }
    return this.ask(request);
  }
}

/** What was wrong with the query, the model can put right. */
function tellModel(error: unknown): never {
  throw error instanceof InvalidArgumentError ? new ToolError(error.message, { cause: error }) : error;
}

function isNamed(value: unknown): value is Pick<ToolReference, 'name'> {
  return typeof (value as Partial<ToolReference> | null | undefined)?.name === 'string';
}
