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

/** How a turn searches. */
export interface SearchTurnOptions {
  /** Whether what was found stays when something else is found. */
  readonly accumulate: boolean;
  /** Whether the session remembers what was found. */
  readonly rememberDiscovered: boolean;
}

/** What a turn looks for. */
export type TurnSearch = Omit<ToolSearchRequest, 'session'> & { readonly maxResults: number };

/** One turn of a tool search. */
export class SearchTurn {
  private discovered: readonly string[];
  /** Those that it has found since it spoke last. */
  private batch: readonly string[] = [];

  constructor(
    private readonly sessions: SearchSessions,
    private session: SearchSession,
    private readonly tools: SearchableTools,
    discovered: readonly string[],
    private readonly options: SearchTurnOptions,
  ) {
    this.discovered = discovered;
  }

  /** Names of the tools that the model has found, in order of discovery. */
  get known(): readonly string[] {
    return this.discovered;
  }

  /** The model has spoken, and asks for tools. */
  startBatch(): void {
    if (!this.options.accumulate && this.batch.length > 0) this.discovered = this.batch;
    this.batch = [];
  }

  /** Finds tools and unlocks them. What is not among the tools of the turn is not found, whatever the index says. */
  async search(request: TurnSearch): Promise<ToolResult> {
    const answer = await this.ask(request);
    const found = new Map(answer.filter(({ name }) => this.tools.names.has(name)).map((reference) => [reference.name, reference]));
    const references = [...found.values()].slice(0, request.maxResults);
    const unlocks = references.map(({ name }) => name);
    const locks = this.options.accumulate ? [] : this.discovered;
    this.discover(unlocks);
    return toolResult({ content: searchResultText(references), value: references, unlocks, locks });
  }

  close(): void {
    this.sessions.leave(this.session);
  }

  private discover(names: readonly string[]): void {
    const { accumulate, rememberDiscovered } = this.options;
    this.batch = union(this.batch, names);
    this.discovered = union(this.discovered, names);
    if (rememberDiscovered) this.session.discovered = accumulate ? union(this.session.discovered, names) : this.batch;
  }

  private async ask(request: TurnSearch): Promise<readonly ToolReference[]> {
    const answer: unknown = await this.sessions.search(this.session, request).catch(tellModel);
    if (answer === undefined) return this.askPrivately(request);
    if (Array.isArray(answer) && answer.every(isReference)) return answer;
    throw new ToolError(`The search failed: the index must give references, each with a name and a description, not ${describe(answer)}.`);
  }

  /** The session was evicted in mid-turn: what this turn finds must not depend on that. */
  private askPrivately(request: TurnSearch): Promise<readonly ToolReference[]> {
    if (!this.session.isPrivate) {
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

function union(names: readonly string[], more: readonly string[]): readonly string[] {
  return [...new Set([...names, ...more])];
}

function isReference(value: Partial<ToolReference> | null | undefined): value is ToolReference {
  return typeof value?.name === 'string' && typeof value.description === 'string';
}
