import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { redact } from '../../../advisors/guard/redaction.js';
import { EVADED, EVASIONS, type Evasion } from '../../support/guard-evasions.js';
import { shownFor } from '../../support/redaction.js';

/** The number of findings: none, or one for each text. */
function isFound({ text, rule }: Evasion): boolean {
  const rules = [EVADED[rule]];
  if (typeof text === 'string') return redact(text, rules).findings.length > 0;
  if ('messages' in text)
    return text.messages.some((each) => redact(each, rules).findings.length > 0);
  return /\[[\w -]+\]/.test(shownFor(rules, text.deltas).join(''));
}

/** The evasions of a page: a heading for each rule, lists of the caught and the others, an item for each reason. */
function listedIn(page: string): Array<Omit<Evasion, 'text'>> {
  return page.split(/^### /m).flatMap((section) => {
    const rule = Object.keys(EVADED).find(
      (each) => each === section.split(/ \(|\n/)[0]?.toLowerCase(),
    );
    return section.split(/^(?=Caught:|Not caught:)/m).flatMap((part) =>
      [...part.matchAll(/^- \*\*([^]*?)\*\*: ([^]*?)(?=\n- |\n\n|$(?![^]))/gm)].flatMap(
        ([, reason = '', ways = '']) =>
          ways.split(/;\s+/).map((how) => ({
            rule: rule as Evasion['rule'],
            how: how.replaceAll(/\s+/g, ' ').trim(),
            isCaught: part.startsWith('Caught:'),
            reason: reason.replaceAll(/\s+/g, ' '),
          })),
      ),
    );
  });
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
    const [, list = ''] = page.split(/^## Evasions$/m);

    expect(listedIn(list)).to.have.deep.members(
      EVASIONS.map(({ rule, how, isCaught, reason }) => ({ rule, how, isCaught, reason })),
    );
  });
});
