import { expect } from 'chai';
import fc from 'fast-check';
import { SseDecoder } from '../../../src/models/http/sse-decoder.js';
import { fuzz } from '../../support/fuzz.js';

type Decoded = readonly (readonly [data: string, event: string])[];

function decode(...parts: readonly (string | Uint8Array)[]): Decoded {
  const events: [string, string][] = [];
  const decoder = new SseDecoder((data, event) => events.push([data, event]));
  const text = new TextDecoder();
  for (const part of parts)
    decoder.push(typeof part === 'string' ? part : text.decode(part, { stream: true }));
  decoder.end();
  return events;
}

function dataOf(...parts: readonly (string | Uint8Array)[]): readonly string[] {
  return decode(...parts).map(([data]) => data);
}

describe('SseDecoder', () => {
  // the examples and rules of WHATWG HTML, section 9.2.6
  const rules: readonly (readonly [title: string, text: string, events: Decoded])[] = [
    [
      'joins data lines with a line feed',
      'data: YHOO\ndata: +2\ndata: 10\n\n',
      [['YHOO\n+2\n10', '']],
    ],
    ['ignores comments, ids and retry', ': test stream\n\ndata: first\nid: 1\n\nretry: 5\ndata:second\n\n', [['first', ''], ['second', '']]], // prettier-ignore
    ['removes one space after the colon only', 'data:test\n\ndata: test\n\ndata:  test\n\n', [['test', ''], ['test', ''], [' test', '']]], // prettier-ignore
    [
      'reads a field without a colon as empty',
      'data\n\ndata\ndata\n\ndata:\n\n',
      [
        ['', ''],
        ['\n', ''],
        ['', ''],
      ],
    ],
    [
      'names an event',
      'event: error\ndata: x\n\ndata: y\n\n',
      [
        ['x', 'error'],
        ['y', ''],
      ],
    ],
    ['drops the name of an event without data', 'event: error\n\ndata: y\n\n', [['y', '']]],
    ['resets the name by an empty event field', 'event: error\nevent\ndata: y\n\n', [['y', '']]],
    [
      'ignores unknown fields and longer names',
      'datax: a\ndat: b\neventful: c\ndata: d\n\n',
      [['d', '']],
    ],
    ['emits an event that lacks its blank line', 'data: x\n\ndata: last', [['x', ''], ['last', '']]], // prettier-ignore
    ['emits nothing for blank lines', '\n\n\n', []],
    ['keeps colons of the value', 'data: a:b: c\n\n', [['a:b: c', '']]],
  ];
  for (const [title, text, events] of rules) {
    it(title, () => {
      expect(decode(text)).to.deep.equal(events);
    });
    it(`${title}, with CR and with CR LF, one byte at a time`, () => {
      for (const end of ['\r', '\r\n']) {
        const bytes = new TextEncoder().encode(text.replaceAll('\n', end));
        expect(decode(...Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)))).to.deep.equal(
          events,
        );
      }
    });
  }

  it('emits an event as soon as its blank line arrives, even if that is a CR', () => {
    const events: string[] = [];
    const decoder = new SseDecoder((data) => events.push(data));

    decoder.push('data: x\r\r');

    expect(events).to.deep.equal(['x']);
  });

  it('takes CR LF as one line end, with an empty text in between', () => {
    expect(decode('data: a\r', '', '\ndata: b\r', '', '\n\r\n')).to.deep.equal([['a\nb', '']]);
  });

  it('keeps a line feed at the start of a chunk that does not follow a CR', () => {
    expect(dataOf('data: a\r', 'data: b', '\ndata: c\n\n')).to.deep.equal(['a\nb\nc']);
  });

  it('measures the name, the data and the unfinished line of an event, until it is emitted', () => {
    const decoder = new SseDecoder(() => {});
    const lengths = ['', 'event: error\n', 'data: abcd\n', 'data: 12', '\n', '\n'].map((text) => {
      decoder.push(text);
      return decoder.length;
    });

    expect(lengths).to.deep.equal([0, 5, 9, 17, 12, 0]);
  });

  it('begins again after the end', () => {
    const events: string[] = [];
    const decoder = new SseDecoder((data) => events.push(data));

    decoder.push('data: a');
    decoder.end();
    decoder.push('data: b');
    decoder.end();

    expect(events).to.deep.equal(['a', 'b']);
  });

  it('[F55] emits the same events wherever the bytes are split', () => {
    const text = fc.constantFrom(
      'data: {"a":"äöü €😀"}',
      'data:',
      'event: x',
      ': ping',
      '',
      'data: [DONE]',
      'id: 7',
    );
    const end = fc.constantFrom('\n', '\r', '\r\n');
    const stream = fc
      .array(fc.tuple(text, end), { maxLength: 20 })
      .map((lines) => lines.flat().join(''));
    fc.assert(
      fc.property(stream, fc.array(fc.nat(), { maxLength: 12 }), (whole, cuts) => {
        const bytes = new TextEncoder().encode(whole);
        const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort(
          (a, b) => a - b,
        );
        const parts = places.slice(1).map((place, at) => bytes.subarray(places[at], place));
        expect(decode(...parts)).to.deep.equal(decode(whole));
      }),
      fuzz('sse-decoder', 6_000),
    );
  });

  it('takes linear time for a long line', function () {
    this.timeout(20_000);
    /** Milliseconds of the processor, which other processes do not lengthen. */
    const time = (megabytes: number): number => {
      const part = new TextEncoder().encode('x'.repeat(1 << 10));
      const start = process.cpuUsage();
      const [data] = dataOf(
        'data: ',
        ...Array.from({ length: megabytes << 10 }, () => part),
        '\n\n',
      );
      expect(data).to.have.length(megabytes << 20);
      return process.cpuUsage(start).user / 1_000;
    };
    time(1);

    // 8 times the length takes 64 times as long in a quadratic decoder
    expect(time(8)).to.be.below(20 * Math.max(time(1), 5));
  });
});
