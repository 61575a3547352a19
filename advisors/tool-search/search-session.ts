import { TurnId } from '../../src/core/chat/context.js';
import { memoize } from '../../src/core/internal/memoize.js';
import { hasCode } from '../../src/core/errors/advisor-chain-error.js';
import type { Discoveries } from './discoveries.js';
import type {
  ToolIndexRequest,
  ToolReference,
  ToolSearchRequest,
} from '../../src/stores/tool-indexes/tool-index.js';
import type { CheckedSearchOptions } from './tool-search-options.js';
import { toolSetKey } from '../../src/stores/tool-indexes/tool-sets.js';

/** A run, or a part of it, whose signal is created on access. */
export type SignalSource = Pick<ToolIndexRequest, 'signal'>;
/** A search in the session of a turn. */
export type SessionlessRequest = Omit<ToolSearchRequest, 'session'>;

/** The tools that the index has under one id. */
export interface SearchSession {
  readonly id: string;
  /** Undefined for a session that belongs to a single turn. */
  readonly conversation: string | undefined;
  /** True for a session that ends with its last active turn. */
  readonly isEphemeral: boolean;
  /** Key of its tools: a list of them would be most of the memory of a session. */
  readonly toolsKey: string;
  /** Resolves when the index has the tools. */
  readonly indexed: Promise<void>;
  activeTurns: number;
  evicted: boolean;
}

/** The lists of a tool search never change. */
const toolsKeyOf = memoize(toolSetKey);

/** Number of `SearchSessions` for each index; each has ids of its own in it. */
const instanceCounts = new WeakMap<object, number>();

/** The sessions of a tool search in its index. */
export class SearchSessions {
  private readonly byConversation = new Map<string, SearchSession>();
  /** The last operation of the index for each session; the next one waits for it. */
  private readonly pending = new Map<string, Promise<void>>();
  private readonly prefix: string;

  constructor(
    private readonly options: CheckedSearchOptions,
    private readonly discoveries: Discoveries,
  ) {
    const { toolIndex } = options;
    const instanceCount = instanceCounts.get(toolIndex) ?? 0;
    instanceCounts.set(toolIndex, instanceCount + 1);
    this.prefix = instanceCount === 0 ? '' : `${instanceCount}/`;
  }

  /**
   * Opens the session of a conversation for a turn; without a conversation, one for the turn alone.
   * @throws whatever an index throws synchronously
   */
  open(
    conversation: string | undefined,
    references: readonly ToolReference[],
    run: SignalSource,
  ): SearchSession {
    if (conversation === undefined) return this.start(references, run, undefined, true);
    const isEphemeral = this.evictIdle(conversation);
    const known = this.byConversation.get(conversation);
    if (known?.toolsKey === toolsKeyOf(references)) {
      known.activeTurns++;
      return known;
    }
    // the tools of a session must not change while a concurrent turn searches in it
    if (known && known.activeTurns > 0) return this.start(references, run, undefined, true);
    return this.start(references, run, conversation, isEphemeral);
  }

  /** Ends the use of a session by a turn. */
  release(session: SearchSession): void {
    session.activeTurns--;
    if (!session.isEphemeral || session.activeTurns > 0 || session.evicted) return;
    const { id, conversation } = session;
    const cleared = conversation === undefined ? this.clear(id) : this.evict(conversation);
    cleared.catch(() => undefined);
  }

  /** Removes a conversation and what was found in it. @throws whatever the index throws */
  evict(conversation: string): Promise<void> {
    this.options.eviction.onRemoved(conversation);
    this.discoveries.delete(conversation);
    const session = this.byConversation.get(conversation);
    if (session) session.evicted = true;
    this.byConversation.delete(conversation);
    return this.clear(this.prefix + conversation);
  }

  /** Returns the response of the index; undefined if the session was evicted before or meanwhile. */
  async search(session: SearchSession, request: SessionlessRequest): Promise<unknown> {
    if (session.evicted) return undefined;
    await session.indexed.catch((error: unknown) => {
      if (!session.evicted) throw error;
    });
    if (session.evicted) return undefined;
    const response: unknown = await this.options.toolIndex.search({
      session: session.id,
      ...request,
    });
    return session.evicted ? undefined : (response ?? {});
  }

  /** Evicts idle sessions; returns whether the conversation itself was among them. */
  private evictIdle(conversation: string): boolean {
    const idle = this.options.eviction.onAccess(conversation);
    for (const other of idle) this.evict(other).catch(() => undefined);
    if (!idle.includes(conversation)) return false;
    // its eviction removed it from all strategies
    this.options.eviction.onAccess(conversation);
    return true;
  }

  private start(
    references: readonly ToolReference[],
    run: SignalSource,
    conversation: string | undefined,
    isEphemeral: boolean,
  ): SearchSession {
    const id = conversation === undefined ? `turn ${new TurnId().id}` : this.prefix + conversation;
    const request: ToolIndexRequest = {
      session: id,
      references,
      // created on access: few indexes need it
      get signal() {
        return run.signal;
      },
    };
    const indexed = this.enqueue(id, () => this.options.toolIndex.index(request));
    const session = {
      id,
      conversation,
      isEphemeral,
      toolsKey: conversation === undefined ? '' : toolsKeyOf(references),
      indexed,
      activeTurns: 1,
      evicted: false,
    };
    if (conversation !== undefined) this.byConversation.set(conversation, session);
    // fails the searches of this turn; the next turn indexes again
    indexed.catch((error: unknown) => {
      // concurrent turns of the conversation, which are not cancelled, open another session
      if (hasCode(error, 'cancelled')) session.evicted = true;
      if (conversation !== undefined && this.byConversation.get(conversation) === session)
        this.byConversation.delete(conversation);
    });
    return session;
  }

  private async clear(id: string): Promise<void> {
    await this.enqueue(id, () => this.options.toolIndex.clear(id));
  }

  /** Runs the operations of a session one after another; synchronously if none is pending. */
  private enqueue(id: string, operation: () => void | Promise<void>): Promise<void> {
    const before = this.pending.get(id);
    const done = before ? before.then(operation) : operation();
    if (typeof done?.then !== 'function') return Promise.resolve();
    const result = Promise.resolve(done);
    const settle = (): void => {
      if (this.pending.get(id) === settled) this.pending.delete(id);
    };
    const settled = result.then(settle, settle);
    this.pending.set(id, settled);
    return result;
  }
}
