import type { ToolReference } from '../../tool-search/tool-index.js';
import { Analyser } from './analyser.js';
import { Postings } from './postings.js';
import { type Ranking, wordFactor } from './ranking.js';
import { ToolSelection } from './tool-selection.js';

/** An analysed tool. */
export interface LibraryTool {
  readonly reference: ToolReference;
  /** Words of name and description in their order. */
  readonly sequence: readonly string[];
  /** Approximate memory. */
  readonly bytes: number;
  readonly hash: number;
  /** 0 for the first tool of this content in a session; equal ones follow. */
  readonly copy: number;
  /** Position in {@link ToolLibrary.tools}. */
  slot: number;
  /** Number of selections with this tool. */
  selections: number;
}

/** Tools of equal hashes that are compared; above, a tool is analysed again: no content takes long. */
const MAX_COMPARED = 8;

/**
 * The tools of all sessions, each analysed once: sessions select theirs. Tools that no session has
 * stay until they take too much memory; those without sessions for longest go first.
 */
export class ToolLibrary {
  readonly postings = new Postings();
  /** By slot, in the order in which they were analysed. */
  tools: LibraryTool[] = [];
  /** Sum of the weights of the words of each tool, by slot. */
  lengths: number[] = [];
  private readonly byHash = new Map<number, LibraryTool>();
  private readonly selections = new Set<ToolSelection>();
  /** Tools without selections, in the order in which they lost the last one. */
  private readonly unused = new Set<LibraryTool>();
  private unusedBytes = 0;
  private scores = new Float64Array();

  /** @param maxUnusedBytes memory of tools without sessions that are kept */
  constructor(
    readonly ranking: Ranking,
    private readonly maxUnusedBytes: number,
  ) {}

  /** The selection of a session that starts to use these tools; equal ones are shared. */
  acquire(references: readonly ToolReference[]): ToolSelection {
    const slots = this.slotsOf(references);
    const length = slots.reduce((sum, slot) => sum + (this.lengths[slot] as number), 0);
    const selection = this.shared(new ToolSelection(slots, length));
    selection.sessions++;
    return selection;
  }

  /** Ends the use of a selection by a session. */
  release(selection: ToolSelection): void {
    if (--selection.sessions > 0) return;
    this.selections.delete(selection);
    for (const slot of selection.slots()) {
      const tool = this.toolAt(slot);
      if (--tool.selections === 0) this.addUnused(tool);
    }
    // half of it, so that this happens rarely
    if (this.unusedBytes > this.maxUnusedBytes) this.compact(this.maxUnusedBytes / 2);
  }

  /** A score for each slot, 0 between searches. */
  scratch(): Float64Array {
    if (this.scores.length < this.tools.length) this.scores = new Float64Array(this.tools.length);
    return this.scores;
  }

  toolAt(slot: number): LibraryTool {
    return this.tools[slot] as LibraryTool;
  }

  private shared(selection: ToolSelection): ToolSelection {
    for (const other of this.selections) if (other.equals(selection)) return other;
    this.selections.add(selection);
    for (const slot of selection.slots()) {
      const tool = this.toolAt(slot);
      if (tool.selections++ === 0) this.removeUnused(tool);
    }
    return selection;
  }

  /** The slots of distinct objects; equal ones have a slot each. */
  private slotsOf(references: readonly ToolReference[]): readonly number[] {
    const analyser = new Analyser(this.ranking);
    const copies = new Map<LibraryTool, number>();
    return [...new Set(references)].map((reference) => {
      const first = this.findOrAdd(reference, 0, analyser);
      const copy = copies.get(first) ?? 0;
      copies.set(first, copy + 1);
      return (copy === 0 ? first : this.findOrAdd(reference, copy, analyser)).slot;
    });
  }

  private findOrAdd(reference: ToolReference, copy: number, analyser: Analyser): LibraryTool {
    let hash = hashOf(reference, copy);
    for (let compared = 0; compared < MAX_COMPARED; compared++) {
      const known = this.byHash.get(hash);
      if (!known) break;
      if (known.copy === copy && isSameTool(known.reference, reference)) return known;
      hash = (hash + 1) | 0;
    }
    return this.add(reference, hash, copy, analyser);
  }

  private add(
    reference: ToolReference,
    hash: number,
    copy: number,
    analyser: Analyser,
  ): LibraryTool {
    const slot = this.tools.length;
    const { weights, length, sequence, characters } = analyser.analyse(reference);
    for (const [word, weight] of weights) this.postings.add(word, slot, wordFactor(weight));
    // measured: about 1 kB, and the definition itself
    const bytes = 300 + 2 * characters + 24 * weights.size + 8 * sequence.length;
    const tool = { reference, sequence, bytes, hash, copy, slot, selections: 0 };
    this.tools.push(tool);
    this.lengths.push(length);
    if (!this.byHash.has(hash)) this.byHash.set(hash, tool);
    this.addUnused(tool);
    return tool;
  }

  private addUnused(tool: LibraryTool): void {
    this.unused.add(tool);
    this.unusedBytes += tool.bytes;
  }

  private removeUnused(tool: LibraryTool): void {
    if (this.unused.delete(tool)) this.unusedBytes -= tool.bytes;
  }

  /** Removes unused tools until they take no more than these bytes. */
  compact(maxBytes: number): void {
    const newSlots = new Int32Array(this.tools.length);
    for (const tool of this.unused) {
      if (this.unusedBytes <= maxBytes) break;
      this.removeUnused(tool);
      if (this.byHash.get(tool.hash) === tool) this.byHash.delete(tool.hash);
      newSlots[tool.slot] = -1;
    }
    this.lengths = this.lengths.filter((_, slot) => newSlots[slot] === 0);
    this.tools = this.tools.filter(({ slot }) => newSlots[slot] === 0);
    for (const [slot, tool] of this.tools.entries()) {
      newSlots[tool.slot] = slot;
      tool.slot = slot;
    }
    this.postings.renumber(newSlots);
    for (const selection of this.selections) selection.renumber(newSlots);
  }
}

/** Differs in each process, so that no one can prepare tools with equal hashes. */
const SEED = Math.floor(Math.random() * 2 ** 32);

/** A hash of 32 bits, fast rather than unique. */
function hashOf({ name, description }: ToolReference, copy: number): number {
  let hash = SEED + copy;
  for (const text of [name, description])
    for (let at = 0; at < text.length; at++) {
      hash = Math.imul(hash ^ text.charCodeAt(at), 0x5bd1e995);
      hash ^= hash >>> 15;
    }
  return hash;
}

/** Compares everything that two references have; one that is no plain JSON equals itself alone. */
function isSameTool(one: ToolReference, other: ToolReference): boolean {
  if (one === other) return true;
  if (one.name !== other.name || one.description !== other.description) return false;
  try {
    return JSON.stringify(one) === JSON.stringify(other);
  } catch {
    return false;
  }
}
