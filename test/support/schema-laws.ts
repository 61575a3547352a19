import { Validator, type Schema } from '@cfworker/json-schema';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import fc, { type Arbitrary } from 'fast-check';
import type { JsonSchema } from '../../src/core/chat/tool-definition.js';
import { ToolDefinitionError } from '../../src/core/errors/errors.js';
import {
  normalizeSchema,
  type NormalizedSchema,
} from '../../src/core/json-schema/normalize/normalize-schema.js';
import { CheckSteps } from '../../src/core/json-schema/check-steps.js';
import { SchemaCheck } from '../../src/core/json-schema/schema-check.js';
import { jsonSchemaValidator, withoutPatterns } from '../../src/core/json-schema/validator.js';
import { defineTool } from '../../src/core/tool/define-tool.js';
import {
  anyValue,
  commonArguments,
  commonSchema,
  fitting,
  legalArguments,
  legalSchema,
  wildArguments,
} from './schemas.js';
import { fuzz } from './fuzz.js';

const ajv = new Ajv2020({ strict: false, validateFormats: false, ownProperties: true });

/** Fails if `SchemaCheck` decides otherwise than another validator that generates no code. */
export function checkVerdicts(runs: number): void {
  const count = { valid: 0, invalid: 0 };
  const schemas = fc.oneof(legalSchema, legalArguments, commonSchema);
  const cases = schemas.chain((schema) =>
    fc.tuple(fc.constant(schema), fc.oneof(fitting(schema), fitting(schema), anyValue)),
  );
  const law = fc.property(cases, ([legal, value]) => {
    const schema = withoutPatterns(legal as JsonSchema);
    const validator = new Validator(structuredClone(schema) as Schema, '2020-12', false);
    const { valid } = validator.validate(value);
    const check = new SchemaCheck(schema, new CheckSteps(100_000));
    expect(check.isValid(schema, value), JSON.stringify({ schema, value })).to.equal(valid);
    count[valid ? 'valid' : 'invalid']++;
  });

  fc.assert(law, { ...fuzz('verdicts', 0), numRuns: runs });

  console.log(`      ${JSON.stringify(count)}`);
  expect(Math.min(count.valid, count.invalid)).to.be.greaterThan(runs / 10);
}

/** Fails if `jsonSchemaValidator` and ajv disagree about a value; patterns are left out. */
export function checkValidator(runs: number): void {
  let valid = 0;
  const cases = legalArguments.chain((schema) =>
    fc.tuple(fc.constant(schema), tenOf(fc.oneof(fitting(schema), fitting(schema), anyValue))),
  );
  const law = fc.property(cases, ([schema, values]) => {
    // ajv accepts empty arrays, which contain nothing
    fc.pre(!JSON.stringify(schema).includes('"contains"'));
    const validate = jsonSchemaValidator(schema);
    const isValid = ajv.compile(withoutPatterns(schema));
    for (const value of values) {
      const validation = validate(value);
      const message = JSON.stringify({ schema, value, validation });
      expect('value' in validation, message).to.equal(isValid(value));
      if ('value' in validation) valid++;
      else expect(validation.issues).to.have.length.within(1, 8);
    }
  });

  fc.assert(law, { ...fuzz('validator', 0), numRuns: runs });

  expect(valid).to.be.within(runs / 10, 9.9 * runs);
}

/** Fails if a schema is neither normalized to valid JSON Schema nor rejected with a message. */
export function checkNormalizing(runs: number): void {
  const count = { unchanged: 0, changed: 0, rejected: 0 };
  const law = fc.property(wildArguments, (given) => {
    const normalized = normalizeOrReject(given);
    count[!normalized ? 'rejected' : normalized.changes.length > 0 ? 'changed' : 'unchanged']++;
    if (!normalized) return;
    const tool = checkNormalized(normalized, 'tool');
    if (count.changed % 10 > 0) return;
    ajv.compile(normalized.schema); // slow; it rejects dangling references too
    void tool.validate?.({ a: { a: [] }, b: 'x' });
  });

  fc.assert(law, { ...fuzz('normalizing', 0), numRuns: runs });

  console.log(`      ${JSON.stringify(count)}`);
  expect(Math.min(count.changed, count.rejected)).to.be.greaterThan(runs / 10);
}

function normalizeOrReject(given: unknown): NormalizedSchema | undefined {
  try {
    return normalizeSchema(given, 'tool');
  } catch (error) {
    if (!(error instanceof ToolDefinitionError)) throw error;
    expect(error.message).to.match(/^tool "tool": .{10,600}$/s);
    return undefined;
  }
}

/** Fails if a normalized schema is not valid, changes again, or is rejected by `defineTool`. */
export function checkNormalized({ schema }: NormalizedSchema, id: string) {
  expect(ajv.validateSchema(schema), `${id}: ${ajv.errorsText()}`).to.equal(true);
  expect(normalizeSchema(schema, 'tool'), id).to.deep.equal({ schema, changes: [] });
  const tool = defineTool({ name: 'tool', input: schema, execute: () => 'x' });
  expect(tool.definition.inputSchema, id).to.deep.equal(schema);
  return tool;
}

/** Fails if normalizing a legal schema changes which values are valid. */
export function checkMeaning(runs: number): void {
  let valid = 0;
  const cases = fc
    .oneof(legalArguments, commonArguments)
    .chain((schema) => fc.tuple(fc.constant(schema), tenOf(fc.oneof(fitting(schema), anyValue))));
  const law = fc.property(cases, ([schema, values]) => {
    const { schema: normalized, changes } = normalizeSchema(schema, 'tool');
    fc.pre(!changes.some(({ path }) => path.endsWith('/enum')));
    const [before, after] = [ajv.compile(schema), ajv.compile(normalized)];
    for (const value of values) {
      const message = JSON.stringify({ schema, normalized, value });
      expect(after(value), message).to.equal(before(value));
      if (before(value)) valid++;
    }
    expect(changes.filter(({ severity }) => severity === 'error')).to.deep.equal([]);
  });

  fc.assert(law, { ...fuzz('meaning', 0), numRuns: runs });

  console.log(`      ${valid} of ${10 * runs} values are valid`);
  expect(valid).to.be.greaterThan(runs / 10);
}

function tenOf(values: Arbitrary<unknown>): Arbitrary<readonly unknown[]> {
  return fc.array(values, { minLength: 10, maxLength: 10 });
}
