import { checkOption, withMethods } from '../../src/core/internal/options.js';
import { scanFolded } from './fold.js';
import { findAll, type TextRule } from './guard-rule.js';
import { PatternSearch } from './pattern-search.js';

const RULE = withMethods('a text rule', 'scan');
const RUN = /(?<![\w+/-](?<!\\[nrt]))[\w+/-]{8,8192}={0,2}/;

/**
 * A rule that decodes Base64, of 8 to 8,192 characters, and finds what another rule finds in it. The
 * finding is all of the encoded text, and its kind the name of the rule, such as `pii in base64`.
 * @throws {@link InvalidArgumentError} if the rule has no `scan`
 */
export function base64Rule(rule: TextRule): TextRule {
  checkOption('base64Rule', 'rule', rule, RULE);
  const name = `${rule.name} in base64`;
  const lengthOf = (encoded: string): number => {
    const text = decoded(encoded);
    return text !== undefined && findAll(rule, text).length > 0 ? encoded.length : 0;
  };
  const search = new PatternSearch('base64Rule', [{ kind: name, pattern: RUN, lengthOf }], false);
  return { name, scan: (text, from, ended) => scanFolded(search, text, from, ended) };
}

/** Undefined for texts other than Base64; a last character without a partner is ignored. */
function decoded(encoded: string): string | undefined {
  const digits = encoded.replace(/=/g, '').replaceAll('-', '+').replaceAll('_', '/');
  try {
    const bytes = atob(digits.length % 4 === 1 ? digits.slice(0, -1) : digits);
    return new TextDecoder().decode(Uint8Array.from(bytes, (each) => each.charCodeAt(0)));
  } catch {
    return undefined;
  }
}
