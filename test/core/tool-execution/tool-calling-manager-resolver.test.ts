import { expect } from 'chai';
import { AdvisorContext, ContextKey } from '../../../src/core/chat/context.js';
import { Prompt } from '../../../src/core/chat/prompt.js';
import {
  InvalidArgumentError,
  ToolDefinitionError,
  ToolError,
  ToolExecutionError,
} from '../../../src/core/errors/errors.js';
import { defineTool } from '../../../src/core/tool/define-tool.js';
import { ToolCallingManager } from '../../../src/core/tool-execution/tool-calling-manager.js';
import type { ToolResolver, ToolResolverRequest } from '../../../src/core/tool/tool-provider.js';
import type { Tool } from '../../../src/core/tool/tool.js';
import { asking, rejection, runBatch } from '../../support/batch.js';
import { deferred, settled } from '../../support/promises.js';

const CANARY = 'canary-9e0b';
const tool = (name: string, execute: () => unknown = () => `ran ${name}`): Tool =>
  defineTool({ name, execute });
const registry = new Map([tool('hidden'), tool('other')].map((one) => [one.definition.name, one]));
const resolver: ToolResolver = (name) => registry.get(name);

describe('the resolver of a ToolCallingManager', () => {
  it('[F12] [MGR-06] is absent by default: a tool that the request does not have does not run, and the model receives an error with its name', async () => {
    const { contents } = await runBatch([tool('offered')], ['hidden']);

    expect(contents).to.deep.equal(['There is no tool "hidden". Tools you can call: offered.']);
  });

  it('[MGR-07] resolves a tool that the request does not have, synchronously or not', async () => {
    for (const ask of [resolver, async (name: string) => (await settled(), registry.get(name))]) {
      const { contents, results } = await runBatch([tool('offered')], ['hidden', 'offered'], {
        resolver: ask,
      });

      expect(contents).to.deep.equal(['ran hidden', 'ran offered']);
      expect(results.map(({ accepted }) => accepted)).to.deep.equal([true, true]);
    }
  });

  it('is called only for names that the request does not have, once per call', async () => {
    const asked: string[] = [];
    const ask: ToolResolver = (name) => void asked.push(name);
    const { contents } = await runBatch(
      [tool('offered')],
      ['offered', 'none', 'constructor', 'offered'],
      { resolver: ask },
    );

    expect(asked).to.deep.equal(['none', 'constructor']);
    expect(contents.slice(1, 3)).to.deep.equal([
      'There is no tool "none". Tools you can call: offered.',
      'There is no tool "constructor". Tools you can call: offered.',
    ]);
  });

  it('receives the tool context and the advisor context', async () => {
    const TENANT = new ContextKey<string | undefined>('test.tenant');
    const seen: ToolResolverRequest[] = [];
    const run = {
      toolContext: { user: 'anna' },
      advisorContext: AdvisorContext.empty.with(TENANT, 'acme'),
    };
    await runBatch([], ['x'], { run, resolver: (_, request) => void seen.push(request) });

    expect([
      seen[0]?.toolContext,
      seen[0]?.advisorContext.get(TENANT),
      seen[0]?.signal.aborted,
    ]).to.deep.equal([{ user: 'anna' }, 'acme', false]);
  });

  it('returns tools that are checked, limited and direct like others', async () => {
    const direct = defineTool({
      name: 'direct',
      returnDirect: true,
      inputSchema: { type: 'object', required: ['x'] },
      execute: () => 'ok',
    });
    const ask: ToolResolver = () => direct;
    const calls = [{ name: 'direct', args: { x: 1 } }];

    expect((await runBatch([], calls, { resolver: ask })).returnDirect).to.equal(true);
    expect((await runBatch([], ['direct'], { resolver: ask })).contents[0]).to.match(
      /^The arguments of "direct" are not valid/,
    );
    expect(
      await rejection(runBatch([], [...calls, ...calls], { resolver: ask, maxCallsPerTool: 1 })),
    ).to.have.property('limit');
  });

  const failures: Readonly<Record<string, readonly [resolver: unknown, error: unknown]>> = {
    'it throws': [
      () => {
        throw new Error(CANARY);
      },
      CANARY,
    ],
    'it rejects': [() => Promise.reject(new Error(CANARY)), CANARY],
    'it gives no tool': [() => ({ name: 'x' }), InvalidArgumentError],
    'it gives a text': [() => 'hidden', InvalidArgumentError],
    'it gives a tool of another name': [() => registry.get('other'), ToolDefinitionError],
    'it returns a value whose getters throw': [
      () =>
        new Proxy(() => 1, {
          get: () => {
            throw new Error(CANARY);
          },
        }),
      CANARY,
    ],
  };
  for (const [what, [ask, expected]] of Object.entries(failures)) {
    it(`[F26] [F34] fails for its call alone (${what})`, async () => {
      const { messages, results } = await runBatch(
        [tool('offered')],
        ['offered', 'hidden', 'offered'],
        { resolver: ask as ToolResolver },
      );

      expect(messages.map(({ content, isError = false }) => [content, isError])).to.deep.equal([
        ['ran offered', false],
        ['The tool "hidden" failed. Error id: call_2', true],
        ['ran offered', false],
      ]);
      const { error } = results[1]?.result ?? {};
      if (typeof expected === 'string') expect(error).to.have.property('message', expected);
      else expect(error).to.be.instanceOf(expected as typeof Error);
      expect(results[1]?.accepted).to.equal(false);
    });
  }

  it('may throw a ToolError for the model, and follows the error policy', async () => {
    const refuses: ToolResolver = () => {
      throw new ToolError('Not for guests.');
    };

    expect((await runBatch([], ['hidden'], { resolver: refuses })).contents).to.deep.equal([
      'Not for guests.',
    ]);
    expect(
      await rejection(runBatch([], ['hidden'], { resolver: refuses, onToolError: 'throw' })),
    ).to.be.instanceOf(ToolExecutionError);
  });

  it('is not called for refused calls or in a cancelled run', async () => {
    let asked = 0;
    const ask: ToolResolver = () => void asked++;
    await runBatch([], ['x', 'y'], { resolver: ask, run: { refuse: 'no' } });
    await runBatch([], ['x', 'y'], { resolver: ask, run: { signal: AbortSignal.abort() } });

    expect(asked).to.equal(0);
  });

  it('[F30] receives the cancellation of the run, and is not awaited', async () => {
    const controller = new AbortController();
    const signals: AbortSignal[] = [];
    const pending = deferred<Tool>();
    let runs = 0;
    const batch = runBatch([], ['hidden'], {
      resolver: (_, { signal }) => (signals.push(signal), pending.promise),
      run: { signal: controller.signal },
    });
    await settled();
    controller.abort('enough');
    const { contents } = await batch;
    pending.resolve(tool('hidden', () => ++runs));
    await settled();

    expect(contents).to.deep.equal(['Not run to its end: the turn was cancelled.']);
    expect([signals[0]?.reason, runs]).to.deep.equal(['enough', 0]);
  });

  it('must be a function', () => {
    expect(() => new ToolCallingManager({ resolver: registry as unknown as ToolResolver }))
      .to.throw(InvalidArgumentError)
      .with.property('message', 'ToolCallingManager: resolver must be a function, not an object');
  });

  it('works in a user-controlled loop', async () => {
    const result = await new ToolCallingManager({ resolver }).executeToolCalls(
      new Prompt('Go.'),
      asking('hidden'),
    );

    expect(result.messages[0]?.content).to.equal('ran hidden');
  });
});
