import { describe } from '../chat/message.js';
import { InvalidArgumentError } from '../errors.js';
import { checkIndexRequest, checkSearchRequest, DEFAULT_MAX_RESULTS, isOfCategory } from '../tool-search/check-search.js';
import type { ToolIndex, ToolIndexRequest, ToolReference, ToolSearchRequest, ToolSearchResponse } from '../tool-search/tool-index.js';
import { ToolSets } from '../tool-search/tool-sets.js';
import { KeywordIndex } from './keyword/keyword-index.js';
import { readQuery } from './keyword/keyword-query.js';
import { termsOf } from './keyword/terms.js';

/** Options of a {@link KeywordToolIndex}. */
export interface KeywordToolIndexOptions {
  /**
   * Groups of words that mean the same in your tools, such as `['repo', 'repository']`; one word each. A synonym counts less than
   * the word itself. @default none
   */
  readonly synonyms?: readonly (readonly string[])[] | undefined;
  /** Tools that fit less than this share of the best one are left out, 0 to 1. @default 0.2 */
  readonly minRelativeScore?: number | undefined;
}

/**
 * Finds tools by the words of their names, descriptions, parameters and choices (BM25). Knows the forms of English words and the words
 * inside identifiers, and reads any language. Needs no model and no network.
 */
export class KeywordToolIndex implements ToolIndex {
  private readonly sets: ToolSets<KeywordIndex>;
  private readonly minRelativeScore: number;

  /** @throws {@link InvalidArgumentError} if an option cannot be used */
  constructor({ synonyms = [], minRelativeScore = 0.2 }: KeywordToolIndexOptions = {}) {
    if (!(minRelativeScore >= 0 && minRelativeScore <= 1))
      throw new InvalidArgumentError(`KeywordToolIndex: minRelativeScore must be a number from 0 to 1, not ${describe(minRelativeScore)}`);
    const others = synonymsOf(synonyms);
    this.minRelativeScore = minRelativeScore;
    this.sets = new ToolSets({
      build: (references) => built(new KeywordIndex(others), references),
      change: (index, references) => index.update(references),
    });
  }

  /** @throws {@link InvalidArgumentError} if a reference cannot be used */
  index(request: ToolIndexRequest): void {
    checkIndexRequest(request, 'KeywordToolIndex.index');
    this.sets.set(request);
  }

  /** Adds tools to those of a session. */
  add({ session, references }: ToolIndexRequest): void {
    checkIndexRequest({ session, references }, 'KeywordToolIndex.add');
    this.sets.set({ session, references: [...this.referencesOf(session), ...references] });
  }

  /** Takes tools out of a session, by their names; names that it does not have are ignored. */
  remove({ session, names }: { readonly session: string; readonly names: readonly string[] }): void {
    if (!Array.isArray(names as unknown))
      throw new InvalidArgumentError(`KeywordToolIndex.remove: names must be an array, not ${describe(names)}`);
    const gone = new Set(names);
    const references = this.referencesOf(session).filter(({ name }) => !gone.has(name));
    checkIndexRequest({ session, references }, 'KeywordToolIndex.remove');
    this.sets.set({ session, references });
  }

  search(request: ToolSearchRequest): ToolSearchResponse {
    checkSearchRequest(request, 'KeywordToolIndex.search');
    const { session, query, category, maxResults = DEFAULT_MAX_RESULTS } = request;
    const index = this.sets.get(session);
    if (!index) return { references: [] };
    const accept = (reference: ToolReference): boolean => isOfCategory(reference, category);
    const words = readQuery(query);
    if (words.words.length === 0) return { references: index.references.filter(accept).slice(0, maxResults) };
    const found = index.search(words, maxResults, accept);
    const least = (found[0]?.score ?? 0) * this.minRelativeScore;
    return { references: found.filter(({ score }) => score >= least) };
  }

  clear(session: string): void {
    this.sets.delete(session);
  }

  /** Number of tools that a session can find. */
  size(session: string): number {
    return this.sets.get(session)?.size ?? 0;
  }

  private referencesOf(session: string): readonly ToolReference[] {
    return this.sets.get(session)?.references ?? [];
  }
}

function built(index: KeywordIndex, references: readonly ToolReference[]): KeywordIndex {
  index.update(references);
  return index;
}

function synonymsOf(groups: readonly (readonly string[])[]): ReadonlyMap<string, readonly string[]> {
  const others = new Map<string, readonly string[]>();
  for (const group of groups) {
    const stems = group.map(oneWord);
    for (const stem of stems) others.set(stem, [...new Set([...(others.get(stem) ?? []), ...stems.filter((other) => other !== stem)])]);
  }
  return others;
}

function oneWord(synonym: string): string {
  const { words, stopWords } = typeof synonym === 'string' ? termsOf(synonym) : { words: [], stopWords: [] };
  const [word, ...more] = [...words, ...stopWords];
  if (word === undefined || more.length > 0)
    throw new InvalidArgumentError(`KeywordToolIndex: a synonym must be one word, not ${describe(synonym)}`);
  return word;
}
