import { checkOptions, required, rule, TEXT } from '../../src/core/internal/options.js';
import type { TextRule } from './guard-rule.js';
import { PatternSearch } from './pattern-search.js';

/** Options of a {@link patternRule}. */
export interface PatternRuleOptions {
  /** Name in events and errors, and the kind of its findings. */
  readonly name: string;
  /**
   * Regular expression, which is searched everywhere (flag g). It sees the text as written. In a
   * stream text is held back where a match may still begin or grow: bound its repetitions, as in `{1,64}`.
   */
  readonly pattern: RegExp;
}

const PATTERN = rule('a regular expression', (value) => value instanceof RegExp);

/**
 * A rule that finds the matches of a regular expression. Only the pattern and up to 32 characters
 * before it decide, so that it finds the same in a stream; hence no back references.
 * @throws {@link InvalidArgumentError} if the pattern cannot be used in a stream, or could take
 * exponential time
 */
export function patternRule(options: PatternRuleOptions): TextRule {
  checkOptions('patternRule', options, { name: required(TEXT), pattern: required(PATTERN) });
  const { name, pattern } = options;
  const search = new PatternSearch('patternRule', [{ kind: name, pattern }], false);
  return { name, scan: (text, from, ended) => search.scan(text, from, ended) };
}
