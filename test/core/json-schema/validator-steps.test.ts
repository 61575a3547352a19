import { expect } from 'chai';
import type { JsonSchema } from '../../../src/core/chat/tool-definition.js';
import { jsonSchemaValidator } from '../../../src/core/json-schema/validator.js';
import { ChatClient, defineTool } from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { RUNS } from '../../support/modes.js';
import { cpuTime } from '../../support/cpu-time.js';

/** Sums and negations of numbers, as an interpreter of formulas would declare them. */
function formulas(alternatives: 'oneOf' | 'anyOf', more: JsonSchema = {}): JsonSchema {
  const part = { $ref: '#/$defs/E' };
  const operation = (op: string, ...names: readonly string[]): JsonSchema => ({
    type: 'object',
    properties: { op: { const: op }, ...Object.fromEntries(names.map((name) => [name, part])) },
    required: ['op', ...names],
    additionalProperties: false,
    ...more,
  });
  const all = [{ type: 'number' }, operation('add', 'l', 'r'), operation('mul', 'l', 'r')];
  return {
    type: 'object',
    properties: { e: part },
    required: ['e'],
    $defs: { E: { [alternatives]: [...all, operation('neg', 'l')] } },
  };
}

function negated(times: number, leaf: unknown): unknown {
  return times === 0 ? leaf : { op: 'neg', l: negated(times - 1, leaf) };
}

/** The result of a check, which must not block the process. */
function quickly<T>(check: () => T): T {
  const spent = cpuTime();
  const result = check();
  expect(spent()).to.be.lessThan(1000);
  return result;
}

describe('[D43] the check of arguments takes a limited number of steps', () => {
  for (const alternatives of ['oneOf', 'anyOf'] as const) {
    const validate = jsonSchemaValidator(formulas(alternatives));

    it(`accepts a formula of depth 90 (${alternatives})`, () => {
      const value = { e: negated(90, 1) };

      expect(quickly(() => validate(value))).to.deep.equal({ value });
    });

    it(`rejects a formula of depth 90 with a wrong leaf (${alternatives})`, () => {
      const { issues } = quickly(() => validate({ e: negated(90, 'x') })) as {
        readonly issues: readonly string[];
      };

      expect(issues).to.have.length(8);
      expect(issues[1]).to.equal('e: Instance type "object" is invalid. Expected "number".');
    });

    it(`reports what is wrong with a small formula (${alternatives})`, () => {
      const { issues } = validate({ e: { op: 'neg' } }) as { readonly issues: readonly string[] };

      expect(issues).to.include('e: Instance does not have required property "l".');
    });
  }

  it('accepts a formula of depth 90 beside a rare keyword', () => {
    const validate = jsonSchemaValidator(formulas('oneOf', { propertyNames: { minLength: 1 } }));
    const value = { e: negated(90, 1) };

    expect(quickly(() => validate(value))).to.deep.equal({ value });
  });

  it('refuses a value that takes too many steps', () => {
    const branches = Array.from({ length: 50 }, () => ({ required: ['a'] }));
    const validate = jsonSchemaValidator({ items: { items: { not: { anyOf: branches } } } });
    const row = Array.from({ length: 100 }, () => ({}));
    const values = Array.from({ length: 100 }, () => row);

    expect(validate([row])).to.have.property('value');
    expect(validate(values, { maxCheckSteps: 20_000 })).to.deep.include({
      issues: ['the arguments: are too large or too deeply nested to be checked by this schema'],
    });
  });

  it('refuses a value for which a chain of references would take too much of the stack', () => {
    const $defs: Record<string, JsonSchema> = {};
    for (let at = 0; at < 150; at++) $defs[`a${at}`] = { allOf: [{ $ref: `#/$defs/a${at + 1}` }] };
    $defs['a150'] = { type: 'array', items: { $ref: '#/$defs/a0' } };
    const validate = jsonSchemaValidator({ $ref: '#/$defs/a0', $defs });
    const nest = (depth: number): unknown => (depth === 0 ? [] : [nest(depth - 1)]);

    expect(validate(nest(1))).to.have.property('value');
    expect(validate(nest(190))).to.deep.include({
      issues: ['the arguments: are too large or too deeply nested to be checked by this schema'],
    });
  });

  it('accepts a chain through two equal references', () => {
    const both = { allOf: [{ $ref: '#/$defs/B' }, { $ref: '#/$defs/B' }] };
    const validate = jsonSchemaValidator({
      properties: { n: { $ref: '#/$defs/A' } },
      $defs: { A: both, B: { type: 'object', properties: { n: { $ref: '#/$defs/A' } } } },
    });
    const nest = (depth: number): JsonSchema => (depth === 0 ? {} : { n: nest(depth - 1) });
    const value = nest(60);

    expect(quickly(() => validate(value))).to.deep.equal({ value });
    expect(validate({ n: { n: 1 } })).to.have.property('issues');
  });

  it('compares 4,000 objects for uniqueItems', () => {
    const validate = jsonSchemaValidator({
      properties: { list: { type: 'array', uniqueItems: true } },
    });
    const list = Array.from({ length: 4000 }, (_, id) => ({ kind: 'a', tags: ['b', 'c'], id }));

    expect(quickly(() => validate({ list }))).to.deep.equal({ value: { list } });
    const twice = [...list, { id: 7, tags: ['b', 'c'], kind: 'a' }];
    expect(quickly(() => validate({ list: twice }))).to.have.property('issues');
  });

  it('accepts long lists of unique items beside a rare keyword', () => {
    const validate = jsonSchemaValidator({
      properties: { list: { uniqueItems: true } },
      propertyNames: { minLength: 1 },
    });
    const objects = Array.from({ length: 500 }, (_, id) => ({ id, kind: 'a', tag: 'b' }));
    const texts = Array.from({ length: 2000 }, (_, at) => `text ${at}`);

    for (const list of [objects, texts]) expect(validate({ list })).to.have.property('value');
  });

  it('names the items that are equal in a short list', () => {
    const validate = jsonSchemaValidator({ properties: { list: { uniqueItems: true } } });

    expect(validate({ list: [{ a: 1 }, { a: 2 }, { a: 1 }] })).to.deep.equal({
      issues: ['list: Duplicate items at indexes 0 and 2.'],
    });
  });

  it('accepts a result that contains itself', () => {
    const value: Record<string, unknown> = { size: 1 };
    value['self'] = value;
    const validate = jsonSchemaValidator({ properties: { size: { multipleOf: 1 } } });

    expect(validate(value)).to.have.property('value', value);
  });

  it('[D43] finds equal items of a long list without objects', () => {
    const validate = jsonSchemaValidator({ uniqueItems: true });

    expect(validate(Array(2000).fill(null))).to.deep.equal({
      issues: ['the value: Duplicate items at indexes 0 and 1.'],
    });
  });

  for (const [mode, run] of RUNS) {
    it(`lets the model correct a formula (${mode})`, async () => {
      const seen: unknown[] = [];
      const tool = defineTool({
        name: 'compute',
        input: formulas('oneOf'),
        execute: (args) => (seen.push(args), 'ok'),
      });
      const model = new ScriptedChatModel([
        { toolCalls: [{ name: 'compute', arguments: { e: negated(90, 'x') } }] },
        { toolCalls: [{ name: 'compute', arguments: { e: negated(90, 1) } }] },
        'Done.',
      ]);

      expect(await run(ChatClient.create(model).prompt('Go.').tools(tool))).to.equal('Done.');

      expect(seen).to.deep.equal([{ e: negated(90, 1) }]);
    });
  }
});
