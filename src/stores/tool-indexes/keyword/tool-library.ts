import { seededHash } from '../../../core/internal/text.js';
import type { ToolReference } from '../tool-index.js';
import { Analyser } from './analyser.js';
import { Postings } from '../../texts/postings.js';
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
  /** Number of selections with this tool, 0 before it is removed. */
  selections: number;
}

interface Recent {
  readonly selection: ToolSelection;
  readonly references: readonly ToolReference[];
}

const SEED = Math.floor(Math.random() * 2 ** 31);
/** Tools of equal hashes that are compared; above, a tool is analysed again: no content takes long. */
const MAX_COMPARED = 8;

/**
 * The tools of all sessions, each analysed once: sessions select theirs. Selections without sessions
 * stay until their tools take too much memory; those unused for longest go first.
 */
export class ToolLibrary {
  readonly postings = new Postings();
  /** By slot, in the order in which they were analysed. */
  tools: LibraryTool[] = [];
  /** Sum of the weights of the words of each tool, by slot. */
  lengths: number[] = [];
  private readonly byHash = new Map<number, LibraryTool>();
  private readonly selections = new Set<ToolSelection>();
  /** Selections without sessions, in the order in which they lost the last one. */
  private readonly unused = new Set<ToolSelection>();
  private unusedBytes = 0;
  /** Content of a list, and its selection: most turns have the list of the turn before. */
  private readonly recent = new WeakMap<readonly ToolReference[], Recent>();
  private scores = new Float64Array();

  /** @param maxUnusedBytes memory of the tools in selections without sessions that are kept */
  constructor(
    readonly ranking: Ranking,
    private readonly maxUnusedBytes: number,
  ) {}

  /** The selection of a session that starts to use these tools; equal ones are shared. */
  acquire(references: readonly ToolReference[]): ToolSelection {
    const selection = this.recentOf(references) ?? this.selectList(references);
    if (this.unused.delete(selection)) this.unusedBytes -= selection.bytes;
    selection.sessions++;
    return selection;
  }

  /** Ends the use of a selection by a session. */
  release(selection: ToolSelection): void {
    if (--selection.sessions > 0) return;
    this.unused.add(selection);
    this.unusedBytes += selection.bytes;
    // half of it, so that this happens rarely
    if (this.unusedBytes > this.maxUnusedBytes) this.removeUnused(this.maxUnusedBytes / 2);
  }

  /** Removes selections without sessions until their tools take no more than these bytes. */
  removeUnused(maxBytes: number): void {
    const { size } = this.unused;
    for (const selection of this.unused) {
      if (this.unusedBytes <= maxBytes) break;
      this.unused.delete(selection);
      this.selections.delete(selection);
      this.unusedBytes -= selection.bytes;
      for (const slot of selection.slots()) this.toolAt(slot).selections--;
    }
    if (this.unused.size < size) this.compact();
  }

  /** A score for each slot, 0 between searches. */
  scratch(): Float64Array {
    if (this.scores.length < this.tools.length) this.scores = new Float64Array(this.tools.length);
    return this.scores;
  }

  toolAt(slot: number): LibraryTool {
    return this.tools[slot] as LibraryTool;
  }

  private recentOf(references: readonly ToolReference[]): ToolSelection | undefined {
    const recent = this.recent.get(references);
    if (!recent || !this.selections.has(recent.selection)) return undefined;
    const isUnchanged =
      recent.references.length === references.length &&
      recent.references.every((reference, at) => reference === references[at]);
    return isUnchanged ? recent.selection : undefined;
  }

  private selectList(references: readonly ToolReference[]): ToolSelection {
    const selection = this.select(references);
    this.recent.set(references, { selection, references: [...references] });
    return selection;
  }

  private select(references: readonly ToolReference[]): ToolSelection {
    const tools = this.toolsOf(references);
    const length = tools.reduce((sum, { slot }) => sum + (this.lengths[slot] as number), 0);
    const bytes = tools.reduce((sum, tool) => sum + tool.bytes, 0);
    const slots = tools.map(({ slot }) => slot);
    const selection = new ToolSelection(slots, length, bytes);
    for (const other of this.selections) if (other.equals(selection)) return other;
    this.selections.add(selection);
    for (const tool of tools) tool.selections++;
    return selection;
  }

  /** The tools of distinct objects; equal ones have a tool each. */
  private toolsOf(references: readonly ToolReference[]): readonly LibraryTool[] {
    const analyser = new Analyser(this.ranking);
    const copies = new Map<LibraryTool, number>();
    return [...new Set(references)].map((reference) => {
      const first = this.findOrAdd(reference, 0, analyser);
      const copy = copies.get(first) ?? 0;
      copies.set(first, copy + 1);
      return copy === 0 ? first : this.findOrAdd(reference, copy, analyser);
    });
  }

  private findOrAdd(reference: ToolReference, copy: number, analyser: Analyser): LibraryTool {
    const { name, description } = reference;
    let hash = seededHash(description, seededHash(name, SEED + copy));
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
    return tool;
  }

  /** Removes the tools that no selection has. */
  private compact(): void {
    const isKept = this.tools.map(({ selections }) => selections > 0);
    if (isKept.every(Boolean)) return;
    const newSlots = new Int32Array(this.tools.length).fill(-1);
    for (const tool of this.tools)
      if (tool.selections === 0 && this.byHash.get(tool.hash) === tool)
        this.byHash.delete(tool.hash);
    this.lengths = this.lengths.filter((_, slot) => isKept[slot]);
    this.tools = this.tools.filter((_, slot) => isKept[slot]);
    for (const [slot, tool] of this.tools.entries()) {
      newSlots[tool.slot] = slot;
      tool.slot = slot;
    }
    this.postings.renumber(newSlots);
    for (const selection of this.selections) selection.renumber(newSlots);
  }
}

/** Compares everything that two references have; anything but plain JSON equals itself alone. */
function isSameTool(one: ToolReference, other: ToolReference): boolean {
  if (one === other) return true;
  if (one.name !== other.name || one.description !== other.description) return false;
  try {
    return JSON.stringify(one) === JSON.stringify(other);
  } catch {
    return false;
  }
}
