import type { JsonObject } from '../../../src/core/internal/options.js';
import { expectLinearTime } from '../../support/linear-time.js';
import { GenerateContentFold } from '../../../src/models/google/generate-content-fold.js';

type Fields = (at: number) => JsonObject;

const called = (functionCall: JsonObject): JsonObject => ({ functionCall });
const piece = (jsonPath: string): JsonObject =>
  called({ partialArgs: [{ jsonPath, stringValue: 'x' }], willContinue: true });
const whenFirst = (at: number, other: JsonObject): JsonObject =>
  at === 0 ? called({ name: 'f', willContinue: true }) : other;

/** Parts of which an answer has as many as the server wants. */
const PARTS: Readonly<Record<string, Fields>> = {
  texts: () => ({ text: 'x' }),
  'texts and thoughts in turn': (at) => ({ text: 'x', thought: at % 2 === 0 }),
  'signed texts': () => ({ text: 'x', thoughtSignature: 's' }),
  'parts of other kinds': () => ({ inlineData: { data: 'QUJD' } }),
  calls: () => called({ name: 'f', args: {} }),
  'calls with one id': () => called({ id: 'a', name: 'f', args: {} }),
  'calls that do not end': () => called({ name: 'f', willContinue: true }),
  'pieces of one argument': (at) => whenFirst(at, piece('$.a')),
  'pieces of a list': (at) => whenFirst(at, piece(`$.a[${at - 1}]`)),
  'pieces of many names': (at) => whenFirst(at, piece(`$.a${at}`)),
};
/** Fields of a candidate of which an answer has as many as the server wants. */
const CANDIDATES: Readonly<Record<string, Fields>> = {
  candidates: (at) => ({ index: at, content: { parts: [{ text: 'x' }] } }),
  citations: () => ({ citationMetadata: { citationSources: [{ uri: 'u' }] } }),
  'metadata with many names': (at) => ({ groundingMetadata: { [`a${at}`]: 1 }, [`b${at}`]: 1 }),
};

const COUNT = 2_000;

/** Processor time in milliseconds to fold an answer of so many events. */
function timeOf(candidate: Fields, count: number): number {
  const events = Array.from({ length: count }, (_, at) => ({ candidates: [candidate(at)] }));
  const fold = new GenerateContentFold(() => undefined);
  const { user } = process.cpuUsage();
  for (const event of events) fold.addEvent(event);
  fold.addEvent({ candidates: [{ content: {}, finishReason: 'STOP' }] });
  fold.response();
  return (process.cpuUsage().user - user) / 1_000;
}

describe('GenerateContentFold takes linear time', function () {
  this.timeout(60_000);

  const inContent = Object.entries(PARTS).map(([title, part]): readonly [string, Fields] => [
    title,
    (at) => ({ content: { parts: [part(at)] } }),
  ]);
  for (const [title, candidate] of [...inContent, ...Object.entries(CANDIDATES)])
    it(`[D53] for ${title}`, () => {
      expectLinearTime((size) => timeOf(candidate, size), COUNT);
    });
});
