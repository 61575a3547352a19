import { cardLength, ibanLength, ipv6Length } from './checksums.js';
import type { TextRule } from './guard-rule.js';
import { kindRule, type KindRuleOptions, type KindTable } from './kind-rule.js';

/** Kinds of personal data that a {@link piiRule} finds. */
export type PiiKind =
  'card' | 'iban' | 'email' | 'phone' | 'ipv4' | 'ipv6' | 'mac-address' | 'us-social-security';

const BYTE = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const HEX = '[\\dA-Fa-f]';

/** Patterns of folded text: one plain space, dash and digit for all, and one character to look back at. */
const TABLE: KindTable<PiiKind> = {
  card: { pattern: /(?<![\dA-Za-z])\d(?:[\s.-]{0,3}\d){12,18}/, lengthOf: cardLength },
  iban: {
    pattern: /(?<![\dA-Za-z])[A-Za-z]{2}[ -]?\d{2}(?:[ -]{0,2}[\dA-Za-z]){11,29}/,
    lengthOf: ibanLength,
  },
  email:
    /(?<![\dA-Za-z])(?!(?<=\\)[nrt])[\dA-Za-z][\w.%+'-]{0,254}@[\dA-Za-z-]{1,63}(?:\.[\dA-Za-z-]{1,63}){0,6}\.[A-Za-z]{2,63}/,
  phone:
    /(?<![\dA-Za-z])(?<!\+)(?:(?:\+|00)[1-9](?:[ ()./-]{0,3}\d){6,14}|\(?[2-9]\d{2}\)?[ .-]{1,2}\d{3}[ .-]\d{4}|\(?0[1-9]\d{1,4}\)?[ ./-]{1,3}\d{2,4}(?:[ -]?\d{2,4}){1,3})(?!\d)/,
  ipv4: new RegExp(`(?<![\\dA-Za-z])(?<!\\.)${BYTE}(?:\\.${BYTE}){3}(?!\\d|\\.\\d)`),
  ipv6: {
    pattern: new RegExp(
      `(?<![\\dA-Za-z])(?:${HEX}{1,4}:|::)(?:${HEX}{0,4}:){0,7}(?:${BYTE}(?:\\.${BYTE}){3}|${HEX}{1,4}|(?<=::))(?!\\w|:[\\dA-Fa-f:])`,
    ),
    lengthOf: ipv6Length,
  },
  'mac-address': new RegExp(
    `(?<![\\dA-Za-z])${HEX}{2}(?:(?::${HEX}{2}){5}(?!\\w|:${HEX})|(?:-${HEX}{2}){5}(?!\\w|-${HEX}))`,
  ),
  'us-social-security':
    /(?<![\dA-Za-z])(?!000|666|9)\d{3}(?:-(?!00)\d{2}-| (?!00)\d{2} )(?!0000)\d{4}(?!\w|-\d)/,
};

/**
 * A rule that finds personal data and names it: card numbers and IBANs with a valid checksum, e-mail
 * addresses, phone numbers, IP and MAC addresses, US social security numbers.
 * @throws {@link InvalidArgumentError} if an option is invalid
 */
export function piiRule(options: KindRuleOptions<PiiKind> = {}): TextRule {
  return kindRule('piiRule', 'pii', TABLE, options);
}
