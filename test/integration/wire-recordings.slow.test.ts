import { expect } from 'chai';
import fc from 'fast-check';
import { AdvisorChainError, Prompt, type ChatResponse } from '../../src/index.js';
import { loadCassettes, type RecordedResponse } from '../support/cassettes.js';
import { CHAT_WIRES, type ChatWire } from '../support/chat-wires.js';
import { answering } from '../support/in-process-fetch.js';
import { bodyText } from '../support/playback-server.js';
import { streamFrom } from '../support/wire-answers.js';
import { inFull } from '../support/sweep.js';

/** Number of random places at which a stream is cut, besides the end of each event. */
const RANDOM_CUTS = inFull(200, 50);
const PROMPT = new Prompt('hi');

/** Parts of an answer that its reader sees. */
const essence = ({ text, message, finishReason }: ChatResponse): unknown => ({
  text,
  finishReason,
  reasoning: message.reasoning,
  calls: message.toolCalls,
});

async function outcomeOf(wire: ChatWire, body: Uint8Array): Promise<ChatResponse | Error> {
  const model = wire.make('http://127.0.0.1:9', { fetch: answering([body], wire.streamType) });
  try {
    return (await streamFrom(model, PROMPT)).response;
  } catch (error) {
    return error as Error;
  }
}

/** Places where an event ends, and random ones. */
function placesIn(body: Uint8Array, separator: string, numRuns: number): ReadonlySet<number> {
  const text = Buffer.from(body).toString('latin1');
  const places = new Set<number>([0]);
  for (let at = text.indexOf(separator); at >= 0; at = text.indexOf(separator, at + 1))
    places.add(at + separator.length);
  const random = fc.sample(fc.nat(body.length - 1), { numRuns, seed: body.length });
  for (const place of random) places.add(place);
  places.delete(body.length);
  return places;
}

for (const wire of CHAT_WIRES)
  describe(`recorded streams of ${wire.name ?? wire.api}`, function () {
    this.timeout(300_000);

    // a package of another project is slow: the other bytes are cut in the tests of its model
    const randomCuts = wire.exceptions ? 0 : RANDOM_CUTS;

    it(`give the answer or an error of ours, cut at each event and at ${randomCuts} random bytes`, async function () {
      const streams = loadCassettes(this, wire.api).flatMap(({ id, interactions }) =>
        interactions
          .map(({ response }, at) => ({ name: `${id}#${at}`, response }))
          .filter(({ response }) => isStream(response)),
      );
      const wrong: string[] = [];
      const shortened = new Set<string>();
      let cuts = 0;
      for (const { name, response } of streams) {
        const body = Buffer.from(bodyText(response));
        const whole = await outcomeOf(wire, body);
        if (whole instanceof Error) continue; // recorded failures have tests of their own
        const expected = JSON.stringify(essence(whole));
        for (const place of placesIn(body, response.ndjson ? '\n' : '\n\n', randomCuts)) {
          cuts++;
          const outcome = await outcomeOf(wire, body.subarray(0, place));
          const isRight =
            outcome instanceof Error
              ? outcome instanceof AdvisorChainError
              : JSON.stringify(essence(outcome)) === expected;
          if (isRight) continue;
          if (wire.exceptions?.shortened.includes(name)) shortened.add(name);
          else
            wrong.push(
              `${name} at ${place} of ${body.length}: ${outcome instanceof Error ? String(outcome) : outcome.text}`,
            );
        }
      }

      console.log(`      ${streams.length} streams, cut at ${cuts} places`);
      expect(wrong.slice(0, 10)).to.deep.equal([]);
      expect([...shortened]).to.deep.equal(wire.exceptions?.shortened ?? []);
      expect(cuts).to.be.above(0);
    });
  });

function isStream({ status, sse, ndjson }: RecordedResponse): boolean {
  return status === 200 && (sse !== undefined || ndjson !== undefined);
}
