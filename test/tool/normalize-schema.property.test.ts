import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import fc from 'fast-check';
import type { JsonSchema } from '../../src/chat/tool-definition.js';
import { ToolDefinitionError } from '../../src/errors.js';
import { defineTool } from '../../src/tool/define-tool.js';
import { normalizeSchema } from '../../src/tool/schema/normalize-schema.js';
import { anyValue, commonArguments, fitting, legalArguments, wildArguments } from './schemas.js';

const ajv = new Ajv2020({ strict: false, validateFormats: false, ownProperties: true });

describe('normalizeSchema', function () {
  this.timeout(120_000);
  this.slow(60_000);

  const RUNS = 10_000;
  it(`[F20] [F21] makes valid JSON Schema of anything, once and for all, or refuses it (${RUNS} cases)`, () => {
    let accepted = 0;
    let changed = 0;
    let at = 0;
    const property = fc.property(wildArguments, (given) => {
      let made;
      try {
        made = normalizeSchema(given, 'tool');
      } catch (error) {
        if (!(error instanceof ToolDefinitionError)) throw error;
        expect(error.message).to.match(/^tool "tool": .{10,600}$/s);
        return;
      }
      accepted++;
      if (made.changes.length > 0) changed++;
      expect(ajv.validateSchema(made.schema), ajv.errorsText()).to.equal(true);
      expect(normalizeSchema(made.schema, 'tool')).to.deep.equal({ schema: made.schema, changes: [] });
      const tool = defineTool({ name: 'tool', input: made.schema, execute: () => 'x' });
      expect(tool.definition.inputSchema).to.deep.equal(made.schema);
      if (++at % 10 > 0) return;
      ajv.compile(made.schema); // takes a millisecond; it also refuses references that lead nowhere
      void tool.validate?.({ a: { a: [] }, b: 'x' });
    });

    fc.assert(property, { numRuns: RUNS });

    console.log(`      of ${RUNS} wild schemas, ${accepted} were accepted, ${changed} of them changed`);
    expect(accepted).to.be.greaterThan(RUNS / 10);
    expect(RUNS - accepted).to.be.greaterThan(RUNS / 10);
  });

  it('does not change what a legal schema means (400 schemas, 10 values each)', () => {
    let valid = 0;
    const values = (schema: JsonSchema): fc.Arbitrary<readonly unknown[]> =>
      fc.array(fc.oneof(fitting(schema), anyValue), { minLength: 10, maxLength: 10 });
    const cases = fc.oneof(legalArguments, commonArguments).chain((schema) => fc.tuple(fc.constant(schema), values(schema)));
    const property = fc.property(cases, ([schema, values]) => {
      const { schema: made, changes } = normalizeSchema(schema, 'tool');
      fc.pre(!changes.some(({ path, problem }) => path.endsWith('/enum') || problem.startsWith('there is no property')));
      const before = ajv.compile(schema);
      const after = ajv.compile(made);
      for (const value of values) {
        expect(after(value), JSON.stringify({ schema, made, value })).to.equal(before(value));
        if (before(value)) valid++;
      }
      expect(changes.filter(({ isFault }) => isFault)).to.deep.equal([]);
    });

    fc.assert(property, { numRuns: 400 });

    console.log(`      ${valid} of 4000 values fit`);
    expect(valid).to.be.greaterThan(500); // 1,000 to 1,250 in ten runs
  });
});
