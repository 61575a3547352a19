import type { Document } from '../../core/chat/document.js';
import { compareTexts } from '../vectors/compare-texts.js';
import type { FilterMatcher } from '../vectors/filter.js';
import type { ListedDocuments } from '../vectors/page-of.js';
import { saturationOf } from './document-ranking.js';
import type { DocumentWords } from './document-words.js';
import { idf } from './idf.js';
import { type Posting, Postings } from './postings.js';

/** A document of a corpus. */
interface Entry {
  readonly document: Document;
  /** Each word once. */
  readonly words: readonly string[];
}

/** Removed documents that stay in the postings: at least this number, and at most this share of all. */
const MIN_REMOVED = 64;
const MAX_REMOVED_SHARE = 0.25;

/**
 * The documents of one namespace and their words. A removed document stays in the postings until they
 * have many of them, and counts nowhere meanwhile: a change costs as much as the words of its documents.
 */
export class TextCorpus implements ListedDocuments {
  private readonly slots = new Map<string, number>();
  private readonly postings = new Postings();
  /** By slot; undefined for removed documents. */
  private entries: (Entry | undefined)[] = [];
  /** Number of words of each document, with repetitions, by slot. */
  private lengths: number[] = [];
  /** Number of removed documents in the postings, by word. */
  private readonly removed = new Map<string, number>();
  private totalLength = 0;
  /** Undefined after a change. */
  private sorted: readonly string[] | undefined;

  /** Number of documents. */
  get size(): number {
    return this.slots.size;
  }

  /** The ids of documents that a filter accepts. */
  accepted(matches: FilterMatcher): readonly string[] {
    const ids: string[] = [];
    for (const entry of this.entries)
      if (entry && matches(entry.document.metadata)) ids.push(entry.document.id);
    return ids;
  }

  sortedIds(): readonly string[] {
    return (this.sorted ??= [...this.slots.keys()].sort(compareTexts));
  }

  get(id: string): Document | undefined {
    const slot = this.slots.get(id);
    return slot === undefined ? undefined : this.documentAt(slot);
  }

  documentAt(slot: number): Document | undefined {
    return this.entries[slot]?.document;
  }

  /** Each word of a document once. */
  wordsAt(slot: number): readonly string[] {
    return this.entries[slot]?.words ?? [];
  }

  /** For each slot, the saturation of repeated words in its document. */
  saturations(): Float64Array {
    const { lengths } = this;
    const perLength = this.size / this.totalLength;
    const saturations = new Float64Array(lengths.length);
    for (let slot = 0; slot < lengths.length; slot++)
      saturations[slot] = saturationOf((lengths[slot] as number) * perLength);
    return saturations;
  }

  /** With removed documents. */
  postingOf(word: string): Posting | undefined {
    return this.postings.get(word);
  }

  /** Number of documents with a word. */
  count(word: string): number {
    const all = (this.postings.get(word)?.length ?? 0) / 2;
    return all - (this.removed.get(word) ?? 0);
  }

  /** Rarity of a word. */
  idf(word: string): number {
    return idf(this.count(word), this.size);
  }

  /** Adds a document, or replaces the one with its id. */
  add(document: Document, { occurrences, length }: DocumentWords): void {
    this.remove(document.id);
    const slot = this.entries.length;
    for (const [word, count] of occurrences) this.postings.add(word, slot, count);
    this.entries.push({ document, words: [...occurrences.keys()] });
    this.lengths.push(length);
    this.slots.set(document.id, slot);
    this.sorted = undefined;
    this.totalLength += length;
  }

  /** Ignores a missing document. */
  remove(id: string): void {
    const slot = this.slots.get(id);
    const entry = slot === undefined ? undefined : this.entries[slot];
    if (slot === undefined || !entry) return;
    this.slots.delete(id);
    this.sorted = undefined;
    this.entries[slot] = undefined;
    this.totalLength -= this.lengths[slot] ?? 0;
    for (const word of entry.words) this.removed.set(word, (this.removed.get(word) ?? 0) + 1);
    const removed = this.entries.length - this.size;
    if (removed > Math.max(MIN_REMOVED, MAX_REMOVED_SHARE * this.entries.length)) this.compact();
  }

  private compact(): void {
    let next = 0;
    const newSlots = Int32Array.from(this.entries, (entry) => (entry ? next++ : -1));
    this.postings.renumber(newSlots);
    this.lengths = this.lengths.filter((_, slot) => this.entries[slot]);
    this.entries = this.entries.filter((entry) => entry !== undefined);
    for (const [slot, entry] of this.entries.entries())
      if (entry) this.slots.set(entry.document.id, slot);
    this.removed.clear();
  }
}
