import { STOP_WORDS } from './keyword/stop-words.js';
import { compilePattern } from './pattern/pattern.js';

/** How well a tool fits a query, 0 if it does not. */
export interface Matcher {
  readonly name: (name: string) => number;
  readonly description: (description: string) => number;
}

/** Signs of a regular expression that no name of a tool has. A text with spaces is words: names have none. */
const PATTERN = /\.[*+?{]|\\[a-zA-Z]|\[[^\]]+\]|[|^$]|\)[*+?{]|\(\?/;
/** Letters, digits and what else names have, with stars that do not follow what a regular expression would repeat. */
const GLOB = /^(?:[\p{L}\p{N}_\-:/?]|\.(?!\*)|\*)+$/u;
/** Queries are written by models and users: what is longer than any request is not read. */
const MAX_CHARACTERS = 2_000;
const MAX_WORDS = 50;

/**
 * Reads a query as the kind it looks like; undefined if it is blank.
 * @throws {@link InvalidArgumentError} if it is a pattern that cannot be used
 */
export function matcherFor(query: string): Matcher | undefined {
  const text = query.slice(0, MAX_CHARACTERS).trim();
  if (text === '') return undefined;
  if (text.includes('*') && GLOB.test(text)) return matchNames(globPattern(text));
  if (!/\s/.test(text) && PATTERN.test(text)) return matchPattern(text);
  return matchWords(text);
}

/** `get_*` as `^get_.*$`. */
function globPattern(glob: string): string {
  const escaped = glob.replaceAll(/[.\-/]/g, String.raw`\$&`);
  return `^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`;
}

function matchNames(source: string): Matcher {
  const pattern = compilePattern(source);
  return { name: (name) => (pattern.test(name) ? 1 : 0), description: () => 0 };
}

function matchPattern(source: string): Matcher {
  const pattern = compilePattern(source);
  const test = (text: string): number => (pattern.test(text) ? 1 : 0);
  return { name: test, description: test };
}

/** Any of the words, anywhere; more of them are better. */
function matchWords(text: string): Matcher {
  const all = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const telling = all.filter((word) => word.length > 1 && !STOP_WORDS.has(word));
  const words = [...new Set(telling.length > 0 ? telling : all)].slice(0, MAX_WORDS);
  const count = (where: string): number => {
    const lower = where.toLowerCase();
    return words.filter((word) => lower.includes(word)).length;
  };
  return { name: count, description: count };
}
