import { expect } from 'chai';
import fc from 'fast-check';
import { piiRule } from '../../src/guard/pii-rule.js';
import { redact } from '../../src/guard/redaction.js';
import { secretRule } from '../../src/guard/secret-rule.js';
import { wordRule } from '../../src/guard/word-rule.js';
import { anySizes, piecesOf, shownFor } from '../support/redaction.js';
import { anySecret, SECRETS } from '../support/secrets.js';
import { sweep } from '../support/sweep.js';

const RULES = [piiRule(), secretRule()];
const shown = (text: string): string => redact(text, RULES).text;

const words = [
  'The',
  'key',
  'is',
  'a',
  'I',
  'naïve',
  'слово',
  '日本語',
  '👩‍🚀',
  'DE',
  'sk',
  'state-of-the-art',
  'e.g.',
  "it's",
];
const anyWords = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 6 });
const anyFiller = fc
  .tuple(
    fc.constantFrom(', ', '\n\n', ' = "', ': ', ' ('),
    anyWords,
    fc.constantFrom(', ', '\n', ' = "', ': ', ' ~ '),
  )
  .map(([before, all, after]) => `${before}${all.join(' ')}${after}`);
/** Beginnings and ends of secrets, and what looks like one. */
const decoys = [
  'sk-',
  'AKIA',
  'ghp_',
  'eyJ',
  '-----BEGIN ',
  '-----BEGIN PRIVATE KEY-----',
  '4111 1111 ',
  '1111',
  'DE89',
  ' 3704',
  '@',
  'a@b',
  '.com',
  '+49',
  '(212)',
  '://',
  ':',
  '::',
  '10.0.',
  '.1',
  '-',
  '=',
  '/',
  '\u200b',
  '\u202e',
  'е',
  '１',
  '0x1f',
  '😀',
  '\ud83d',
  '\n',
  ' ',
  'word',
  'SG.',
  'is 25',
  'xoxb-12',
  '12:30:45',
];

describe('piiRule and secretRule', () => {
  it('know more than 30 kinds', () => {
    expect(Object.keys(SECRETS)).to.have.length.greaterThan(39);
  });

  for (const [kind, samples] of Object.entries(SECRETS))
    it(`names ${kind}`, () => {
      for (const sample of fc.sample(samples, { numRuns: sweep(5_000), seed: 1 }))
        expect(shown(kind === 'url-password' ? `a:${sample}@h b` : `a: ${sample} b`)).to.equal(
          kind === 'url-password' ? `a:[${kind}]@h b` : `a: [${kind}] b`,
        );
    });

  it('shows no character of a secret, and loses none of the rest, whatever the pieces', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(anyFiller, anySecret), { minLength: 1, maxLength: 3 }),
        anyFiller,
        anySizes,
        (parts, end, sizes) => {
          const text = parts.map(([filler, { written }]) => filler + written).join('') + end;
          const expected = parts.map(([filler, secret]) => filler + secret.shown).join('') + end;

          expect(shownFor(RULES, piecesOf(text, sizes)).join('')).to.equal(expected);
        },
      ),
      { numRuns: sweep(20_000) },
    );
  });

  it('shows the same for any pieces of text that is almost a secret', () => {
    const rules = [...RULES, wordRule({ words: ['word', 'bad word', 'слово'] })];
    const anyPart = fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(...decoys) },
      { weight: 1, arbitrary: anySecret.map(({ written }) => written) },
    );
    fc.assert(
      fc.property(fc.array(anyPart, { maxLength: 12 }), anySizes, (parts, sizes) => {
        const text = parts.join('');

        expect(shownFor(rules, piecesOf(text, sizes)).join('')).to.equal(redact(text, rules).text);
      }),
      { numRuns: sweep(20_000) },
    );
  });
});
