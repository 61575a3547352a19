import type { ToolIndexRequest, ToolReference } from './tool-index.js';
import { isSameToolSet } from './tool-set-fingerprint.js';

/** How an index builds what it searches in. */
export interface ToolSetBuilder<Built> {
  /** Makes it from tools. */
  readonly build: (references: readonly ToolReference[]) => Built;
  /** Turns what one session alone has into that of other tools; without it everything is built anew. */
  readonly change?: (built: Built, references: readonly ToolReference[]) => void;
  /** Told when nobody can come to it any more. */
  readonly discard?: (built: Built) => void;
}

interface ToolSet<Built> {
  references: readonly ToolReference[];
  readonly built: Built;
  readonly sessions: Set<string>;
}

/** How many sets without a session are kept: the next turn of somebody without a session mostly has the same tools. */
const MAX_IDLE = 8;

/** What an index has built, by session: sessions with the same tools share it. */
export class ToolSets<Built> {
  private readonly bySession = new Map<string, ToolSet<Built>>();
  private readonly all = new Set<ToolSet<Built>>();
  private readonly idle = new Set<ToolSet<Built>>();

  constructor(private readonly builder: ToolSetBuilder<Built>) {}

  /** What is built of the tools of a session. */
  get(session: string): Built | undefined {
    return this.bySession.get(session)?.built;
  }

  /** Gives a session other tools; does nothing if it has them. */
  set({ session, references }: ToolIndexRequest): Built {
    const present = this.bySession.get(session);
    const same = this.find(present, references);
    if (same) return same === present ? same.built : this.join(session, same);
    const { change } = this.builder;
    if (present?.sessions.size === 1 && change) {
      change(present.built, references);
      present.references = [...references];
      return present.built;
    }
    const added = { references: [...references], built: this.builder.build(references), sessions: new Set<string>() };
    this.all.add(added);
    return this.join(session, added);
  }

  /** Takes a session out; what it had is kept for a while if nobody else has it. */
  delete(session: string): void {
    const set = this.bySession.get(session);
    if (!set) return;
    this.bySession.delete(session);
    set.sessions.delete(session);
    if (set.sessions.size > 0) return;
    this.idle.add(set);
    const [oldest] = this.idle;
    if (oldest && this.idle.size > MAX_IDLE) this.drop(oldest);
  }

  /** Throws away what was built: whoever had it finds nothing until it gets its tools again. */
  forget(built: Built): void {
    for (const set of this.all) {
      if (set.built !== built) continue;
      for (const session of set.sessions) this.bySession.delete(session);
      this.drop(set);
    }
  }

  private find(present: ToolSet<Built> | undefined, references: readonly ToolReference[]): ToolSet<Built> | undefined {
    if (present && isSameToolSet(present.references, references)) return present;
    for (const set of this.all) if (isSameToolSet(set.references, references)) return set;
    return undefined;
  }

  private join(session: string, set: ToolSet<Built>): Built {
    // taken before the old set is put down, so that it is not the one that is dropped for that
    this.idle.delete(set);
    this.delete(session);
    set.sessions.add(session);
    this.bySession.set(session, set);
    return set.built;
  }

  private drop(set: ToolSet<Built>): void {
    this.idle.delete(set);
    this.all.delete(set);
    this.builder.discard?.(set.built);
  }
}
