import { expect } from 'chai';
import { JsonError } from '../../../src/core/errors/errors.js';
import { parseRepairedJson } from '../../../src/core/internal/repair-json.js';
import { cpuTime } from '../../support/cpu-time.js';

describe('parseRepairedJson', () => {
  for (const [text, value] of [
    ['{"a":[1,2]}', { a: [1, 2] }],
    ['{"a":[1,2,],\n}', { a: [1, 2] }],
    ['{"a":"one\ntwo\tthree"}', { a: 'one\ntwo\tthree' }],
    ['{"a":True,"b":False,"c":None}', { a: true, b: false, c: null }],
    ['{"a":"True, ]",}', { a: 'True, ]' }],
    ['{"a":"\\"True,}",}', { a: '"True,}' }],
  ] as const)
    it(`reads ${JSON.stringify(text)}`, () => {
      expect(parseRepairedJson(text)).to.deep.equal(value);
    });

  for (const text of ['{', "{'a':1}", '{"a":1,,}', '{"a":1,"a":2}', '{"a":1,"a":2,}', '{"a', ''])
    it(`rejects ${JSON.stringify(text)}`, () => {
      expect(() => parseRepairedJson(text)).to.throw(JsonError);
    });

  it('takes linear time', () => {
    const spent = cpuTime();

    for (const text of [',', ', ', '"', '" ', '\\', '{', 'None ', ',]'])
      expect(() => parseRepairedJson(text.repeat(200_000))).to.throw(JsonError);

    expect(spent()).to.be.below(5_000);
  });
});
