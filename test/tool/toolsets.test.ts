import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import type { JsonValue } from '../../src/chat/json.js';
import type { JsonSchema } from '../../src/chat/tool-definition.js';
import { ToolDefinitionError } from '../../src/errors.js';
import { compatibilityReport } from '../../src/tool/schema/compatibility-report.js';
import { defineTool } from '../../src/tool/define-tool.js';
import { normalizeSchema } from '../../src/tool/schema/normalize-schema.js';
import { dropOptionalNulls } from '../../src/tool/schema/optional-nulls.js';
import { jsonSchemaValidator } from '../../src/tool/schema/validation.js';
import { readLines, requireToolsets, type PublishedTool } from '../toolsets.js';

const SETS = ['bfcl-live', 'bfcl-v1', 'livemcp', 'seal'];

interface PublishedCall {
  readonly id: string;
  readonly tool: string;
  readonly arguments: JsonValue;
}

const readAll = (set: string): readonly PublishedTool[] => [
  ...readLines<PublishedTool>(`${set}.tools.jsonl`),
  ...readLines<PublishedTool>(`${set}.variants.jsonl`),
];

const ajv = new Ajv2020({ strict: false, validateFormats: false, ownProperties: true, allErrors: true });

/** Keywords that are left out of the check of arguments. */
const LEFT_OUT: ReadonlySet<string> = new Set(['pattern', 'format']);

/** What explains that this validator accepts what another refuses; undefined if nothing does. */
function explained(errors: readonly ErrorObject[] | null | undefined): string | undefined {
  return errors?.every(({ keyword }) => LEFT_OUT.has(keyword)) ? 'pattern or format' : undefined;
}

describe('published tools', function () {
  this.timeout(120_000);
  this.slow(60_000);

  for (const set of SETS)
    it(`[F20] [F21] of ${set} become JSON Schema that another time does not change, or are refused with their name`, function () {
      requireToolsets(this);
      const tools = readAll(set);
      const count = { untouched: 0, adapted: 0, mended: 0, refused: 0 };

      for (const { id, name, inputSchema } of tools) {
        try {
          const { schema, changes } = normalizeSchema(inputSchema, name);
          count[changes.length === 0 ? 'untouched' : changes.some(({ isFault }) => isFault) ? 'mended' : 'adapted']++;
          expect(ajv.validateSchema(schema), `${id}: ${ajv.errorsText()}`).to.equal(true);
          expect(normalizeSchema(schema, name), id).to.deep.equal({ schema, changes: [] });
          expect(defineTool({ name: 'tool', input: schema, execute: () => 'x' }).definition.inputSchema).to.deep.equal(schema);
        } catch (error) {
          if (!(error instanceof ToolDefinitionError)) throw error;
          count.refused++;
          expect(error.message).to.include(name);
        }
      }

      console.log(`      ${set}: ${tools.length} definitions, ${JSON.stringify(count)}`);
      expect(count.refused / tools.length).to.be.lessThan(0.01);
    });

  it('take a fraction of a millisecond each', function () {
    requireToolsets(this);
    const tools = SETS.flatMap((set) => readLines<PublishedTool>(`${set}.tools.jsonl`));

    const start = performance.now();
    for (const { name, inputSchema } of tools) normalizeSchema(inputSchema, name);
    const time = performance.now() - start;

    console.log(`      ${tools.length} tools: ${time.toFixed(0)} ms, ${((1_000 * time) / tools.length).toFixed(0)} µs each`);
    expect(tools).to.have.length(6_474);
    expect(time / tools.length).to.be.lessThan(5);
  });

  it('are all in a report', function () {
    requireToolsets(this);
    const tools = SETS.flatMap((set) => readLines<PublishedTool>(`${set}.tools.jsonl`));

    const report = compatibilityReport(tools);

    console.log(`      ${String(report).split('\n', 1)[0] ?? ''}`);
    expect(report.tools.map(({ name }) => name)).to.deep.equal(tools.map(({ name }) => name));
    expect(report.counts.refused).to.equal(0);
    expect(report.counts.faulty).to.be.greaterThan(1_800);
  });

  const calls: Readonly<Record<string, readonly [all: number, fitting: number]>> = {
    'bfcl-live': [1_405, 1_227],
    'bfcl-v1': [1_747, 1_742],
    seal: [1_770, 1_720],
  };
  for (const [set, [all, fitting]] of Object.entries(calls))
    it(`[F19] of ${set} are called with arguments that this validator takes just as another one does`, function () {
      requireToolsets(this);
      const tools = new Map(readAll(set).map((tool) => [tool.id, tool]));
      const checks = new Map<string, Checks>();
      const count = { valid: 0, invalid: 0, 'valid without optional nulls': 0 };
      const differences = new Map<string, number>();

      for (const call of readLines<PublishedCall>(`${set}.calls.jsonl`)) {
        const check = checks.get(call.tool) ?? makeChecks(tools.get(call.tool) as PublishedTool);
        checks.set(call.tool, check);
        const isValid = 'value' in check.ours(call.arguments);
        count[isValid ? 'valid' : 'invalid']++;
        if ('value' in check.ours(dropOptionalNulls(call.arguments, check.schema))) count['valid without optional nulls']++;
        if (isValid === check.theirs(call.arguments)) continue;
        const reason = isValid ? explained(check.theirs.errors) : undefined;
        const title = reason ?? `unexplained: ${call.id}`;
        differences.set(title, (differences.get(title) ?? 0) + 1);
      }

      console.log(`      ${set}: ${JSON.stringify(count)}, differences: ${JSON.stringify(Object.fromEntries(differences))}`);
      expect(count.valid + count.invalid).to.equal(all);
      expect(count.valid).to.be.at.least(fitting);
      expect([...differences.keys()].filter((title) => title.startsWith('unexplained'))).to.deep.equal([]);
    });
});

interface Checks {
  readonly schema: JsonSchema;
  readonly ours: ReturnType<typeof jsonSchemaValidator>;
  readonly theirs: ReturnType<typeof ajv.compile>;
}

function makeChecks({ inputSchema, name }: PublishedTool): Checks {
  const { schema } = normalizeSchema(inputSchema, name);
  return { schema, ours: jsonSchemaValidator(schema), theirs: ajv.compile(schema) };
}
