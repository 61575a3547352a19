import type { ToolReference } from '../../tool-search/tool-index.js';
import { Analyser } from './analyser.js';
import { contentOf, hashOf } from './content-key.js';
import { Postings } from './postings.js';
import { type Ranking, wordFactor } from './ranking.js';
import { ToolSelection } from './tool-selection.js';

/** An analysed tool. */
export interface LibraryTool {
  readonly reference: ToolReference;
  /** Words of name and description in their order. */
  readonly sequence: readonly string[];
  /** Sum of the weights of its words. */
  readonly length: number;
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

/** Equal hashes that are compared; above, a tool is analysed again, so that no content takes long. */
const MAX_COMPARED = 8;

/**
 * The tools of all sessions, each analysed once: sessions select theirs. Tools that no session has
 * stay until they take too much memory, those without sessions for longest go first.
 */
export class ToolLibrary {
  readonly postings = new Postings();
  /** By slot, in the order in which they were analysed. */
  tools: LibraryTool[] = [];
  private readonly byHash = new Map<number, LibraryTool>();
  /** Tools of known objects, first copies only. */
  private byReference = new WeakMap<ToolReference, LibraryTool>();
  private readonly selections = new Set<ToolSelection>();
  /** Tools without selections, in the order in which they lost the last one. */
  private readonly unused = new Set<LibraryTool>();
  private unusedBytes = 0;
  private scores = new Float64Array();

  constructor(
    readonly ranking: Ranking,
    private readonly maxUnusedBytes: number,
  ) {}

  /** The selection of a session that starts to use these tools; equal ones are shared. */
  acquire(references: readonly ToolReference[]): ToolSelection {
    const tools = this.toolsOf(references);
    const length = tools.reduce((sum, tool) => sum + tool.length, 0);
    const slots = tools.map(({ slot }) => slot);
    const selection = this.shared(new ToolSelection(slots, length));
    selection.sessions++;
    return selection;
  }

  /** Ends the use of a selection by a session. */
  release(selection: ToolSelection): void {
    if (--selection.sessions > 0) return;
    this.selections.delete(selection);
    for (const slot of selection.slots) {
      const tool = this.toolAt(slot);
      if (--tool.selections === 0) this.addUnused(tool);
    }
    if (this.unusedBytes > this.maxUnusedBytes) this.compact();
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
    for (const slot of selection.slots) {
      const tool = this.toolAt(slot);
      this.removeUnused(tool);
      tool.selections++;
    }
    return selection;
  }

  /** The tools of distinct objects; equal content has a copy for each of its objects. */
  private toolsOf(references: readonly ToolReference[]): readonly LibraryTool[] {
    const analyser = new Analyser(this.ranking);
    const copies = new Map<LibraryTool, number>();
    return [...new Set(references)].map((reference) => {
      const first = this.byReference.get(reference) ?? this.findOrAdd(reference, 0, analyser);
      this.byReference.set(reference, first);
      const copy = copies.get(first) ?? 0;
      copies.set(first, copy + 1);
      return copy === 0 ? first : this.findOrAdd(reference, copy, analyser);
    });
  }

  private findOrAdd(reference: ToolReference, copy: number, analyser: Analyser): LibraryTool {
    const content = contentOf(reference);
    let hash = hashOf(`${copy} ${content}`);
    for (let compared = 0; content !== undefined && compared < MAX_COMPARED; compared++) {
      const known = this.byHash.get(hash);
      if (!known) break;
      if (known.copy === copy && contentOf(known.reference) === content) return known;
      hash = (hash + 1) | 0;
    }
    return this.add(reference, content, hash, copy, analyser);
  }

  private add(
    reference: ToolReference,
    content: string | undefined,
    hash: number,
    copy: number,
    analyser: Analyser,
  ): LibraryTool {
    const slot = this.tools.length;
    const { weights, length, sequence } = analyser.analyse(reference);
    for (const [word, weight] of weights) this.postings.add(word, slot, wordFactor(weight));
    // of a tool of 1,000 characters with 40 words: about 3 kB
    const bytes = 400 + 2 * (content?.length ?? 0) + 24 * weights.size + 8 * sequence.length;
    const tool = { reference, sequence, length, bytes, hash, copy, slot, selections: 0 };
    this.tools.push(tool);
    if (content !== undefined && !this.byHash.has(hash)) this.byHash.set(hash, tool);
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

  /** Removes tools until half of what may be kept is left, so that this happens rarely. */
  private compact(): void {
    for (const tool of this.unused) {
      if (2 * this.unusedBytes <= this.maxUnusedBytes) break;
      this.removeUnused(tool);
      if (this.byHash.get(tool.hash) === tool) this.byHash.delete(tool.hash);
      tool.slot = -1;
    }
    const newSlots = new Int32Array(this.tools.length).fill(-1);
    const kept = this.tools.filter(({ slot }) => slot >= 0);
    for (const [slot, tool] of kept.entries()) {
      newSlots[tool.slot] = slot;
      tool.slot = slot;
    }
    this.tools = kept;
    this.byReference = new WeakMap(); // may have removed tools
    this.postings.renumber(newSlots);
    for (const selection of this.selections) selection.renumber(newSlots);
  }
}
