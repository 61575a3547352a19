import { expect } from 'chai';
import { z } from 'zod';
import { Cancellation } from '../../../src/core/internal/cancellation.js';
import type { ChatEvent, CustomEvent } from '../../../src/core/chat/chat-event.js';
import { Prompt } from '../../../src/core/chat/prompt.js';
import { CancelledError, ToolError, ToolExecutionError } from '../../../src/core/errors/errors.js';
import { defineTool } from '../../../src/core/tool/define-tool.js';
import { ToolCallingManager } from '../../../src/core/tool-execution/tool-calling-manager.js';
import { cancellableRun } from '../../../src/core/tool-execution/tool-run.js';
import type { Tool, ToolContext } from '../../../src/core/tool/tool.js';
import { asking, rejection, runBatch } from '../../support/batch.js';
import { deferred, settled } from '../../support/promises.js';

declare module '../../../src/core/chat/chat-event.js' {
  interface CustomEvents {
    'test.note': { readonly text: string };
  }
}

const CANARY = 'canary-7f3a';
const tool = (
  name: string,
  execute: (args: unknown, context: { signal: AbortSignal }) => unknown,
): Tool => defineTool({ name, execute });
const fails =
  (error: unknown): (() => never) =>
  () => {
    throw error;
  };

/** The strange things that code throws. */
const THROWN: Readonly<Record<string, unknown>> = {
  'an error': new Error(CANARY),
  'an error of a library': Object.assign(new TypeError(CANARY), {
    code: 'ECONNREFUSED',
    config: { headers: { authorization: CANARY } },
  }),
  'an error with a cause': new Error(CANARY, { cause: new Error(CANARY) }),
  'many errors': new AggregateError([new Error(CANARY), CANARY], CANARY),
  'an error whose message throws': Object.defineProperty(new Error(), 'message', {
    get: fails(new Error(CANARY)),
  }),
  'a tool error whose message throws': Object.defineProperty(new ToolError('x'), 'message', {
    get: fails(new Error(CANARY)),
  }),
  'a tool error whose message is no text': Object.defineProperty(new ToolError('x'), 'message', {
    value: 7,
  }),
  'a frozen error': Object.freeze(new Error(CANARY)),
  'a frozen object': Object.freeze({ message: CANARY }),
  'a text': CANARY,
  'a number': 0,
  nothing: undefined,
  null: null,
  'a symbol': Symbol(CANARY),
  'a function': () => CANARY,
  'a proxy that throws at everything': new Proxy(
    {},
    { get: fails(new Error(CANARY)), has: fails(new Error(CANARY)), getPrototypeOf: fails(CANARY) },
  ),
  'an object that is a promise': Object.fromEntries([
    ['then', (resolve: (value: unknown) => void) => resolve(CANARY)],
  ]),
};

describe('a failed call', () => {
  describe('because the tool throws', () => {
    for (const [what, error] of Object.entries(THROWN)) {
      for (const [how, execute] of [
        ['throws', fails(error)],
        ['rejects with', () => Promise.reject(error as Error)],
      ] as const) {
        it(`[F26] [F27] [F34] sends a general text with an error id to the model, and the error to the application (${how} ${what})`, async () => {
          const { messages, results } = await runBatch(
            [tool('pay', execute)],
            [{ name: 'pay', id: 'call_9' }],
          );

          expect(messages).to.deep.equal([
            {
              role: 'tool',
              toolCallId: 'call_9',
              toolName: 'pay',
              content: 'The tool "pay" failed. Error id: call_9',
              isError: true,
            },
          ]);
          expect(results[0]?.result.error === error, 'the same error').to.equal(true);
          expect(results[0]?.accepted).to.equal(true);
        });
      }
    }

    it('[F26] does not affect the results of other calls, whichever fail', async () => {
      const odd = Object.values(THROWN);
      for (const size of [2, 3, 5]) {
        for (let subset = 0; subset < 2 ** size; subset++) {
          const failing = (at: number): boolean => (subset & (1 << at)) !== 0;
          const tools = Array.from({ length: size }, (_, at) =>
            tool(`t${at}`, async () => {
              if (at % 2 === 0) await settled();
              if (failing(at)) throw odd[(subset + at) % odd.length];
              return `ran ${at}`;
            }),
          );
          const { contents } = await runBatch(
            tools,
            tools.map(({ definition }) => definition.name),
          );

          expect(contents).to.deep.equal(
            tools.map((_, at) =>
              failing(at) ? `The tool "t${at}" failed. Error id: call_${at + 1}` : `ran ${at}`,
            ),
          );
        }
      }
    });

    it('[F34] sends the message of a ToolError to the model, but not its cause or stack', async () => {
      const error = new ToolError('There is no city "Atlantis". Ask for another.', {
        cause: new Error(CANARY),
      });
      const { messages } = await runBatch([tool('weather', fails(error))], ['weather']);

      expect(messages[0]).to.deep.include({
        content: 'There is no city "Atlantis". Ask for another.',
        isError: true,
      });
    });

    it('[F82] recognizes the ToolError of a second copy of the package', async () => {
      const copy = {
        [Symbol.for('advisor-chain.error')]: true,
        code: 'tool',
        message: ' Try later. ',
      };

      expect((await runBatch([tool('a', fails(copy))], ['a'])).contents).to.deep.equal([
        'Try later.',
      ]);
    });

    it('[F27] never has an empty text', async () => {
      expect(
        (await runBatch([tool('a', fails(new ToolError('  ')))], ['a'])).contents,
      ).to.deep.equal(['The tool "a" failed. Error id: call_1']);
    });

    it('[F32] truncates the message of a ToolError like any result', async () => {
      expect(
        (
          await runBatch([tool('a', fails(new ToolError('x'.repeat(50))))], ['a'], {
            maxResultLength: 5,
          })
        ).contents,
      ).to.deep.equal(['xxxx\n[45 of 50 characters cut]\nx']);
    });
  });

  describe('of an unknown tool', () => {
    const names = [
      'wheather',
      'Weather',
      'WEATHER',
      'weather ',
      'wеather',
      'weather\u200b',
      '',
      'constructor',
      '__proto__',
      'toString',
      'hasOwnProperty',
      'multi_tool_use.parallel',
    ];
    for (const name of names) {
      it(`[F12] lists the offered tools (${JSON.stringify(name)})`, async () => {
        let runs = 0;
        const { contents, results, returnDirect } = await runBatch(
          [tool('weather', () => ++runs), tool('time', () => ++runs)],
          [name, 'weather'],
        );

        expect(contents).to.deep.equal([
          `There is no tool ${JSON.stringify(name)}. Tools you can call: weather, time.`,
          '1',
        ]);
        expect(results.map(({ accepted }) => accepted)).to.deep.equal([false, true]);
        expect(results[0]?.result)
          .to.deep.include({ isError: true })
          .and.have.property('error')
          .that.is.instanceOf(ToolError);
        expect(returnDirect).to.equal(false);
      });
    }

    it('[F12] lists and runs only offered tools', async () => {
      const offered = [tool('search', () => 'found')];
      const tools = [...offered, tool('hidden', () => 'ran')];
      const { contents } = await runBatch(tools, ['hidden', 'other'], { run: { offered } });

      expect(contents).to.deep.equal([
        'There is no tool "hidden". Tools you can call: search.',
        'There is no tool "other". Tools you can call: search.',
      ]);
    });

    it('[F12] lists at most 30 tools, and truncates long names', async () => {
      const many = Array.from({ length: 33 }, (_, at) => tool(`t${at}`, () => at));
      expect((await runBatch(many.slice(0, 30), ['x'])).contents[0]).to.match(/t28, t29\.$/);
      const [text] = (await runBatch(many, ['x'.repeat(5_000)])).contents as string[];

      expect(text).to.match(
        /^There is no tool "x{60}…"\. Tools you can call: t0, .*t29 and 3 more\.$/,
      );
    });

    it('reports that there are no tools', async () => {
      expect((await runBatch([], ['a'])).contents).to.deep.equal([
        'There is no tool "a". There are no tools to call.',
      ]);
    });
  });

  it('[F19] sends every issue of invalid arguments to the model, with its path', async () => {
    const input = z.object({
      city: z.string(),
      days: z.int().max(7),
      at: z.object({ lat: z.number() }),
    });
    let runs = 0;
    const weather = defineTool({ name: 'weather', input, execute: () => ++runs });
    const { contents, results } = await runBatch(
      [weather],
      [{ name: 'weather', args: { days: 9, at: { lat: 'x' } } }],
    );

    expect(contents).to.deep.equal([
      [
        'The arguments of "weather" are not valid:',
        '- city: Invalid input: expected string, received undefined',
        '- days: Too big: expected number to be <=7',
        '- at.lat: Invalid input: expected number, received string',
      ].join('\n'),
    ]);
    expect([runs, results[0]?.accepted]).to.deep.equal([0, false]);
  });

  describe('that times out', () => {
    const hangs = (seen: AbortSignal[]): Tool =>
      tool('hang', (_, { signal }) => {
        seen.push(signal);
        return new Promise(() => undefined);
      });

    it('[F28] sends an error result to the model and aborts the signal of the tool', async () => {
      const seen: AbortSignal[] = [];
      const { messages, results } = await runBatch([hangs(seen)], ['hang'], { toolTimeout: 5 });

      expect(messages[0]).to.deep.include({
        content: 'The tool "hang" did not answer within 5 ms.',
        isError: true,
      });
      expect(seen[0]?.aborted).to.equal(true);
      expect(seen[0]?.reason).to.equal(results[0]?.result.error);
    });

    it('[F28] uses the time limit of the tool before the one of the manager', async () => {
      const slow = (name: string, timeout?: number): Tool =>
        defineTool({
          name,
          ...(timeout && { timeout }),
          execute: () => new Promise((resolve) => setTimeout(() => resolve('in time'), 20)),
        });
      const { contents } = await runBatch(
        [slow('a'), slow('b', 10_000), slow('c', Infinity)],
        ['a', 'b', 'c'],
        { toolTimeout: 5 },
      );

      expect(contents).to.deep.equal([
        'The tool "a" did not answer within 5 ms.',
        'in time',
        'in time',
      ]);
    });

    it('[F28] does not affect other calls', async () => {
      const timedOut = deferred();
      const onEvent = (event: ChatEvent): void => {
        if (event.type === 'tool-result') timedOut.resolve();
      };
      const sibling = tool('sibling', async (_, { signal }) => {
        await timedOut.promise;
        return signal.aborted;
      });
      const { contents } = await runBatch(
        [{ ...hangs([]), metadata: { timeout: 5 } }, sibling],
        ['hang', 'sibling'],
        { run: { onEvent } },
      );

      expect(contents).to.deep.equal(['The tool "hang" did not answer within 5 ms.', 'false']);
    });

    for (const how of ['resolve', 'reject'] as const) {
      it(`[F28] [F36] ignores the later outcome of the tool (${how})`, async () => {
        const gate = deferred<string>();
        const progress: ((data: unknown) => void)[] = [];
        const events: ChatEvent[] = [];
        const overdue = defineTool({
          name: 'overdue',
          execute: (_, context) => (progress.push(context.progress), gate.promise),
        });
        const result = await runBatch([overdue], ['overdue'], {
          toolTimeout: 5,
          run: { onEvent: (event) => events.push(event) },
        });
        gate[how]('value afterwards');
        progress[0]?.('progress afterwards');
        await settled();

        expect(result.contents).to.deep.equal(['The tool "overdue" did not answer within 5 ms.']);
        expect(events.map((event) => event.type)).to.deep.equal([
          'tool-call',
          'tool-start',
          'tool-result',
        ]);
      });
    }

    it('[F28] emits progress until the time is up, also in retries', async () => {
      const gates = [deferred(), deferred()];
      let attempts = 0;
      const slow = defineTool({
        name: 'slow',
        timeout: 10,
        execute: async (_, { progress }) => {
          const attempt = attempts++;
          progress(`begin ${attempt}`);
          if (attempt === 0) await gates[0]?.promise;
          progress(`end ${attempt}`);
          if (attempt === 0) gates[1]?.resolve();
        },
      });
      const { events } = await runBatch([slow], ['slow'], {
        run: {
          wrap: async (invocation, next) => {
            await rejection(next(invocation));
            gates[0]?.resolve();
            await gates[1]?.promise;
            return next(invocation);
          },
        },
      });

      expect(
        events.map((event) => (event.type === 'tool-progress' ? event.data : event.type)),
      ).to.deep.equal(['tool-call', 'tool-start', 'begin 0', 'begin 1', 'end 1', 'tool-result']);
    });

    it('[F28] emits custom events until the time is up, and none afterwards', async () => {
      const gate = deferred();
      const after = deferred();
      const note = (data: string): CustomEvent => ({
        type: 'custom',
        name: 'test.note',
        data: { text: data },
      });
      const slow = defineTool({
        name: 'slow',
        timeout: 10,
        execute: async (_, { emit }) => {
          emit(note('in time'));
          await gate.promise;
          emit(note('afterwards'));
          after.resolve();
        },
      });

      const { events } = await runBatch([slow], ['slow']);
      gate.resolve();
      await after.promise;

      expect(
        events.map((event) => (event.type === 'custom' ? event.data : event.type)),
      ).to.deep.equal(['tool-call', 'tool-start', { text: 'in time' }, 'tool-result']);
    });

    it('[F28] has one result also if the tool throws when its signal aborts', async () => {
      const polite = tool(
        'polite',
        (_, { signal }) =>
          new Promise((__, reject) =>
            signal.addEventListener('abort', () => reject(signal.reason as Error)),
          ),
      );

      expect((await runBatch([polite], ['polite'], { toolTimeout: 5 })).contents).to.deep.equal([
        'The tool "polite" did not answer within 5 ms.',
      ]);
    });
  });

  describe('of a cancelled run', () => {
    const TEXT = 'Not run to its end: the turn was cancelled.';

    it('[F31] runs nothing and emits nothing if the signal has already aborted; each call has a result', async () => {
      let runs = 0;
      const { contents, events, results } = await runBatch(
        [tool('a', () => ++runs)],
        ['a', 'none', 'a'],
        {
          run: { signal: AbortSignal.abort('why') },
        },
      );

      expect(contents).to.deep.equal([TEXT, TEXT, TEXT]);
      expect(results.map(({ accepted }) => accepted)).to.deep.equal([false, false, false]);
      expect(events).to.deep.equal([]);
      expect(runs).to.equal(0);
    });

    it('[F30] aborts the signals of running tools with the reason, starts no other tool, and waits for none', async () => {
      const controller = new AbortController();
      const signals: AbortSignal[] = [];
      const hang = tool(
        'hang',
        (_, { signal }) => (signals.push(signal), new Promise(() => undefined)),
      );
      const quick = tool('quick', () => 'done before');
      const running = runBatch([hang, quick], ['quick', 'hang', 'hang', 'hang', 'quick'], {
        concurrency: 2,
        run: { signal: controller.signal },
      });
      await settled();
      const reason = new Error('user left');
      controller.abort(reason);
      const { contents, events } = await running;

      expect(contents).to.deep.equal(['done before', TEXT, TEXT, TEXT, TEXT]);
      expect(signals.map((signal) => [signal.aborted, signal.reason])).to.deep.equal([
        [true, reason],
        [true, reason],
      ]);
      expect(events.map((event) => event.type)).to.deep.equal([
        'tool-call',
        'tool-start',
        'tool-call',
        'tool-start',
        'tool-result',
        'tool-call',
        'tool-start',
      ]);
    });

    it('[F30] does not start a tool whose arguments are still being validated', async () => {
      const controller = new AbortController();
      let runs = 0;
      const input = z.object({}).refine(async () => {
        controller.abort();
        return Promise.resolve(true);
      });
      const { contents } = await runBatch(
        [defineTool({ name: 'a', input, execute: () => ++runs })],
        ['a'],
        {
          run: { signal: controller.signal },
        },
      );

      expect(contents).to.deep.equal([TEXT]);
      expect(runs).to.equal(0);
    });

    it('[F30] does not wait for a validation that never settles', async () => {
      const controller = new AbortController();
      const stuck = {
        ...tool('stuck', () => 1),
        validate: () => new Promise<never>(() => undefined),
      };
      const running = runBatch([stuck, tool('a', () => 1)], ['stuck', 'a'], {
        run: { signal: controller.signal },
      });
      await settled();
      controller.abort();

      expect((await running).contents).to.deep.equal([TEXT, TEXT]);
    });

    it('[F30] has a result also if an advisor throws its own error on cancellation', async () => {
      const controller = new AbortController();
      const wrap = async (): Promise<never> => {
        await settled();
        controller.abort();
        throw new Error('asked for nothing');
      };

      expect(
        (await runBatch([tool('a', () => 1)], ['a'], { run: { signal: controller.signal, wrap } }))
          .contents,
      ).to.deep.equal([TEXT]);
    });

    it('[F30] does not start a tool when its own tool-call event cancels the run', async () => {
      const controller = new AbortController();
      let runs = 0;
      const onEvent = (): void => controller.abort();
      const { contents, results } = await runBatch([tool('a', () => ++runs)], ['a', 'a'], {
        run: { signal: controller.signal, onEvent },
      });

      expect(contents).to.deep.equal([TEXT, TEXT]);
      expect(results.map(({ accepted }) => accepted)).to.deep.equal([false, false]);
      expect(runs).to.equal(0);
    });

    it('[F36] ignores later outcomes of the tools', async () => {
      const controller = new AbortController();
      const gate = deferred<string>();
      const events: ChatEvent[] = [];
      const running = runBatch([tool('overdue', () => gate.promise)], ['overdue'], {
        run: { signal: controller.signal, onEvent: (event) => events.push(event) },
      });
      await settled();
      controller.abort();
      const { contents } = await running;
      gate.reject(new Error('overdue'));
      await settled();

      expect(contents).to.deep.equal([TEXT]);
      expect(events.map((event) => event.type)).to.deep.equal(['tool-call', 'tool-start']);
    });

    it("[F30] has a result also under the policy 'throw'", async () => {
      expect(
        (
          await runBatch([tool('a', () => 1)], ['a'], {
            onToolError: 'throw',
            run: { signal: AbortSignal.abort() },
          })
        ).contents,
      ).to.deep.equal([TEXT]);
    });

    it('[F54] leaves no listener on the signal of the application', async () => {
      const { signal } = new AbortController();
      const counts = { added: 0, removed: 0 };
      const [add, remove] = [
        signal.addEventListener.bind(signal),
        signal.removeEventListener.bind(signal),
      ];
      signal.addEventListener = (...args: Parameters<typeof add>) => (counts.added++, add(...args));
      signal.removeEventListener = (...args: Parameters<typeof remove>) => (
        counts.removed++,
        remove(...args)
      );

      for (let batch = 0; batch < 100; batch++)
        await runBatch([tool('a', () => 1)], ['a', 'a'], { run: { signal } });

      expect(counts.added).to.equal(counts.removed);
    });
  });

  describe('that succeeds or fails', () => {
    it('[F54] leaves no timer behind', async () => {
      const timers = (): number =>
        process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
      await settled(); // the timer of the test itself
      const before = timers();
      await runBatch([tool('ok', () => 1), tool('bad', fails(1))], ['ok', 'bad'], {
        toolTimeout: 60_000,
      });

      expect(timers()).to.equal(before);
    });

    it('[F54] removes its cancellation listener when it ends', async () => {
      const cancellation = new Cancellation();
      const onCancel = cancellation.onCancel.bind(cancellation);
      let waiting = 0;
      cancellation.onCancel = (callback) => {
        const release = onCancel(callback);
        waiting++;
        return () => {
          waiting--;
          release();
        };
      };
      const run = cancellableRun(cancellation, {
        tools: [tool('ok', () => 1), tool('bad', fails(1))],
      });
      await new ToolCallingManager().executeToolCalls(
        new Prompt('Go.'),
        asking('ok', 'bad', 'ok'),
        run,
      );

      expect(waiting).to.equal(0);
    });
  });

  describe("under the policy 'throw'", () => {
    const thrown = async (
      tools: readonly Tool[],
      calls: readonly (string | { name: string; args: string })[],
      options: { readonly toolTimeout?: number } = {},
    ): Promise<ToolExecutionError> => {
      const error = await rejection(runBatch(tools, calls, { onToolError: 'throw', ...options }));
      expect(error).to.be.instanceOf(ToolExecutionError);
      return error as ToolExecutionError;
    };

    it('rejects with the tool, the call and the cause after all calls have ended', async () => {
      const cause = new Error(CANARY);
      let siblings = 0;
      const slow = tool('slow', async () => {
        await settled();
        siblings++;
      });
      const error = await thrown([tool('pay', fails(cause)), slow], ['slow', 'pay', 'slow']);

      expect(error).to.include({
        code: 'tool_execution',
        toolName: 'pay',
        callId: 'call_2',
        cause,
      });
      expect(error.message).to.equal(
        'The tool "pay" failed. Error id: call_2 (tool "pay", call call_2; see cause)',
      );
      expect(siblings).to.equal(2);
    });

    it('rejects with the first error in call order if several calls fail', async () => {
      const overdue = tool('overdue', async () => {
        await settled();
        throw new Error('overdue');
      });

      expect(
        (await thrown([overdue, tool('early', fails(1))], ['overdue', 'early'])).toolName,
      ).to.equal('overdue');
    });

    it('rejects for unknown tools, invalid arguments and timeouts too', async () => {
      const never = tool('never', () => new Promise(() => undefined));
      const typed = defineTool({
        name: 'typed',
        input: z.object({ x: z.string() }),
        execute: () => 1,
      });

      expect((await thrown([never], ['none'])).message).to.include('There is no tool "none".');
      expect((await thrown([typed], ['typed'])).message).to.include('- x: Invalid input');
      expect((await thrown([typed], [{ name: 'typed', args: '{' }])).message).to.include(
        'not valid JSON',
      );
      expect((await thrown([never], ['never'], { toolTimeout: 5 })).message).to.include(
        'did not answer within 5 ms',
      );
    });
  });

  describe('wrapped by an advisor', () => {
    const ok = tool('ok', () => 'ran');
    const broken = tool('broken', fails(new Error(CANARY)));

    it('rejects for the advisor with the original error of the tool', async () => {
      const cause = new Error(CANARY);
      const seen: unknown[] = [];
      const { contents } = await runBatch([tool('a', fails(cause))], ['a'], {
        run: {
          wrap: async (invocation, next) => {
            try {
              return await next(invocation);
            } catch (error) {
              seen.push(error);
              return { content: 'instead' };
            }
          },
        },
      });

      expect(seen).to.deep.equal([cause]);
      expect(contents).to.deep.equal(['instead']);
    });

    it('sends an error result to the model also if the advisor wraps the error of the tool', async () => {
      const { contents } = await runBatch([broken], ['broken'], {
        run: {
          wrap: async (invocation, next) => {
            try {
              return await next(invocation);
            } catch (cause) {
              throw new Error('gave up', { cause });
            }
          },
        },
      });

      expect(contents).to.deep.equal(['The tool "broken" failed. Error id: call_1']);
    });

    it('sends an error result to the model if the advisor throws its own ToolError', async () => {
      const wrap = (): never => {
        throw new ToolError('Not at night.');
      };

      expect((await runBatch([ok], ['ok'], { run: { wrap } })).contents).to.deep.equal([
        'Not at night.',
      ]);
    });

    it('[F80] rejects with the original error of the advisor after all calls have ended', async () => {
      const error = new Error('the advisor is broken');
      let runs = 0;
      const slow = tool('slow', async () => {
        await settled();
        runs++;
      });
      const result = runBatch([ok, slow], ['ok', 'slow'], {
        run: {
          wrap: (invocation, next) => {
            if (invocation.tool === ok) throw error;
            return next(invocation);
          },
        },
      });

      expect(await rejection(result)).to.equal(error);
      expect(runs).to.equal(1);
    });

    it('[F80] rejects if the advisor fails after the tool succeeded', async () => {
      const error = new Error('after');
      const result = runBatch([ok], ['ok'], {
        run: {
          wrap: async (invocation, next) => {
            await next(invocation);
            throw error;
          },
        },
      });

      expect(await rejection(result)).to.equal(error);
    });

    it('[F51] leaves no unhandled rejection if the advisor does not await the tool', async () => {
      const { contents } = await runBatch([broken], ['broken'], {
        run: {
          wrap: (invocation, next) => {
            void next(invocation);
            return Promise.resolve({ content: 'did not wait' });
          },
        },
      });
      await settled();

      expect(contents).to.deep.equal(['did not wait']);
    });

    it('[F28] applies the time limit to each attempt of the tool, not to the advisor', async () => {
      const signals: AbortSignal[] = [];
      let attempt = 0;
      const flaky = tool('flaky', (_, { signal }) => {
        signals.push(signal);
        return ++attempt === 1 ? new Promise(() => undefined) : 'second try';
      });
      const { contents } = await runBatch([flaky], ['flaky'], {
        toolTimeout: 10,
        run: {
          wrap: async (invocation, next) => {
            await new Promise((resolve) => setTimeout(resolve, 30)); // for a permission
            try {
              return await next(invocation);
            } catch {
              return await next(invocation);
            }
          },
        },
      });

      expect(contents).to.deep.equal(['second try']);
      expect(signals.map((signal) => signal.aborted)).to.deep.equal([true, false]);
    });

    it('[F30] does not start the tool if the run is cancelled while the advisor waits', async () => {
      const controller = new AbortController();
      let runs = 0;
      const seen: unknown[] = [];
      const { contents } = await runBatch([tool('a', () => ++runs)], ['a'], {
        run: {
          signal: controller.signal,
          wrap: async (invocation, next) => {
            await settled();
            controller.abort('enough');
            try {
              return await next(invocation);
            } catch (error) {
              seen.push(error);
              throw error;
            }
          },
        },
      });

      expect(runs).to.equal(0);
      expect(seen[0]).to.be.instanceOf(CancelledError).with.property('cause', 'enough');
      expect(contents).to.deep.equal(['Not run to its end: the turn was cancelled.']);
    });

    it('[F30] aborts the tool by a signal of the advisor', async () => {
      const own = new AbortController();
      const seen: AbortSignal[] = [];
      const hang = tool(
        'hang',
        (_, { signal }) => (seen.push(signal), new Promise(() => undefined)),
      );
      const running = runBatch([hang], ['hang'], {
        run: {
          wrap: (invocation, next) =>
            next({ ...invocation, context: { ...invocation.context, signal: own.signal } }),
        },
      });
      await settled();
      own.abort();

      expect((await running).contents).to.deep.equal(['The tool "hang" failed. Error id: call_1']);
      expect(seen[0]?.aborted).to.equal(true);
    });

    it('passes arguments, values and progress of the advisor to the tool', async () => {
      const seen: unknown[] = [];
      const progress: unknown[] = [];
      const a = defineTool({
        name: 'a',
        execute: (args, context) => {
          seen.push(args, context.values);
          context.progress(1);
        },
      });
      await runBatch([a], [{ name: 'a', args: { n: 1 } }], {
        run: {
          toolContext: { user: 'anna' },
          wrap: (invocation, next) =>
            next({
              ...invocation,
              arguments: { n: 2 },
              context: {
                ...invocation.context,
                values: { user: 'bob' },
                progress: (data) => void progress.push(data),
              },
            }),
        },
      });

      expect(seen).to.deep.equal([{ n: 2 }, { user: 'bob' }]);
      expect(progress).to.deep.equal([1]);
    });

    it('does not run for invalid calls', async () => {
      const asked: string[] = [];
      const typed = defineTool({
        name: 'typed',
        input: z.object({ x: z.string() }),
        execute: () => 1,
      });
      await runBatch([typed, ok], ['none', 'typed', 'ok'], {
        run: { wrap: (invocation, next) => (asked.push(invocation.call.name), next(invocation)) },
      });

      expect(asked).to.deep.equal(['ok']);
    });
  });

  it('emits nothing of a tool without a time limit after its end', async () => {
    let given: ToolContext | undefined;
    const quick = defineTool({
      name: 'quick',
      timeout: Infinity,
      execute: (_, context) => {
        given = context;
        context.emit({ type: 'custom', name: 'test.note', data: { text: 'in time' } });
      },
    });

    const { events } = await runBatch([quick], ['quick']);
    given?.progress('afterwards');
    given?.emit({ type: 'custom', name: 'test.note', data: { text: 'afterwards' } });

    expect(events.map(({ type }) => type)).to.deep.equal([
      'tool-call',
      'tool-start',
      'custom',
      'tool-result',
    ]);
  });

  it('accepts any returned value: an observable, a generator, a class, itself', async () => {
    const odd: readonly unknown[] = [
      { subscribe: () => undefined },
      (async function* () {
        yield await Promise.resolve(1);
      })(),
      class Foo {},
      globalThis,
      new WeakMap(),
    ];
    for (const value of odd) {
      const { contents, messages } = await runBatch([tool('odd', () => value)], ['odd']);

      expect(contents[0]).to.be.a('string').and.not.equal('');
      expect(messages[0]).to.not.have.property('isError');
    }
  });
});
