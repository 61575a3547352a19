import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { build } from 'esbuild';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { z as zodThree } from 'zod3';
import { z as zodFourOfThree } from 'zod3/v4';
import type { InputSchema } from '../../../src/core/json-schema/to-json-schema.js';
import { defineTool } from '../../../src/core/tool/define-tool.js';
import '../../../src/core/json-schema/zod3.js';

interface Core {
  readonly defineTool: typeof defineTool;
}

/** Loads a copy of the core in which nothing has imported `zod3`. */
async function loadCore(): Promise<Core> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('../../../src/core/tool/define-tool.ts', import.meta.url))],
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    write: false,
  });
  const code = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64');
  return (await import(`data:text/javascript;base64,${code}`)) as Core;
}

const advertised = (define: Core['defineTool'], input: InputSchema): unknown =>
  define({ name: 'my_tool', input, execute: () => 'x' }).definition.inputSchema;

const needing: Readonly<Record<string, readonly [schema: InputSchema, hint: RegExp]>> = {
  'zod 3': [zodThree.object({ a: zodThree.string() }), /for schemas of zod 3, import/],
  'zod/mini': [mini.object({ a: mini.string() }), /upgrade to zod >= 4\.2.*zod\/mini.*import/],
  'zod 4 of zod 3.25': [
    zodFourOfThree.object({ a: zodFourOfThree.string() }),
    /upgrade to zod >= 4\.2.*import/,
  ],
};

describe('zod3', () => {
  let core: Core;
  before(async () => {
    core = await loadCore();
  });

  for (const [kind, [schema, hint]] of Object.entries(needing)) {
    it(`converts schemas of ${kind}`, () => {
      expect(advertised(defineTool, schema)).to.deep.include({
        type: 'object',
        properties: { a: { type: 'string' } },
        required: ['a'],
      });
    });

    it(`is named by the error for schemas of ${kind} without it`, () => {
      expect(() => advertised(core.defineTool, schema))
        .to.throw(hint)
        .with.property('code', 'invalid_argument');
      expect(() => advertised(core.defineTool, schema)).to.throw(
        /^tool "my_tool": .* import "advisor-chain\/zod3"/,
      );
    });
  }

  it('is not needed for zod >= 4.2', () => {
    const schema = z.object({ a: z.string().describe('A'), b: z.int().default(1) });

    expect(advertised(core.defineTool, schema)).to.deep.equal(advertised(defineTool, schema));
    expect(() => advertised(core.defineTool, z.object({ a: z.date() }))).to.throw(
      /date cannot be represented in JSON Schema \(at properties\.a\)/,
    );
  });

  it('is not needed for zod/mini after z.toJSONSchema', () => {
    const schema = mini.toJSONSchema(mini.object({ a: mini.string() }));

    expect(advertised(core.defineTool, schema as InputSchema)).to.have.property('type', 'object');
  });
});
