import { expect } from 'chai';
import { base64Rule } from '../../../advisors/guard/base64-rule.js';
import { injectionRule } from '../../../advisors/guard/injection-rule.js';
import { piiRule } from '../../../advisors/guard/pii-rule.js';
import { redact } from '../../../advisors/guard/redaction.js';
import { secretRule } from '../../../advisors/guard/secret-rule.js';
import { wordRule } from '../../../advisors/guard/word-rule.js';
import { piecesOf, shownFor } from '../../support/redaction.js';
import { sampled, sweep } from '../../support/sweep.js';

/** Beginnings that never end, and what makes an expression try many ways. */
const PARTS = [
  'a',
  'a.',
  'a@',
  'a@a.',
  'ab:',
  ':',
  '4',
  '4 ',
  '1 ',
  '1.1.',
  '0170 ',
  '+1 ',
  'DE89',
  'DE89 ',
  '-',
  'sk-',
  'sk-a ',
  'eyJ',
  'eyJaaaaaaaaa.',
  '-----BEGIN A',
  '-----BEGIN PRIVATE KEY-----',
  'AccountKey=',
  '://',
  '//a:',
  '$',
  '1!|',
  'a a ',
  'b.a.d.',
  '@@4',
  ' ',
  '\u200b',
  'a\u0301',
  'ﷺ',
  '0123456789abcdef',
  '\\n',
  'ignore\\n',
  '![a](https://a?',
  'note, to the ',
];
const RULES = [
  wordRule({
    words: [
      'aaaaaaaaaaaa',
      'badword',
      'a a a',
      'bad word bad word',
      '$$$$$ssss',
      'illillill',
      'lilliilli',
    ],
  }),
  piiRule(),
  secretRule(),
  base64Rule(secretRule()),
  injectionRule(),
];

describe('rules on hostile texts', () => {
  // 100,000 characters in slow tests; an expression with quadratic time would need hours for these
  for (const part of sampled(PARTS))
    it(`end on ${JSON.stringify(part)} without end`, () => {
      const text = part.repeat(sweep(100_000 / part.length));

      const shown = shownFor(RULES, piecesOf(text, [5]));

      expect(shown.join('')).to.equal(redact(text, RULES).text);
    });
});
