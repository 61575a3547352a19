import { expect } from 'chai';
import fc from 'fast-check';
import { middleOf, wholeLines } from '../../../advisors/compaction/cut-text.js';
import { readText, searchText } from '../../../advisors/compaction/read-text.js';

const isWellFormed = (text: string): boolean => !/[\ud800-\udfff]/u.test(text);
/** Texts of lines, long ones among them, with characters of one and of two units. */
const TEXTS = fc
  .array(
    fc.tuple(fc.constantFrom('a', 'é', '😀', 'x y ', '\r'), fc.nat({ max: 60 }), fc.boolean()),
    { minLength: 1, maxLength: 40 },
  )
  .map((runs) =>
    runs.map(([text, count, ends]) => text.repeat(count) + (ends ? '\n' : '')).join(''),
  );

describe('the gap in a long text', () => {
  it('keeps two thirds before it and one third after it', () => {
    const { start, end } = middleOf('x'.repeat(10_000), 900);

    expect([start, end]).to.deep.equal([600, 9_700]);
  });

  it('is between lines where there are some', () => {
    const text = 'a line of text\n'.repeat(1_000);

    const { start, end } = middleOf(text, 900);

    expect([text[start - 1], text[end - 1]]).to.deep.equal(['\n', '\n']);
    expect(start).to.be.within(585, 600);
    expect(text.length - end).to.be.within(285, 300);
  });

  it('splits no character, and never leaves out what it keeps', () => {
    fc.assert(
      fc.property(TEXTS, fc.integer({ min: 10, max: 200 }), (text, kept) => {
        fc.pre(text.length > kept);
        const { start, end } = middleOf(text, kept);
        expect(start).to.be.at.most(end);
        expect(start + text.length - end).to.be.at.most(kept);
        expect(isWellFormed(text.slice(0, start)) && isWellFormed(text.slice(end))).to.equal(true);
      }),
    );
  });
});

describe('reading a long text', () => {
  it('gives the whole text if one follows the offsets', () => {
    fc.assert(
      fc.property(TEXTS, fc.integer({ min: 10, max: 300 }), (text, length) => {
        let [read, offset] = ['', 0];
        for (let count = 0; ; count++) {
          expect(count, 'pieces').to.be.at.most(text.length);
          const answer = readText(text, offset, length);
          const heading = answer.slice(0, answer.indexOf('\n'));
          const piece = answer.slice(answer.indexOf('\n') + 1);
          expect(piece.length).to.be.at.most(length);
          expect(isWellFormed(piece)).to.equal(true);
          read += piece;
          const next = /continue with offset (\d+)/.exec(heading)?.[1];
          if (next === undefined) break;
          offset = Number(next);
        }
        expect(read).to.equal(text);
      }),
    );
  });

  it('ends a piece at the end of a line, unless that would be far back', () => {
    expect(wholeLines('one\ntwo\nthree', 0, 9)).to.equal('one\ntwo\n');
    expect(wholeLines(`a\n${'x'.repeat(50)}`, 0, 20)).to.equal(`a\n${'x'.repeat(18)}`);
  });

  it('answers an offset behind the end, or inside a character', () => {
    expect(readText('abc', 10, 50)).to.equal('Characters 3 to 3 of 3; this is the end.\n');
    expect(readText('😀b', 1, 50)).to.equal('Characters 2 to 3 of 3; this is the end.\nb');
  });
});

describe('searching a long text', () => {
  it('finds every line with the text, in any case, whatever it means in a pattern', () => {
    const text = ['a.b', 'axb', 'x A.B x', '', 'a.b'].join('\n');

    expect(searchText(text, 'a.B', 0, 1_000)).to.equal(
      [
        'Places with "a.B": 3; there are no more.',
        'line 1, offset 0: a.b',
        'line 3, offset 10: x A.B x',
        'line 5, offset 17: a.b',
      ].join('\n'),
    );
  });

  it('shows the part of a long line around each place', () => {
    const text = `${'x'.repeat(1_000)}needle${'y'.repeat(1_000)}needle${'z'.repeat(1_000)}`;

    const [, first, second] = searchText(text, 'needle', 0, 5_000).split('\n');

    expect(first).to.equal(`line 1, offset 1000: …${'x'.repeat(80)}needle${'y'.repeat(200)}…`);
    expect(second)
      .to.include('offset 2006: …yyy')
      .and.match(/needlez{200}…$/);
  });

  it('continues where it stopped', () => {
    const text = Array.from({ length: 500 }, (_, at) => `needle ${at}\n`).join('');
    const found: string[] = [];
    for (let next: string | undefined = '0'; next !== undefined;) {
      const answer = searchText(text, 'needle', Number(next), 1_000);
      const [heading = '', ...rows] = answer.split('\n');
      expect(answer.length).to.be.at.most(1_100);
      found.push(...rows.map((row) => row.replace(/.*: /, '')));
      next = /again with offset (\d+)/.exec(heading)?.[1];
    }

    expect(found).to.deep.equal(text.trimEnd().split('\n'));
  });

  it('shows at most 50 places', () => {
    const answer = searchText('x\n'.repeat(51), 'x', 0, 10_000);

    expect(answer).to.match(/^Places with "x": 50; there are more: search again with offset 100\./);
  });

  it('shows one place, whatever the limit', () => {
    expect(searchText('a needle b', 'needle', 0, 1)).to.include('line 1, offset 2: a needle b');
  });

  it('answers where there is none', () => {
    expect(searchText('abc', 'x', 9, 100)).to.equal(
      '"x" does not occur from offset 3 to the end, 3.',
    );
  });

  it('compares case where letters change their length', () => {
    const text = 'İ needle';

    expect(searchText(text, 'needle', 0, 100)).to.include('offset 2');
    expect(searchText(text, 'NEEDLE', 0, 100)).to.include('does not occur');
  });

  it('splits no character', () => {
    fc.assert(
      fc.property(TEXTS, fc.constantFrom('a', 'é', '😀', 'y'), (text, query) => {
        expect(isWellFormed(searchText(text, query, 0, 2_000))).to.equal(true);
      }),
    );
  });
});
