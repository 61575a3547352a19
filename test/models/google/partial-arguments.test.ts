import { expect } from 'chai';
import { ModelCallError } from '../../../src/index.js';
import { PartialArguments } from '../../../src/models/google/partial-arguments.js';

function textOf(pieces: readonly unknown[]): string {
  const partial = new PartialArguments();
  for (const piece of pieces) partial.add([piece]);
  return partial.toText();
}

describe('PartialArguments', () => {
  it('assembles values at their paths', () => {
    const text = textOf([
      { jsonPath: '$.city', stringValue: 'New ', willContinue: true },
      { jsonPath: '$.city', stringValue: 'York' },
      { jsonPath: '$.days[0].count', numberValue: 2 },
      { jsonPath: '$.days[1].dry', boolValue: false },
      { json_path: "$['a.b']['it\\'s']", string_value: 'c' },
      { jsonPath: '$["d"]', nullValue: 'NULL_VALUE' },
      { jsonPath: '$.city' },
      'noise',
    ]);

    expect(JSON.parse(text)).to.deep.equal({
      city: 'New York',
      days: [{ count: 2 }, { dry: false }],
      'a.b': { "it's": 'c' },
      d: null,
    });
  });

  it('takes names of the prototype as names', () => {
    const text = textOf([{ jsonPath: '$.__proto__.polluted', boolValue: true }]);

    expect(text).to.equal('{"__proto__":{"polluted":true}}');
    expect({}).to.not.have.property('polluted');
  });

  const impossible: readonly (readonly [title: string, paths: readonly unknown[]])[] = [
    ['a gap in an array', ['$.a[1000000000]']],
    ['a name in an array', ['$.a[0]', '$.a.b']],
    ['a value below a text', ['$.a', '$.a.b']],
    ['an index of an object', ['$[0]']],
    ['no path', ['$']],
    ['another value as path', [{ toString: [] }]],
    ['a query', ['$..a']],
    ['a wildcard', ['$[*]']],
    ['too many steps', [`$${'.a'.repeat(101)}`]],
  ];
  for (const [title, paths] of impossible)
    it(`rejects ${title}`, () => {
      const pieces = paths.map((jsonPath) => ({ jsonPath, stringValue: 'x' }));

      expect(() => textOf(pieces)).to.throw(ModelCallError, 'impossible path');
    });
});
