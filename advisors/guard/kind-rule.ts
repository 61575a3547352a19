import { arrayOf, checkOptions, TEXT } from '../../src/core/internal/options.js';
import { scanFolded } from './fold.js';
import type { GuardFinding, TextRule } from './guard-rule.js';
import { inJson, PatternSearch, type KindPattern } from './pattern-search.js';
import { settledWords } from './plain-words.js';

/** Options of a rule that knows several kinds. */
export interface KindRuleOptions<Kind extends string> {
  /** Kinds to find. @default all */
  readonly kinds?: readonly Kind[] | undefined;
  /** Name in events and errors. @default the name of the rule */
  readonly name?: string | undefined;
}

/** Patterns of a kind, with what decides on their matches. */
export type KindTable<Kind extends string> = Readonly<
  Record<Kind, RegExp | Omit<KindPattern, 'kind'>>
>;

const NONE: readonly GuardFinding[] = [];

/** A rule that searches the plain form of a text for several kinds at once. */
export function kindRule<Kind extends string>(
  where: string,
  defaultName: string,
  table: KindTable<Kind>,
  options: KindRuleOptions<Kind>,
): TextRule {
  const all = Object.keys(table) as Kind[];
  checkOptions(where, options, { kinds: arrayOf(...all), name: TEXT });
  const { kinds = all, name = defaultName } = options;
  const patterns = kinds.map((kind): KindPattern => {
    const entry: RegExp | Omit<KindPattern, 'kind'> = table[kind];
    const given = entry instanceof RegExp ? { pattern: entry } : entry;
    return { kind, ...given, pattern: inJson(given.pattern) };
  });
  const search = new PatternSearch(where, patterns, true);
  const folded: Pick<TextRule, 'scan'> = {
    scan: (text, from, ended) => {
      const settled = ended ? undefined : settledWords(text, from);
      return settled === undefined ? search.scan(text, from, ended) : { findings: NONE, settled };
    },
  };
  return { name, scan: (text, from, ended) => scanFolded(folded, text, from, ended) };
}
