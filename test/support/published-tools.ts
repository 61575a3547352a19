import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { ToolDefinitionError } from '../../src/core/errors/errors.js';
import type { JsonValue } from '../../src/core/internal/json.js';
import { dropOptionalNulls } from '../../src/core/json-schema/drop-optional-nulls.js';
import { normalizeSchema } from '../../src/core/json-schema/normalize/normalize-schema.js';
import { jsonSchemaValidator } from '../../src/core/json-schema/validator.js';
import { checkNormalized } from './schema-laws.js';
import { readLines, type PublishedTool } from './toolsets.js';

export const SETS = ['bfcl-live', 'bfcl-v1', 'livemcp', 'seal'];

interface PublishedCall {
  readonly id: string;
  readonly tool: string;
  readonly arguments: JsonValue;
}

/** Fails if a tool of a set is neither normalized nor rejected with its name. @param step takes one of so many */
export function checkPublishedTools(
  set: string,
  step = 1,
): { readonly all: number; readonly rejected: number } {
  const tools = readAll(set).filter((_, at) => at % step === 0);
  const count = { unchanged: 0, adapted: 0, normalized: 0, rejected: 0 };
  for (const { id, name, inputSchema } of tools) {
    try {
      const normalized = normalizeSchema(inputSchema, name);
      count[outcomeOf(normalized.changes)]++;
      checkNormalized(normalized, id);
    } catch (error) {
      if (!(error instanceof ToolDefinitionError)) throw error;
      count.rejected++;
      expect(error.message).to.include(name);
    }
  }
  console.log(`      ${set}: ${JSON.stringify(count)}`);
  return { all: tools.length, rejected: count.rejected };
}

function outcomeOf(
  changes: readonly { readonly severity: string }[],
): 'unchanged' | 'adapted' | 'normalized' {
  if (changes.length === 0) return 'unchanged';
  return changes.some(({ severity }) => severity === 'error') ? 'normalized' : 'adapted';
}

function readAll(set: string): readonly PublishedTool[] {
  return [
    ...readLines<PublishedTool>(`${set}.tools.jsonl`),
    ...readLines<PublishedTool>(`${set}.variants.jsonl`),
  ];
}

const ajv = new Ajv2020({
  strict: false,
  validateFormats: false,
  ownProperties: true,
  allErrors: true,
});

/** Fails if the validator and ajv disagree about the arguments of a call, patterns aside. */
export function checkPublishedCalls(
  set: string,
  step = 1,
): { readonly valid: number; readonly invalid: number } {
  const tools = new Map(readAll(set).map((tool) => [tool.id, tool]));
  const checks = new Map<string, ReturnType<typeof checksOf>>();
  const count = { valid: 0, invalid: 0, 'valid without optional nulls': 0 };
  const calls = readLines<PublishedCall>(`${set}.calls.jsonl`).filter((_, at) => at % step === 0);
  for (const { id, tool, arguments: args } of calls) {
    const check = checks.get(tool) ?? checksOf(tools.get(tool) as PublishedTool);
    checks.set(tool, check);
    const isValid = 'value' in check.validate(args);
    count[isValid ? 'valid' : 'invalid']++;
    if ('value' in check.validate(dropOptionalNulls(args, check.schema)))
      count['valid without optional nulls']++;
    const isEqual = isValid === check.isValidForAjv(args);
    expect(isEqual || (isValid && isAboutPatterns(check.isValidForAjv.errors)), id).to.equal(true);
  }
  console.log(`      ${set}: ${JSON.stringify(count)}`);
  return count;
}

function checksOf({ inputSchema, name }: PublishedTool) {
  const { schema } = normalizeSchema(inputSchema, name);
  return { schema, validate: jsonSchemaValidator(schema), isValidForAjv: ajv.compile(schema) };
}

const UNCHECKED: ReadonlySet<string> = new Set(['pattern', 'format']);

function isAboutPatterns(errors: readonly ErrorObject[] | null | undefined): boolean {
  return errors?.every(({ keyword }) => UNCHECKED.has(keyword)) ?? false;
}
