import { referenceFingerprint } from '../../tool-search/tool-set-fingerprint.js';
import type { ToolReference } from '../../tool-search/tool-index.js';
import { Analyser } from './analysis.js';
import { rarity, saturation } from './bm25.js';
import type { KeywordQuery } from './keyword-query.js';
import { Postings, weightIn, type Posting } from './postings.js';
import { TopScores } from './top-scores.js';
import { Vocabulary } from './vocabulary.js';
import { WordPairs } from './word-pairs.js';

/** The best sentence counts once more: of several needs each is to have its tool, not the tool that has a bit of all. */
const BEST_SENTENCE = 0.5;
/** Words that stand together in the query and in the name or the description, as if the definition had so much of them. */
const PAIR = 1.2;
const PAIR_WEIGHT = 0.5;
/** Of a word that means the same as the one that was said. */
const SYNONYM = 0.3;
/** Tools that are looked at closely: with their sentences and pairs. */
const CANDIDATES = 30;
/** To find those, the rarest words are followed to so many tools; it bounds the time of a search, whatever the query and the tools are. */
const MAX_FOLLOWED = 5_000;
/** To so many where few of them are accepted. */
const MOST_FOLLOWED = 300_000;

interface Entry {
  readonly reference: ToolReference;
  /** The words of name and description in their order, by their numbers. */
  readonly sequence: readonly number[];
}

/** A word of a query, and what else it may be called. */
type Alternatives = readonly { readonly posting: Posting; readonly worth: number }[];

type Accept = (reference: ToolReference) => boolean;

/** A tool that was found. */
export type FoundTool = ToolReference & { readonly score: number };

/** An inverted index of tools, changed in place. */
export class KeywordIndex {
  private vocabulary = new Vocabulary();
  private analyser = new Analyser(this.vocabulary);
  private postings = new Postings();
  private entries: (Entry | undefined)[] = [];
  private lengths: number[] = [];
  private freeSlots: number[] = [];
  private given: readonly ToolReference[] = [];
  private totalLength = 0;
  /** Tools that were removed since everything was built; their words are still in the vocabulary. */
  private removed = 0;
  /** Room for the scores of one search; all 0 between two. */
  private scores = new Float64Array();

  /** @param synonyms what else a word may be called; all of them stems */
  constructor(private readonly synonyms: ReadonlyMap<string, readonly string[]>) {}

  get size(): number {
    return this.entries.length - this.freeSlots.length;
  }

  /** In the order in which they were given. */
  get references(): readonly ToolReference[] {
    return this.given;
  }

  /** Makes these its tools; only those that are new or gone cost much. */
  update(references: readonly ToolReference[]): void {
    const { fresh, gone } = this.differenceTo(references);
    // where most of it goes, and from time to time, it is cheaper to begin again
    const beginAgain = this.removed + gone.length > this.size / 2;
    if (beginAgain) this.reset();
    else for (const slot of gone) this.remove(slot);
    for (const reference of beginAgain ? new Set(references) : fresh) this.add(reference);
    if (beginAgain || fresh.length > this.size / 2) this.shrink();
    this.given = [...new Set(references)];
  }

  /** The tools that fit best. */
  search(query: KeywordQuery, limit: number, accept: Accept): readonly FoundTool[] {
    const words = query.words.map((word) => this.alternativesOf(word));
    const pairs = this.pairsOf(query);
    const worths = new Float64Array(words.length);
    const best = new TopScores(limit);
    for (const slot of this.candidatesFor(words, Math.max(limit, CANDIDATES), accept))
      best.offer(slot, this.scoreOf(slot, words, query, worths) + this.scoreOfPairs(slot, pairs));
    return best.toArray().map(({ id, score }) => ({ ...this.entryAt(id).reference, score }));
  }

  /** What is not here yet, and where is what is not wanted any more. Looks into references only where they are other objects. */
  private differenceTo(references: readonly ToolReference[]): {
    readonly fresh: readonly ToolReference[];
    readonly gone: readonly number[];
  } {
    const wanted = new Set(references);
    const others = new Map<string, number[]>();
    for (const [slot, entry] of this.entries.entries()) {
      if (!entry || wanted.delete(entry.reference)) continue;
      const fingerprint = referenceFingerprint(entry.reference);
      others.set(fingerprint, [...(others.get(fingerprint) ?? []), slot]);
    }
    const fresh = [...wanted].filter((reference) => others.size === 0 || others.get(referenceFingerprint(reference))?.pop() === undefined);
    return { fresh, gone: [...others.values()].flat() };
  }

  private entryAt(slot: number): Entry {
    return this.entries[slot] as Entry;
  }

  private add(reference: ToolReference): void {
    const { words, weights, length, sequence } = this.analyser.analyse(reference);
    const slot = this.freeSlots.pop() ?? this.entries.length;
    this.postings.add(slot, words, weights);
    this.entries[slot] = { reference, sequence };
    this.lengths[slot] = length;
    this.totalLength += length;
  }

  private remove(slot: number): void {
    const { words, length } = this.analyser.analyse(this.entryAt(slot).reference);
    this.postings.remove(slot, words);
    this.entries[slot] = undefined;
    this.freeSlots.push(slot);
    this.totalLength -= length;
    this.removed++;
  }

  /** Most of what it has was just added: there will not be as much again soon. */
  private shrink(): void {
    this.vocabulary.shrink();
    this.postings.shrink();
  }

  private reset(): void {
    this.vocabulary = new Vocabulary();
    this.analyser = new Analyser(this.vocabulary);
    this.postings = new Postings();
    this.entries = [];
    this.lengths = [];
    this.freeSlots = [];
    this.totalLength = this.removed = 0;
  }

  private postingOf(word: string): Posting | undefined {
    const number = this.vocabulary.find(word);
    return number === undefined ? undefined : this.postings.get(number);
  }

  private alternativesOf(word: string): Alternatives {
    const all = [{ word, factor: 1 }, ...(this.synonyms.get(word) ?? []).map((other) => ({ word: other, factor: SYNONYM }))];
    return all.flatMap(({ word: one, factor }) => {
      const posting = this.postingOf(one);
      return posting ? [{ posting, worth: factor * rarity(posting.slots.length, this.size) }] : [];
    });
  }

  /** The tools that have most of the words that few tools have. */
  private candidatesFor(words: readonly Alternatives[], count: number, accept: Accept): readonly number[] {
    if (this.scores.length < this.entries.length) this.scores = new Float64Array(this.entries.length);
    const touched: number[] = [];
    let followed = 0;
    for (const { posting, worth } of words.flat().sort((a, b) => a.posting.slots.length - b.posting.slots.length)) {
      const most = touched.length < count ? MOST_FOLLOWED : MAX_FOLLOWED;
      if (followed > 0 && followed + posting.slots.length > most) break;
      followed += posting.slots.length;
      this.follow(posting, worth, accept, touched);
    }
    const candidates = new TopScores(count);
    for (const slot of touched) {
      candidates.offer(slot, this.scores[slot] as number);
      this.scores[slot] = 0;
    }
    return candidates.toArray().map(({ id }) => id);
  }

  private follow({ slots, weights }: Posting, worth: number, accept: Accept, touched: number[]): void {
    const { scores, lengths } = this;
    const perLength = this.size / this.totalLength;
    for (let at = 0; at < slots.length; at++) {
      const slot = slots[at] as number;
      const before = scores[slot] as number;
      if (before === 0) {
        if (!accept(this.entryAt(slot).reference)) continue;
        touched.push(slot);
      }
      scores[slot] = before + worth * saturation(weights[at] as number, (lengths[slot] as number) * perLength);
    }
  }

  private relativeLength(slot: number): number {
    return ((this.lengths[slot] as number) * this.size) / this.totalLength;
  }

  private scoreOf(slot: number, words: readonly Alternatives[], { sentences }: KeywordQuery, worths: Float64Array): number {
    const length = this.relativeLength(slot);
    let total = 0;
    for (let at = 0; at < words.length; at++) total += worths[at] = worthIn(slot, length, words[at] as Alternatives);
    let best = 0;
    for (const sentence of sentences) {
      let worth = 0;
      for (const place of sentence) worth += worths[place] as number;
      if (worth > best) best = worth;
    }
    return total + BEST_SENTENCE * best;
  }

  private pairsOf({ pairs }: KeywordQuery): WordPairs {
    const known = new WordPairs();
    const most = rarity(0, this.size);
    for (const pair of pairs) {
      const [first, second] = pair.map((word) => this.vocabulary.find(word)) as [number | undefined, number | undefined];
      if (first !== undefined && second !== undefined)
        known.add(first, second, Math.min(this.rarityOf(first) + this.rarityOf(second), most));
    }
    return known;
  }

  private rarityOf(word: number): number {
    return rarity(this.postings.get(word)?.slots.length ?? 0, this.size);
  }

  private scoreOfPairs(slot: number, pairs: WordPairs): number {
    return PAIR * pairs.scoreOf(this.entryAt(slot).sequence) * saturation(PAIR_WEIGHT, this.relativeLength(slot));
  }
}

/** What a word is worth in a tool; of what it may be called, the best counts. */
function worthIn(slot: number, relativeLength: number, alternatives: Alternatives): number {
  let most = 0;
  for (const { posting, worth } of alternatives) {
    const weight = weightIn(posting, slot);
    if (weight > 0) most = Math.max(most, worth * saturation(weight, relativeLength));
  }
  return most;
}
