import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import { jsonData } from '../../../src/core/internal/json-data.js';
import {
  canonicalJson,
  countSeparators,
  hasMoreValues,
  jsonKey,
  parseJson,
  parseWritten,
  type JsonValue,
} from '../../../src/core/internal/json.js';
import { JsonError } from '../../../src/core/errors/errors.js';
import { sweep } from '../../support/sweep.js';
import { fuzz } from '../../support/fuzz.js';

/** Values as they come out of JSON: no -0, plain prototypes. */
const anyValue = fc.jsonValue({ maxDepth: 4 }).map((value) => plain(value as JsonValue));

function plain(value: JsonValue): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}

const parsed = (text: string): { readonly value: unknown } | 'refused' => {
  try {
    return { value: parseJson(text) };
  } catch (error) {
    expect(error).to.be.instanceOf(JsonError);
    return 'refused';
  }
};

function reversed(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, reversed(inner as JsonValue)]),
  );
}

describe('parseJson', () => {
  it('parses like JSON.parse, except for rejected keys', () => {
    const property = fc.property(anyValue, fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);

      const result = parsed(text);

      if (/"(?:__proto__|prototype)"\s*:/.test(text)) return;
      expect(result).to.deep.equal({ value });
    });

    fc.assert(property, { numRuns: sweep(5_000) });
  });

  it('[F15] returns a value or throws a JsonError for any text', () => {
    const broken = fc
      .tuple(anyValue, fc.nat(), fc.string({ maxLength: 3 }))
      .map(([value, at, noise]) => {
        const text = JSON.stringify(value);
        const place = at % (text.length + 1);
        return text.slice(0, place) + noise + text.slice(place + 1);
      });

    fc.assert(
      fc.property(fc.oneof(broken, fc.string()), (text) => void parsed(text)),
      fuzz('json', 10_000),
    );
  });

  it('has the reason and the cause', () => {
    expect(() => parseJson('{"a":}'))
      .to.throw(JsonError, 'not valid JSON: ')
      .with.property('cause')
      .instanceOf(SyntaxError);
  });

  for (const text of [
    '{"a":1,"a":2}',
    '{"a":1,"\\u0061":2}',
    '[{"x":{"a":1,"b":{},"a":2}}]',
    '{"a":[1],"a":2}',
    '{"":1,"":2}',
    '{ "a" :1 , "a"\n:2}',
  ]) {
    it(`[F16] rejects the duplicate key in ${JSON.stringify(text)}`, () => {
      expect(() => parseJson(text)).to.throw(JsonError, 'is given twice');
    });
  }

  for (const text of [
    '[{"a":1},{"a":2}]',
    '{"a":{"a":{"a":1}}}',
    '{"a":"\\"a\\":1","b":["a","a"]}',
    '{"a":"{\\"b\\":1,\\"b\\":2}"}',
    '[["a","a"]]',
  ]) {
    it(`accepts ${text} without duplicate keys in one object`, () => {
      expect(parseJson(text)).to.deep.equal(JSON.parse(text));
    });
  }

  const polluting = [
    '{"__proto__":{"polluted":1}}',
    '{"a":[{"__proto__":{"polluted":1}}]}',
    '{"\\u005f_proto__":{"polluted":1}}',
    '{"constructor":{"prototype":{"polluted":1}}}',
    '[{"a":{"constructor" : { "x":1, "prototype":{"polluted":1}}}}]',
  ];
  for (const text of polluting) {
    it(`[F17] rejects ${text}`, () => {
      expect(() => parseJson(text)).to.throw(JsonError, 'is not accepted here');
      expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
    });
  }

  for (const text of [
    '{"prototype":1}',
    '{"constructor":"x"}',
    '{"constructor":{"a":{"prototype":1}}}',
    '{"constructor":1,"a":{"prototype":1}}',
  ]) {
    it(`accepts ${text}, which cannot reach a prototype`, () => {
      expect(parseJson(text)).to.deep.equal(JSON.parse(text));
    });
  }

  it('[F70] rejects nesting deeper than 200, however deep', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

    expect(parsed(nested(200))).not.to.equal('refused');
    expect(parsed(nested(201))).to.equal('refused');
    expect(parsed(`[${Array(300).fill('[],{}').join()}]`)).not.to.equal('refused');
    expect(parsed(nested(sweep(1_000_000)))).to.equal('refused');
  });
});

/** Few values, so that two of them are often equal. */
const { smallValue } = fc.letrec<{ smallValue: JsonValue }>((tie) => ({
  smallValue: fc.oneof(
    { maxDepth: 2 },
    fc.constantFrom(null, true, 0, 1, '1', 'a'),
    fc.array(tie('smallValue'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('a', 'b'), tie('smallValue')),
  ),
}));

describe('parseWritten', () => {
  for (const text of [
    '9007199254740993',
    '[-9007199254740992]',
    '{"id": 123456789012345678901234}',
  ])
    it(`[D100] refuses ${text}, whose digits a number would change`, () => {
      expect(() => parseWritten(text)).to.throw(JsonError, 'is too large for a number');
    });

  it('[D100] accepts safe integers, other numbers, and digits in texts', () => {
    const text =
      '[9007199254740991, 6.022e23, 0.12345678901234567890, "9007199254740993", "\\"1234567890123456789"]';

    expect(parseWritten(text)).to.deep.equal(JSON.parse(text));
  });

  it('[D100] does not change what a store has written', () => {
    expect(parseJson(JSON.stringify({ size: 2 ** 60 }))).to.deep.equal({ size: 2 ** 60 });
  });
});

describe('canonicalJson', () => {
  it('is equal for equal values only', () => {
    const property = fc.property(
      fc.oneof(fc.tuple(anyValue, anyValue), fc.tuple(smallValue, smallValue)),
      ([a, b]) => {
        expect(canonicalJson(a) === canonicalJson(b)).to.equal(
          isDeepStrictEqual(plain(a), plain(b)),
        );
      },
    );

    fc.assert(property, { numRuns: sweep(10_000) });
  });

  it('does not depend on the order of keys', () => {
    const property = fc.property(anyValue, (value) => {
      expect(canonicalJson(reversed(value))).to.equal(canonicalJson(value));
    });

    fc.assert(property, { numRuns: sweep(2_000) });
  });

  it('is JSON of the same value', () => {
    const property = fc.property(anyValue, (value) => {
      expect(JSON.parse(canonicalJson(value))).to.deep.equal(value);
    });

    fc.assert(property, { numRuns: sweep(2_000) });
  });
});

describe('hasMoreValues', () => {
  const countOf = (value: JsonValue): number => {
    if (typeof value !== 'object' || value === null) return 1;
    const items = Object.values(value) as readonly JsonValue[];
    // an empty list or object counts as two
    return items.length === 0 ? 2 : items.reduce<number>((sum, item) => sum + countOf(item), 1);
  };

  it('counts the values of any JSON, whatever its texts are', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const text = JSON.stringify(value);
        const count = countOf(value);
        expect(hasMoreValues(text, count), text).to.equal(false);
        expect(hasMoreValues(text, count - 1), text).to.equal(true);
      }),
      { numRuns: sweep(5_000) },
    );
  });

  it('ends for a text that is not JSON', () => {
    for (const text of ['"', '["\\', '"\\"', '{"a":"'.repeat(10)])
      expect(hasMoreValues(text, 0)).to.be.a('boolean');
  });
});

describe('countSeparators', () => {
  it('counts commas and opening brackets, also in strings', () => {
    expect(countSeparators('')).to.equal(0);
    expect(countSeparators('12" and {"a":[1,"b,c"]}')).to.equal(4);
  });
});

describe('jsonKey', () => {
  it('is equal for equal JSON', () => {
    expect(jsonKey('{"a":1, "b":[2]}')).to.equal(jsonKey('{"b":[2],"a":1}'));
    expect(jsonKey('[1,2]')).to.not.equal(jsonKey('[2,1]'));
  });

  it('is the text itself for JSON that is long or has many values', () => {
    for (const text of [`{ "a": "${'x'.repeat(1_000_000)}" }`, `[ ${'1,'.repeat(60_000)}1]`])
      expect(jsonKey(text)).to.equal(text);
  });
});

describe('jsonData', () => {
  it('copies what JSON can hold, without fields that are undefined', () => {
    const value = { a: [1, null, 'x', { b: true }], c: undefined };

    expect(jsonData(value)).to.deep.equal({ a: [1, null, 'x', { b: true }] });
    expect(jsonData(Object.assign(Object.create(null) as object, { a: 1 }))).to.deep.equal({
      a: 1,
    });
  });

  it('is undefined for everything that JSON would change', () => {
    const cyclic: { self?: unknown } = {};
    cyclic.self = cyclic;
    class Own {}
    const others = [
      NaN,
      Infinity,
      1n,
      () => 1,
      Symbol('a'),
      new Date(),
      new Map(),
      new Own(),
      cyclic,
    ];
    for (const value of [undefined, ...others]) {
      expect(jsonData(value)).to.equal(undefined);
      expect(jsonData([value])).to.equal(undefined);
      if (value !== undefined) expect(jsonData({ value })).to.equal(undefined);
    }
  });

  it('equals what JSON restores, for any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const data = jsonData(value);
        return isDeepStrictEqual(
          JSON.parse(JSON.stringify(data)),
          JSON.parse(JSON.stringify(value)),
        );
      }),
    );
  });
});
