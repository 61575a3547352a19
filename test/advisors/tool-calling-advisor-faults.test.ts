import { expect } from 'chai';
import { z } from 'zod';
import {
  AdvisorContext,
  AdvisorOrder,
  CancelledError,
  ContextKey,
  defineAdvisor,
  defineTool,
  textOf,
  ToolCallingManager,
  ToolError,
  ToolExecutionError,
  toolResult,
  type Message,
  type Prompt,
  type Tool,
  type ToolCallingManagerOptions,
  type ToolExecutionResult,
  type ToolMessage,
} from '../../src/index.js';
import { ScriptedChatModel, type Script, type ScriptedToolCall } from '../../src/testing/index.js';
import { deferred, settled } from '../support/promises.js';
import { rejection } from '../support/batch.js';
import { MODES, type Mode } from '../support/modes.js';
import { sweep } from '../support/sweep.js';
import { runTurn, summary, type Turn, type TurnOptions } from '../support/turn.js';
import fc from 'fast-check';

const CANARY = 'canary-c0ffee';
const UNLIMITED = { maxCallsPerTool: Infinity, maxTotalCalls: Infinity } as const;

/** Asks for calls, then answers. */
const asks = (...calls: readonly (string | ScriptedToolCall)[]): Script => [
  { toolCalls: calls.map((call) => (typeof call === 'string' ? { name: call } : call)) },
  'Done.',
];

/** Runs a turn; returns the texts of the tool messages in its second request. */
async function turn(
  mode: Mode,
  script: Script,
  { manager, ...options }: TurnOptions & { readonly manager?: ToolCallingManagerOptions },
): Promise<
  Turn & {
    readonly model: ScriptedChatModel;
    readonly texts: readonly string[];
    readonly results: readonly ToolMessage[];
  }
> {
  const model = new ScriptedChatModel(script);
  const loop = manager ? { loop: { manager: new ToolCallingManager(manager) } } : {};
  const done = await runTurn(mode, model, { ...loop, ...options });
  const results = toolMessages(model.prompts[1]);
  return { ...done, model, results, texts: results.map(({ content }) => textOf(content)) };
}

function toolMessages(prompt: Prompt | undefined): ToolMessage[] {
  return (prompt?.messages ?? []).filter(
    (message): message is Message & { role: 'tool' } => message.role === 'tool',
  );
}

const throwing =
  (error: unknown): (() => never) =>
  () => {
    throw error;
  };

/** Every odd way to fail, as what a tool does. */
const ODD: readonly (readonly [what: string, fail: () => unknown])[] = [
  ['throws', throwing(new Error(CANARY))],
  ['rejects', () => Promise.reject(new Error(CANARY))],
  ['rejects later', async () => (await settled(), throwing(new TypeError(CANARY))())],
  ['throws a text', throwing(CANARY)],
  ['throws undefined', throwing(undefined)],
  ['rejects with null', () => Promise.reject(null as unknown as Error)],
  ['throws a frozen error', throwing(Object.freeze(new Error(CANARY)))],
  [
    'throws a message getter that throws',
    throwing(Object.defineProperty(new Error(), 'message', { get: throwing(CANARY) })),
  ],
  [
    'throws a proxy that throws',
    throwing(
      new Proxy(
        {},
        { get: throwing(CANARY), has: throwing(CANARY), getPrototypeOf: throwing(CANARY) },
      ),
    ),
  ],
  ['throws a cause', throwing(new Error(CANARY, { cause: new Error(CANARY) }))],
  ['throws many errors', throwing(new AggregateError([new Error(CANARY), CANARY], CANARY))],
  [
    'throws a name',
    throwing(Object.assign(new Error('x'), { name: CANARY, stack: CANARY, code: CANARY })),
  ],
];

/** Arguments as models write them: paths, texts, numbers, nesting, escapes. */
const CORPUS: readonly string[] = fc
  .sample(
    fc.record({
      path: fc.webPath(),
      text: fc.string({ unit: 'grapheme', maxLength: 12 }),
      n: fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })),
      deep: fc.jsonValue({ maxDepth: 2 }),
    }),
    { numRuns: sweep(1_000), seed: 13 },
  )
  .map((args) => JSON.stringify(args));

for (const mode of MODES) {
  describe(`tool faults in ${mode} mode`, () => {
    it('[F12] runs only tools of this request, whatever name the model calls', async () => {
      const ran: string[] = [];
      const tool = (name: string): Tool =>
        defineTool({ name, execute: () => (ran.push(name), name) });
      const [mine] = [tool('mine'), tool('foreign'), tool('admin')];
      const names = [
        'foreign',
        'admin',
        'Mine',
        'MINE',
        ' mine',
        'mine\u200b',
        'mіne',
        '',
        'constructor',
        '__proto__',
        'toString',
      ];
      const random = fc.sample(fc.string({ unit: 'binary', maxLength: 300 }), {
        numRuns: 20,
        seed: 12,
      });
      const calls = [...names, ...random, 'mine'];
      const { texts, response } = await turn(
        mode,
        asks(...calls.map((name) => ({ name, arguments: '{}' }))),
        { tools: [mine as Tool] },
      );

      expect(ran).to.deep.equal(['mine']);
      expect(texts).to.have.length(calls.length);
      for (const text of texts.slice(0, -1)) {
        expect(text).to.match(/^There is no tool .*\. Tools you can call: mine\.$/s);
        expect(text.length).to.be.lessThan(900);
      }
      expect(response.text).to.equal('Done.');
    });

    it('[F12] lists at most 30 tools in the result of an unknown tool', async () => {
      const tools = Array.from({ length: 500 }, (_, at) =>
        defineTool({ name: `tool_${at}`, execute: () => at }),
      );
      const { texts } = await turn(mode, asks('none'), { tools });

      expect(texts[0]).to.match(/tool_29 and 470 more\.$/);
    });

    it('[F13] runs no call of a truncated answer, wherever it was truncated', async () => {
      const ran: unknown[] = [];
      const write = defineTool({
        name: 'write',
        inputSchema: { type: 'object' },
        execute: (args) => ran.push(args),
      });
      let cuts = 0;
      for (const whole of CORPUS) {
        // all prefixes in one answer, with the whole text as the last
        const toolCalls = Array.from({ length: whole.length + 1 }, (_, end) => ({
          name: 'write',
          arguments: whole.slice(0, end),
        }));
        cuts += toolCalls.length;
        const { texts } = await turn(mode, [{ toolCalls, finishReason: 'length' }, 'Done.'], {
          tools: [write],
          manager: UNLIMITED,
        });

        expect(new Set(texts)).to.deep.equal(
          new Set([
            'Not run: your answer was cut off before its end (finish reason "length"). Send the call again, shorter if possible.',
          ]),
        );
        expect(texts).to.have.length(toolCalls.length);
      }
      expect(ran).to.deep.equal([]);
      expect(cuts).to.be.greaterThan(50 * CORPUS.length);
    });

    it('[F13] rejects truncated arguments, also if the finish reason does not report it', async () => {
      const ran: unknown[] = [];
      const write = defineTool({
        name: 'write',
        inputSchema: { type: 'object' },
        execute: (args) => ran.push(args),
      });
      for (const whole of CORPUS.slice(0, sweep(300))) {
        const toolCalls = Array.from({ length: whole.length - 1 }, (_, end) => ({
          name: 'write',
          arguments: whole.slice(0, end + 1),
        }));
        const { texts } = await turn(mode, [{ toolCalls }, 'Done.'], {
          tools: [write],
          manager: UNLIMITED,
        });

        for (const text of texts) expect(text).to.match(/^The arguments of "write" are not valid:/);
      }
      expect(ran).to.deep.equal([]);
    });

    it('[F19] runs a tool only with valid arguments, and sends every issue to the model', async () => {
      const input = z.object({ city: z.string().min(1), days: z.int().min(1).max(7).default(3) });
      const ran: unknown[] = [];
      const weather = defineTool({
        name: 'weather',
        input,
        execute: (args) => void ran.push(args),
      });
      const values = fc.sample(
        fc.record(
          {
            city: fc.oneof(fc.string({ maxLength: 3 }), fc.integer()),
            days: fc.oneof(fc.integer({ min: -2, max: 9 }), fc.string()),
          },
          { requiredKeys: [] },
        ),
        { numRuns: 150, seed: 19 },
      );
      const { texts } = await turn(
        mode,
        asks(...values.map((args) => ({ name: 'weather', arguments: args }))),
        {
          tools: [weather],
          manager: UNLIMITED,
        },
      );
      const fits = values.map((args) => input.safeParse(args).success);

      expect(texts.map((text) => text === 'Done')).to.deep.equal(fits);
      expect(fits.filter(Boolean).length).to.be.within(10, 140);
      expect(ran).to.have.length(fits.filter(Boolean).length);
      for (const args of ran) expect(input.parse(args)).to.deep.equal(args);
    });

    it('[F26] [F27] returns one result per call in call order for 2 to 16 calls, whichever fail', async () => {
      for (let size = 2; size <= 16; size++) {
        const subsets =
          size <= 4
            ? Array.from({ length: 2 ** size }, (_, bits) => bits)
            : fc.sample(fc.nat(2 ** size - 1), { numRuns: 6, seed: size });
        for (const subset of subsets) {
          const fails = (at: number): boolean => (subset & (1 << at)) !== 0;
          const tools = Array.from({ length: size }, (_, at) =>
            defineTool({
              name: `t${at}`,
              execute: async () => {
                if (at % 3 === 0) await settled();
                return fails(at) ? ODD[(subset + at) % ODD.length]?.[1]() : `ran ${at}`;
              },
            }),
          );
          const { results } = await turn(mode, asks(...tools.map((tool) => tool.definition.name)), {
            tools,
          });

          expect(
            results.map(({ toolCallId, toolName, content, isError = false }) => [
              toolCallId,
              toolName,
              content,
              isError,
            ]),
          ).to.deep.equal(
            tools.map((_, at) => [
              `scripted_${at + 1}`,
              `t${at}`,
              fails(at) ? `The tool "t${at}" failed. Error id: scripted_${at + 1}` : `ran ${at}`,
              fails(at),
            ]),
          );
        }
      }
    });

    it('[F28] returns one result for a tool that times out, and ignores its later result', async () => {
      const gate = deferred<string>();
      const overdue = defineTool({ name: 'overdue', timeout: 5, execute: () => gate.promise });
      const hang = defineTool({
        name: 'hang',
        timeout: 5,
        execute: () => new Promise(() => undefined),
      });
      const script: Script = (_, index) => {
        if (index === 1) gate.resolve(CANARY); // the time is up, the loop continues
        return index < 2
          ? { toolCalls: [{ name: index === 0 ? 'overdue' : 'quick' }, { name: 'hang' }] }
          : 'Done.';
      };
      const quick = defineTool({ name: 'quick', execute: async () => (await settled(), 'quick') });
      const { model, events } = await turn(mode, script, { tools: [overdue, hang, quick] });

      expect(toolMessages(model.prompts[2]).map(({ content }) => content)).to.deep.equal([
        'The tool "overdue" did not answer within 5 ms.',
        'The tool "hang" did not answer within 5 ms.',
        'quick',
        'The tool "hang" did not answer within 5 ms.',
      ]);
      expect(JSON.stringify(summary(events))).to.not.include(CANARY);
    });

    it('[F30] starts no side effect after the run is cancelled at any point', async () => {
      const script: Script = (_, index) =>
        index < 4 ? { toolCalls: ['a', 'b', 'b', 'c'].map((name) => ({ name })) } : 'Done.';
      let whole = 0;
      let cut = 0;
      for (let ticks = 0; ticks < 200; ticks++) {
        const controller = new AbortController();
        const after: string[] = [];
        const tool = (name: string, work: () => unknown): Tool =>
          defineTool({
            name,
            execute: () => (controller.signal.aborted && after.push(name), work()),
          });
        const tools = [
          tool('a', () => 1),
          { ...tool('b', () => Promise.resolve(2)), metadata: { effect: 'write' } as const },
        ];
        const running = turn(mode, script, {
          tools: [...tools, tool('c', async () => Promise.resolve())],
          signal: controller.signal,
        }).then(
          () => 'whole',
          (error: unknown) => (error instanceof CancelledError ? 'cut' : error),
        );
        for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
        controller.abort();
        const outcome = await running;
        await settled();
        if (outcome === 'whole') whole++;
        else if (outcome === 'cut') cut++;
        else throw outcome;

        expect(after, `after ${ticks} ticks`).to.deep.equal([]);
      }
      expect(cut).to.be.greaterThan(20);
      expect(whole).to.be.greaterThan(1);
    });

    it('[F31] does nothing if the signal has already aborted', async () => {
      let runs = 0;
      const model = new ScriptedChatModel(asks('a'));
      const tools = [defineTool({ name: 'a', execute: () => ++runs })];
      let outcome: unknown;
      void rejection(runTurn(mode, model, { tools, signal: AbortSignal.abort('before') })).then(
        (error) => (outcome = error),
      );
      await settled();

      expect(outcome).to.be.instanceOf(CancelledError).with.property('cause', 'before');
      expect([model.prompts.length, runs]).to.deep.equal([0, 0]);
    });

    for (const [what, fail] of ODD) {
      it(`[F34] sends no part of an error to the model (${what})`, async () => {
        const tool = defineTool({ name: 'pay', execute: fail });
        const check = {
          ...defineTool({ name: 'check', execute: () => 1 }),
          validate: throwing(new Error(CANARY)),
        };
        const key = {
          ...defineTool({ name: 'key', execute: () => 1 }),
          metadata: { concurrencyKey: throwing(new Error(CANARY)) },
        };
        const { model, texts } = await turn(mode, asks('pay', 'check', 'key', 'none'), {
          tools: [tool, check, key],
          manager: { resolver: throwing(new Error(CANARY)) },
        });

        expect(JSON.stringify(model.prompts.map(({ messages }) => messages))).to.not.include(
          CANARY,
        );
        expect(texts).to.deep.equal([
          'The tool "pay" failed. Error id: scripted_1',
          'The arguments of "check" are not valid:\n- they could not be checked: the schema failed on them',
          'The tool "key" failed. Error id: scripted_3',
          'The tool "none" failed. Error id: scripted_4',
        ]);
      });
    }

    it('[F34] sends only the message of a ToolError to the model', async () => {
      const error = Object.assign(new ToolError('No such city.', { cause: new Error(CANARY) }), {
        stack: CANARY,
        detail: CANARY,
      });
      const { texts, model } = await turn(mode, asks('weather'), {
        tools: [defineTool({ name: 'weather', execute: throwing(error) })],
      });

      expect(texts).to.deep.equal(['No such city.']);
      expect(JSON.stringify(model.prompts.map(({ messages }) => messages))).to.not.include(CANARY);
    });

    it('[F36] drops and counts results after the end of the turn; the next turn does not contain them', async () => {
      const manager = new ToolCallingManager();
      const gates = [deferred<string>(), deferred<string>()];
      const controller = new AbortController();
      let calls = 0;
      const overdue = defineTool({
        name: 'overdue',
        execute: () => gates[calls++]?.promise ?? 'in time',
      });
      const model = new ScriptedChatModel([
        { toolCalls: [{ name: 'overdue' }, { name: 'overdue' }] },
        ...(asks('overdue') as readonly object[]),
      ]);
      const first = rejection(
        runTurn(mode, model, { tools: [overdue], loop: { manager }, signal: controller.signal }),
      );
      await settled();
      controller.abort();
      expect(await first).to.be.instanceOf(CancelledError);

      const second = runTurn(mode, model, { tools: [overdue], loop: { manager } });
      gates[0]?.resolve(CANARY);
      gates[1]?.reject(new Error(CANARY));
      const { events, response } = await second;

      expect(manager.abandonedCalls).to.equal(2);
      expect(response.text).to.equal('Done.');
      expect(toolMessages(model.prompts.at(-1)).map(({ content }) => content)).to.deep.equal([
        'in time',
      ]);
      expect(JSON.stringify(summary(events))).to.not.include(CANARY);
    });

    it('[F37] runs 1,000 calls at most 16 at a time', async () => {
      let running = 0;
      let most = 0;
      const busy = defineTool({
        name: 'busy',
        execute: async () => {
          most = Math.max(most, ++running);
          await Promise.resolve();
          running--;
        },
      });
      const { texts } = await turn(mode, asks(...Array.from({ length: 1_000 }, () => 'busy')), {
        tools: [busy],
        manager: UNLIMITED,
      });

      expect([most, texts.length, new Set(texts).size]).to.deep.equal([16, 1_000, 1]);
    });

    it('[F37] runs conflicting calls sequentially, in call order', async () => {
      const log: string[] = [];
      const account = defineTool({
        name: 'account',
        inputSchema: { type: 'object' },
        execute: async ({ id }) => {
          log.push(`+${String(id)}`);
          await settled();
          log.push(`-${String(id)}`);
        },
      });
      const concurrencyKey = (args: unknown): string => String((args as { id: string }).id[0]);
      const calls = ['a1', 'b1', 'a2'].map((id) => ({ name: 'account', arguments: { id } }));
      await turn(mode, asks(...calls), {
        tools: [{ ...account, metadata: { effect: 'write', concurrencyKey } }],
      });

      expect(log).to.deep.equal(['+a1', '+b1', '-a1', '+a2', '-b1', '-a2']);
    });

    it('[F38] carries the context into the next iteration; parallel tools see the same context', async () => {
      const LIST = new ContextKey<readonly string[]>('test.list', []);
      const seen: (readonly string[])[] = [];
      const inner = defineAdvisor({
        name: 'inner',
        order: AdvisorOrder.LOGGER,
        before: (request) =>
          request.withContext(LIST, [
            ...request.context.get(LIST),
            `iteration ${request.iteration}`,
          ]),
      });
      const look = defineTool({
        name: 'look',
        execute: async (_, { advisorContext }) => {
          await settled();
          seen.push(advisorContext.get(LIST));
          return toolResult({
            content: 'x',
            context: advisorContext.with(LIST, [...advisorContext.get(LIST), 'look']),
          });
        },
      });
      const script: Script = [
        { toolCalls: [{ name: 'look' }, { name: 'look' }] },
        { toolCalls: [{ name: 'look' }] },
        'Done.',
      ];
      const { response } = await turn(mode, script, { tools: [look], advisors: [inner] });

      expect(seen).to.deep.equal([
        ['iteration 0'],
        ['iteration 0'],
        ['iteration 0', 'look', 'iteration 1'],
      ]);
      expect(response.context.get(LIST)).to.deep.equal([
        'iteration 0',
        'look',
        'iteration 1',
        'look',
        'iteration 2',
      ]);
      expect(AdvisorContext.empty.get(LIST)).to.deep.equal([]);
    });

    describe('with errors for the caller', () => {
      const pay = (error: unknown): Tool => defineTool({ name: 'pay', execute: throwing(error) });
      const ok = defineTool({ name: 'ok', execute: async () => (await settled(), 'ok') });

      it("[F4] [F26] rejects with a ToolExecutionError that has all results, including earlier iterations ('throw')", async () => {
        const cause = new Error(CANARY);
        const script: Script = [
          { toolCalls: [{ name: 'ok' }] },
          { toolCalls: [{ name: 'pay' }, { name: 'ok' }] },
        ];
        const error = await rejection(
          turn(mode, script, { tools: [pay(cause), ok], manager: { onToolError: 'throw' } }),
        );
        const { result, toolName, callId } = error as ToolExecutionError<ToolExecutionResult>;

        expect(error).to.be.instanceOf(ToolExecutionError).with.property('cause', cause);
        expect([toolName, callId]).to.deep.equal(['pay', 'scripted_2']);
        expect(result.history.map((message) => message.role).join(' ')).to.equal(
          'system user assistant tool assistant tool tool',
        );
        expect(result.messages.map(({ content }) => content)).to.deep.equal([
          'The tool "pay" failed. Error id: scripted_2',
          'ok',
        ]);
      });

      it('[F26] rejects with an unchanged error of a rethrow class, after the results of the other calls were emitted', async () => {
        class Revoked extends Error {}
        const error = new Revoked(CANARY);
        const texts: string[] = [];
        const recorder = defineAdvisor({
          name: 'results',
          order: 2,
          onEvent: (event) =>
            void (
              event.type === 'tool-result' &&
              texts.push(`${event.call.name} ${textOf(event.result.content)}`)
            ),
        });
        const options = {
          tools: [pay(error), ok],
          advisors: [recorder],
          manager: { rethrow: [Revoked] },
        };

        expect(await rejection(turn(mode, asks('pay', 'ok'), options))).to.equal(error);
        expect(texts).to.deep.equal(['pay The tool "pay" failed. Error id: scripted_1', 'ok ok']);
      });

      it('calls a policy function, which returns the text for the model or throws', async () => {
        const onToolError = (error: unknown): string =>
          error instanceof RangeError ? throwing(error)() : 'Try something else.';
        const { texts } = await turn(mode, asks('pay'), {
          tools: [pay(1)],
          manager: { onToolError },
        });
        const error = new RangeError('x');

        expect(texts).to.deep.equal(['Try something else.']);
        expect(
          await rejection(
            turn(mode, asks('pay'), { tools: [pay(error)], manager: { onToolError } }),
          ),
        ).to.equal(error);
      });
    });
  });
}
