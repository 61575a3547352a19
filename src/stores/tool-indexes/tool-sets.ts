import { memoize } from '../../core/internal/memoize.js';
import { seededHash } from '../../core/internal/text.js';
import type { ToolIndexRequest, ToolReference } from './tool-index.js';

/** Builds the data structure of an index for a set of tools. */
export interface ToolSetBuilder<Built> {
  readonly build: (references: readonly ToolReference[], request: ToolIndexRequest) => Built;
  /** Releases a set that no session can reach any more. */
  readonly discard?: (built: Built) => void;
}

interface ToolSet<Built> {
  readonly references: readonly ToolReference[];
  readonly built: Built;
  readonly sessions: Set<string>;
}

/** Maximum number of unused sets kept; the next turn without a session mostly has the same tools. */
const MAX_IDLE = 8;

/** The sets of tools that an index has built, by session; sessions with the same tools share one. */
export class ToolSets<Built> {
  private readonly bySession = new Map<string, ToolSet<Built>>();
  private readonly all = new Set<ToolSet<Built>>();
  private readonly idle = new Set<ToolSet<Built>>();

  /** @param maxIdle maximum number of sets without sessions that are kept */
  constructor(
    private readonly builder: ToolSetBuilder<Built>,
    private readonly maxIdle = MAX_IDLE,
  ) {}

  get(session: string): Built | undefined {
    return this.bySession.get(session)?.built;
  }

  referencesOf(session: string): readonly ToolReference[] {
    return this.bySession.get(session)?.references ?? [];
  }

  /** Replaces the tools of a session; does nothing if it has them already. */
  set(request: ToolIndexRequest): Built {
    const { session, references } = request;
    const current = this.bySession.get(session);
    const same = this.findSameTools(current, references);
    if (same) return same === current ? same.built : this.join(session, same);
    const copy = [...references];
    const added = {
      references: copy,
      built: this.builder.build(copy, request),
      sessions: new Set<string>(),
    };
    this.all.add(added);
    return this.join(session, added);
  }

  /** Removes a session; a few sets without sessions are kept. */
  delete(session: string): void {
    const set = this.bySession.get(session);
    if (!set) return;
    this.bySession.delete(session);
    set.sessions.delete(session);
    if (set.sessions.size > 0) return;
    this.idle.add(set);
    const [oldest] = this.idle;
    if (oldest && this.idle.size > this.maxIdle) this.drop(oldest);
  }

  /** Discards a set and removes its sessions, which find nothing until they are set again. */
  forget(built: Built): void {
    for (const set of this.all) {
      if (set.built !== built) continue;
      for (const session of set.sessions) this.bySession.delete(session);
      this.drop(set);
    }
  }

  /** Discards all sets; sessions find nothing until they are set again. */
  clear(): void {
    this.bySession.clear();
    for (const set of this.all) this.drop(set);
  }

  private findSameTools(
    current: ToolSet<Built> | undefined,
    references: readonly ToolReference[],
  ): ToolSet<Built> | undefined {
    if (current && isSameToolSet(current.references, references)) return current;
    return [...this.all].find((set) => isSameToolSet(set.references, references));
  }

  private join(session: string, set: ToolSet<Built>): Built {
    // no longer idle before the previous set becomes idle, which may drop the oldest idle set
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

const SEEDS = [Math.random(), Math.random()].map((random) => Math.floor(random * 2 ** 31));
const hashesOf = memoize((reference: ToolReference): readonly number[] => {
  const content = comparedText(reference);
  return SEEDS.map((seed) => seededHash(content, seed));
});

/**
 * A key of everything that an index reads of a set of tools, in any order: their number and 64 bits
 * of hashes, whose seeds differ in each process.
 */
export function toolSetKey(references: readonly ToolReference[]): string {
  const sums = SEEDS.map(() => 0);
  for (const reference of references)
    for (const [at, hash] of hashesOf(reference).entries())
      sums[at] = ((sums[at] as number) + hash) | 0;
  return [references.length, ...sums].join();
}

/** Compares two lists of tools, ignoring their order. */
function isSameToolSet(one: readonly ToolReference[], other: readonly ToolReference[]): boolean {
  if (one.length !== other.length) return false;
  if (one.every((reference, at) => reference === other[at])) return true;
  return toolSetKey(one) === toolSetKey(other);
}

let uniqueCount = 0;

function comparedText({ name, description, inputSchema, category }: ToolReference): string {
  try {
    return JSON.stringify([name, description, inputSchema, category]);
  } catch {
    return `unique: ${uniqueCount++}`; // a schema that is not plain JSON equals no other
  }
}
