import { expect } from 'chai';
import { truncateText } from '../../../src/core/internal/text.js';
import { resultText, truncateContent } from '../../../src/core/tool/result-text.js';

class Point {
  #secret = 1;
  constructor(
    readonly x: number,
    readonly y: number,
  ) {}
  get sum(): number {
    return this.x + this.y + this.#secret;
  }
}

const throwing = (): never => {
  throw new Error('canary');
};
const cyclic: Record<string, unknown> = { name: 'loop' };
cyclic['self'] = cyclic;
const shared = { a: 1 };

const opaque = (type: string): string =>
  `"[${type}: JSON cannot express it; the tool must return what it contains]"`;
const form = new FormData();
form.set('a', '1');
form.set('b', new Blob(['hi']), 'b.txt');
function* generator() {
  yield 1;
}

describe('resultText', () => {
  const instances: Readonly<Record<string, readonly [value: unknown, text: string]>> = {
    'a response': [new Response('{"rows": 3}'), opaque('Response')],
    'a request': [new Request('https://example.com'), opaque('Request')],
    'a blob': [new Blob(['hi']), opaque('Blob')],
    'a stream': [new Blob(['hi']).stream(), opaque('ReadableStream')],
    headers: [new Headers({ a: '1' }), '[["a","1"]]'],
    'a form': [form, `[["a","1"],["b",${opaque('File')}]]`],
    'the parameters of an address': [new URLSearchParams('a=1'), '"a=1"'],
    'a pattern': [/x/i, '"/x/i"'],
    'an iterator': [[1, 2].values(), opaque('Array Iterator')],
    'a generator': [generator(), opaque('Generator')],
    'a promise': [{ data: Promise.resolve(1) }, `{"data":${opaque('Promise')}}`],
    'a weak map': [new WeakMap(), opaque('WeakMap')],
  };
  for (const [what, [value, text]] of Object.entries(instances))
    it(`[D108] writes ${what}`, () => {
      expect(resultText(value)).to.equal(text);
    });

  it('[D101] reads no more of a list than the limit, whatever its length', () => {
    const rows: string[] = [];
    rows[4_000_000_000] = 'row by id';

    const text = resultText({ rows });

    expect(text.length).to.be.below(8_000_000);
    expect(text).to.include('too large');
  });

  const cases: Readonly<Record<string, readonly [value: unknown, text: string]>> = {
    'a text': ['It is "sunny".\n', 'It is "sunny".\n'],
    'an empty text': ['', ''],
    'a text that is JSON': ['{"a":1}', '{"a":1}'],
    nothing: [undefined, 'Done'],
    null: [null, 'null'],
    'a number': [4.5, '4.5'],
    'a number that JSON lacks': [Number.NaN, '"NaN"'],
    'an infinite number': [-Infinity, '"-Infinity"'],
    'a truth value': [false, 'false'],
    'a big integer': [12345678901234567890n, '"12345678901234567890"'],
    'a symbol': [Symbol('s'), '"Symbol(s)"'],
    'a function': [throwing, opaque('function throwing')],
    'a function without a name': [
      (
        () => () =>
          1
      )(),
      opaque('function anonymous'),
    ],
    'an object': [
      { a: 1, b: [true, null], c: { d: 'x' } },
      '{"a":1,"b":[true,null],"c":{"d":"x"}}',
    ],
    'an empty object': [{}, '{}'],
    'an empty array': [[], '[]'],
    'undefined fields, which are left out': [{ a: undefined, b: 1 }, '{"b":1}'],
    'undefined items, which are null': [[undefined, 1], '[null,1]'],
    'holes in an array': [Object.assign(Array.from({ length: 0 }), { 0: 1, 2: 3 }), '[1,null,3]'],
    'odd values inside': [
      { n: 1n, f: throwing, s: Symbol.iterator, x: Number.NaN },
      '{"n":"1","f":"[function throwing]","s":"Symbol(Symbol.iterator)","x":"NaN"}',
    ],
    'a date': [new Date(0), '"1970-01-01T00:00:00.000Z"'],
    'an invalid date': [new Date(Number.NaN), 'null'],
    'an address': [new URL('https://example.com/a?b'), '"https://example.com/a?b"'],
    'an error': [new TypeError('bad'), '{"name":"TypeError","message":"bad"}'],
    'a map': [
      new Map<unknown, unknown>([
        ['a', 1],
        [{ k: 2 }, new Set([3])],
      ]),
      '[["a",1],[{"k":2},[3]]]',
    ],
    'a set': [new Set(['a']), '["a"]'],
    bytes: [new Uint8Array(7), '"[7 bytes]"'],
    'a buffer of Node': [Buffer.from('secret'), '"[6 bytes]"'],
    'a buffer': [new ArrayBuffer(3), '"[3 bytes]"'],
    'wrapped primitives': [[Object('s'), Object(1), Object(true), Object(1n)], '["s",1,true,"1"]'],
    'an instance of a class': [new Point(1, 2), '{"x":1,"y":2}'],
    'an object without a prototype': [
      Object.assign(Object.create(null) as object, { a: 1 }),
      '{"a":1}',
    ],
    'a key that names a prototype': [JSON.parse('{"__proto__":{"a":1}}'), '{"__proto__":{"a":1}}'],
    'a cycle': [cyclic, '{"name":"loop","self":"[circular]"}'],
    'one object in two places': [[shared, shared], '[{"a":1},{"a":1}]'],
    'a getter that throws': [
      Object.defineProperty({ b: 1 }, 'a', { enumerable: true, get: throwing }),
      '{"b":1,"a":"[unreadable]"}',
    ],
    'a toJSON': [{ a: { toJSON: () => ({ b: 1n }) } }, '{"a":{"b":"1"}}'],
    'a toJSON that throws': [{ a: { toJSON: throwing } }, '{"a":"[unreadable]"}'],
    'a toJSON that gives nothing': [{ toJSON: () => undefined }, 'Done'],
    'a toJSON that gives the object itself': [
      (() => {
        const self = { a: 1, toJSON: () => self as unknown };
        return self;
      })(),
      '{"a":1,"toJSON":"[function toJSON]"}',
    ],
    'a proxy that throws at everything': [
      {
        a: new Proxy(
          {},
          { get: throwing, ownKeys: throwing, getPrototypeOf: throwing, has: throwing },
        ),
      },
      '{"a":"[unreadable]"}',
    ],
    'a revoked proxy': [
      (() => {
        const { proxy, revoke } = Proxy.revocable({}, {});
        revoke();
        return proxy;
      })(),
      '"[unreadable]"',
    ],
    'an instance without fields': [new (class Cursor {})(), opaque('Cursor')],
  };
  for (const [what, [value, text]] of Object.entries(cases)) {
    it(`[F33] writes ${what}`, () => {
      expect(resultText(value)).to.equal(text);
    });
  }

  it('[F33] writes the outer levels of deeply nested values', () => {
    let deep: unknown = 'bottom';
    for (let level = 0; level < 100_000; level++) deep = { deep };

    const text = resultText(deep);

    expect(text).to.include('[too deep]').and.not.include('bottom');
    expect(text.length).to.be.below(1_000);
  });

  it('[F33] terminates for an infinite object', function () {
    this.timeout(60_000);
    const endless = (): object => ({ toJSON: () => [endless(), endless()] });
    const text = resultText(endless());

    expect(text).to.include('[too large: ');
  });

  it('[F33] terminates for a graph with exponentially many paths', function () {
    this.timeout(60_000);
    let graph: object = {};
    for (let level = 0; level < 60; level++) graph = { left: graph, right: graph };

    expect(resultText(graph)).to.include('[too large: ');
  });
});

describe('truncateText', () => {
  it('[F32] keeps a short text', () => {
    expect(truncateText('12345', 5)).to.equal('12345');
  });

  it('[F32] [D13] keeps the beginning and the end of a text, with a note between them', () => {
    expect(truncateText('1234567890', 6)).to.equal('1234\n[4 of 10 characters cut]\n90');
    expect(truncateText('1234567890', 1)).to.equal('1\n[9 of 10 characters cut]');
  });

  it('[D13] keeps the error at the end of a long output', () => {
    const output = `$ make\n${'compiling\n'.repeat(20_000)}error: no rule\nexit code 2`;

    expect(truncateText(output, 1_000)).to.match(/^\$ make\n.*error: no rule\nexit code 2$/s);
  });

  it('[F32] never splits a surrogate pair', () => {
    const text = '😀😀😀';
    const cut = [1, 2, 3, 4, 5].map((length) => truncateText(text, length).split(/\n.*cut\]\n?/));

    expect(cut).to.deep.equal([
      ['[6 of 6 characters cut]'],
      ['😀', ''],
      ['😀', ''],
      ['😀', ''],
      ['😀😀', ''],
    ]);
    expect(truncateText(text, 0)).to.equal('[6 of 6 characters cut]');
  });

  it('[F32] handles the first and the last surrogate pair', () => {
    for (const character of ['\u{10000}', '\u{10ffff}', '\u{d7ff}', '\u{e000}']) {
      const text = truncateText(`${character}abc${character}`, 3);
      expect(text).to.equal(
        character.length === 2
          ? `${character}\n[5 of 7 characters cut]`
          : `${character}a\n[2 of 5 characters cut]\n${character}`,
      );
    }
  });

  it('[F32] truncates 64 MB', () => {
    expect(truncateText('x'.repeat(64 * 1024 * 1024), 1000)).to.equal(
      `${'x'.repeat(667)}\n[67107864 of 67108864 characters cut]\n${'x'.repeat(333)}`,
    );
  });
});

describe('truncateContent', () => {
  it('[F32] truncates the text of all parts together and keeps media', () => {
    const image = { type: 'image', url: 'https://example.com/a.png' } as const;
    const part = (text: string) => ({ type: 'text', text }) as const;

    expect(truncateContent([part('1234'), image, part('567890'), part('more')], 6)).to.deep.equal([
      part('1234'),
      image,
      part('[6 of 14 characters cut]'),
      part('[2 of 14 characters cut]\nre'),
    ]);
  });
});
