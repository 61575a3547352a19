import { Turn } from '../chat/turn.js';
import type { EvictionStrategy } from './eviction.js';
import type { ToolIndex, ToolReference, ToolSearchRequest } from './tool-index.js';
import { isSameToolSet } from './tool-set-fingerprint.js';

/** What is kept of a conversation between its turns. */
export interface SearchSession {
  readonly id: string;
  /** Whether it is that of one turn alone. */
  readonly isPrivate: boolean;
  readonly references: readonly ToolReference[];
  /** Resolves when the index knows the tools. */
  readonly indexed: Promise<void>;
  /** Names of the tools that were found, in order of discovery. */
  discovered: readonly string[];
  /** Turns that are using it. */
  turns: number;
  /** Whether the index was told to forget it. */
  evicted: boolean;
}

/** The sessions of a tool search, and what its index knows of them. */
export class SearchSessions {
  private readonly sessions = new Map<string, SearchSession>();
  /** What the index is forgetting; whoever gives it the same session again waits for that. */
  private readonly clearing = new Map<string, Promise<void>>();
  /** What the index failed to forget; it is asked again. */
  private readonly leftovers = new Set<string>();

  constructor(
    private readonly index: ToolIndex,
    private readonly eviction: EvictionStrategy,
  ) {}

  /** Enters the session of a conversation, for a turn with these tools. */
  enter(id: string, references: readonly ToolReference[]): SearchSession {
    for (const idle of [...this.leftovers, ...this.eviction.onAccess(id)]) this.evictLater(idle);
    const known = this.sessions.get(id);
    if (known && isSameToolSet(known.references, references)) return used(known);
    // while another turn of the conversation is searching, its tools must not change under its hands
    if (known && known.turns > 0) return this.enterPrivate(references);
    const session = this.start({ id, isPrivate: false, references, discovered: known?.discovered ?? [] });
    this.sessions.set(id, session);
    return used(session);
  }

  /** Enters a session that no other turn comes to. */
  enterPrivate(references: readonly ToolReference[]): SearchSession {
    return used(this.start({ id: `turn ${new Turn().id}`, isPrivate: true, references, discovered: [] }));
  }

  leave(session: SearchSession): void {
    session.turns--;
    if (session.isPrivate) this.evictLater(session.id);
  }

  /** Forgets a session at once. @throws whatever the index throws */
  async evict(id: string): Promise<void> {
    this.leftovers.delete(id);
    this.eviction.onRemoved(id);
    const session = this.sessions.get(id);
    if (session) session.evicted = true;
    this.sessions.delete(id);
    const work = (async () => this.index.clear(id))();
    this.clearing.set(id, work);
    try {
      await work;
    } finally {
      if (this.clearing.get(id) === work) this.clearing.delete(id);
    }
  }

  /** The tools that fit; undefined if the session was evicted meanwhile, so that it may have found nothing or something else. */
  async search(session: SearchSession, request: Omit<ToolSearchRequest, 'session'>): Promise<readonly ToolReference[] | undefined> {
    if (session.evicted) return undefined;
    await session.indexed;
    const { references } = await this.index.search({ session: session.id, ...request });
    return session.evicted ? undefined : references;
  }

  private evictLater(id: string): void {
    this.evict(id).catch(() => this.leftovers.add(id));
  }

  /** @throws whatever an index throws at once */
  private start(session: Pick<SearchSession, 'id' | 'isPrivate' | 'references' | 'discovered'>): SearchSession {
    const { id, references } = session;
    const index = (): void | Promise<void> => this.index.index({ session: id, references });
    const earlier = this.clearing.get(id);
    const indexed = Promise.resolve(earlier ? earlier.then(index, index) : index());
    const started = { ...session, indexed, turns: 0, evicted: false };
    this.leftovers.delete(id);
    // the searches of the turn fail with it; the next turn tries again
    indexed.catch(() => {
      if (this.sessions.get(id) === started) this.sessions.delete(id);
    });
    return started;
  }
}

function used(session: SearchSession): SearchSession {
  session.turns++;
  return session;
}
