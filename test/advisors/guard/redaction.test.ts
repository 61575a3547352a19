import { expect } from 'chai';
import type { TextRule } from '../../../advisors/guard/guard-rule.js';
import { patternRule } from '../../../advisors/guard/pattern-rule.js';
import { redact, StreamRedactor } from '../../../advisors/guard/redaction.js';
import { piecesOf, shownFor } from '../../support/redaction.js';

/** Finds a word; what may be its beginning is unsettled. */
const word = (name: string): TextRule => ({
  name,
  scan: (text, from, ended) => {
    const findings = [];
    let settled = from;
    for (let at = text.indexOf(name, from); at >= 0; at = text.indexOf(name, settled)) {
      settled = at + name.length;
      findings.push({ start: at, end: settled, kind: name });
    }
    if (ended) return { findings, settled: text.length };
    for (; settled < text.length; settled++) if (name.startsWith(text.slice(settled))) break;
    return { findings, settled };
  },
});

describe('redaction', () => {
  it('replaces what a rule finds', () => {
    const { text, findings } = redact('the sun is a star', [word('sun')]);

    expect(text).to.equal('the [sun] is a star');
    expect(findings).to.deep.equal([{ start: 4, end: 7, kind: 'sun' }]);
  });

  it('replaces overlapping findings of several rules once (mastra#23783)', () => {
    const { text } = redact('abcdef', [word('bcd'), word('def')]);

    expect(text).to.equal('a[bcd]');
  });

  it('holds back what may begin a finding, and no more', () => {
    const redactor = new StreamRedactor([word('secret')]);

    const shown = ['the se', 'a, the sec', 'ret', ' is out', ' of se'].map((delta) =>
      redactor.push(delta),
    );

    expect(shown).to.deep.equal(['the ', 'sea, the ', '[secret]', ' is out', ' of ']);
    expect(redactor.end()).to.equal('se');
  });

  it('names overlapping findings by the one that begins first, then by the longest', () => {
    for (const rules of [
      [word('ab'), word('abcd')],
      [word('abcd'), word('ab')],
    ]) {
      expect(redact('abcd', rules).text).to.equal('[abcd]');
      expect(shownFor(rules, [...'abcd']).join('')).to.equal('[abcd]');
    }
  });

  it('has the positions of the whole text, however long', () => {
    const text = `${'some words, '.repeat(80)}sun${' and more'.repeat(80)} sun`;
    const redactor = new StreamRedactor([word('sun')]);

    for (const piece of piecesOf(text, [7])) redactor.push(piece);
    redactor.end();

    expect(redactor.findings).to.deep.equal(redact(text, [word('sun')]).findings);
  });

  it('keeps what a rule may look back at', () => {
    const rule = patternRule({ name: 'x', pattern: /(?<=x{32})y/ });

    expect(shownFor([rule], [...'x'.repeat(300), 'y']).join('')).to.equal(`${'x'.repeat(300)}[x]`);
  });

  it('is ready for another text at the end of one', () => {
    const redactor = new StreamRedactor([word('sun')]);

    const first = redactor.push('a first text, longer than the second su') + redactor.end();
    const second = [redactor.push('n or '), redactor.push('sun'), redactor.end()];

    expect(first).to.equal('a first text, longer than the second su');
    expect(second).to.deep.equal(['n or ', '[sun]', '']);
  });

  it('holds the first half of a character, and shows it at the end', () => {
    const redactor = new StreamRedactor([]);

    const shown = [
      redactor.push('a\ud83d'),
      redactor.held,
      redactor.push('\ude00\ud83d'),
      redactor.end(),
    ];

    expect(shown).to.deep.equal(['a', 1, '😀', '\ud83d']);
  });

  it('searches a text that is held back seldom, however small its pieces', () => {
    let searches = 0;
    const never: TextRule = {
      name: 'never',
      scan: (text, from, ended) => ({
        findings: [],
        settled: (searches++, ended ? text.length : from),
      }),
    };

    const shown = shownFor([never], [...'a'.repeat(5_000)]);

    expect(shown.join('')).to.equal('a'.repeat(5_000));
    expect(searches).to.be.lessThan(200);
  });
});
