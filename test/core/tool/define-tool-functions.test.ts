import { expect } from 'chai';
import { z } from 'zod';
import {
  ChatClient,
  defineTool,
  ToolError,
  ToolExecutionError,
  type Tool,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { RUNS } from '../../support/modes.js';
import { rejection, runBatch } from '../../support/batch.js';

const name = 'tool';

describe('a tool from a function', () => {
  it('[TOL-05] may return an object', async () => {
    const { contents } = await runBatch(
      [defineTool({ name, execute: () => ({ place: 'Rome' }) })],
      [name],
    );

    expect(contents).to.deep.equal(['{"place":"Rome"}']);
  });

  for (const value of ['text', 7, true, null, ['a'], { b: 1 }]) {
    it(`[TOL-10] accepts ${JSON.stringify(value)} if the schema accepts anything`, async () => {
      const seen: unknown[] = [];
      const tool = defineTool({
        name,
        input: z.object({ value: z.unknown() }),
        execute: (args) => void seen.push(args.value),
      });
      await runBatch([tool], [{ name, args: { value } }]);

      expect(seen).to.deep.equal([value]);
    });
  }

  it('[TOL-15] may return nothing: the result is "Done"', async () => {
    const seen: string[] = [];
    const tool = defineTool({
      name,
      input: z.object({ text: z.string() }),
      execute: ({ text }) => void seen.push(text),
    });

    expect((await runBatch([tool], [{ name, args: { text: 'hi' } }])).contents).to.deep.equal([
      'Done',
    ]);
    expect(seen).to.deep.equal(['hi']);
  });

  it('[TOL-16] may use arguments and the tool context, and return a string unchanged', async () => {
    const tool = defineTool({
      name,
      input: z.object({ text: z.string() }),
      execute: ({ text }, { values }) => `"${text}" for ${String(values['user'])}`,
    });
    const { contents } = await runBatch([tool], [{ name, args: { text: 'hi' } }], {
      run: { tools: [tool], toolContext: { user: 'Anna' } },
    });

    expect(contents).to.deep.equal(['"hi" for Anna']);
  });

  it('[TOL-17] may have no parameters', async () => {
    expect(
      (await runBatch([defineTool({ name, execute: () => 'now' })], [name])).contents,
    ).to.deep.equal(['now']);
  });

  it('[TOL-18] may throw: the caller receives the error as the cause, with the tool and the call', async () => {
    const cause = new Error('down');
    const tool = defineTool({
      name,
      execute: () => {
        throw cause;
      },
    });
    const error = await rejection(runBatch([tool], [name], { onToolError: 'throw' }));

    expect(error)
      .to.be.instanceOf(ToolExecutionError)
      .and.include({ toolName: name, callId: 'call_1', cause });
  });

  it('[TOL-19] may throw a ToolError, whose message reaches the model unchanged', async () => {
    const error = new ToolError('no such city');
    const tool = defineTool({
      name,
      execute: () => {
        throw error;
      },
    });
    const { contents, results } = await runBatch([tool], [name]);

    expect(contents).to.deep.equal(['no such city']);
    expect(results[0]?.result.error).to.equal(error);
  });

  const variants: Readonly<Record<string, Tool>> = {
    'no arguments': defineTool({ name, execute: () => 'ok' }),
    'no result': defineTool({ name, execute: () => undefined }),
    'a list of arguments': defineTool({
      name,
      input: z.object({ all: z.array(z.string()).default([]) }),
      execute: ({ all }) => all,
    }),
    'a list as the result': defineTool({ name, execute: () => ['a', 'b'] }),
  };
  for (const [what, tool] of Object.entries(variants))
    for (const [mode, run] of RUNS)
      it(`[TOL-21] may have ${what} (${mode})`, async () => {
        const model = new ScriptedChatModel([{ toolCalls: [{ name, arguments: '' }] }, 'Done.']);

        expect(await run(ChatClient.create(model).prompt('Go.').tools(tool))).to.equal('Done.');
        expect(model.prompts[1]?.messages.at(-1)).to.not.have.property('isError');
      });
});
