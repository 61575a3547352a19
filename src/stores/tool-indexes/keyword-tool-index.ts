import {
  CHECKED_APART,
  checkOption,
  checkOptions,
  numberBetween,
  rule,
} from '../../core/internal/options.js';
import {
  type ToolIndexRequest,
  type ToolReference,
  type ToolSearchRequest,
  type ToolSearchResponse,
  checkIndexRequest,
  checkSearchRequest,
} from './tool-index.js';
import { EditableToolIndex } from './editable-tool-index.js';
import { readQuery, writtenWords } from './keyword/keyword-query.js';
import { KeywordSearch } from './keyword/keyword-search.js';
import { RANKING } from './keyword/ranking.js';
import { ToolLibrary } from './keyword/tool-library.js';
import type { ToolSelection } from './keyword/tool-selection.js';
import { termsOf } from '../texts/terms.js';

/** Options of a {@link KeywordToolIndex}. */
export interface KeywordToolIndexOptions {
  /**
   * Groups of single words with one meaning, such as `['repo', 'repository']`. A synonym counts less
   * than the word of the query. @default none
   */
  readonly synonyms?: readonly (readonly string[])[] | undefined;
  /** Minimum score of a match relative to the best one, 0 to 1. @default 0.2 */
  readonly minRelativeScore?: number | undefined;
  /**
   * Approximate memory of sets of tools without a session, in bytes; >= 0. They are kept since the
   * next session mostly has them again.
   * @default 64 MiB, about 50,000 tools
   */
  readonly maxUnusedBytes?: number | undefined;
}

const WHERE = 'KeywordToolIndex';
const RULES = {
  synonyms: CHECKED_APART,
  minRelativeScore: numberBetween(0, 1),
  maxUnusedBytes: numberBetween(0, Infinity),
};
const ONE_WORD = rule('one word', (value) => allWords(value).length === 1);

/**
 * Finds tools by the words of their names, descriptions, parameters and choices. Reads the forms of
 * English words, words inside identifiers, and all languages. Needs no model and no network.
 * Each tool is analysed once for all sessions that have it; its rank depends on their tools alone.
 */
export class KeywordToolIndex extends EditableToolIndex {
  protected readonly where = WHERE;
  private readonly library: ToolLibrary;
  private readonly sessions = new Map<string, ToolSelection>();
  private readonly synonyms: ReadonlyMap<string, readonly string[]>;
  private readonly minRelativeScore: number;

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(options: KeywordToolIndexOptions = {}) {
    super();
    checkOptions(WHERE, options, RULES);
    const { synonyms = [], minRelativeScore = 0.2, maxUnusedBytes = 64 * 2 ** 20 } = options;
    this.synonyms = synonymsOf(synonyms);
    this.minRelativeScore = minRelativeScore;
    this.library = new ToolLibrary(RANKING, maxUnusedBytes);
  }

  /** @throws {@link InvalidArgumentError} if a reference is invalid */
  index({ session, references }: ToolIndexRequest): void {
    checkIndexRequest({ session, references }, `${WHERE}.index`);
    const selection = this.library.acquire(references);
    this.clear(session);
    this.sessions.set(session, selection);
  }

  search(request: ToolSearchRequest): ToolSearchResponse {
    const checked = checkSearchRequest(request, `${WHERE}.search`);
    const { session, query, category, maxResults, accepts } = checked;
    const selection = this.sessions.get(session);
    if (!selection) return { references: [] };
    const keywords = readQuery(query);
    if (keywords.words.length === 0)
      return { references: this.referencesOf(session).filter(accepts).slice(0, maxResults) };
    const search = new KeywordSearch(this.library, selection, keywords, this.synonyms);
    const found = search.find(maxResults, category === undefined ? undefined : accepts);
    const minScore = (found[0]?.score ?? 0) * this.minRelativeScore;
    const written = writtenWords(query);
    const references = found
      .filter(({ score }) => score >= minScore)
      .map(({ slot, score }) => {
        const matches = written(search.wordsIn(slot));
        return { ...this.library.toolAt(slot).reference, score, matches };
      });
    return { references };
  }

  clear(session: string): void {
    const selection = this.sessions.get(session);
    this.sessions.delete(session);
    if (selection) this.library.release(selection);
  }

  /** Removes all sessions and tools. */
  close(): void {
    for (const session of this.sessions.keys()) this.clear(session);
    this.library.removeUnused(0);
  }

  protected referencesOf(session: string): readonly ToolReference[] {
    const slots = this.sessions.get(session)?.slots() ?? [];
    return slots.map((slot) => this.library.toolAt(slot).reference);
  }
}

/** Synonyms of each word, all of them as stems. */
function synonymsOf(
  groups: readonly (readonly string[])[],
): ReadonlyMap<string, readonly string[]> {
  const synonyms = new Map<string, readonly string[]>();
  for (const group of groups) {
    for (const word of group) checkOption(WHERE, 'a synonym', word, ONE_WORD);
    const stems = group.flatMap(allWords);
    for (const stem of stems) {
      const others = stems.filter((other) => other !== stem);
      synonyms.set(stem, [...new Set([...(synonyms.get(stem) ?? []), ...others])]);
    }
  }
  return synonyms;
}

function allWords(text: unknown): readonly string[] {
  if (typeof text !== 'string') return [];
  const { words, stopWords } = termsOf(text);
  return [...words, ...stopWords];
}
