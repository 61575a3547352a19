import { STRENGTH, type Block } from './block.js';
import {
  firstLineEnd,
  firstSentenceEnd,
  firstWordEnd,
  lastGraphemeEnd,
  lastLineEnd,
  lastSentenceEnd,
  lastWordEnd,
  trimmed,
  type Range,
} from './cuts.js';

/** Sizes in characters. */
export interface ChunkSizes {
  readonly size: number;
  /** At most half of the size. */
  readonly overlap: number;
}

/** The ranges of a text's chunks. */
export class ChunkRanges implements Iterable<Range> {
  constructor(
    private readonly text: string,
    private readonly blocks: readonly Block[],
    private readonly sizes: ChunkSizes,
  ) {}

  *[Symbol.iterator](): Generator<Range> {
    const { text } = this;
    for (let page = 0; page < text.length;) {
      const feed = text.indexOf('\f', page);
      const end = feed < 0 ? text.length : feed + 1;
      yield* this.rangesOf({ start: page, end });
      page = end;
    }
  }

  private *rangesOf(page: Range): Generator<Range> {
    let { start } = page;
    let cut = start;
    while (cut < page.end) {
      const end = this.endOf(start, cut, page.end);
      const range = trimmed(this.text, { start, end });
      if (range.start < range.end) yield range;
      start = end < page.end ? this.nextStart(start, end) : end;
      cut = end;
    }
  }

  /** The end of a chunk. @param cut end of the previous chunk, before which this one must not end */
  private endOf(start: number, cut: number, pageEnd: number): number {
    const { size } = this.sizes;
    const limit = start + size;
    if (limit >= pageEnd) return pageEnd;
    const block = this.blockAt(limit);
    const low = Math.max(cut + 1, start + Math.ceil(size / 2));
    if (this.isWhole(block) && block.start > cut)
      return (
        this.bestStart(low, block.start) ?? this.bestStart(cut + 1, block.start) ?? block.start
      );
    const section = this.bestStart(Math.max(cut + 1, start + Math.ceil(size / 4)), limit);
    if (section !== undefined && this.blockAt(section).strength >= STRENGTH.section) return section;
    const best = this.bestStart(low, limit);
    if (best !== undefined && this.isStrong(best, block)) return best;
    const inner = this.cutWithin(block, { start: Math.max(low, block.start), end: limit });
    return inner ?? best ?? this.fallback(start, cut, limit);
  }

  /** True if a cut before a block is better than one within the block at the limit. */
  private isStrong(at: number, limiting: Block): boolean {
    const { strength } = this.blockAt(at);
    return strength >= (limiting.content === 'rows' ? STRENGTH.line : STRENGTH.item);
  }

  /** No cut in the better half: one before a block, or between any two characters. */
  private fallback(start: number, cut: number, limit: number): number {
    const best = this.bestStart(cut + 1, limit);
    if (best !== undefined && this.blockAt(best).strength > STRENGTH.afterHeading) return best;
    const at = lastGraphemeEnd(this.text, { start, end: limit });
    return at > cut ? at : limit;
  }

  private cutWithin({ content }: Block, range: Range): number | undefined {
    if (range.start >= range.end) return undefined;
    const { text } = this;
    const sentence = content === 'prose' ? lastSentenceEnd(text, range) : undefined;
    return sentence ?? lastLineEnd(text, range) ?? lastWordEnd(text, range);
  }

  /** The start of a block from `low` to `high` with the highest strength; of equal ones the last. */
  private bestStart(low: number, high: number): number | undefined {
    let best: Block | undefined;
    for (let at = this.indexAt(high); at >= 0; at--) {
      const block = this.blocks[at];
      if (!block || block.start < low) break;
      if (!best || block.strength > best.strength) best = block;
    }
    return best?.start;
  }

  /** The start of the chunk behind a cut, with an overlap where it has one. */
  private nextStart(start: number, cut: number): number {
    const { size, overlap } = this.sizes;
    const next = this.blockAt(cut);
    const isSection = next.start === cut && next.strength >= STRENGTH.section;
    if (overlap === 0 || isSection) return cut;
    // the chunk must have room for a block that is not cut
    const room = this.isWhole(next) ? next.end - size : 0;
    const low = Math.max(cut - overlap, start + 1, room);
    return this.overlapStart(low, cut) ?? cut;
  }

  /** A good start for a chunk from `low` to before `cut`. */
  private overlapStart(low: number, cut: number): number | undefined {
    if (low >= cut) return undefined;
    const at = this.indexAt(low);
    const block = this.blocks[at];
    if (!block || block.start === low) return low;
    const after = block.end < cut ? block.end : undefined;
    if (this.isWhole(block)) return after;
    const range = { start: low, end: Math.min(block.end, cut) };
    const isProse = block.content === 'prose';
    const inner = isProse ? firstSentenceEnd(this.text, range) : firstLineEnd(this.text, range);
    return inner ?? after ?? (isProse ? firstWordEnd(this.text, range) : undefined);
  }

  /** True for a block that is not cut. */
  private isWhole({ content, start, end }: Block): boolean {
    return content === 'rows' && end - start <= this.sizes.size;
  }

  private blockAt(at: number): Block {
    return this.blocks[this.indexAt(at)] as Block;
  }

  /** Index of the block with a place of the text. */
  private indexAt(at: number): number {
    return blockIndex(this.blocks, at);
  }
}

/** Index of the block with a place of the text. */
export function blockIndex(blocks: readonly Block[], at: number): number {
  let [low, high] = [0, blocks.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((blocks[middle] as Block).start <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}
