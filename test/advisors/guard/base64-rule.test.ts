import { expect } from 'chai';
import { InvalidArgumentError } from '../../../src/core/errors/errors.js';
import { base64Rule } from '../../../advisors/guard/base64-rule.js';
import { piiRule } from '../../../advisors/guard/pii-rule.js';
import { redact } from '../../../advisors/guard/redaction.js';
import { shownFor } from '../../support/redaction.js';

const encoded = (text: string): string => Buffer.from(text).toString('base64');

describe('base64Rule', () => {
  const rule = base64Rule(piiRule());

  it('finds what its rule finds in decoded text, and keeps other Base64', () => {
    const text = `${encoded('mail jane@example.com')} and ${encoded('mail nothing at all')} or plain jane@example.com`;

    const { text: shown, findings } = redact(text, [rule]);

    expect(shown).to.equal(
      `[pii in base64] and ${encoded('mail nothing at all')} or plain jane@example.com`,
    );
    expect(findings).to.have.length(1);
  });

  it('decodes text with its padding, in any pieces', () => {
    for (const name of ['j', 'ja', 'jan'])
      expect(shownFor([rule], [...encoded(`${name}@example.com`), '.']).join('')).to.equal(
        '[pii in base64].',
      );
  });

  it('finds Base64 after an escaped line break of JSON', () => {
    const text = JSON.stringify(`a\n${encoded('jane@example.com')}`);

    expect(redact(text, [rule]).text).to.equal(String.raw`"a\n[pii in base64]"`);
  });

  it('decodes twice if asked for', () => {
    const { text } = redact(encoded(encoded('jane@example.com')), [base64Rule(rule)]);

    expect(text).to.equal('[pii in base64 in base64]');
  });

  it('rejects what is no rule', () => {
    expect(() => base64Rule({} as never)).to.throw(
      InvalidArgumentError,
      'base64Rule: rule must be a text rule',
    );
  });
});
