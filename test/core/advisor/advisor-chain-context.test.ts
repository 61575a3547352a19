import { AsyncLocalStorage } from 'node:async_hooks';
import { expect } from 'chai';
import { ToolCallingAdvisor } from '../../../advisors/index.js';
import { AdvisorOrder, type Advisor } from '../../../src/core/advisor/advisor.js';
import { defineAdvisor } from '../../../src/core/advisor/define-advisor.js';
import { AdvisorContext, ContextKey } from '../../../src/core/chat/context.js';
import { Prompt } from '../../../src/core/chat/prompt.js';
import { textOf } from '../../../src/core/chat/message.js';
import { defineTool } from '../../../src/core/tool/define-tool.js';
import { toolResult } from '../../../src/core/tool/tool-result.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { createAdvisorChain } from '../../support/observers.js';
import { MODES } from '../../support/modes.js';
import { collect, requestFor, responseOf, run } from '../../support/runs.js';
import { settle } from '../../support/promises.js';
import { sweep } from '../../support/sweep.js';

const LAST_BEFORE = new ContextKey<string>('test.last-before', '');
const LAST_AFTER = new ContextKey<string>('test.last-after', '');
const PARAM = new ContextKey<string>('test.param', '');
const ROUNDS = new ContextKey<readonly string[]>('test.rounds', []);

/** Notes itself in the context on both ways. */
function noting(name: string, order: number): Advisor {
  const before = new ContextKey<boolean>(`test.before-${name}`, false);
  const after = new ContextKey<boolean>(`test.after-${name}`, false);
  return defineAdvisor({
    name,
    order,
    before: (request) => request.withContext(before, true).withContext(LAST_BEFORE, name),
    after: (response) => response.withContext(after, true).withContext(LAST_AFTER, name),
  });
}

describe('the context of a run', () => {
  for (const mode of MODES) {
    it(`[${mode === 'call' ? 'CTX-01' : 'CTX-02'}] has the params and the values of all advisors: the inner one writes last on the way in, the outer one on the way out (${mode})`, async () => {
      const request = requestFor(mode, { context: AdvisorContext.empty.with(PARAM, 'given') });

      const { context } = responseOf(
        await run([noting('outer', 0), noting('inner', 1)], undefined, request),
      );

      expect(Object.fromEntries(context.entries())).to.deep.equal({
        'test.param': 'given',
        'test.before-outer': true,
        'test.before-inner': true,
        'test.last-before': 'inner',
        'test.after-inner': true,
        'test.after-outer': true,
        'test.last-after': 'outer',
      });
      expect([...request.context.entries()]).to.deep.equal([['test.param', 'given']]);
    });

    it(`[F38] is passed from iteration to iteration and into the answer (${mode})`, async () => {
      const seen: (readonly string[])[] = [];
      const inside = defineAdvisor({
        name: 'inside',
        order: AdvisorOrder.LOGGER,
        before: (request) => {
          seen.push(request.context.get(ROUNDS));
          return request.withContext(ROUNDS, [
            ...request.context.get(ROUNDS),
            `in ${request.iteration}`,
          ]);
        },
        after: (response) => response.withContext(ROUNDS, [...response.context.get(ROUNDS), 'out']),
      });
      const echo = defineTool({ name: 'echo', execute: () => 'ok' });
      const calls = { toolCalls: [{ name: 'echo' }] };
      const model = new ScriptedChatModel([calls, calls, 'Done.']);

      const { context } = responseOf(
        await run([new ToolCallingAdvisor(), inside], model, requestFor(mode, { tools: [echo] })),
      );

      expect(seen).to.deep.equal([[], ['in 0', 'out'], ['in 0', 'out', 'in 1', 'out']]);
      expect(context.get(ROUNDS)).to.deep.equal(['in 0', 'out', 'in 1', 'out', 'in 2', 'out']);
    });

    it(`has the values of a tool result in the next iteration and in the answer (${mode})`, async () => {
      const seen: string[] = [];
      const inside = defineAdvisor({
        name: 'inside',
        order: AdvisorOrder.LOGGER,
        before: (request) => void seen.push(request.context.get(PARAM)),
      });
      const tool = defineTool({
        name: 'find',
        execute: () =>
          toolResult({ content: 'ok', context: AdvisorContext.empty.with(PARAM, 'found') }),
      });
      const model = new ScriptedChatModel([{ toolCalls: [{ name: 'find' }] }, 'Done.']);

      const { context } = responseOf(
        await run([new ToolCallingAdvisor(), inside], model, requestFor(mode, { tools: [tool] })),
      );

      expect(seen).to.deep.equal(['', 'found']);
      expect(context.get(PARAM)).to.equal('found');
    });
  }
});

describe('many concurrent runs of one chain', () => {
  const local = new AsyncLocalStorage<string>();
  const CANARY = new ContextKey<string>('test.canary', 'none');

  /** Everything an advisor can see that belongs to one run. */
  function spy(name: string, order: number, foreign: string[]): Advisor {
    const check = (
      where: string,
      canary: string,
      ...seen: readonly (string | undefined)[]
    ): void => {
      for (const value of [local.getStore(), ...seen])
        if (value !== canary) foreign.push(`${name} ${where}: ${value} in ${canary}`);
    };
    return defineAdvisor({
      name,
      order,
      before: async (request) => {
        const canary = request.context.get(CANARY);
        await settle();
        check(
          'before',
          canary,
          textOf(request.prompt.userMessage?.content ?? ''),
          request.toolContext['canary'] as string,
        );
      },
      after: async (response, request) => {
        await Promise.resolve();
        check(
          'after',
          request.context.get(CANARY),
          response.context.get(CANARY),
          response.metadata?.['canary'] as string,
        );
      },
      onEvent: (event, request) => {
        const canary = request.context.get(CANARY);
        if (event.type === 'text-delta') check('delta', canary, event.text.trim());
      },
      aroundTool: (call, next) => {
        check(
          'tool',
          call.context.advisorContext.get(CANARY),
          call.context.values['canary'] as string,
          call.call.arguments.slice(6, -2),
        );
        return next(call);
      },
    });
  }

  for (const mode of MODES) {
    it(`[F76] [F77] share no context, texts, options, tool context or async context (${mode})`, async function () {
      this.timeout(20_000);
      const foreign: string[] = [];
      const model = new ScriptedChatModel((prompt, index) => {
        const canary = textOf(prompt.userMessage?.content ?? '');
        if (prompt.options.user !== canary)
          foreign.push(`model: ${prompt.options.user} in ${canary}`);
        const isFirst = prompt.messages.at(-1)?.role === 'user';
        return {
          deltas: [canary],
          delay: index % 3,
          ...(isFirst && { toolCalls: [{ name: 'echo', arguments: { c: canary } }] }),
        };
      });
      const stamp = defineAdvisor({
        name: 'stamp',
        order: AdvisorOrder.LOGGER + 1,
        after: (response, request) =>
          response.with({ metadata: { canary: request.context.get(CANARY) } }),
      });
      const echo = defineTool({ name: 'echo', execute: (_, { values }) => values['canary'] });
      const chain = createAdvisorChain(
        [
          spy('outside', AdvisorOrder.GUARD, foreign),
          new ToolCallingAdvisor(),
          spy('inside', AdvisorOrder.LOGGER, foreign),
          stamp,
        ],
        model,
      );

      const runs = sweep(1_000);
      const texts = await Promise.all(
        Array.from({ length: runs }, (_, n) => {
          const canary = `canary-${n}`;
          const request = requestFor(mode, {
            prompt: new Prompt(canary, { user: canary }),
            tools: [echo],
            toolContext: Object.freeze({ canary }),
            context: AdvisorContext.empty.with(CANARY, canary),
          });
          return local.run(
            canary,
            async () => responseOf(await collect(chain(Object.freeze(request)))).response.text,
          );
        }),
      );

      expect(foreign).to.deep.equal([]);
      expect(texts).to.deep.equal(Array.from({ length: runs }, (_, n) => `canary-${n}`));
      expect(model.prompts).to.have.lengthOf(2 * runs);
    });
  }
});
