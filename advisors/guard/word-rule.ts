import { checkOptions, oneOf, required, rule, TEXT } from '../../src/core/internal/options.js';
import { fold, scanFolded } from './fold.js';
import type { TextRule } from './guard-rule.js';
import { WordSearch } from './word-search.js';

/** Options of a {@link wordRule}. */
export interface WordRuleOptions {
  /** Words or phrases, at least one; case, accents and look-alikes make no difference. */
  readonly words: readonly string[];
  /**
   * `'word'` finds whole words only; `'anywhere'` finds them within longer words too. Words of
   * scripts without spaces, such as Chinese, are always found anywhere.
   * @default 'word'
   */
  readonly match?: 'word' | 'anywhere' | undefined;
  /** Name in events and errors, and the kind of its findings. @default 'words' */
  readonly name?: string | undefined;
}

const WORDS = rule(
  'a list of at least one word, each with a letter or digit',
  (value) =>
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((word) => typeof word === 'string' && /[\p{L}\p{N}]/u.test(plainForm(word))),
);
const RULES = { words: required(WORDS), match: oneOf('word', 'anywhere'), name: TEXT };
const WITHOUT_SPACES =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

/**
 * A rule that finds words in any case, also with look-alike letters, accents, invisible characters,
 * digits for letters (`b4d`), signs between letters (`b.a.d`) and spaces between all of them (`b a d`).
 * @throws {@link InvalidArgumentError} if an option is invalid
 */
export function wordRule(options: WordRuleOptions): TextRule {
  checkOptions('wordRule', options, RULES);
  const { words, match = 'word', name = 'words' } = options;
  const search = new WordSearch();
  for (const word of words)
    search.add(plainForm(word), match === 'anywhere' || WITHOUT_SPACES.test(word));
  const folded: Pick<TextRule, 'scan'> = {
    scan: (text, from, ended) => search.scan(text, from, ended, name),
  };
  return { name, scan: (text, from, ended) => scanFolded(folded, text, from, ended) };
}

function plainForm(word: string): string {
  return fold(word).text.toLowerCase().trim().replace(/\s+/g, ' ');
}
