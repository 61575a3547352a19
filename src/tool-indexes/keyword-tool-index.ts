import { checkOption, numberBetween, rule } from '../internal/options.js';
import {
  type ToolIndexRequest,
  type ToolReference,
  type ToolSearchRequest,
  type ToolSearchResponse,
  checkIndexRequest,
  checkSearchRequest,
} from '../tool-search/tool-index.js';
import { EditableToolIndex } from '../tool-search/editable-tool-index.js';
import { ToolSets } from '../tool-search/tool-sets.js';
import { KeywordIndex } from './keyword/keyword-index.js';
import { readQuery } from './keyword/keyword-query.js';
import { termsOf } from './keyword/terms.js';

/** Options of a {@link KeywordToolIndex}. */
export interface KeywordToolIndexOptions {
  /**
   * Groups of single words with one meaning, such as `['repo', 'repository']`. A synonym counts less
   * than the word of the query. @default none
   */
  readonly synonyms?: readonly (readonly string[])[] | undefined;
  /** Minimum score of a match relative to the best one, 0 to 1. @default 0.2 */
  readonly minRelativeScore?: number | undefined;
}

const WHERE = 'KeywordToolIndex';
const ONE_WORD = rule('one word', (value) => wordsOf(value).length === 1);

/**
 * Finds tools by the words of their names, descriptions, parameters and choices (BM25). Reads the
 * forms of English words, words inside identifiers, and all languages. Needs no model and no network.
 */
export class KeywordToolIndex extends EditableToolIndex {
  protected readonly where = WHERE;
  private readonly sets: ToolSets<KeywordIndex>;
  private readonly minRelativeScore: number;

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor({ synonyms = [], minRelativeScore = 0.2 }: KeywordToolIndexOptions = {}) {
    super();
    checkOption(WHERE, 'minRelativeScore', minRelativeScore, numberBetween(0, 1));
    const synonymsByStem = synonymsOf(synonyms);
    this.minRelativeScore = minRelativeScore;
    this.sets = new ToolSets({
      build: (references) => new KeywordIndex(synonymsByStem, references),
      change: (index, references) => index.update(references),
    });
  }

  /** @throws {@link InvalidArgumentError} if a reference is invalid */
  index(request: ToolIndexRequest): void {
    checkIndexRequest(request, `${WHERE}.index`);
    this.sets.set(request);
  }

  search(request: ToolSearchRequest): ToolSearchResponse {
    const { session, query, maxResults, accepts } = checkSearchRequest(request, `${WHERE}.search`);
    const index = this.sets.get(session);
    if (!index) return { references: [] };
    const keywords = readQuery(query);
    if (keywords.words.length === 0)
      return { references: index.references.filter(accepts).slice(0, maxResults) };
    const found = index.search(keywords, maxResults, accepts);
    const minScore = (found[0]?.score ?? 0) * this.minRelativeScore;
    return { references: found.filter(({ score }) => score >= minScore) };
  }

  clear(session: string): void {
    this.sets.delete(session);
  }

  protected referencesOf(session: string): readonly ToolReference[] {
    return this.sets.referencesOf(session);
  }
}

/** Synonyms of each word, all of them as stems. */
function synonymsOf(
  groups: readonly (readonly string[])[],
): ReadonlyMap<string, readonly string[]> {
  const synonyms = new Map<string, readonly string[]>();
  for (const group of groups) {
    for (const word of group) checkOption(WHERE, 'a synonym', word, ONE_WORD);
    const stems = group.flatMap(wordsOf);
    for (const stem of stems) {
      const others = stems.filter((other) => other !== stem);
      synonyms.set(stem, [...new Set([...(synonyms.get(stem) ?? []), ...others])]);
    }
  }
  return synonyms;
}

function wordsOf(text: unknown): readonly string[] {
  if (typeof text !== 'string') return [];
  const { words, stopWords } = termsOf(text);
  return [...words, ...stopWords];
}
