import { Turn } from '../chat/turn.js';
import type { EvictionStrategy } from './eviction.js';
import type { ToolIndex, ToolReference, ToolSearchRequest } from './tool-index.js';
import { isSameToolSet } from './tool-set-fingerprint.js';

/** What the index knows under one name. */
export interface SearchSession {
  readonly id: string;
  /** Absent where it is that of one turn. */
  readonly conversation?: string | undefined;
  /** Whether it ends with its last turn. */
  readonly isPassing: boolean;
  readonly references: readonly ToolReference[];
  /** Resolves when the index knows the tools. */
  readonly indexed: Promise<void>;
  /** Turns that are using it. */
  turns: number;
  /** Whether the index was told to forget it. */
  evicted: boolean;
}

/** How many advisors share an index: each has its own sessions in it. */
const sharers = new WeakMap<ToolIndex, number>();

/** The sessions of a tool search in its index. */
export class SearchSessions {
  private readonly sessions = new Map<string, SearchSession>();
  /** What the index is doing for a session; the next thing waits for it. */
  private readonly busy = new Map<string, Promise<void>>();
  /** What the index failed to forget. */
  private readonly leftovers = new Set<string>();
  private readonly prefix: string;

  /** @param onEvicted told of each conversation that is forgotten */
  constructor(
    private readonly index: ToolIndex,
    private readonly eviction: EvictionStrategy,
    private readonly onEvicted: (conversation: string) => void,
  ) {
    const others = sharers.get(index) ?? 0;
    sharers.set(index, others + 1);
    this.prefix = others === 0 ? '' : `${others}/`;
  }

  /** Enters the session of a conversation, for a turn with these tools. */
  enter(conversation: string, references: readonly ToolReference[]): SearchSession {
    const isPassing = this.evictIdle(conversation);
    const id = this.prefix + conversation;
    const known = this.sessions.get(id);
    if (known && isSameToolSet(known.references, references)) return used(known);
    // while another turn of the conversation is searching, its tools must not change under its hands
    if (known && known.turns > 0) return this.enterPrivate(references);
    const session = this.start({ id, conversation, references, isPassing });
    this.sessions.set(id, session);
    return used(session);
  }

  /** Enters a session that no other turn comes to. */
  enterPrivate(references: readonly ToolReference[]): SearchSession {
    this.retryLeftover();
    return used(this.start({ id: `turn ${new Turn().id}`, references, isPassing: true }));
  }

  leave(session: SearchSession): void {
    session.turns--;
    if (!session.isPassing || session.turns > 0 || session.evicted) return;
    const { id, conversation } = session;
    const forgotten = conversation === undefined ? this.forget(id) : this.evict(conversation);
    forgotten.catch(() => undefined); // what cannot be forgotten now is tried again
  }

  /** Forgets a conversation at once. @throws whatever the index throws */
  evict(conversation: string): Promise<void> {
    this.eviction.onRemoved(conversation);
    this.onEvicted(conversation);
    const id = this.prefix + conversation;
    const session = this.sessions.get(id);
    if (session) session.evicted = true;
    this.sessions.delete(id);
    return this.forget(id);
  }

  /** What the index answers; undefined if the session was evicted meanwhile, so that it may have found nothing or something else. */
  async search(session: SearchSession, request: Omit<ToolSearchRequest, 'session'>): Promise<unknown> {
    if (session.evicted) return undefined;
    await session.indexed;
    const answer: unknown = await this.index.search({ session: session.id, ...request });
    return session.evicted ? undefined : (answer ?? {});
  }

  /** Forgets what is to go; says whether the conversation itself is to be forgotten each time. */
  private evictIdle(conversation: string): boolean {
    this.retryLeftover();
    const idle = this.eviction.onAccess(conversation);
    for (const other of idle) this.evict(other).catch(() => undefined);
    if (!idle.includes(conversation)) return false;
    // it begins anew: other strategies must know of it again
    this.eviction.onAccess(conversation);
    return true;
  }

  /** @throws whatever an index throws at once */
  private start(session: Pick<SearchSession, 'id' | 'conversation' | 'references' | 'isPassing'>): SearchSession {
    const { id, references } = session;
    const indexed = this.queue(id, () => this.index.index({ session: id, references }));
    const started = { ...session, indexed, turns: 0, evicted: false };
    this.leftovers.delete(id);
    // the searches of the turn fail with it; the next turn tries again
    indexed.catch(() => {
      if (this.sessions.get(id) === started) this.sessions.delete(id);
    });
    return started;
  }

  private async forget(id: string): Promise<void> {
    try {
      await this.queue(id, () => this.index.clear(id));
    } catch (error) {
      if (!this.sessions.has(id)) this.leftovers.add(id);
      throw error;
    }
  }

  private retryLeftover(): void {
    const [id] = this.leftovers;
    if (id === undefined) return;
    this.leftovers.delete(id);
    this.forget(id).catch(() => undefined);
  }

  /** Does one thing of a session after the other; at once, if nothing is under way. */
  private queue(id: string, work: () => void | Promise<void>): Promise<void> {
    const before = this.busy.get(id);
    const done = before ? before.then(work) : work();
    if (typeof done?.then !== 'function') return Promise.resolve();
    const result = Promise.resolve(done);
    const settled: Promise<void> = result.then(
      () => this.rest(id, settled),
      () => this.rest(id, settled),
    );
    this.busy.set(id, settled);
    return result;
  }

  private rest(id: string, settled: Promise<void>): void {
    if (this.busy.get(id) === settled) this.busy.delete(id);
  }
}

function used(session: SearchSession): SearchSession {
  session.turns++;
  return session;
}
