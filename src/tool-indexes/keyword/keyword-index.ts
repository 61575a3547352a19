import type { ToolReference } from '../../tool-search/tool-index.js';
import { Analyser } from './analyser.js';
import { type KeywordQuery, TopScores, idf, termFrequencyWeight } from './keyword-query.js';
import { removeFrom, weightIn, type Posting } from './postings.js';

/** Factor of the best sentence: with several needs, a tool for one of them beats one with a bit of all. */
const BEST_SENTENCE = 0.5;
/** Factor of neighbouring words of the query that are neighbours in the name or description too. */
const PAIR = 1.2;
const PAIR_WEIGHT = 0.5;
/** Factor of a synonym, relative to the word of the query. */
const SYNONYM = 0.3;
/** Number of tools that are ranked with their sentences and pairs. */
const CANDIDATES = 30;
/** Postings read to find the candidates, rarest words first; bounds the time of any search. */
const MAX_POSTINGS = 5_000;
/** The same bound while too few candidates are accepted. */
const MAX_POSTINGS_FILTERED = 300_000;

interface Entry {
  readonly reference: ToolReference;
  /** Words of name and description in their order. */
  readonly sequence: readonly string[];
}

/** The postings of a query word and of its synonyms, with the value of each. */
type Alternatives = readonly { readonly posting: Posting; readonly value: number }[];

type Filter = (reference: ToolReference) => boolean;

/** Values of word pairs: by first word, then by second. */
type Pairs = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** A tool that a search has found. */
export type FoundTool = ToolReference & { readonly score: number };

/** An index of tools by their words, updated in place. */
export class KeywordIndex {
  /** The inverted index, by word. */
  private readonly postings = new Map<string, Posting>();
  /** By slot; a slot is used once. */
  private readonly entries: (Entry | undefined)[] = [];
  private readonly lengths: number[] = [];
  private totalLength = 0;
  /** The tools in their order, without repeated objects. */
  references: readonly ToolReference[] = [];
  /** Scores of the current search by slot; 0 between searches. */
  private scores = new Float64Array();

  /** @param synonyms synonyms of each word, as stems */
  constructor(
    private readonly synonyms: ReadonlyMap<string, readonly string[]>,
    references: readonly ToolReference[],
  ) {
    this.update(references);
  }

  get size(): number {
    return this.references.length;
  }

  /**
   * Replaces the tools in a time that depends on the number of objects that are new or removed.
   * @returns this index, or a new one if most of its slots would be empty
   */
  update(references: readonly ToolReference[]): KeywordIndex {
    const added = new Set(references);
    const distinct = [...added];
    const removed: number[] = [];
    for (const [slot, entry] of this.entries.entries())
      if (entry && !added.delete(entry.reference)) removed.push(slot);
    if (2 * distinct.length < this.entries.length + added.size)
      return new KeywordIndex(this.synonyms, distinct);
    const analyser = new Analyser();
    for (const slot of removed) this.remove(slot, analyser);
    for (const reference of added) this.add(reference, analyser);
    this.references = distinct;
    return this;
  }

  /** Returns the best matches, best first. */
  search(query: KeywordQuery, limit: number, accepts: Filter): readonly FoundTool[] {
    const words = query.words.map((word) => this.alternativesOf(word));
    const pairs = this.pairsOf(query);
    const best = new TopScores(limit);
    for (const slot of this.candidatesFor(words, Math.max(limit, CANDIDATES), accepts))
      best.offer(slot, this.wordScore(slot, words, query) + this.pairScore(slot, pairs));
    return best.toArray().map(({ id, score }) => ({ ...this.entryAt(id).reference, score }));
  }

  private entryAt(slot: number): Entry {
    return this.entries[slot] as Entry;
  }

  private add(reference: ToolReference, analyser: Analyser): void {
    const { weights, length, sequence } = analyser.analyse(reference);
    const slot = this.entries.push({ reference, sequence }) - 1;
    this.lengths.push(length);
    for (const [word, weight] of weights) {
      const posting = this.postings.get(word);
      posting?.slots.push(slot);
      posting?.weights.push(weight);
      if (!posting) this.postings.set(word, { slots: [slot], weights: [weight] });
    }
    this.totalLength += length;
  }

  private remove(slot: number, analyser: Analyser): void {
    const { weights, length } = analyser.analyse(this.entryAt(slot).reference);
    for (const word of weights.keys()) removeFrom(this.postings.get(word) as Posting, slot);
    this.entries[slot] = undefined;
    this.totalLength -= length;
  }

  private alternativesOf(word: string): Alternatives {
    const synonyms = this.synonyms.get(word) ?? [];
    return [word, ...synonyms].flatMap((one) => {
      const posting = this.postings.get(one);
      const factor = one === word ? 1 : SYNONYM;
      return posting ? [{ posting, value: factor * this.idfOf(one) }] : [];
    });
  }

  private idfOf(word: string): number {
    return idf(this.postings.get(word)?.slots.length ?? 0, this.size);
  }

  /** Finds the tools with most of the rare words, without sentences and pairs. */
  private candidatesFor(
    words: readonly Alternatives[],
    count: number,
    accepts: Filter,
  ): readonly number[] {
    if (this.scores.length < this.entries.length)
      this.scores = new Float64Array(this.entries.length);
    const touched: number[] = [];
    let read = 0;
    const rarestFirst = words
      .flat()
      .sort((a, b) => a.posting.slots.length - b.posting.slots.length);
    for (const { posting, value } of rarestFirst) {
      const max = touched.length < count ? MAX_POSTINGS_FILTERED : MAX_POSTINGS;
      if (read > 0 && read + posting.slots.length > max) break;
      read += posting.slots.length;
      this.addScores(posting, value, accepts, touched);
    }
    const candidates = new TopScores(count);
    for (const slot of touched) {
      candidates.offer(slot, this.scores[slot] as number);
      this.scores[slot] = 0;
    }
    return candidates.toArray().map(({ id }) => id);
  }

  /** @param touched receives the accepted slots that had no score yet */
  private addScores(
    { slots, weights }: Posting,
    value: number,
    accepts: Filter,
    touched: number[],
  ): void {
    const { scores, lengths } = this;
    const perLength = this.size / this.totalLength;
    for (let at = 0; at < slots.length; at++) {
      const slot = slots[at] as number;
      const before = scores[slot] as number;
      if (before === 0) {
        if (!accepts(this.entryAt(slot).reference)) continue;
        touched.push(slot);
      }
      const relativeLength = (lengths[slot] as number) * perLength;
      scores[slot] = before + value * termFrequencyWeight(weights[at] as number, relativeLength);
    }
  }

  private relativeLength(slot: number): number {
    return ((this.lengths[slot] as number) * this.size) / this.totalLength;
  }

  private wordScore(
    slot: number,
    words: readonly Alternatives[],
    { sentences }: KeywordQuery,
  ): number {
    const relativeLength = this.relativeLength(slot);
    const values = words.map((alternatives) => bestValue(slot, relativeLength, alternatives));
    const best = sentences.reduce(
      (max, indexes) => Math.max(max, sum(indexes.map((index) => values[index] as number))),
      0,
    );
    return sum(values) + BEST_SENTENCE * best;
  }

  private pairsOf({ pairs }: KeywordQuery): Pairs {
    const known = new Map<string, Map<string, number>>();
    const max = idf(0, this.size);
    for (const [first, second] of pairs) {
      if (!this.postings.get(first) || !this.postings.get(second)) continue;
      const seconds = known.get(first) ?? new Map<string, number>();
      const value = Math.min(this.idfOf(first) + this.idfOf(second), max);
      known.set(first, seconds.set(second, value));
    }
    return known;
  }

  /** Counts each pair of the query that occurs in the sequence once. */
  private pairScore(slot: number, pairs: Pairs): number {
    if (pairs.size === 0) return 0;
    const { sequence } = this.entryAt(slot);
    const found = new Map<string, number>();
    for (let at = 1; at < sequence.length; at++) {
      const [first, second] = [sequence[at - 1] as string, sequence[at] as string];
      const value = pairs.get(first)?.get(second);
      if (value !== undefined) found.set(`${first} ${second}`, value);
    }
    const total = sum([...found.values()]);
    return PAIR * total * termFrequencyWeight(PAIR_WEIGHT, this.relativeLength(slot));
  }
}

/** Value of a word in a tool: that of its best alternative. */
function bestValue(slot: number, relativeLength: number, alternatives: Alternatives): number {
  let best = 0;
  for (const { posting, value } of alternatives) {
    const weight = weightIn(posting, slot);
    if (weight > 0) best = Math.max(best, value * termFrequencyWeight(weight, relativeLength));
  }
  return best;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
