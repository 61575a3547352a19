import { expect } from 'chai';
import type { TextRule } from '../../src/guard/guard-rule.js';
import { redact, StreamRedactor } from '../../src/guard/redaction.js';

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

  it('replaces overlapping findings of several rules once', () => {
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
});
