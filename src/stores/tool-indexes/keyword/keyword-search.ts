import type { ToolReference } from '../tool-index.js';
import { GAP } from './analyser.js';
import type { KeywordQuery } from './keyword-query.js';
import { factorIn, type Posting } from '../../texts/postings.js';
import { idf } from '../../texts/idf.js';
import { separateOpposites } from './opposites.js';
import type { LibraryTool, ToolLibrary } from './tool-library.js';
import type { ToolSelection } from './tool-selection.js';
import { type Scored, TopScores } from '../../texts/top-scores.js';

/** Number of tools that are ranked with sentences, pairs, names and feedback. */
const CANDIDATES = 30;
/** Postings read to find the candidates, rarest words first; bounds the time of any search. */
const MAX_POSTINGS = 5_000;
/** The same bound while too few candidates are accepted. */
const MAX_POSTINGS_FILTERED = 300_000;
/** Best tools whose words count as feedback; with more, words of other kinds of tools come in. */
const FEEDBACK_TOOLS = 3;
const FEEDBACK_WORDS = 8;
/** Words of name and description that are read for feedback; bounds the time of long texts. */
const FEEDBACK_SEQUENCE = 100;
/** Factor of a synonym, relative to the word of the query, which the author of a tool chose. */
const SYNONYM = 0.3;

/** The posting of a word, and the rarity of the word in the session. */
interface RatedPosting {
  readonly posting: Posting;
  /** Number of tools of the session with the word. */
  readonly count: number;
  readonly value: number;
}

/** Accepts a tool; without one all are accepted. */
export type Filter = ((reference: ToolReference) => boolean) | undefined;

/** A pair of neighbouring words. */
interface Pair {
  readonly value: number;
}

/** By first word, then by second. */
type Pairs = ReadonlyMap<string, ReadonlyMap<string, Pair>>;

/**
 * A search in the tools of a session. Numbers of tools and lengths count the session alone, so that
 * it ranks as if it had an index of its own.
 */
export class KeywordSearch {
  private readonly rated = new Map<string, RatedPosting | undefined>();
  private readonly asked: ReadonlySet<string>;
  /** For each word of the query, its posting and the postings of its synonyms. */
  private readonly words: readonly (readonly RatedPosting[])[];
  private readonly pairs: Pairs;
  private readonly compare: (one: number, other: number) => number;
  /** 1 / average length of the tools. */
  private readonly perLength: number;

  /** @param synonyms synonyms of each word, as stems */
  constructor(
    private readonly library: ToolLibrary,
    private readonly selection: ToolSelection,
    private readonly query: KeywordQuery,
    synonyms: ReadonlyMap<string, readonly string[]>,
  ) {
    this.perLength = selection.size / selection.totalLength;
    this.asked = new Set(query.words);
    this.words = query.words.map((word) =>
      [word, ...(synonyms.get(word) ?? [])].flatMap((one) => {
        const rated = this.rate(one);
        if (!rated) return [];
        return one === word ? rated : { ...rated, value: SYNONYM * rated.value };
      }),
    );
    this.pairs = this.ratePairs();
    this.compare = selection.comparator();
  }

  /** Returns the best matches, best first. */
  find(limit: number, accepts: Filter): readonly Scored[] {
    const candidates = this.findCandidates(Math.max(limit, CANDIDATES), accepts);
    const ranked = candidates.map(({ slot }) => ({ slot, score: this.scoreOf(slot) }));
    const best = this.withFeedback(this.sort(ranked));
    return separateOpposites(
      best,
      this.query.sequence,
      (slot) => this.library.toolAt(slot).reference,
    ).slice(0, limit);
  }

  /** The words of the query that a tool has, or a synonym of. */
  wordsIn(slot: number): ReadonlySet<string> {
    const { words } = this.query;
    return new Set(words.filter((_, at) => bestValue(slot, this.words[at] ?? []) > 0));
  }

  /** Finds the tools with most of the rare words. */
  private findCandidates(count: number, accepts: Filter): readonly Scored[] {
    const scores = this.library.scratch();
    const touched: number[] = [];
    let read = 0;
    const rarestFirst = this.words.flat().sort((a, b) => a.count - b.count);
    for (const rated of rarestFirst) {
      const max = touched.length < count ? MAX_POSTINGS_FILTERED : MAX_POSTINGS;
      if (read > 0 && read + rated.count > max) break;
      read += rated.count;
      this.addScores(rated, scores, accepts, touched);
    }
    const candidates = new TopScores(count, this.compare);
    for (const slot of touched) {
      candidates.offer(slot, (scores[slot] as number) * this.lengthFactor(slot));
      scores[slot] = 0;
    }
    return candidates.toArray();
  }

  /** @param touched receives the accepted slots that had no score yet */
  private addScores(
    { posting, value }: RatedPosting,
    scores: Float64Array,
    accepts: Filter,
    touched: number[],
  ): void {
    const { library, selection } = this;
    selection.forEachIn(posting, (at) => {
      const slot = posting[at] as number;
      const before = scores[slot] as number;
      if (before === 0) {
        if (accepts?.(library.toolAt(slot).reference) === false) return;
        touched.push(slot);
      }
      scores[slot] = before + value * (posting[at + 1] as number);
    });
  }

  private scoreOf(slot: number): number {
    const tool = this.library.toolAt(slot);
    const { bestSentence, pair } = this.library.ranking;
    const values = this.words.map((alternatives) => bestValue(slot, alternatives));
    let best = 0;
    for (const indexes of this.query.sentences) {
      let value = 0;
      for (const index of indexes) value += values[index] as number;
      best = Math.max(best, value);
    }
    const total = sum(values) + bestSentence * best + pair * this.pairValue(tool);
    return total * this.lengthFactor(slot) * this.nameFactor(tool);
  }

  /** Counts each pair of the query that occurs in the name or description once. */
  private pairValue({ sequence }: LibraryTool): number {
    if (this.pairs.size === 0) return 0;
    const found = new Set<Pair>();
    for (let at = 1; at < sequence.length; at++) {
      const seconds = this.pairs.get(sequence[at - 1] as string);
      const pair = seconds?.get(sequence[at] as string);
      if (pair) found.add(pair);
    }
    return found.size === 0 ? 0 : sum(Array.from(found, ({ value }) => value));
  }

  private lengthFactor(slot: number): number {
    const { lengthPenalty } = this.library.ranking;
    const relativeLength = (this.library.lengths[slot] as number) * this.perLength;
    return 1 / Math.sqrt(1 - lengthPenalty + lengthPenalty * relativeLength);
  }

  /** Depends on the share of the words of the name that the query has, weighed by their rarity. */
  private nameFactor({ sequence }: LibraryTool): number {
    let all = 0;
    let asked = 0;
    for (const word of sequence) {
      if (word === GAP) break;
      const value = this.rate(word)?.value ?? 0;
      all += value;
      if (this.asked.has(word)) asked += value;
    }
    return 1 + (all > 0 ? (this.library.ranking.nameShare * asked) / all : 0);
  }

  /**
   * Ranks tools again by the words that describe the best ones, which the query does not have. The
   * first one stays first: it matches the query best, and others are compared to it.
   */
  private withFeedback(ranked: readonly Scored[]): readonly Scored[] {
    const words = this.feedbackWords(ranked.slice(0, FEEDBACK_TOOLS));
    const first = ranked[0];
    if (!first || words.length === 0) return ranked;
    const again = this.sort(
      ranked.map(({ slot, score }) => {
        let bonus = 0;
        for (const { posting, value } of words) bonus += value * factorIn(posting, slot);
        return { slot, score: score + bonus * this.lengthFactor(slot) };
      }),
    );
    const score = again[0]?.score ?? first.score;
    return [{ slot: first.slot, score }, ...again.filter(({ slot }) => slot !== first.slot)];
  }

  private feedbackWords(best: readonly Scored[]): readonly RatedPosting[] {
    const weights = new Map<RatedPosting, number>();
    for (const { slot } of best)
      for (const word of new Set(this.library.toolAt(slot).sequence.slice(0, FEEDBACK_SEQUENCE))) {
        const rated = this.asked.has(word) ? undefined : this.rate(word);
        if (!rated) continue;
        const weight = rated.value * factorIn(rated.posting, slot) * this.lengthFactor(slot);
        weights.set(rated, (weights.get(rated) ?? 0) + weight);
      }
    const heaviest = [...weights].sort((a, b) => b[1] - a[1]).slice(0, FEEDBACK_WORDS);
    const maxWeight = heaviest[0]?.[1] ?? 1;
    // never counts more than a part of what was asked for, if that is in most tools
    const maxValue = Math.max(...this.words.flat().map(({ value }) => value));
    return heaviest.map(([rated, weight]) => {
      const value = Math.min(rated.value, maxValue) * this.library.ranking.feedback;
      return { ...rated, value: (value * weight) / maxWeight };
    });
  }

  private sort(scored: readonly Scored[]): readonly Scored[] {
    return scored.toSorted((a, b) => b.score - a.score || this.compare(a.slot, b.slot));
  }

  private ratePairs(): Pairs {
    const pairs = new Map<string, Map<string, Pair>>();
    const max = idf(0, this.selection.size);
    for (const [first, second] of this.query.pairs) {
      const [one, other] = [this.rate(first), this.rate(second)];
      if (!one || !other) continue;
      const seconds = pairs.get(first) ?? new Map<string, Pair>();
      pairs.set(first, seconds.set(second, { value: Math.min(one.value + other.value, max) }));
    }
    return pairs;
  }

  /** Undefined for a word that no tool of the session has. */
  private rate(word: string): RatedPosting | undefined {
    const known = this.rated.get(word);
    if (known || this.rated.has(word)) return known;
    const { library, selection } = this;
    const posting = library.postings.get(word);
    const hasAll = selection.size === library.tools.length;
    const count = hasAll ? (posting?.length ?? 0) / 2 : posting ? selection.count(posting) : 0;
    const rated =
      posting && count > 0 ? { posting, count, value: idf(count, selection.size) } : undefined;
    this.rated.set(word, rated);
    return rated;
  }
}

/** Value of a word in a tool: the value of its best alternative. */
function bestValue(slot: number, alternatives: readonly RatedPosting[]): number {
  let best = 0;
  for (const { posting, value } of alternatives)
    best = Math.max(best, value * factorIn(posting, slot));
  return best;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
