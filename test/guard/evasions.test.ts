import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { redact } from '../../src/guard/redaction.js';
import { EVADED, EVASIONS, type Evasion } from '../support/guard-evasions.js';
import { shownFor } from '../support/redaction.js';

/** The number of findings: none, or one for each text. */
function isFound({ text, rule }: Evasion): boolean {
  const rules = [EVADED[rule]];
  if (typeof text === 'string') return redact(text, rules).findings.length > 0;
  if ('messages' in text)
    return text.messages.some((each) => redact(each, rules).findings.length > 0);
  return /\[[\w -]+\]/.test(shownFor(rules, text.deltas).join(''));
}

describe('evasions of rules', () => {
  it('are at least 60, each once', () => {
    const ways = EVASIONS.map(({ how, rule }) => `${rule}: ${how}`);

    expect(EVASIONS).to.have.length.of.at.least(60);
    expect(new Set(ways)).to.have.property('size', ways.length);
  });

  for (const evasion of EVASIONS)
    it(`${evasion.isCaught ? 'are caught' : 'are not caught'}: ${evasion.rule}: ${evasion.how}`, () => {
      expect(isFound(evasion)).to.equal(evasion.isCaught);
    });

  it('are listed in the documentation', async () => {
    const page = await readFile('docs/advisors/guard-evasions.md', 'utf8');
    const rows = page.split('\n').flatMap((line) => {
      const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
      return cells.length === 6 && cells[1] !== 'rule' && !cells[1]?.startsWith('--')
        ? [cells.slice(1, 5)]
        : [];
    });

    expect(rows).to.deep.equal(
      EVASIONS.map(({ rule, how, isCaught, reason }) => [
        rule,
        how,
        isCaught ? 'caught' : 'not caught',
        reason,
      ]),
    );
  });
});
