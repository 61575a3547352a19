import { expect } from 'chai';
import fc from 'fast-check';
import { InvalidArgumentError } from '../../../src/core/errors/errors.js';
import { piiRule } from '../../../advisors/guard/pii-rule.js';
import { redact } from '../../../advisors/guard/redaction.js';
import { secretRule } from '../../../advisors/guard/secret-rule.js';
import { wordRule } from '../../../advisors/guard/word-rule.js';
import { anySizes, piecesOf, shownFor } from '../../support/redaction.js';
import { anySecret, SECRETS } from '../../support/secrets.js';
import { sweep } from '../../support/sweep.js';

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
  '\\',
  'n',
  '\\nDE',
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

  for (const text of [
    '4111111111111112', // fails Luhn
    '1234567812345670', // passes Luhn, no prefix of a card
    '4111111111111111123', // 19 digits, of which the first 16 are a card
    'DE89370400440532013001', // fails mod 97
    'XX89370400440532013000', // no country
    'add::bad std::vector 12:30:45 1:2:3:4:5:6:7',
    '1.2.3 300.1.1.1 1.2.3.4.5',
    'a@b user@localhost @name',
    '000-12-3456 2024-01-02 123-456',
    'task-force-one, risk-averse, sk-short, keys, AKIAnumber',
    'eyJ.eyJ eyJhbGciOi',
    'https://example.com:8080/a@b and http://host/x:y',
    '-----BEGIN CERTIFICATE-----',
    'version 20.19.0, 2,000 of 100,000; 3.14159265358979',
  ])
    it(`keep ${text}`, () => {
      expect(shown(text)).to.equal(text);
    });

  it('show nothing of a finding that begins within another one', () => {
    expect(shown('call +49 4111 1111 1111 1111 now')).to.equal('call [phone] now');
  });

  it('hold back two letters before a space, where an IBAN may begin', () => {
    for (const before of ['', '(', 'x.'])
      expect(
        shownFor(RULES, [`an ${before}DE`, ' ', '89 3704 0044 0532 0130 00', '.']).join(''),
      ).to.equal(`an ${before}[iban].`);
  });

  it('find a key of letters alone between words', () => {
    expect(shownFor(RULES, ['is AKIAABCDEFGHIJKLMNOP or', ' not']).join('')).to.equal(
      'is [aws-key-id] or not',
    );
  });

  it('keep the escapes of JSON before a finding', () => {
    for (const [kind, samples] of Object.entries(SECRETS))
      for (const sample of kind === 'url-password'
        ? []
        : fc.sample(samples, { numRuns: 3, seed: 2 }))
        for (const escape of ['\\n', '\\r', '\\t']) {
          const text = `{"a":"is${escape}${sample} b"}`;
          const expected = `{"a":"is${escape}[${kind}] b"}`;

          expect(shown(text)).to.equal(expected);
          expect(shownFor(RULES, [...text]).join('')).to.equal(expected);
        }
  });

  it('find the kinds that are asked for', () => {
    const rule = piiRule({ kinds: ['email'], name: 'mail' });

    expect(rule.name).to.equal('mail');
    expect(redact('jane@example.com, 10.0.0.1', [rule]).text).to.equal('[email], 10.0.0.1');
  });

  it('reject kinds that they do not know', () => {
    expect(() => piiRule({ kinds: ['mail' as never] })).to.throw(
      InvalidArgumentError,
      "piiRule: kinds must be an array of 'card', 'iban'",
    );
    expect(() => secretRule({ name: '' })).to.throw(
      InvalidArgumentError,
      'secretRule: name must be',
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
