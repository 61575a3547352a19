import { expect } from 'chai';
import { z } from 'zod';
import {
  ChatClient,
  defineAdvisor,
  defineTool,
  prefixTools,
  Tool,
  ToolDefinitionError,
  ToolError,
  ToolOutputError,
  toolResult,
  toolsFrom,
  type JsonSchema,
  type ToolResult,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { toolFingerprint } from '../../../src/core/tool/pin-tools.js';
import { RUNS } from '../../support/modes.js';

const Rate = z.object({ rate: z.number(), unit: z.string().default('EUR') });
const JSON_RATE = {
  type: 'object',
  properties: { rate: { type: 'number' } },
  required: ['rate'],
} as const;
const UNSHOWN =
  'The tool "rate" has run, but its result cannot be shown. Do not call it again for this.';

for (const [mode, run] of RUNS) {
  /** The result of one call of a tool. */
  const resultOf = async (...tools: readonly (Tool | readonly Tool[])[]): Promise<ToolResult> => {
    const results: ToolResult[] = [];
    const watch = defineAdvisor({
      name: 'watch',
      order: 0,
      onEvent: (event) => {
        if (event.type === 'tool-result') results.push(event.result);
        return event;
      },
    });
    const model = new ScriptedChatModel([{ toolCalls: [{ name: 'rate' }] }, 'ok']);
    expect(await run(ChatClient.create(model).prompt('?').tools(tools).advisors(watch))).to.equal(
      'ok',
    );
    const sent = model.prompts[1]?.messages.at(-1);
    expect(sent).to.have.property('content').deep.equal(results[0]?.content);
    return results[0] as ToolResult;
  };

  describe(`the output schema of a tool (${mode})`, () => {
    it('[D63] gives model and application the checked value, with defaults and without other fields', async () => {
      const execute = async (): Promise<{ rate: number; secret: string }> => ({
        rate: 1.5,
        secret: 'key',
      });
      const value = { rate: 1.5, unit: 'EUR' };
      const content = JSON.stringify(value);

      for (const tool of [
        defineTool({ name: 'rate', output: Rate, execute }),
        defineTool({
          name: 'rate',
          output: Rate,
          execute: async () => toolResult({ value: await execute() }),
        }),
        defineTool({
          name: 'rate',
          output: Rate,
          async *execute() {
            yield 'progress';
            yield await execute();
          },
        }),
      ])
        expect(await resultOf(tool)).to.deep.equal({ content, value });
    });

    it('[D63] makes a result that does not fit an error result, with the error for the application', async () => {
      let runs = 0;
      const execute = (): object => {
        runs++;
        return { rate: 'high' };
      };
      for (const output of [Rate, JSON_RATE, JSON.stringify(JSON_RATE)]) {
        const settings = { name: 'rate', effect: 'read', retries: 2 } as const;
        const { error, ...result } = await resultOf(defineTool({ ...settings, output, execute }));

        expect(result).to.deep.equal({ content: UNSHOWN, isError: true, value: { rate: 'high' } });
        expect(error).to.be.instanceOf(ToolOutputError).with.property('toolName', 'rate');
        expect((error as ToolOutputError).issues.join()).to.match(/^rate: .*number/);
      }
      expect(runs).to.equal(3); // a tool that has run is not run again
    });

    it('[D63] checks neither failures nor results without a value', async () => {
      const failed = toolResult({ content: 'Closed today.', isError: true });
      const silent = toolResult({ content: 'See the screen.' });

      for (const result of [failed, silent]) {
        const tool = defineTool({
          name: 'rate',
          output: Rate,
          execute: () => result,
        });
        expect(await resultOf(tool)).to.deep.equal({ ...result });
      }
    });

    it('[D63] checks by JSON Schema what the model reads', async () => {
      const output = { properties: { at: { type: 'string' }, note: { type: 'string' } } } as const;
      const value = { at: new Date(0), note: undefined };
      const tool = defineTool({ name: 'rate', output, execute: () => value });

      expect(await resultOf(tool)).to.deep.equal({
        content: '{"at":"1970-01-01T00:00:00.000Z"}',
        value,
      });
      for (const wrong of [undefined, { rate: 1n }, { rate: () => 1 }]) {
        const execute = (): unknown => wrong;
        const { error } = await resultOf(defineTool({ name: 'rate', output: JSON_RATE, execute }));
        expect(error).to.be.instanceOf(ToolOutputError);
      }
    });

    it('[D63] gives the application the value of a toolResult whose check takes too long', async () => {
      const output = Rate.refine(() => new Promise<boolean>(() => undefined));
      const execute = (): unknown => toolResult({ value: { rate: 2 } });
      const tool = defineTool({ name: 'rate', output, timeout: 5, execute });

      const { error, ...result } = await resultOf(tool);

      expect(result).to.deep.equal({ content: UNSHOWN, isError: true, value: { rate: 2 } });
      expect(error).to.be.instanceOf(ToolError);
    });

    it('[D63] is checked before toModelOutput and resultConverter, and in changed tools', async () => {
      const tool = defineTool({
        name: 'rate',
        output: Rate,
        execute: () => ({ rate: 2 }),
        toModelOutput: ({ rate, unit }) => `${rate} ${unit}`,
      });
      class Bank {
        @Tool({ output: Rate })
        rate(): object {
          return { rate: 2 };
        }
      }
      const renamed = prefixTools([defineTool({ ...plain, name: 'te' })], 'ra');

      expect((await resultOf(tool)).content).to.equal('2 EUR');
      expect((await resultOf(toolsFrom(new Bank()))).value).to.deep.equal({ rate: 2, unit: 'EUR' });
      expect((await resultOf(renamed)).error).to.be.instanceOf(ToolOutputError);
    });
  });
}

const plain = { output: JSON_RATE, execute: () => ({}) };

describe('defineTool with output', () => {
  it('[D63] keeps the schema in the definition, for providers that take it', async () => {
    const tool = defineTool({ name: 'rate', output: Rate, execute: () => ({ rate: 1 }) });
    const text = defineTool({ ...plain, name: 'rate', output: JSON.stringify(JSON_RATE) });
    const model = new ScriptedChatModel(['ok']);

    await ChatClient.create(model).prompt('?').tools(tool).call().content();

    expect(text.definition.outputSchema).to.deep.equal(JSON_RATE);
    const [offered] = model.prompts[0]?.options.tools ?? [];
    expect(offered?.definition.outputSchema).to.deep.include({ type: 'object' });
    expect(defineTool({ name: 'f', execute: () => 1 }).definition).not.to.have.property(
      'outputSchema',
    );
    expect(toolFingerprint(text)).not.to.equal(
      toolFingerprint(defineTool({ name: 'rate', execute: () => 1 })),
    );
  });

  it('[D63] rejects what is no schema', () => {
    const notJsonSchema = [{ type: 'objct' }, { $ref: '#/$defs/rate' }];
    for (const output of [undefined, null, 7, 'rate', z.date(), ...notJsonSchema])
      expect(() =>
        defineTool({ ...plain, name: 'rate', output: output as unknown as JsonSchema }),
      ).to.throw(ToolDefinitionError, /tool "rate"/);
  });
});
