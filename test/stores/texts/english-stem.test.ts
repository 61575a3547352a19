import { expect } from 'chai';
import { englishStem } from '../../../src/stores/texts/english-stem.js';

/** Words and their stems from the description of the algorithm. */
const PUBLISHED = `consign:consign consigned:consign consigning:consign consignment:consign consist:consist
  consisted:consist consistency:consist consistent:consist consistently:consist consolation:consol consolations:consol
  consolatory:consolatori consolidate:consolid consolingly:consol conspicuous:conspicu conspiracy:conspiraci
  constable:constabl constancy:constanc knack:knack knackeries:knackeri knavish:knavish kneaded:knead kneel:kneel
  knees:knee knell:knell knelt:knelt knew:knew knick:knick knif:knif knife:knife knight:knight knightly:knight
  knights:knight knit:knit knits:knit knitted:knit knitting:knit knives:knive knob:knob knock:knock knots:knot`;

describe('englishStem', () => {
  it('gives the stems of the published vocabulary', () => {
    const pairs = PUBLISHED.split(/\s+/).map((pair) => pair.split(':'));

    const stems = pairs.map(([word = '']) => englishStem(word));

    expect(stems).to.deep.equal(pairs.map(([, stem]) => stem));
  });

  it('unifies the forms of a word', () => {
    const groups = [
      ['oscillate', 'oscillates', 'oscillating', 'oscillation', 'oscillators'],
      ['ties', 'tie', 'tied'],
      ['hopping', 'hopped', 'hops', 'hop'],
      ['hope', 'hoped', 'hoping'],
      ['general', 'generals', 'generally'],
      ['yield', 'yields', 'yielded'],
      ['agree', 'agreed', 'agrees'],
      ['national', 'nationalism'],
    ];

    for (const group of groups)
      expect(new Set(group.map(englishStem)), group.join(' ')).to.have.lengthOf(1);
  });

  it('keeps apart words that only look like forms of one', () => {
    const pairs = [
      ['news', 'new'],
      ['gas', 'ga'],
      ['communism', 'communion'],
      ['arsenal', 'arsenic'],
      ['herring', 'her'],
      ['hope', 'hop'],
    ];

    for (const [one = '', other = ''] of pairs)
      expect(englishStem(one), one).to.not.equal(englishStem(other));
  });

  it('leaves other words unchanged', () => {
    const words = ['naïve', 'straße', 'данные', '漢', '42', 'is', '', 'x'.repeat(1e6)];

    expect(words.map(englishStem)).to.deep.equal(words);
  });
});
