import { expect } from 'chai';
import { z } from 'zod';
import { ChatResponse } from '../../../src/core/chat/chat-response.js';
import { AdvisorContext, ContextKey } from '../../../src/core/chat/context.js';
import { callsOf, type Message } from '../../../src/core/chat/message.js';
import { Prompt } from '../../../src/core/chat/prompt.js';
import { InvalidArgumentError, LimitExceededError } from '../../../src/core/errors/errors.js';
import { defineTool } from '../../../src/core/tool/define-tool.js';
import {
  ToolCallingManager,
  type ToolCallingManagerOptions,
} from '../../../src/core/tool-execution/tool-calling-manager.js';
import type { ToolExecutionResult } from '../../../src/core/tool-execution/execution-result.js';
import { toolResult } from '../../../src/core/tool/tool-result.js';
import type { Tool } from '../../../src/core/tool/tool.js';
import { unhandledErrorsOf } from '../../support/unhandled-errors.js';
import { answerWith, asking, rejection, runBatch, toCalls } from '../../support/batch.js';
import { deferred, settled } from '../../support/promises.js';

const tool = (
  name: string,
  execute: (args: Readonly<Record<string, unknown>>) => unknown = () => name,
): Tool => defineTool({ name, execute });
const direct = (name: string): Tool =>
  defineTool({ name, returnDirect: true, execute: () => name });

/** The messages of a turn after some tool calls. */
function answered(names: readonly string[]): Message[] {
  return names.flatMap((name, at) => [
    {
      role: 'assistant',
      content: null,
      toolCalls: [{ id: `old_${at}`, name, arguments: '{}' }],
    } as const,
    { role: 'tool', toolCallId: `old_${at}`, toolName: name, content: 'old' } as const,
  ]);
}

const USER: Message = { role: 'user', content: 'Go.' };

async function breachOf(
  promise: Promise<unknown>,
): Promise<LimitExceededError<ToolExecutionResult, ChatResponse>> {
  const error = await rejection(promise);
  expect(error).to.be.instanceOf(LimitExceededError);
  return error as LimitExceededError<ToolExecutionResult, ChatResponse>;
}

describe('ToolCallingManager', () => {
  describe('options', () => {
    const counts = ['concurrency', 'maxCallsPerTool', 'maxTotalCalls', 'maxResultLength'];
    for (const option of counts) {
      for (const value of [0, -1, 1.5, Number.NaN, '3', null]) {
        it(`rejects ${option}: ${JSON.stringify(value)}`, () => {
          expect(() => new ToolCallingManager({ [option]: value } as ToolCallingManagerOptions))
            .to.throw(InvalidArgumentError)
            .with.property(
              'message',
              `ToolCallingManager: ${option} must be an integer >= 1 or Infinity, not ${typeof value === 'string' ? '"3"' : value}`,
            );
        });
      }

      it(`accepts ${option}: 1 and Infinity`, () => {
        expect(() => new ToolCallingManager({ [option]: 1 })).to.not.throw();
        expect(() => new ToolCallingManager({ [option]: Infinity })).to.not.throw();
      });
    }

    const wrong: Readonly<Record<string, readonly [options: object, message: string]>> = {
      'a limit of a tool': [
        { maxCallsByTool: { a: 0 } },
        'maxCallsByTool["a"] must be an integer >= 1 or Infinity, not 0',
      ],
      'a timeout of 0': [
        { toolTimeout: 0 },
        'toolTimeout must be a number of milliseconds > 0 and < 2 ** 31, or Infinity, not 0',
      ],
      'a timeout at which a timer fires at once': [
        { toolTimeout: 2 ** 31 },
        'toolTimeout must be a number of milliseconds > 0 and < 2 ** 31, or Infinity, not 2147483648',
      ],
      'an unknown policy for limits': [
        { onLimit: 'answer' },
        `onLimit must be 'throw' or 'send-to-model', not "answer"`,
      ],
      'an unknown policy for errors': [
        { onToolError: true },
        `onToolError must be 'send-to-model', 'throw' or a function, not true`,
      ],
    };
    for (const [what, [options, message]] of Object.entries(wrong)) {
      it(`rejects ${what}`, () => {
        expect(() => new ToolCallingManager(options))
          .to.throw(InvalidArgumentError)
          .with.property('message', `ToolCallingManager: ${message}`);
      });
    }
  });

  describe('a batch', () => {
    it('[MGR-08] ends the history with the assistant message and one tool message per call', async () => {
      const response = asking({ name: 'weather', id: 'call_7' });
      const result = await runBatch([tool('weather', () => ({ sky: 'clear' }))], response);

      const toolMessage = {
        role: 'tool',
        toolCallId: 'call_7',
        toolName: 'weather',
        content: '{"sky":"clear"}',
      };
      expect(result.history).to.deep.equal([USER, response.message, toolMessage]);
      expect(result.prompt.messages).to.equal(result.history);
      expect(result.messages).to.deep.equal([toolMessage]);
    });

    it('does not change the original prompt, and keeps its options', async () => {
      const prompt = new Prompt([USER], { temperature: 0.5, toolChoice: 'auto' });
      const result = await new ToolCallingManager().executeToolCalls(prompt, asking('a'), {
        tools: [tool('a')],
      });

      expect(prompt.messages).to.deep.equal([USER]);
      expect(result.prompt.options).to.equal(prompt.options);
    });

    for (const toolChoice of ['required', { tool: 'a' }] as const) {
      it(`[F6] returns a prompt that no longer forces a call (${JSON.stringify(toolChoice)})`, async () => {
        const prompt = new Prompt([USER], { temperature: 0.5, toolChoice });
        const result = await new ToolCallingManager().executeToolCalls(prompt, asking('a'), {
          tools: [tool('a')],
        });

        expect(result.prompt.options).to.deep.equal({ temperature: 0.5, toolChoice: 'auto' });
      });
    }

    for (const options of [{}, { toolChoice: 'auto' }, { toolChoice: 'none' }] as const) {
      it(`[F6] returns a prompt with the same options if none forces a call (${JSON.stringify(options)})`, async () => {
        const prompt = new Prompt([USER], options);
        const result = await new ToolCallingManager().executeToolCalls(prompt, asking('a'), {
          tools: [tool('a')],
        });

        expect(result.prompt.options).to.equal(prompt.options);
      });
    }

    it('[MGR-10] [MGR-11] [MGR-30] returns one result per call, in call order', async () => {
      const result = await runBatch(
        [tool('a', ({ n }) => `a${Number(n)}`), tool('b', ({ n }) => `b${Number(n)}`)],
        [
          { name: 'a', args: { n: 1 } },
          { name: 'b', args: { n: 2 } },
          { name: 'a', args: { n: 3 } },
          { name: 'a', args: { n: 1 } },
        ],
      );

      expect(result.contents).to.deep.equal(['a1', 'b2', 'a3', 'a1']);
      expect(result.messages.map((message) => message.toolCallId)).to.deep.equal([
        'call_1',
        'call_2',
        'call_3',
        'call_4',
      ]);
      expect(result.results.map(({ call }) => call.id)).to.deep.equal([
        'call_1',
        'call_2',
        'call_3',
        'call_4',
      ]);
    });

    it('keeps the call order if the tools end in another order', async () => {
      const gates = [deferred<string>(), deferred<string>(), deferred<string>()];
      const running = runBatch(
        [tool('wait', ({ n }) => gates[n as number]?.promise)],
        [0, 1, 2].map((n) => ({ name: 'wait', args: { n } })),
      );
      for (const at of [2, 0, 1]) {
        gates[at]?.resolve(`result ${at}`);
        await settled();
      }
      const { contents, events } = await running;

      expect(contents).to.deep.equal(['result 0', 'result 1', 'result 2']);
      expect(
        events.map((event) =>
          event.type === 'tool-result' ? `${event.type} ${event.call.id}` : event.type,
        ),
      ).to.deep.equal([
        'tool-call',
        'tool-start',
        'tool-call',
        'tool-start',
        'tool-call',
        'tool-start',
        'tool-result call_3',
        'tool-result call_1',
        'tool-result call_2',
      ]);
    });

    it('[F22] matches results by position if ids are repeated', async () => {
      const result = await runBatch(
        [tool('a', ({ n }) => n)],
        [
          { name: 'a', args: { n: 1 }, id: 'same' },
          { name: 'a', args: { n: 2 }, id: 'same' },
        ],
      );

      expect(result.messages.map(({ toolCallId, content }) => [toolCallId, content])).to.deep.equal(
        [
          ['same', '1'],
          ['same', '2'],
        ],
      );
    });

    it('[MGR-34] [D57] runs the calls of the first generation', async () => {
      const withCalls = (...names: readonly string[]) => answerWith(toCalls(names)).generations;
      const response = new ChatResponse({
        generations: [...withCalls('a', 'b'), ...withCalls('c')],
      });
      const { contents } = await runBatch([tool('a'), tool('b'), tool('c')], response);

      expect(contents).to.deep.equal(['a', 'b']);
    });

    it('[D57] rejects a response whose alternatives alone have tool calls', async () => {
      const text = { message: { role: 'assistant', content: 'hm' } } as const;
      const response = new ChatResponse({ generations: [text, ...asking('a').generations] });

      expect(await rejection(runBatch([tool('a')], response)))
        .to.be.instanceOf(InvalidArgumentError)
        .with.property('message')
        .that.includes('no tool calls');
    });

    it('[MGR-05] rejects a response without tool calls', async () => {
      expect(await rejection(runBatch([tool('a')], ChatResponse.ofText('hello')))).to.be.instanceOf(
        InvalidArgumentError,
      );
    });

    it('rejects two tools with the same name', async () => {
      expect(await rejection(runBatch([tool('b'), tool('a'), tool('c'), tool('a')], ['a'])))
        .to.be.instanceOf(InvalidArgumentError)
        .with.property('message')
        .that.matches(/two tools have the same name: a\./);
    });

    it("uses tools and tool context of the prompt's options by default", async () => {
      const seen: unknown[] = [];
      const user = defineTool({
        name: 'user',
        execute: (_, { values, advisorContext }) => void seen.push(values, advisorContext),
      });
      const prompt = new Prompt([USER], {
        tools: [user, { definition: tool('only-offered').definition }],
        toolContext: { user: 'anna' },
      });

      await new ToolCallingManager().executeToolCalls(prompt, asking('user'));

      expect(seen).to.deep.equal([{ user: 'anna' }, AdvisorContext.empty]);
    });

    it('[MGR-33] accepts undefined and null as results', async () => {
      expect(
        (await runBatch([tool('a', () => undefined), tool('b', () => null)], ['a', 'b'])).contents,
      ).to.deep.equal(['Done', 'null']);
    });

    it('supports asynchronous and synchronous tools', async () => {
      expect(
        (await runBatch([tool('a', () => Promise.resolve(1)), tool('b', () => 2)], ['a', 'b']))
          .contents,
      ).to.deep.equal(['1', '2']);
    });

    it('returns the value for the application and the text for the model', async () => {
      const value = { big: 'x'.repeat(50) };
      const { results, contents } = await runBatch([tool('a', () => value)], ['a'], {
        maxResultLength: 10,
      });

      expect(results[0]?.result.value).to.equal(value);
      expect(contents[0]).to.equal('{"big":\n[50 of 60 characters cut]\nx"}');
    });

    it('[F32] truncates results to 100,000 characters by default', async () => {
      const { contents } = await runBatch(
        [tool('a', () => 'x'.repeat(100_001)), tool('b', () => 'x'.repeat(100_000))],
        ['a', 'b'],
      );

      expect(contents[0]).to.equal(
        `${'x'.repeat(66_667)}\n[1 of 100001 characters cut]\n${'x'.repeat(33_333)}`,
      );
      expect(contents[1]).to.have.length(100_000);
    });
  });

  describe('a toolResult', () => {
    const KEY = new ContextKey<string | undefined>('test.key');

    it('has content parts for the model', async () => {
      const parts = [
        { type: 'text', text: 'A map:' },
        { type: 'image', url: 'https://example.com/map.png' },
      ] as const;
      const { contents, results } = await runBatch(
        [tool('map', () => toolResult({ content: parts, value: 42 }))],
        ['map'],
      );

      expect(contents).to.deep.equal([parts]);
      expect(results[0]?.result.value).to.equal(42);
    });

    it('has the text of the value if it has no content', async () => {
      const tools = [
        tool('a', () => toolResult({ value: { n: 1n } })),
        tool('b', () => toolResult({})),
        tool('c', () => toolResult({ content: 7 as unknown as string })),
      ];

      expect((await runBatch(tools, ['a', 'b', 'c'])).contents).to.deep.equal([
        '{"n":"1"}',
        'Done',
        '7',
      ]);
    });

    it('reports a failure', async () => {
      const { messages } = await runBatch(
        [tool('a', () => toolResult({ content: 'No such city.', isError: true }))],
        ['a'],
      );

      expect(messages[0]).to.include({ content: 'No such city.', isError: true });
    });

    it('unlocks tools, in call order', async () => {
      const search = tool('search', ({ find }) =>
        toolResult({ content: 'ok', unlocks: find as string[] }),
      );
      const { unlocks } = await runBatch(
        [search],
        [
          { name: 'search', args: { find: ['b', 'a'] } },
          { name: 'search', args: { find: ['c'] } },
        ],
      );

      expect(unlocks).to.deep.equal(['b', 'a', 'c']);
    });

    it('locks tools, in call order', async () => {
      const hide = (name: string, ...locks: readonly string[]): Tool =>
        tool(name, () => toolResult({ content: 'ok', locks }));
      const { locks } = await runBatch(
        [hide('x', 'b', 'a'), hide('y'), hide('z', 'c')],
        ['x', 'y', 'z'],
      );

      expect(locks).to.deep.equal(['b', 'a', 'c']);
    });

    it('[F38] has context for the advisors; later calls win', async () => {
      const OTHER = new ContextKey<string | undefined>('test.other');
      const remembers = (name: string, context: AdvisorContext): Tool =>
        tool(name, () => toolResult({ content: name, context }));
      const { context } = await runBatch(
        [
          remembers('a', AdvisorContext.empty.with(KEY, 'a').with(OTHER, 'a')),
          remembers('b', AdvisorContext.empty.with(KEY, 'b')),
        ],
        ['a', 'b'],
      );

      expect([context.get(KEY), context.get(OTHER)]).to.deep.equal(['b', 'a']);
    });

    it('is not an object with the same fields', async () => {
      const { contents, unlocks } = await runBatch(
        [tool('a', () => ({ content: 'x', unlocks: ['b'] }))],
        ['a'],
      );

      expect(contents).to.deep.equal(['{"content":"x","unlocks":["b"]}']);
      expect(unlocks).to.deep.equal([]);
    });
  });

  describe('the context of a tool', () => {
    it('has the call, a signal, the values and the advisor context', async () => {
      const KEY = new ContextKey('test.user', 'none');
      const seen: unknown[] = [];
      const peek = defineTool({
        name: 'peek',
        execute: (args, { call, signal, values, advisorContext }) =>
          void seen.push(args, call, signal.aborted, values, advisorContext.get(KEY)),
      });
      const response = asking({ name: 'peek', args: '{ "n": 1 }' });

      await runBatch([peek], response, {
        run: {
          toolContext: { tenant: 'acme' },
          advisorContext: AdvisorContext.empty.with(KEY, 'anna'),
        },
      });

      expect(seen).to.deep.equal([
        { n: 1 },
        callsOf(response.message)[0],
        false,
        { tenant: 'acme' },
        'anna',
      ]);
    });

    it('[F76] cannot change the values of other requests', async () => {
      const toolContext: Record<string, unknown> = { tenant: 'acme' };
      const evil = defineTool({
        name: 'evil',
        execute: (_, { values }) => void Object.assign(values, { tenant: 'other' }),
      });
      const { results } = await runBatch([evil], ['evil'], { run: { toolContext } });

      expect(toolContext).to.deep.equal({ tenant: 'acme' });
      expect(results[0]?.result.error).to.be.instanceOf(TypeError);
    });

    it('emits progress while the tool runs, and nothing afterwards', async () => {
      let overdue: ((data: unknown) => void) | undefined;
      const work = defineTool({
        name: 'work',
        execute: async (_, { progress }) => {
          progress(50);
          await settled();
          progress({ done: true });
          overdue = progress;
        },
      });
      const { events } = await runBatch([work], ['work']);
      overdue?.('afterwards');

      expect(
        events.map((event) => (event.type === 'tool-progress' ? event.data : event.type)),
      ).to.deep.equal(['tool-call', 'tool-start', 50, { done: true }, 'tool-result']);
    });
  });

  describe('[F37] concurrency', () => {
    async function highWater(calls: number, concurrency?: number): Promise<number> {
      let running = 0;
      let most = 0;
      const busy = tool('busy', async () => {
        most = Math.max(most, ++running);
        await settled();
        running--;
      });
      const { contents } = await runBatch(
        [busy],
        Array.from({ length: calls }, () => 'busy'),
        {
          maxCallsPerTool: Infinity,
          maxTotalCalls: Infinity,
          ...(concurrency !== undefined && { concurrency }),
        },
      );
      expect(contents).to.deep.equal(Array.from({ length: calls }, () => 'Done'));
      return most;
    }

    it('[D22] is 16 by default', async () => {
      expect(await highWater(1000)).to.equal(16);
    });

    for (const [concurrency, calls, expected] of [
      [1, 20, 1],
      [3, 20, 3],
      [20, 20, 20],
      [64, 20, 20],
      [Infinity, 100, 100],
    ] as const) {
      it(`is at most ${concurrency} (${calls} calls)`, async () => {
        expect(await highWater(calls, concurrency)).to.equal(expected);
      });
    }

    it('starts calls in order, the next one when any ends', async () => {
      const started: number[] = [];
      const gates = Array.from({ length: 5 }, () => deferred());
      const wait = tool(
        'wait',
        ({ n }) => (started.push(n as number), gates[n as number]?.promise),
      );
      const running = runBatch(
        [wait],
        [0, 1, 2, 3, 4].map((n) => ({ name: 'wait', args: { n } })),
        { concurrency: 2 },
      );
      const seen: number[][] = [];
      for (const at of [1, 0, 3, 2, 4]) {
        await settled();
        seen.push([...started]);
        gates[at]?.resolve();
      }
      await running;

      expect(seen).to.deep.equal([
        [0, 1],
        [0, 1, 2],
        [0, 1, 2, 3],
        [0, 1, 2, 3, 4],
        [0, 1, 2, 3, 4],
      ]);
    });
  });

  describe('limits', () => {
    const LEDGER: string[] = [];
    const ledger = (name: string): Tool => tool(name, () => (LEDGER.push(name), `ran ${name}`));
    beforeEach(() => {
      LEDGER.length = 0;
    });
    const times = (count: number, name: string): string[] =>
      Array.from({ length: count }, () => name);

    it('[F2] are decided before the batch starts: 8 calls under a limit of 6 run 6 times', async () => {
      const error = await breachOf(runBatch([ledger('a')], times(8, 'a'), { maxCallsPerTool: 6 }));

      expect(LEDGER).to.have.length(6);
      expect(error.result.messages.map((message) => message.content)).to.deep.equal([
        ...times(6, 'ran a'),
        ...times(
          2,
          'Not run: the limit of 6 calls of the tool "a" in a turn is reached. Answer with what you have.',
        ),
      ]);
    });

    it('[F2] allow exactly as many calls as they name, of all tools and of one', async () => {
      const run = (calls: number, options: ToolCallingManagerOptions): Promise<unknown> =>
        runBatch([ledger('a'), ledger('b')], [...times(calls - 1, 'a'), 'b'], options);

      await run(6, { maxTotalCalls: 6 });
      await run(7, { maxCallsPerTool: 6 });
      expect(LEDGER).to.deep.equal([...times(5, 'a'), 'b', ...times(6, 'a'), 'b']);

      LEDGER.length = 0;
      const total = await breachOf(run(7, { maxTotalCalls: 6 }));
      const perTool = await breachOf(run(8, { maxCallsPerTool: 6 }));
      expect([total.limit, perTool.limit]).to.deep.equal(['total-calls', 'calls-per-tool']);
      expect(LEDGER).to.deep.equal([...times(6, 'a'), ...times(6, 'a'), 'b']);
    });

    it('[F4] [MGR-17] throw an error with the tool, the limit, the response and a result for every call', async () => {
      const response = asking('a', 'a');
      const error = await breachOf(runBatch([ledger('a')], response, { maxCallsPerTool: 1 }));

      expect(error).to.include({
        code: 'limit_exceeded',
        limit: 'calls-per-tool',
        value: 1,
        option: 'maxCallsByTool',
        toolName: 'a',
        response,
      });
      expect(error.message).to.equal(
        'The turn was stopped: the limit of 1 calls of the tool "a" in a turn is reached; raise maxCallsByTool to change it.',
      );
      expect(error.result.history.map((message) => message.role)).to.deep.equal([
        'user',
        'assistant',
        'tool',
        'tool',
      ]);
      expect(LEDGER).to.deep.equal(['a']);
    });

    it('[MGR-18] send a text to the model on request, and the rest of the batch runs', async () => {
      const { contents } = await runBatch([ledger('a'), ledger('b')], ['a', 'a', 'b'], {
        maxCallsPerTool: 1,
        onLimit: 'send-to-model',
      });

      expect(contents).to.deep.equal([
        'ran a',
        'Not run: the limit of 1 calls of the tool "a" in a turn is reached. Answer with what you have.',
        'ran b',
      ]);
      expect(LEDGER).to.deep.equal(['a', 'b']);
    });

    it('[MGR-19] [OBS-26] can be lifted for a tool, which still counts towards the total', async () => {
      await runBatch([ledger('a')], times(60, 'a'), { maxCallsByTool: { a: Infinity } });
      expect(LEDGER).to.have.length(60);

      const error = await breachOf(
        runBatch([ledger('a')], times(160, 'a'), { maxCallsByTool: { a: Infinity } }),
      );
      expect([error.limit, error.value, error.toolName, LEDGER.length]).to.deep.equal([
        'total-calls',
        150,
        undefined,
        210,
      ]);
    });

    it('[OBS-26] can be lower for one tool than for the others', async () => {
      const error = await breachOf(
        runBatch([ledger('a'), ledger('b')], [...times(3, 'b'), ...times(3, 'a')], {
          maxCallsByTool: { a: 2 },
        }),
      );

      expect([error.toolName, error.value]).to.deep.equal(['a', 2]);
      expect(LEDGER).to.deep.equal(['b', 'b', 'b', 'a', 'a']);
    });

    it('[MGR-20] [OBS-26] of all tools have no tool name', async () => {
      const error = await breachOf(
        runBatch([ledger('a'), ledger('b')], ['a', 'b'], { maxTotalCalls: 1 }),
      );

      expect([error.limit, error.value, error.toolName]).to.deep.equal([
        'total-calls',
        1,
        undefined,
      ]);
      expect(error.message)
        .to.include('the limit of 1 tool calls in a turn is reached')
        .and.to.include('maxTotalCalls');
      expect(LEDGER).to.deep.equal(['a']);
    });

    it('[MGR-21] are 40 per tool by default', async () => {
      const run = (before: number): Promise<unknown> =>
        runBatch([ledger('a')], ['a'], { history: [USER, ...answered(times(before, 'a'))] });
      await run(39);
      const error = await breachOf(run(40));

      expect([error.limit, error.value, error.toolName]).to.deep.equal(['calls-per-tool', 40, 'a']);
      expect(LEDGER).to.deep.equal(['a']);
    });

    it('[MGR-22] are 150 for all tools by default', async () => {
      const others = Array.from({ length: 150 }, (_, at) => `other${at % 10}`);
      await runBatch([ledger('a')], ['a'], { history: [USER, ...answered(others.slice(1))] });
      const error = await breachOf(
        runBatch([ledger('a')], ['a'], { history: [USER, ...answered(others)] }),
      );

      expect([error.limit, error.value, error.toolName]).to.deep.equal([
        'total-calls',
        150,
        undefined,
      ]);
      expect(LEDGER).to.deep.equal(['a']);
    });

    it('[F3] [MGR-25] [MGR-26] do not count the calls of earlier turns', async () => {
      const history = [
        USER,
        ...answered(times(500, 'a')),
        { role: 'assistant', content: 'Done.' } as const,
        USER,
      ];

      expect(
        (await runBatch([ledger('a')], ['a'], { history, maxCallsPerTool: 1, maxTotalCalls: 1 }))
          .contents,
      ).to.deep.equal(['ran a']);
    });

    it('count all calls if there is no user message', async () => {
      const history = answered(times(3, 'a'));

      expect(
        (await breachOf(runBatch([ledger('a')], ['a'], { history, maxCallsPerTool: 3 }))).value,
      ).to.equal(3);
    });

    it('count unknown tools, calls with invalid arguments and refused calls', async () => {
      const strict = defineTool({
        name: 'strict',
        input: z.object({ x: z.string() }),
        execute: () => LEDGER.push('strict'),
      });
      const counts = { byTool: new Map<string, number>(), total: 0, rounds: [] };

      await runBatch([strict], ['none', 'strict', { name: 'strict', args: '{' }], {
        run: { counts },
      });
      await runBatch([strict], ['strict'], { run: { counts, refuse: 'no' } });
      await runBatch([strict], answerWith(toCalls(['strict']), 'length'), { run: { counts } });

      expect([...counts.byTool]).to.deep.equal([
        ['none', 1],
        ['strict', 4],
      ]);
      expect(counts.total).to.equal(5);
    });

    it('[F12] treat names of Object.prototype as names of tools', async () => {
      const error = await breachOf(
        runBatch([], times(3, 'constructor'), { maxCallsPerTool: 2, maxCallsByTool: {} }),
      );

      expect([error.toolName, error.value]).to.deep.equal(['constructor', 2]);
    });

    it('[F5] are exact for 200 tools that end at random', async () => {
      const slow = tool('slow', async () => {
        for (let turns = Math.random() * 4; turns > 0; turns--) await settled();
        LEDGER.push('slow');
      });
      const counts = { byTool: new Map<string, number>(), total: 0, rounds: [] };

      await breachOf(
        runBatch([slow], times(200, 'slow'), {
          maxCallsPerTool: 150,
          maxTotalCalls: Infinity,
          concurrency: 50,
          run: { counts },
        }),
      );

      expect([LEDGER.length, counts.total, counts.byTool.get('slow')]).to.deep.equal([
        150, 200, 200,
      ]);
    });
  });

  describe('return direct', () => {
    const tables: readonly (readonly [calls: string, direct: boolean])[] = [
      ['d', true],
      ['d e', true],
      ['d d', true],
      ['n', false],
      ['n d', false],
      ['d n', false],
      ['d e n', false],
      ['d unknown', false],
    ];
    for (const [calls, expected] of tables) {
      it(`[F8] [MGR-09] [MGR-12] [MGR-13] is ${expected} for the calls ${calls}`, async () => {
        const { returnDirect, contents } = await runBatch(
          [direct('d'), direct('e'), tool('n')],
          calls.split(' '),
        );

        expect(returnDirect).to.equal(expected);
        expect(contents).to.have.length(calls.split(' ').length);
      });
    }

    it('is true if the tool fails', async () => {
      const fails = defineTool({
        name: 'fails',
        returnDirect: true,
        execute: () => Promise.reject(new Error('x')),
      });

      expect((await runBatch([fails], ['fails'])).returnDirect).to.equal(true);
    });

    it('is false if a call did not run, since the model needs the reason', async () => {
      const strict = defineTool({
        name: 'strict',
        returnDirect: true,
        input: z.object({ x: z.string() }),
        execute: () => 'x',
      });

      expect((await runBatch([strict], ['strict'])).returnDirect).to.equal(false);
      expect(
        (
          await runBatch([direct('d')], ['d', 'd'], {
            maxCallsPerTool: 1,
            onLimit: 'send-to-model',
          })
        ).returnDirect,
      ).to.equal(false);
      expect(
        (await runBatch([direct('d')], ['d'], { run: { refuse: 'no' } })).returnDirect,
      ).to.equal(false);
      expect(
        (await runBatch([direct('d')], answerWith(toCalls(['d']), 'length'))).returnDirect,
      ).to.equal(false);
    });
  });

  describe('a truncated answer', () => {
    for (const finishReason of ['length', 'LENGTH', 'content_filter', 'max_tokens']) {
      it(`[F13] runs nothing and sends the reason to the model (${finishReason})`, async () => {
        let runs = 0;
        const { contents, messages, events } = await runBatch(
          [tool('a', () => ++runs)],
          answerWith(toCalls(['a', 'a']), finishReason),
        );
        const text = `Not run: your answer was cut off before its end (finish reason "${finishReason}"). Send the call again, shorter if possible.`;

        expect(runs).to.equal(0);
        expect(contents).to.deep.equal([text, text]);
        expect(messages.every((message) => message.isError)).to.equal(true);
        expect(events.map((event) => event.type)).to.deep.equal([
          'tool-call',
          'tool-result',
          'tool-call',
          'tool-result',
        ]);
      });
    }

    for (const finishReason of ['stop', 'tool_calls', 'function_call', '']) {
      it(`[F43] is not assumed for the finish reason "${finishReason}"`, async () => {
        expect(
          (await runBatch([tool('a')], answerWith(toCalls(['a']), finishReason))).contents,
        ).to.deep.equal(['a']);
      });
    }
  });

  it('replaces every result by a reason on request, and runs nothing', async () => {
    let runs = 0;
    const { contents } = await runBatch([tool('a', () => ++runs)], ['a', 'none'], {
      run: { refuse: 'Not now.' },
    });

    expect(contents).to.deep.equal(['Not now.', 'Not now.']);
    expect(runs).to.equal(0);
  });

  it('[F100] continues if a listener throws, and reports the error like one of an observer', async () => {
    const error = new Error('listener');
    const work = defineTool({ name: 'work', execute: (_, { progress }) => (progress(1), 'ok') });
    const onEvent = (): void => {
      throw error;
    };

    const reported = await unhandledErrorsOf(async () => {
      expect((await runBatch([work], ['work'], { run: { onEvent } })).contents).to.deep.equal([
        'ok',
      ]);
    });

    expect(reported).to.deep.equal([error, error, error, error]);
  });
});
