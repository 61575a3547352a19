import { expect } from 'chai';
import fc from 'fast-check';
import type {
  InspectedChain,
  TimelineEntry,
} from '../../../src/bridges/inspector/inspected-turn.js';
import { BOX_HEIGHT, drawChain } from '../../../src/bridges/inspector/page/chain-layout.js';
import { matches, NO_FILTER } from '../../../src/bridges/inspector/page/filter.js';
import {
  cost,
  count,
  duration,
  mediaSize,
} from '../../../src/bridges/inspector/page/parts/format.js';
import { figuresOf } from '../../../src/bridges/inspector/page/timeline-figures.js';
import { barOf, lengthOf, rowsOf } from '../../../src/bridges/inspector/page/timeline-rows.js';
import { CHAIN } from '../../support/inspected-chain.js';
import { inspectedTurn, summaryOf, timelineOf } from '../../support/inspector-turns.js';

/** A font in which all characters have the same width. */
const measure = (text: string): number => text.length * 7;

const anyChain: fc.Arbitrary<InspectedChain> = fc
  .array(
    fc.record({
      name: fc.string({ maxLength: 40 }),
      order: fc.integer({ min: 0, max: 9_999 }),
      place: fc.constantFrom(
        'turn' as const,
        'loop' as const,
        'iteration' as const,
        'tool' as const,
      ),
      aroundToolCalls: fc.boolean(),
    }),
    { maxLength: 30 },
  )
  .map((advisors) => ({
    ...CHAIN,
    advisors: advisors.map((each) => ({ ...each, traits: [], options: {}, warnings: [] })),
  }));

describe('drawing of a chain', () => {
  it('has a box for each advisor, the model and the tools, none over another or beyond the width', () => {
    fc.assert(
      fc.property(anyChain, fc.integer({ min: 260, max: 1_600 }), (chain, width) => {
        const { boxes, height } = drawChain(chain, width, measure);
        const keys = new Set(boxes.map(({ key }) => key));
        expect(chain.advisors.every((_, at) => keys.has(String(at)))).to.equal(true);
        expect(keys.has('model')).to.equal(true);
        for (const [at, { x, y, width: own }] of boxes.entries()) {
          expect(x).to.be.at.least(0);
          expect(x + own).to.be.at.most(width);
          expect(y + BOX_HEIGHT).to.be.below(height);
          for (const other of boxes.slice(at + 1))
            expect(
              other.x >= x + own ||
                x >= other.x + other.width ||
                Math.abs(other.y - y) >= BOX_HEIGHT,
            ).to.equal(true);
        }
      }),
    );
  });

  it('stands on one line where it has the place, and leads back from the model to the loop', () => {
    const few = { ...CHAIN, advisors: CHAIN.advisors.filter(({ order }) => order >= 4_000) };
    const { boxes, frames, loopBack } = drawChain(few, 1_400, measure);
    expect(new Set(boxes.map(({ y }) => y)).size).to.equal(1);
    expect(frames.map(({ isLoop }) => isLoop)).to.deep.equal([false, true]);
    expect(loopBack?.caption.text).to.equal('repeats while the answer asks for tools');
  });

  it('has no way back without a loop', () => {
    const advisors = CHAIN.advisors.filter(({ place }) => place !== 'loop');
    expect(drawChain({ ...CHAIN, advisors }, 800, measure)).not.to.have.property('loopBack');
  });
});

describe('filter of the list of turns', () => {
  const turns = Array.from({ length: 20 }, (_, at) =>
    summaryOf(inspectedTurn({ id: `t${at}`, duration: at * 100, cost: (20 - at) / 100 })),
  );
  const passed = (...kinds: readonly ('failed' | 'slow' | 'costly' | 'running')[]) =>
    turns.filter(matches({ ...NO_FILTER, kinds: new Set(kinds) }, turns)).map(({ id }) => id);

  it('finds the upper tenth by duration and cost', () => {
    expect(passed('slow')).to.deep.equal(['t18', 't19']);
    expect(passed('costly')).to.deep.equal(['t0', 't1']);
    expect(passed('slow', 'costly')).to.deep.equal([]);
    expect(passed()).to.have.lengthOf(20);
  });

  it('counts tokens where prices are unknown, and finds none without either', () => {
    const { cost: _, usage: _usage, ...free } = turns[0] ?? summaryOf(inspectedTurn());
    const test = matches({ ...NO_FILTER, kinds: new Set(['costly']) }, [free]);
    expect(test(free)).to.equal(false);
  });

  it('finds all words, in any of the texts, in any case', () => {
    const test = matches({ ...NO_FILTER, text: ' ANNA  rome ' }, turns);
    expect(turns.every(test)).to.equal(true);
    expect(turns.some(matches({ ...NO_FILTER, text: 'anna paris' }, turns))).to.equal(false);
  });
});

describe('rows of a timeline', () => {
  const entry = (id: number, parent?: number): TimelineEntry => ({
    id,
    ...(parent !== undefined && { parent }),
    kind: 'advisor',
    name: `${id}`,
    start: id,
    end: id + 1,
  });
  const shown = (entries: readonly TimelineEntry[]) =>
    rowsOf(entries, () => true).map(({ entry: { id }, depth }) => [id, depth]);

  it('has parts below their entry, and a part of a dropped entry at the top', () => {
    expect(shown([entry(1), entry(3, 1), entry(2, 9), entry(4, 3)])).to.deep.equal([
      [1, 0],
      [3, 1],
      [4, 2],
      [2, 0],
    ]);
  });

  it('shows each entry once, in any nesting of a file', () => {
    expect(shown([entry(1), entry(1), entry(2, 1)])).to.deep.equal([[1, 0], [2, 1]]); // prettier-ignore
    const deep = Array.from({ length: 50_000 }, (_, at) =>
      entry(at, at === 0 ? undefined : at - 1),
    );
    expect(shown(deep)).to.have.lengthOf(50_000);
  });

  it('moves the parts of an advisor that is left out to the left', () => {
    const { timeline } = inspectedTurn();
    const rows = rowsOf(timeline, ({ kind }) => kind !== 'advisor');
    expect(new Set(rows.map(({ depth }) => depth))).to.deep.equal(new Set([0]));
    expect(rows[0]?.entry.kind).to.equal('model-call');
  });

  it('has bars within the axis, which lasts until now while the turn runs', () => {
    const { end: _, ...open } = entry(5);
    expect(lengthOf([open], undefined, 40)).to.equal(40);
    expect(lengthOf([entry(9)], 2, 40)).to.equal(10);
    expect(barOf(open, 10)).to.deep.equal({ left: 50, width: 50 });
    expect(barOf({ ...open, start: -5, end: 99 }, 10)).to.deep.equal({ left: 0, width: 100 });
  });

  it('has the columns of which there is a figure', () => {
    const names = (entries: readonly TimelineEntry[]) => figuresOf(entries).map(({ name }) => name);
    expect(names(timelineOf([]))).to.deep.equal([]);
    expect(names(inspectedTurn().timeline)).to.deep.equal(['First token', 'Tokens', 'Cached']);
    expect(names([{ ...entry(1), cost: 0.2 }])).to.deep.equal(['Cost']);
  });
});

describe('figures of the page', () => {
  it('are short', () => {
    const times = [-1, 0.25, 340.4, 999.6, 2_310, 59_999, 64_000].map(duration);
    expect(times.join(', ')).to.equal(
      '0 ms, 0.3 ms, 340 ms, 1.00 s, 2.31 s, 1 min 00 s, 1 min 04 s',
    );
    expect([950, 1_234, 12_345, 4_560_000].map(count).join()).to.equal('950,1.23k,12.3k,4.56M');
    expect([0, 0.000943, 0.25, 12.5].map(cost).join()).to.equal('0,0.00094,0.2500,12.50');
  });

  it('give the size of media by its base64, or by the count of its bytes', () => {
    expect(mediaSize('a'.repeat(8_000))).to.equal('6 kB');
    expect(mediaSize('[1048576 bytes]')).to.equal('1.0 MB');
  });
});
