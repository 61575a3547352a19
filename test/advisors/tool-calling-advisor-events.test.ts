import { expect } from 'chai';
import {
  AdvisorOrder,
  defineAdvisor,
  defineTool,
  ToolError,
  type Advisor,
  type ToolResult,
} from '../../src/index.js';
import type { Script, ScriptedParts } from '../../src/testing/index.js';
import { rejection } from '../support/batch.js';
import { settled } from '../support/promises.js';
import { MODES, type Mode } from '../support/modes.js';
import { runTurn, summary } from '../support/turn.js';

const call = (...names: readonly string[]): ScriptedParts => ({
  toolCalls: names.map((name) => ({ name })),
});

describe('the events of a tool loop', () => {
  const weather = defineTool({
    name: 'weather',
    execute: async (_, { progress }) => {
      progress({ percent: 50 });
      await settled();
      return 'sunny';
    },
  });
  const time = defineTool({ name: 'time', execute: () => 'noon' });
  const pay = defineTool({
    name: 'pay',
    execute: () => {
      throw new ToolError('No money.');
    },
  });
  const SCRIPT: Script = [
    {
      text: 'Let me look.',
      deltas: ['Let me ', 'look.'],
      reasoning: 'Both at once.',
      ...call('weather', 'time'),
    },
    { ...call('pay', 'none') },
    { text: 'It is sunny.', deltas: ['It is ', 'sunny.'] },
  ];
  const EXPECTED: readonly (readonly [mode: Mode | 'both', event: string])[] = [
    ['stream', 'reasoning-delta Both at once.'],
    ['stream', 'text-delta Let me '],
    ['stream', 'text-delta look.'],
    ['stream', 'tool-call-delta 0 weather'],
    ['stream', 'tool-call-delta 1 time'],
    ['both', 'iteration 0 weather+time'],
    ['both', 'tool-call scripted_1 weather'],
    ['both', 'tool-progress scripted_1 {"percent":50}'],
    ['both', 'tool-call scripted_2 time'],
    ['both', 'tool-result scripted_2 "noon"'],
    ['both', 'tool-result scripted_1 "sunny"'],
    ['both', 'step 0'],
    ['stream', 'tool-call-delta 0 pay'],
    ['stream', 'tool-call-delta 1 none'],
    ['both', 'iteration 1 pay+none'],
    ['both', 'tool-call scripted_3 pay'],
    ['both', 'tool-call scripted_4 none'],
    [
      'both',
      'tool-result scripted_4 "There is no tool \\"none\\". Tools you can call: weather, time, pay."',
    ],
    ['both', 'tool-result scripted_3 "No money."'],
    ['both', 'step 1'],
    ['stream', 'text-delta It is '],
    ['stream', 'text-delta sunny.'],
    ['both', 'response It is sunny.'],
  ];

  for (const mode of MODES) {
    it(`are in exact order for a turn of three iterations (${mode})`, async () => {
      const { events } = await runTurn(mode, SCRIPT, { tools: [weather, time, pay] });

      expect(summary(events)).to.deep.equal(
        EXPECTED.filter(([where]) => where === 'both' || where === mode).map(([, event]) => event),
      );
    });

    it(`contain the answer of the iteration, the call and the whole result (${mode})`, async () => {
      const { events } = await runTurn(mode, SCRIPT, { tools: [weather, time, pay] });
      const iteration = events.find((event) => event.type === 'iteration');
      const results = events.filter((event) => event.type === 'tool-result');

      expect(iteration?.response.text).to.equal('Let me look.');
      expect(iteration?.response.message.reasoning).to.equal('Both at once.');
      expect(
        results.map(({ call: { id }, result }) => [id, result.value, result.isError === true]),
      ).to.deep.equal([
        ['scripted_2', 'noon', false],
        ['scripted_1', 'sunny', false],
        ['scripted_4', undefined, true],
        ['scripted_3', undefined, true],
      ]);
      expect(results[3]?.result.error).to.be.instanceOf(ToolError);
    });

    it(`contain no progress after the end of a call (${mode})`, async () => {
      let report: ((data: unknown) => void) | undefined;
      const first = defineTool({
        name: 'first',
        execute: (_, { progress }) => ((report = progress), 'ok'),
      });
      const second = defineTool({ name: 'second', execute: () => (report?.('overdue'), 'ok') });
      const { events } = await runTurn(mode, [call('first'), call('second'), 'Done.'], {
        tools: [first, second],
      });

      expect(events.some((event) => event.type === 'tool-progress')).to.equal(false);
    });
  }
});

describe('the advisors around a tool call', () => {
  const around = (name: string, order: number, log: string[]): Advisor =>
    defineAdvisor({
      name,
      order,
      aroundTool: async (invocation, next) => {
        log.push(`${name} > ${invocation.call.name}`);
        const result = await next(invocation);
        log.push(`${name} < ${invocation.call.name}`);
        return { ...result, content: `${name}(${result.content as string})` };
      },
    });

  for (const mode of MODES) {
    describe(`in ${mode} mode`, () => {
      const echo = defineTool({ name: 'echo', execute: ({ text }) => text ?? 'ran' });

      it('wrap each call in order, on both sides of the loop', async () => {
        const log: string[] = [];
        const advisors = [
          around('inner', AdvisorOrder.LOGGER, log),
          around('outer', AdvisorOrder.GUARD, log),
          around('same', AdvisorOrder.GUARD, log),
        ];
        const { events } = await runTurn(mode, [call('echo'), call('echo'), 'Done.'], {
          tools: [echo],
          advisors,
        });
        const once = [
          'outer > echo',
          'same > echo',
          'inner > echo',
          'inner < echo',
          'same < echo',
          'outer < echo',
        ];

        expect(log).to.deep.equal([...once, ...once]);
        expect(summary(events))
          .to.include('tool-result scripted_1 "outer(same(inner(ran)))"')
          .and.to.include('tool-result scripted_2 "outer(same(inner(ran)))"');
      });

      it('run with the advisor as this', async () => {
        class Counting implements Advisor {
          readonly name = 'counting';
          readonly order = 1;
          count = 0;
          adviseToolCall(
            ...[invocation, next]: Parameters<NonNullable<Advisor['adviseToolCall']>>
          ): Promise<ToolResult> {
            this.count++;
            return next(invocation);
          }
        }
        const advisor = new Counting();
        await runTurn(mode, [call('echo', 'echo'), 'Done.'], {
          tools: [echo],
          advisors: [advisor],
        });

        expect(advisor.count).to.equal(2);
      });

      it('can answer without the tool', async () => {
        let runs = 0;
        const tool = defineTool({ name: 'tool', execute: () => ++runs });
        const cache = defineAdvisor({
          name: 'cache',
          order: 1,
          aroundTool: () => Promise.resolve({ content: 'cached' }),
        });
        const { events } = await runTurn(mode, [call('tool'), 'Done.'], {
          tools: [tool],
          advisors: [cache],
        });

        expect(runs).to.equal(0);
        expect(summary(events)).to.include('tool-result scripted_1 "cached"');
      });

      it('can answer for a return-direct tool', async () => {
        const report = defineTool({ name: 'report', returnDirect: true, execute: () => 'fresh' });
        const cache = defineAdvisor({
          name: 'cache',
          order: 1,
          aroundTool: () => Promise.resolve({ content: 'cached' }),
        });

        expect(
          (await runTurn(mode, [call('report')], { tools: [report], advisors: [cache] })).response
            .text,
        ).to.equal('cached');
      });

      it('can run the tool twice', async () => {
        let runs = 0;
        const flaky = defineTool({
          name: 'flaky',
          execute: () => {
            if (++runs === 1) throw new Error('once');
            return 'ok';
          },
        });
        const again = defineAdvisor({
          name: 'again',
          order: 1,
          aroundTool: async (invocation, next) => {
            try {
              return await next(invocation);
            } catch {
              return await next(invocation);
            }
          },
        });
        const { events } = await runTurn(mode, [call('flaky'), 'Done.'], {
          tools: [flaky],
          advisors: [again],
        });

        expect(runs).to.equal(2);
        expect(summary(events).filter((event) => event.startsWith('tool-'))).to.include(
          'tool-result scripted_1 "ok"',
        );
      });

      it('can change the arguments', async () => {
        const change = defineAdvisor({
          name: 'change',
          order: 1,
          aroundTool: (invocation, next) => next({ ...invocation, arguments: { text: 'changed' } }),
        });
        const { events } = await runTurn(mode, [call('echo'), 'Done.'], {
          tools: [echo],
          advisors: [change],
        });

        expect(summary(events)).to.include('tool-result scripted_1 "changed"');
      });

      it('[F80] [law 6] end the run with their own error, as the same object', async () => {
        const error = new Error('guard is broken');
        const guard = defineAdvisor({
          name: 'guard',
          order: 1,
          aroundTool: () => Promise.reject(error),
        });

        expect(
          await rejection(
            runTurn(mode, [call('echo'), 'Done.'], { tools: [echo], advisors: [guard] }),
          ),
        ).to.equal(error);
      });

      it('[F80] can throw synchronously', async () => {
        const error = new Error('at once');
        const guard = defineAdvisor({
          name: 'guard',
          order: 1,
          aroundTool: () => {
            throw error;
          },
        });

        expect(
          await rejection(
            runTurn(mode, [call('echo'), 'Done.'], {
              tools: [echo],
              advisors: [around('outer', 0, []), guard],
            }),
          ),
        ).to.equal(error);
      });

      it('send the message of a ToolError to the model', async () => {
        const guard = defineAdvisor({
          name: 'guard',
          order: 1,
          aroundTool: () => Promise.reject(new ToolError('Not at night.')),
        });
        const { events, response } = await runTurn(mode, [call('echo'), 'Done.'], {
          tools: [echo],
          advisors: [guard],
        });

        expect(summary(events)).to.include('tool-result scripted_1 "Not at night."');
        expect(response.text).to.equal('Done.');
      });

      for (const [what, result] of Object.entries({
        nothing: undefined,
        'no content': {},
        'a text': 'ok',
        'content that is none': { content: 7 },
      })) {
        it(`[F79] end the run with an error that names the advisor if it returns ${what}`, async () => {
          const forgets = defineAdvisor({
            name: 'forgets',
            order: 1,
            aroundTool: () => Promise.resolve(result as unknown as ToolResult),
          });

          expect(
            await rejection(
              runTurn(mode, [call('echo'), 'Done.'], { tools: [echo], advisors: [forgets] }),
            ),
          )
            .to.have.property('message')
            .that.matches(
              /^advisor "forgets": adviseToolCall must return a tool result with content, not /,
            );
        });
      }

      it('are not affected by the limit of a nested turn', async () => {
        const inner = (): Promise<unknown> =>
          runTurn('call', () => call('echo'), {
            tools: [echo],
            loop: { maxIterations: 1, onLimit: 'throw' },
          });
        const delegates = defineAdvisor({
          name: 'delegates',
          order: 1,
          aroundTool: async (invocation, next) => {
            await inner();
            return next(invocation);
          },
        });

        expect(
          await rejection(
            runTurn(mode, [call('echo'), 'Done.'], { tools: [echo], advisors: [delegates] }),
          ),
        ).to.include({
          limit: 'iterations',
          value: 1,
        });
      });
    });
  }
});
