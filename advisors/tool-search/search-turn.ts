import type { ToolResult } from '../../src/core/chat/chat-event.js';
import { ContextKey } from '../../src/core/chat/context.js';
import { ToolError } from '../../src/core/errors/errors.js';
import { hasCode } from '../../src/core/errors/advisor-chain-error.js';
import { describe } from '../../src/core/errors/describe.js';
import { toolResult } from '../../src/core/tool/tool-result.js';
import { isNamed } from './discoveries.js';
import { searchResultText } from './search-result-text.js';
import type { SearchSession, SearchSessions, SessionlessRequest } from './search-session.js';
import type { HiddenTools } from './searchable-tools.js';
import type { ToolReference } from '../../src/stores/tool-indexes/tool-index.js';

type LimitedRequest = SessionlessRequest & { readonly maxResults: number };
type Named = Pick<ToolReference, 'name' | 'score' | 'matches'>;

/** The search of the current turn, for the search tool. */
export const SEARCH_TURN = new ContextKey<SearchTurn | undefined>('advisor-chain.tool-search');

/** A search and what it has found, for inspectors. */
export interface FoundTools {
  readonly query: string;
  readonly category?: string | undefined;
  /** Best match first; scores are comparable only within one search. */
  readonly hits: readonly Named[];
}

/** The searches of one turn. */
export class SearchTurn {
  readonly searches: FoundTools[] = [];
  private offeredNames: readonly string[];
  private ended = false;

  /** @param known names of the tools that the model has from the start, in order of discovery */
  constructor(
    private readonly sessions: SearchSessions,
    private session: SearchSession,
    readonly tools: HiddenTools,
    readonly known: readonly string[],
    private readonly accumulate: boolean,
    readonly conversation: string | undefined,
  ) {
    this.offeredNames = known;
  }

  /** Names of the tools that the model has, or gets with the next results. */
  get offered(): readonly string[] {
    return this.offeredNames;
  }

  /** Finds tools for the model and unlocks them. */
  async search(request: LimitedRequest): Promise<ToolResult> {
    const found = await this.findTools(request);
    const { unlocks, locks } = this.offer(found);
    return toolResult({ content: searchResultText(found), value: found, unlocks, locks });
  }

  /**
   * Finds the tools to offer before the first model call; returns their names.
   * @throws whatever the index throws, except for an invalid query
   */
  async findFirst(request: LimitedRequest): Promise<readonly string[]> {
    if (request.query.trim() === '') return [];
    const found = await this.findTools(request).catch((error: unknown) => {
      // the words of a user need not be a pattern; the model can search with its own
      if (hasCode((error as Error).cause, 'invalid_argument')) return [];
      throw error;
    });
    return found.map(({ name }) => name);
  }

  /** Offers tools of the request before the first model call. */
  offerFirst(names: readonly string[]): void {
    const { unlocks, locks } = this.offer(
      names.flatMap((name) => this.tools.byName.get(name) ?? []),
    );
    if (locks.length > 0) this.offeredNames = unlocks;
  }

  end(): void {
    this.ended = true;
    this.sessions.release(this.session);
  }

  /** Only tools of the request, whatever the index returns. */
  private async findTools(request: LimitedRequest): Promise<readonly ToolReference[]> {
    const found = await this.searchIndex(request);
    const hitsByName = new Map(
      found.map(({ name, score, matches }) => [name, { name, score, matches }]),
    );
    const tools = [...hitsByName.keys()]
      .flatMap((name) => this.tools.byName.get(name) ?? [])
      .slice(0, request.maxResults);
    const { query, category } = request;
    const hits = tools.flatMap(({ name }) => hitsByName.get(name) ?? []);
    this.searches.push({ query, category, hits });
    return tools;
  }

  private offer(found: readonly ToolReference[]): { unlocks: string[]; locks: readonly string[] } {
    const unlocks = found.map(({ name }) => name);
    // Within a batch an unlock wins over a lock, so the matches of concurrent searches stay.
    const locks = this.accumulate || unlocks.length === 0 ? [] : this.offered;
    this.offeredNames = [...new Set([...this.offered, ...unlocks])];
    return { unlocks, locks };
  }

  private async searchIndex(request: SessionlessRequest): Promise<readonly Named[]> {
    const response = await this.sessions.search(this.session, request).catch(toToolError);
    if (response === undefined) return this.searchAgain(request);
    const { references } = response as { readonly references?: unknown };
    if (Array.isArray(references) && references.every(isNamed)) return references;
    throw new ToolError(
      'The search failed: the index must return { references }, each with a name, ' +
        `not ${describe(references)}.`,
    );
  }

  /** Repeats a search in a session of its own after the session of the turn was evicted. */
  private searchAgain(request: SessionlessRequest): Promise<readonly Named[]> {
    if (this.ended) throw new ToolError('The search was abandoned: its turn has ended.');
    if (this.session.evicted) {
      this.sessions.release(this.session);
      this.session = this.sessions.open(undefined, this.tools.references, request);
    }
    return this.searchIndex(request);
  }
}

/** Reports an invalid query to the model, which can correct it. */
function toToolError(error: unknown): never {
  if (!hasCode(error, 'invalid_argument')) throw error;
  throw new ToolError(error.message, { cause: error });
}
