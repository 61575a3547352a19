import { expect } from 'chai';
import fc from 'fast-check';
import { decodeEntry, encodeEvent } from '../../../src/bridges/turn-log/event-codec.js';
import type { ChatEvent } from '../../../src/index.js';
import { FORMATS, framesOf, turnEvents } from '../../support/turn-events.js';

function logged(events: readonly ChatEvent[]): readonly string[] {
  return events.map((event) => encodeEvent(event, false)).filter((entry) => entry !== undefined);
}

describe('the entries of a logged turn', () => {
  for (const [name, format] of Object.entries(FORMATS))
    it(`give the frames of the live events as ${name}`, () => {
      fc.assert(
        fc.property(turnEvents, (events) => {
          const decoded = logged(events).map((entry) => decodeEntry(entry) as ChatEvent);

          expect(framesOf(format, decoded).join('')).to.equal(framesOf(format, events).join(''));
        }),
        { numRuns: 300 },
      );
    });

  it('have no values and errors of tools, contexts, and fields of providers', () => {
    fc.assert(
      fc.property(turnEvents, (events) => {
        const text = logged(events).join('\n');

        expect(text).not.to.include('secret');
      }),
      { numRuns: 300 },
    );
  });

  it('are decoded and encoded to the same entries', () => {
    fc.assert(
      fc.property(turnEvents, (events) => {
        const entries = logged(events);
        const again = logged(entries.map((entry) => decodeEntry(entry) as ChatEvent));

        expect(again).to.deep.equal(entries);
      }),
      { numRuns: 300 },
    );
  });
});
