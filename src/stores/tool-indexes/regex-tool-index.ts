import { truncate } from '../../core/internal/text.js';
import { TimeSlice } from '../../core/internal/time-slice.js';
import {
  checkIndexRequest,
  checkSearchRequest,
  MAX_DESCRIPTION,
  type ToolIndexRequest,
  type ToolReference,
  type ToolSearchRequest,
  type ToolSearchResponse,
} from './tool-index.js';
import { EditableToolIndex } from './editable-tool-index.js';
import { ToolSets } from './tool-sets.js';
import { STOP_WORDS, UNSPACED } from '../texts/terms.js';
import { Pattern } from './pattern.js';

/** Relevance of a tool, 0 if it does not match, and of words those that occur. */
type Match = (reference: ToolReference) => Pick<Found, 'score' | 'matches'>;
type Found = ToolReference & { readonly score: number };

/** Factor of a match in the name; one in the description counts 1. */
const NAME = 2;
/** Signs of a regular expression that names do not have. Text with spaces is never a pattern. */
const PATTERN = /\.[*+?{]|\\[a-zA-Z]|\[[^\]]+\]|[|^$]|\)[*+?{]|\(\?/;
/** Signs that no question in a script without spaces has. */
const EXPLICIT_PATTERN = /^\^|\.[*+]|[^$]\$$/;
// Bounds for queries of models and users, beyond the length of any request.
const MAX_CHARACTERS = 2_000;
const MAX_WORDS = 50;

/**
 * Finds tools by patterns: `get_*` matches whole names, a regular expression without spaces such as
 * `^get_.*(user|account)` matches in names and in the first 200 characters of descriptions, and
 * plain words match anywhere. Ignores case; takes linear time for every pattern.
 */
export class RegexToolIndex extends EditableToolIndex {
  protected readonly where = 'RegexToolIndex';
  private readonly sets = new ToolSets<readonly ToolReference[]>({
    build: (references) => [...references],
  });

  /** @throws {@link InvalidArgumentError} if a reference is invalid */
  index(request: ToolIndexRequest): void {
    checkIndexRequest(request, 'RegexToolIndex.index');
    this.sets.set(request);
  }

  /**
   * Searches in slices of time, so that a pattern over thousands of tools does not block the process.
   * @throws {@link InvalidArgumentError} if the pattern is invalid, with what to write instead
   */
  async search(request: ToolSearchRequest): Promise<ToolSearchResponse> {
    const checked = checkSearchRequest(request, 'RegexToolIndex.search');
    const { session, query, maxResults, accepts, signal } = checked;
    const references = (this.sets.get(session) ?? []).filter(accepts);
    const match = matchFor(query);
    if (!match) return { references: references.slice(0, maxResults) };
    const found: Found[] = [];
    const slice = new TimeSlice();
    for (const reference of references) {
      const matched = match(reference);
      if (matched.score > 0) found.push({ ...reference, ...matched });
      const pause = slice.next();
      if (pause) await pause;
      signal?.throwIfAborted();
    }
    // the sort is stable: equal scores keep the order of the index
    return { references: found.sort((a, b) => b.score - a.score).slice(0, maxResults) };
  }

  clear(session: string): void {
    this.sets.delete(session);
  }

  /** Removes all sessions. */
  close(): void {
    this.sets.clear();
  }

  /** Its ranking of plain words is a count, which makes a better ranking worse: it only stands in. */
  weightOf(query: string): number {
    return isText(query.slice(0, MAX_CHARACTERS).trim()) ? 0 : 1;
  }

  protected referencesOf(session: string): readonly ToolReference[] {
    return this.sets.referencesOf(session);
  }
}

/** Reads a query as glob, regular expression or words; returns undefined for a blank query. */
function matchFor(query: string): Match | undefined {
  const text = query.slice(0, MAX_CHARACTERS).trim();
  if (text === '') return undefined;
  if (isText(text)) return matchWords(text);
  return isGlob(text) ? matchGlob(text) : matchPattern(new Pattern(text));
}

/** True for a question, also one in a script without spaces, which has signs of patterns as punctuation. */
function isText(text: string): boolean {
  if (isGlob(text)) return false;
  const signs = scriptPatterns().unspaced.test(text) ? EXPLICIT_PATTERN : PATTERN;
  return /\s/.test(text) || !signs.test(text);
}

/** `get_*` is `^get_.*$`. */
function matchGlob(glob: string): Match {
  const escaped = glob.replaceAll(/[.\-/]/g, String.raw`\$&`);
  const pattern = new Pattern(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`);
  return ({ name }) => ({ score: pattern.test(name) ? NAME : 0 });
}

/** Matches as much of a description as the model reads. */
function matchPattern(pattern: Pattern): Match {
  return ({ name, description }) => ({
    score:
      (pattern.test(name) ? NAME : 0) +
      (pattern.test(truncate(description, MAX_DESCRIPTION)) ? 1 : 0),
  });
}

/** Counts the words that occur. */
function matchWords(text: string): Match {
  const all = wordsOf(text.toLowerCase());
  const significant = all.filter((word) => word.length > 1 && !STOP_WORDS.has(word));
  const words = [...new Set(significant.length > 0 ? significant : all)].slice(0, MAX_WORDS);
  return ({ name, description }) => {
    const [inName, inDescription] = [name.toLowerCase(), description.toLowerCase()];
    let score = 0;
    const matches = words.filter((word) => {
      const value = (inName.includes(word) ? NAME : 0) + (inDescription.includes(word) ? 1 : 0);
      score += value;
      return value > 0;
    });
    return { score, matches };
  };
}

let scripts: { readonly unspaced: RegExp; readonly runs: RegExp } | undefined;

/** Created on first use: Unicode classes take milliseconds, which every import would pay. */
function scriptPatterns() {
  scripts ??= {
    unspaced: new RegExp(`[${UNSPACED}]`, 'u'),
    runs: new RegExp(`[${UNSPACED}\\p{M}]+|[^${UNSPACED}\\p{M}]+`, 'gu'),
  };
  return scripts;
}

/** Runs of letters and digits; of a script without spaces, each two neighbouring characters. */
function wordsOf(text: string): readonly string[] {
  const runs = text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return runs.flatMap((run) =>
    (run.match(scriptPatterns().runs) ?? []).flatMap((part) => {
      const characters = scriptPatterns().unspaced.test(part) ? [...part] : [];
      if (characters.length < 2) return [part];
      return characters.slice(1).map((second, at) => `${characters[at]}${second}`);
    }),
  );
}

/**
 * True for a star among characters of names, with stars that do not follow what a regular expression would repeat.
 * The literal is created on first use: its Unicode classes would slow every import.
 */
function isGlob(text: string): boolean {
  return text.includes('*') && /^(?:[\p{L}\p{N}_\-:/?]|\.(?!\*)|\*)+$/u.test(text);
}
