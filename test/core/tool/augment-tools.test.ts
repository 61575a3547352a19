import { expect } from 'chai';
import { z } from 'zod';
import {
  augmentTools,
  ChatClient,
  defineTool,
  defineToolProvider,
  ToolError,
  type JsonSchema,
  type Tool,
} from '../../../src/index.js';
import type { InputSchema } from '../../../src/core/json-schema/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { RUNS } from '../../support/modes.js';
import { runBatch } from '../../support/batch.js';

const thinking = z.object({
  reason: z.string().describe('Why'),
  confidence: z.number().min(0).max(1).optional(),
});
const schemaOf = ([tool]: readonly Tool[]): JsonSchema =>
  tool?.definition.inputSchema as JsonSchema;

/** A tool that returns its arguments. */
const echo = (input: InputSchema = z.object({ city: z.string() })): Tool =>
  defineTool({
    name: 'echo',
    description: 'Echoes.',
    input,
    execute: (args, { values }) => ({ args, values }),
  });

const augmented = (tool: Tool, seen: unknown[] = [], keep = false): readonly Tool[] =>
  augmentTools([tool], thinking, ({ arguments: extra }) => seen.push(extra), { keep });

describe('augmentTools', () => {
  it('[AUG-02] [AUG-11] keeps name and description, and adds properties to the schema', () => {
    const tools = augmented(echo());

    expect(tools[0]?.definition).to.deep.include({ name: 'echo', description: 'Echoes.' });
    expect(schemaOf(tools)).to.deep.equal({
      type: 'object',
      properties: {
        city: { type: 'string' },
        reason: { type: 'string', description: 'Why' },
        confidence: { type: 'number', minimum: 0, maximum: 1 },
      },
      required: ['city', 'reason'],
    });
  });

  it('[AUG-11] adds properties to a tool without arguments', () => {
    const tools = augmented(defineTool({ name: 'none', execute: () => 'ok' }));

    expect(Object.keys(schemaOf(tools)['properties'] as object)).to.deep.equal([
      'reason',
      'confidence',
    ]);
    expect(schemaOf(tools)['required']).to.deep.equal(['reason']);
  });

  it('[AUG-13] keeps the other parts of the schema', () => {
    const input = {
      type: 'object',
      title: 'T',
      properties: { a: { $ref: '#/$defs/A' } },
      $defs: { A: { type: 'string' } },
      minProperties: 1,
    };

    expect(schemaOf(augmented(echo(input)))).to.deep.include({
      title: 'T',
      minProperties: 1,
      $defs: { A: { type: 'string' } },
    });
  });

  it('[AUG-13] renames definitions with the same name', () => {
    const input = {
      type: 'object',
      properties: { a: { $ref: '#/$defs/A' } },
      $defs: { A: { type: 'string' } },
    };
    const extra = {
      type: 'object',
      properties: { why: { $ref: '#/$defs/A' } },
      $defs: { A: { enum: ['x', { $ref: '#/$defs/B/items' }] }, B: {} },
    };
    const schema = schemaOf(augmentTools([echo(input)], extra, () => undefined));

    expect(schema['properties']).to.deep.equal({
      a: { $ref: '#/$defs/A' },
      why: { $ref: '#/$defs/A_2' },
    });
    expect(schema['$defs']).to.deep.equal({
      A: { type: 'string' },
      A_2: { enum: ['x', { $ref: '#/$defs/B/items' }] },
      B: {},
    });
  });

  it('[AUG-10] [AUG-12] uses descriptions and required of the schema', () => {
    const tools = augmentTools(
      [echo()],
      z.object({ a: z.string().describe(''), b: z.string().optional() }),
      () => undefined,
    );

    expect((schemaOf(tools)['properties'] as JsonSchema)['b']).to.deep.equal({ type: 'string' });
    expect(schemaOf(tools)['required']).to.deep.equal(['city', 'a']);
  });

  for (const [mode, run] of RUNS) {
    it(`passes the additional arguments to the function, not to the tool (${mode})`, async () => {
      const order: unknown[] = [];
      const tool = defineTool({
        name: 'look',
        input: z.object({ city: z.string() }),
        execute: (args) => order.push(['tool', args]),
      });
      const tools = augmentTools(
        [tool],
        thinking,
        async ({ tool: own, call, arguments: extra }) => {
          await Promise.resolve();
          order.push(['before', own.definition.name, call.id, extra]);
        },
      );
      const model = new ScriptedChatModel([
        {
          toolCalls: [
            { id: 'c1', name: 'look', arguments: { city: 'Oslo', reason: 'cold', confidence: 1 } },
          ],
        },
        'Done.',
      ]);

      expect(await run(ChatClient.create(model).prompt('Go.').tools(tools))).to.equal('Done.');
      expect(order).to.deep.equal([
        ['before', 'look', 'c1', { reason: 'cold', confidence: 1 }],
        ['tool', { city: 'Oslo' }],
      ]);
    });
  }

  it('[AUG-06] passes the context to the tool', async () => {
    const { results } = await runBatch(
      augmented(echo()),
      [{ name: 'echo', args: { city: 'Oslo', reason: 'x' } }],
      {
        run: { tools: augmented(echo()), toolContext: { tenant: 'acme' } },
      },
    );

    expect(results[0]?.result.value).to.deep.equal({
      args: { city: 'Oslo' },
      values: { tenant: 'acme' },
    });
  });

  it('passes them to the tool too with keep', async () => {
    const { results } = await runBatch(augmented(echo(), [], true), [
      { name: 'echo', args: { city: 'Oslo', reason: 'x' } },
    ]);

    expect(results[0]?.result.value).to.deep.include({ args: { city: 'Oslo', reason: 'x' } });
  });

  it('separates the arguments of parallel calls', async () => {
    const seen: unknown[] = [];
    const calls = Array.from({ length: 8 }, (_, at) => ({
      name: 'echo',
      args: { city: `c${at}`, reason: `r${at}` },
    }));
    const { results } = await runBatch(augmented(echo(), seen), calls);

    expect(results.map(({ result }) => (result.value as { args: unknown }).args)).to.deep.equal(
      calls.map(({ args: { city } }) => ({ city })),
    );
    expect(seen).to.have.deep.members(calls.map(({ args: { reason } }) => ({ reason })));
  });

  it('sends issues of both kinds of arguments to the model at once', async () => {
    const { contents } = await runBatch(augmented(echo()), [
      { name: 'echo', args: { confidence: 2 } },
    ]);

    expect(contents[0])
      .to.match(/city: /)
      .and.to.match(/reason: /)
      .and.to.match(/confidence: /);
  });

  it('applies defaults and transforms of both schemas once', async () => {
    const seen: unknown[] = [];
    const tool = defineTool({
      name: 'echo',
      input: z.object({ n: z.number().transform((n) => n + 1) }).transform(({ n }) => `n is ${n}`),
      execute: (text) => text,
    });
    const tools = augmentTools(
      [tool],
      z.object({ tag: z.string().default('none') }),
      ({ arguments: extra }) => seen.push(extra),
    );

    const { contents } = await runBatch(tools, [{ name: 'echo', args: { n: 1 } }]);

    expect([contents, seen]).to.deep.equal([['n is 2'], [{ tag: 'none' }]]);
  });

  it('works with plain JSON Schema on both sides', async () => {
    const seen: unknown[] = [];
    const plain = (name: string): JsonSchema => ({
      type: 'object',
      properties: { [name]: { type: 'string' } },
      required: [name],
      additionalProperties: false,
    });
    const tools = augmentTools([echo(plain('city'))], plain('why'), ({ arguments: extra }) =>
      seen.push(extra),
    );
    const { results, contents } = await runBatch(tools, [
      { name: 'echo', args: { city: 'Oslo', why: 'so' } },
      { name: 'echo', args: { city: 'Oslo', what: 'no' } },
    ]);

    expect(results[0]?.result.value).to.deep.include({ args: { city: 'Oslo' } });
    expect(seen).to.deep.equal([{ why: 'so' }]);
    expect(contents[1]).to.match(/not valid/);
  });

  it('fails the call if the function throws', async () => {
    let ran = 0;
    const tool = defineTool({ name: 'pay', execute: () => ++ran });
    const tools = augmentTools([tool], thinking, () => {
      throw new ToolError('not sure enough');
    });
    const { contents } = await runBatch(tools, [{ name: 'pay', args: { reason: 'x' } }]);

    expect([contents, ran]).to.deep.equal([['not sure enough'], 0]);
  });

  it('keeps the metadata, such as returnDirect', async () => {
    const tool = defineTool({
      name: 'pay',
      returnDirect: true,
      timeout: 5_000,
      execute: () => 'paid',
    });
    const tools = augmented(tool);
    const model = new ScriptedChatModel([
      { toolCalls: [{ name: 'pay', arguments: { reason: 'x' } }] },
    ]);

    expect(tools[0]?.metadata).to.deep.equal(tool.metadata);
    expect(await ChatClient.create(model).prompt('Go.').tools(tools).call().content()).to.equal(
      'paid',
    );
  });

  it("calls concurrencyKey with the tool's own arguments only", () => {
    const keys: unknown[] = [];
    const own = echo();
    const tool: Tool = {
      ...own,
      metadata: { ...own.metadata, concurrencyKey: (args) => void keys.push(args) },
    };

    augmented(tool)[0]?.metadata.concurrencyKey?.({ city: 'Oslo', reason: 'x' });

    expect(keys).to.deep.equal([{ city: 'Oslo' }]);
  });

  it('changes the tools of a provider', async () => {
    const provider = augmentTools(
      defineToolProvider({ name: 'p', tools: [echo()] }),
      thinking,
      () => undefined,
    );
    const model = new ScriptedChatModel(['Yes.']);
    await ChatClient.create(model).prompt('Go.').tools(provider).call().content();

    expect(schemaOf(model.prompts[0]?.options.tools as readonly Tool[])['required']).to.deep.equal([
      'city',
      'reason',
    ]);
  });

  it('rejects an argument that the tool has, and names both', () => {
    expect(() => augmentTools([echo()], z.object({ city: z.string() }), () => undefined)).to.throw(
      /the tool "echo" has an argument "city" of its own/,
    );
  });

  it('rejects an argument that a part or an alternative of the schema has', () => {
    const reason = { type: 'object', properties: { reason: { type: 'string' } } };
    for (const more of [
      { allOf: [reason] },
      { anyOf: [{ required: ['reason'] }, { required: ['id'] }] },
      { oneOf: [{ allOf: [reason] }] },
    ]) {
      const tool = defineTool({
        name: 'tool',
        input: { type: 'object', properties: { id: { type: 'string' } }, ...more },
        execute: () => 1,
      });
      expect(() => augmentTools([tool], thinking, () => undefined)).to.throw(
        /the tool "tool" has an argument "reason" of its own/,
      );
    }
  });

  it('rejects schemas that refer to their root', () => {
    const tree = {
      type: 'object',
      properties: { kids: { type: 'array', items: { $ref: '#' } } },
    } as const;
    const tool = defineTool({ name: 'tool', input: tree, execute: () => 1 });

    expect(() => augmentTools([tool], thinking, () => undefined)).to.throw(
      /refers to itself as a whole/,
    );
    expect(() => augmentTools([echo()], tree as InputSchema, () => undefined)).to.throw(
      /refers to itself as a whole/,
    );
  });

  it('separates the definitions of both schemas, whatever their names', () => {
    const own = {
      type: 'object',
      properties: { own: { $ref: '#/$defs/A' } },
      $defs: { A: { type: 'boolean' } },
    };
    const refer = (name: string): JsonSchema => ({ $ref: `#/definitions/${name}` });
    const extra: JsonSchema = {
      type: 'object',
      properties: { a: refer('A'), b: refer('A_2') },
      definitions: { A: { type: 'string' }, A_2: { type: 'number' } },
    };
    const [tool] = augmentTools(
      [defineTool({ name: 'tool', input: own, execute: () => 1 })],
      extra as InputSchema,
      () => undefined,
    );
    const { properties, $defs } = (tool as Tool).definition.inputSchema as Record<
      string,
      Record<string, JsonSchema>
    >;
    const typeOf = (name: string): unknown =>
      $defs?.[String(properties?.[name]?.['$ref']).replace('#/$defs/', '')]?.['type'];

    expect(['own', 'a', 'b'].map(typeOf)).to.deep.equal(['boolean', 'string', 'number']);
  });

  it('[AUG-01] [AUG-07] rejects invalid arguments', () => {
    const refused =
      (...args: readonly unknown[]): (() => unknown) =>
      () =>
        Reflect.apply(augmentTools, undefined, args);

    expect(refused([echo()], z.object({}), () => undefined)).to.throw(
      /the schema must have at least one property/,
    );
    expect(refused([echo()], z.string(), () => undefined)).to.throw(/must be an object/);
    expect(refused([echo()], undefined, () => undefined)).to.throw(/schema must be/);
    expect(refused([echo()], thinking)).to.throw(/onArguments must be a function/);
    expect(refused([undefined], thinking, () => undefined)).to.throw(/expected a tool/);
  });
});
