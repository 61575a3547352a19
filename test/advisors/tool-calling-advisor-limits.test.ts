import { callsOf } from '../../src/core/chat/message.js';
import { expect } from 'chai';
import type { ToolCallingAdvisorOptions } from '../../advisors/tool-calling-advisor.js';
import {
  ContextKey,
  defineAdvisor,
  defineTool,
  LimitExceededError,
  ToolCallingManager,
  type Advisor,
  type ChatResponse,
  type Message,
  type Prompt,
  type ToolExecutionResult,
} from '../../src/index.js';
import {
  ScriptedChatModel,
  type Script,
  type ScriptedAnswer,
  type ScriptedParts,
} from '../../src/testing/index.js';
import { rejection } from '../support/batch.js';
import { INSIDE } from '../support/memory-advisor.js';
import { MODES } from '../support/modes.js';
import { RecordedObservation } from '../support/recorded-observation.js';
import { roles, runTurn, summary } from '../support/turn.js';

/** A tool that counts its executions. */
function ledger(): { readonly entries: unknown[]; readonly tool: ReturnType<typeof defineTool> } {
  const entries: unknown[] = [];
  return {
    entries,
    tool: defineTool({ name: 'ledger', execute: (args) => `entry ${entries.push(args)}` }),
  };
}

const USAGE = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };

/** A model that calls tools with new arguments while some are offered. */
const insatiable: Script = (prompt, index) =>
  offers(prompt)
    ? { toolCalls: [{ name: 'ledger', arguments: { index } }], usage: USAGE }
    : { text: 'That is all.', usage: USAGE };
/** A model that calls tools even where there are none. */
const mad: Script = (_, index) => ({
  text: `Call ${index}.`,
  toolCalls: [{ name: 'ledger', arguments: { index } }],
  usage: USAGE,
});

function offers({ options }: Prompt): boolean {
  return options.tools !== undefined && options.tools.length > 0;
}

/** Checks what providers check: exactly one result directly after each call, and none first. */
function isValidTranscript(messages: readonly Message[]): boolean {
  let waiting: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      if (waiting.shift() !== message.toolCallId) return false;
    } else if (waiting.length > 0) return false;
    if (message.role === 'assistant') waiting = callsOf(message).map((call) => call.id);
  }
  return waiting.length === 0;
}

async function breach(
  run: Promise<unknown>,
): Promise<LimitExceededError<ToolExecutionResult, ChatResponse>> {
  const error = await rejection(run);
  expect(error).to.be.instanceOf(LimitExceededError);
  return error as LimitExceededError<ToolExecutionResult, ChatResponse>;
}

for (const mode of MODES) {
  describe(`the limits of a tool loop in ${mode} mode`, () => {
    describe('maxIterations', () => {
      for (const maxIterations of [1, 3, 25]) {
        it(`[F1] allows ${maxIterations} executions, then one last call without tools ('answer')`, async () => {
          const { entries, tool } = ledger();
          const model = new ScriptedChatModel(insatiable);
          const { response } = await runTurn(mode, model, {
            tools: [tool],
            loop: { maxIterations },
          });

          expect([entries.length, model.prompts.length]).to.deep.equal([
            maxIterations,
            maxIterations + 1,
          ]);
          expect(model.prompts.map(offers)).to.deep.equal([
            ...Array.from({ length: maxIterations }, () => true),
            false,
          ]);
          expect(response.text).to.equal('That is all.');
          expect(response.metadata).to.deep.equal({
            limit: {
              limit: 'iterations',
              max: maxIterations,
              spent: maxIterations,
              toolName: undefined,
            },
          });
          expect(response.usage?.totalTokens).to.equal(3 * (maxIterations + 1));
          expect(isValidTranscript(model.prompts.at(-1)?.messages ?? [])).to.equal(true);
        });

        it(`[F1] [F4] allows ${maxIterations} executions, then throws an error with the results so far ('throw')`, async () => {
          const { entries, tool } = ledger();
          const model = new ScriptedChatModel(insatiable);
          const error = await breach(
            runTurn(mode, model, { tools: [tool], loop: { maxIterations, onLimit: 'throw' } }),
          );

          expect([entries.length, model.prompts.length]).to.deep.equal([
            maxIterations,
            maxIterations,
          ]);
          expect([error.limit, error.value, error.toolName]).to.deep.equal([
            'iterations',
            maxIterations,
            undefined,
          ]);
          expect(error.message).to.equal(
            `The turn was stopped: the limit of ${maxIterations} iterations in a turn is reached; raise maxIterations to change it.`,
          );
          expect(error.result.history).to.have.length(2 + 2 * maxIterations);
          expect(isValidTranscript(error.result.history)).to.equal(true);
          expect(error.response.usage?.totalTokens).to.equal(3 * maxIterations);
          expect(error.response.hasToolCalls()).to.equal(true);
        });

        it(`[F1] allows ${maxIterations} executions, then answers with a text that names the limit ('return')`, async () => {
          const { entries, tool } = ledger();
          const model = new ScriptedChatModel(insatiable);
          const { response } = await runTurn(mode, model, {
            tools: [tool],
            loop: { maxIterations, onLimit: 'return' },
          });

          expect([entries.length, model.prompts.length]).to.deep.equal([
            maxIterations,
            maxIterations,
          ]);
          expect(response.generations).to.have.length(1);
          expect(response.text).to.equal(
            `The turn was stopped: the limit of ${maxIterations} iterations in a turn is reached.`,
          );
          expect(response.finishReason).to.equal('toolCallLimitExceeded');
          expect(response.usage?.totalTokens).to.equal(3 * maxIterations);
        });
      }

      it('[F1] is 25 by default', async () => {
        const { entries, tool } = ledger();
        await runTurn(mode, insatiable, { tools: [tool] });

        expect(entries).to.have.length(25);
      });

      it('[F1] counts from the iteration at which the loop starts', async () => {
        const { entries, tool } = ledger();
        const later = defineAdvisor({
          name: 'later',
          order: 2,
          before: (request) => request.with({ iteration: 5 }),
        });
        await runTurn(mode, insatiable, {
          tools: [tool],
          loop: { maxIterations: 2 },
          advisors: [later],
        });

        expect(entries).to.have.length(2);
      });

      it('does not affect a turn within the limit', async () => {
        const { entries, tool } = ledger();
        const script: Script = (_, index) =>
          index < 3 ? { toolCalls: [{ name: 'ledger', arguments: { index } }] } : 'Done.';
        const { response } = await runTurn(mode, script, {
          tools: [tool],
          loop: { maxIterations: 4, onLimit: 'throw' },
        });

        expect([entries.length, response.text]).to.deep.equal([3, 'Done.']);
      });
    });

    describe("the last call of 'answer'", () => {
      it('has no tools and no tool choice, keeps the other options and the context of its answer', async () => {
        const { tool } = ledger();
        const model = new ScriptedChatModel(insatiable);
        const options = {
          toolChoice: 'required',
          parallelToolCalls: false,
          temperature: 0.1,
        } as const;
        await runTurn(mode, model, { tools: [tool], loop: { maxIterations: 2 }, options });
        const last = model.prompts.at(-1)?.options;

        expect(last).to.deep.equal({ model: 'scripted', temperature: 0.1 });
      });

      it('ends with a text that names the limit if it asks for tools; its deltas are retracted', async () => {
        const { entries, tool } = ledger();
        const model = new ScriptedChatModel(mad);
        const { events, response } = await runTurn(mode, model, {
          tools: [tool],
          loop: { maxIterations: 1 },
        });
        const text = 'The turn was stopped: the limit of 1 iterations in a turn is reached.';

        expect([entries.length, model.prompts.length]).to.deep.equal([1, 2]);
        expect([response.text, response.hasToolCalls(), response.usage?.totalTokens]).to.deep.equal(
          [text, false, 6],
        );
        expect(summary(events).slice(-6)).to.deep.equal(
          mode === 'stream'
            ? [
                'text-delta Call ',
                'text-delta 1.',
                'tool-call-delta 0 ledger',
                'retract 1',
                `text-delta ${text}`,
                `response ${text}`,
              ]
            : [
                'iteration 0 ledger',
                'tool-call scripted_1 ledger',
                'tool-result scripted_1 "entry 1"',
                'step 0',
                `response ${text}`,
              ],
        );
      });

      it('keeps the context of its answer if it asks for tools', async () => {
        const { tool } = ledger();
        const LAST = new ContextKey<number>('test.last', -1);
        const inside = defineAdvisor({
          name: 'inside',
          order: INSIDE,
          around: async (request, next) =>
            (await next(request)).withContext(LAST, request.iteration),
        });
        const { response } = await runTurn(mode, mad, {
          tools: [tool],
          loop: { maxIterations: 2 },
          advisors: [inside],
        });

        expect(response.context.get(LAST)).to.equal(2);
      });

      it('ends the turn with its error if it fails', async () => {
        const { tool } = ledger();
        const error = new Error('down');
        const script: Script = (prompt, index) =>
          offers(prompt) ? { toolCalls: [{ name: 'ledger', arguments: { index } }] } : error;

        expect(
          await rejection(runTurn(mode, script, { tools: [tool], loop: { maxIterations: 1 } })),
        ).to.equal(error);
      });

      it('contains the last results if the loop keeps no history', async () => {
        const { tool } = ledger();
        const model = new ScriptedChatModel(insatiable);
        await runTurn(mode, model, {
          tools: [tool],
          loop: { maxIterations: 2, keepHistory: false },
        });

        expect(roles(model.prompts.at(-1)?.messages)).to.equal('system tool');
      });
    });

    describe('the limits of the manager', () => {
      const loop = (
        onLimit: 'answer' | 'throw' | 'return',
        limits: object,
      ): ToolCallingAdvisorOptions => ({
        onLimit,
        manager: new ToolCallingManager(limits),
      });
      const five = (prompt: Prompt): ScriptedAnswer =>
        offers(prompt)
          ? {
              toolCalls: [1, 2, 3, 4, 5].map((n) => ({ name: 'ledger', arguments: { n } })),
              usage: USAGE,
            }
          : 'Enough.';

      it("[F2] cause one last call without tools, with the calls that did not run ('answer')", async () => {
        const { entries, tool } = ledger();
        const model = new ScriptedChatModel(five);
        const { response } = await runTurn(mode, model, {
          tools: [tool],
          loop: loop('answer', { maxCallsPerTool: 3 }),
        });
        const warning =
          'Not run: the limit of 3 calls of the tool "ledger" in a turn is reached. Answer with what you have.';

        expect([entries.length, model.prompts.length, response.text]).to.deep.equal([
          3,
          2,
          'Enough.',
        ]);
        expect(
          model.prompts[1]?.messages
            .slice(3)
            .map((message) => (message as { content?: unknown }).content),
        ).to.deep.equal(['entry 1', 'entry 2', 'entry 3', warning, warning]);
        expect(response.metadata?.['limit']).to.deep.equal({
          limit: 'calls-per-tool',
          max: 3,
          spent: 4,
          toolName: 'ledger',
        });
      });

      it("[F4] cause an error with the usage and the transcript ('throw')", async () => {
        const { entries, tool } = ledger();
        const one: ScriptedParts = { toolCalls: [{ name: 'ledger' }], usage: USAGE };
        const model = new ScriptedChatModel((prompt, index) => (index === 0 ? one : five(prompt)));
        const error = await breach(
          runTurn(mode, model, { tools: [tool], loop: loop('throw', { maxTotalCalls: 4 }) }),
        );

        expect(entries).to.have.length(4);
        expect([error.limit, error.value, error.toolName]).to.deep.equal([
          'total-calls',
          4,
          undefined,
        ]);
        expect(error.response.usage?.totalTokens).to.equal(6);
        expect(isValidTranscript(error.result.history)).to.equal(true);
      });

      it("[TCA-41] [TCA-48] [TCA-49] cause one generation that names the limit, with the results so far ('return')", async () => {
        const { tool } = ledger();
        const { response, events } = await runTurn(mode, five, {
          tools: [tool],
          loop: loop('return', { maxCallsPerTool: 2 }),
        });
        const text =
          'The turn was stopped: the limit of 2 calls of the tool "ledger" in a turn is reached.';

        expect(
          response.generations.map(({ message, finishReason }) => [message.content, finishReason]),
        ).to.deep.equal([[text, 'toolCallLimitExceeded']]);
        const partial = response.result?.metadata?.['partialToolResponses'] as
          Message[] | undefined;
        expect(partial?.map((message) => message.role)).to.deep.equal([
          'tool',
          'tool',
          'tool',
          'tool',
          'tool',
        ]);
        expect(summary(events).slice(mode === 'stream' ? -2 : -1)).to.deep.equal([
          ...(mode === 'stream' ? [`text-delta ${text}`] : []),
          `response ${text}`,
        ]);
      });

      it('are reported to the model on request, which can continue', async () => {
        const { entries, tool } = ledger();
        const script: Script = [
          { toolCalls: [1, 2].map((n) => ({ name: 'ledger', arguments: { n } })) },
          'I have one.',
        ];
        const { response } = await runTurn(mode, script, {
          tools: [tool],
          loop: loop('throw', { maxCallsPerTool: 1, onLimit: 'send-to-model' }),
        });

        expect([entries.length, response.text]).to.deep.equal([1, 'I have one.']);
      });

      it('[F1] [F3] count all iterations of this turn only', async () => {
        const { entries, tool } = ledger();
        const before: Message[] = Array.from({ length: 500 }, (_, at): Message[] => [
          {
            role: 'assistant',
            content: null,
            toolCalls: [{ id: `old_${at}`, name: 'ledger', arguments: '{}' }],
          },
          { role: 'tool', toolCallId: `old_${at}`, toolName: 'ledger', content: 'old' },
        ]).flat();
        await runTurn(mode, insatiable, {
          tools: [tool],
          messages: [{ role: 'user', content: 'Before.' }, ...before],
          loop: {
            maxIterations: Infinity,
            manager: new ToolCallingManager({ maxCallsPerTool: 7 }),
          },
        });

        expect(entries).to.have.length(7);
      });

      it('count all iterations also if the loop keeps no history', async () => {
        const { entries, tool } = ledger();
        const manager = new ToolCallingManager({ maxCallsPerTool: 7 });
        await runTurn(mode, insatiable, {
          tools: [tool],
          loop: { maxIterations: Infinity, keepHistory: false, manager },
        });

        expect(entries).to.have.length(7);
      });

      it('[F1] stop a model that varies irrelevant arguments at 40 calls', async () => {
        const { entries, tool } = ledger();
        await runTurn(mode, insatiable, { tools: [tool], loop: { maxIterations: Infinity } });

        expect(entries).to.have.length(40);
      });

      it('[F1] stop a model that alternates between many tools at 150 calls', async () => {
        const entries: string[] = [];
        const tools = Array.from({ length: 10 }, (_, at) =>
          defineTool({ name: `t${at}`, execute: () => entries.push(`t${at}`) }),
        );
        const script: Script = (prompt, index) =>
          offers(prompt) ? { toolCalls: [{ name: `t${index % 10}` }] } : 'Enough.';
        await runTurn(mode, script, { tools, loop: { maxIterations: Infinity } });

        expect(entries).to.have.length(150);
      });
    });

    describe('the observation of a turn', () => {
      const notesOf = async (
        script: Script,
        loop: ToolCallingAdvisorOptions,
      ): Promise<readonly unknown[]> => {
        const observation = new RecordedObservation();
        const observer: Advisor = {
          name: 'observer',
          order: 2,
          advise: (request, chain) => chain.next(request.with({ observation })),
        };
        await runTurn(mode, script, { tools: [ledger().tool], loop, advisors: [observer] });
        return observation.notes.filter(({ type }) => type === 'limit');
      };

      it('has the number of iterations that was reached', async () => {
        expect(await notesOf(insatiable, { maxIterations: 2 })).to.deep.equal([
          { type: 'limit', limit: 'iterations', max: 2 },
        ]);
      });

      it('has the number of identical calls that was reached', async () => {
        const same: Script = (prompt) =>
          offers(prompt) ? { toolCalls: [{ name: 'ledger' }] } : 'I stop.';

        expect(await notesOf(same, { maxIdenticalCalls: 2 })).to.deep.equal([
          { type: 'limit', limit: 'identical-calls', max: 2 },
        ]);
      });

      it('has a limit of the manager once', async () => {
        const manager = new ToolCallingManager({ maxTotalCalls: 1 });

        expect(await notesOf(insatiable, { manager })).to.deep.equal([
          { type: 'limit', limit: 'total-calls', max: 1 },
        ]);
      });

      it('has nothing of a turn within its limits', async () => {
        expect(await notesOf(['Done.'], {})).to.deep.equal([]);
      });
    });

    describe('maxIdenticalCalls', () => {
      const same =
        (args: (index: number) => string | object, name = 'ledger'): Script =>
        (prompt, index) => {
          if (!offers(prompt)) return 'I stop.';
          return { toolCalls: [{ name, arguments: args(index) as string }] };
        };
      const contents = (model: ScriptedChatModel): unknown[] =>
        model.prompts
          .at(-1)
          ?.messages.filter((message) => message.role === 'tool')
          .map((message) => message.content) ?? [];

      it('[F1] warns the model at the fourth identical call in a row and stops it at the fifth (spring-ai#5754, open-multi-agent#49, openclaw#52759)', async () => {
        const { entries, tool } = ledger();
        const model = new ScriptedChatModel(same(() => ({ q: 1 })));
        const { response } = await runTurn(mode, model, { tools: [tool] });
        const warning =
          'Not run: the same tool calls were made more than 3 times in a row. Answer with what you have, or do something else.';

        expect([entries.length, model.prompts.length]).to.deep.equal([3, 6]);
        expect(contents(model)).to.deep.equal(['entry 1', 'entry 2', 'entry 3', warning, warning]);
        expect(response.text).to.equal('I stop.');
        expect(response.metadata?.['limit']).to.deep.equal({
          limit: 'identical-calls',
          max: 3,
          spent: 5,
          toolName: undefined,
        });
      });

      it('[F1] recognizes the same arguments in another notation', async () => {
        const { entries, tool } = ledger();
        const spellings = ['{"a":1,"b":[2]}', '{"b":[2],"a":1}', ' { "a" : 1.0, "b" : [ 2 ] } '];
        await runTurn(
          mode,
          same((index) => spellings[index % 3] as string),
          { tools: [tool] },
        );

        expect(entries).to.have.length(3);
      });

      it('[F1] recognizes empty arguments in any notation', async () => {
        const { entries, tool } = ledger();
        const spellings = ['', '{}', 'null', ' '];
        await runTurn(
          mode,
          same((index) => spellings[index % 4] as string),
          { tools: [tool] },
        );

        expect(entries).to.have.length(3);
      });

      it('lets a model continue that heeds the warning', async () => {
        const { entries, tool } = ledger();
        const q = { toolCalls: [{ name: 'ledger', arguments: { q: 1 } }] };
        const other = { toolCalls: [{ name: 'ledger', arguments: { q: 2 } }] };
        const { response } = await runTurn(mode, [q, q, q, q, other, q, 'Done.'], {
          tools: [tool],
        });

        expect([entries.length, response.text]).to.deep.equal([5, 'Done.']);
      });

      it('does not affect a model that alternates', async () => {
        const { entries, tool } = ledger();
        await runTurn(
          mode,
          same((index) => ({ n: index % 2 })),
          { tools: [tool], loop: { maxIterations: 12 } },
        );

        expect(entries).to.have.length(12);
      });

      it('compares whole batches', async () => {
        const { entries, tool } = ledger();
        const script: Script = (prompt, index) =>
          offers(prompt)
            ? {
                toolCalls: [
                  { name: 'ledger', arguments: { n: 1 } },
                  ...(index % 2 === 0 ? [{ name: 'ledger', arguments: { n: 1 } }] : []),
                ],
              }
            : 'Done.';
        await runTurn(mode, script, { tools: [tool], loop: { maxIterations: 8 } });

        expect(entries).to.have.length(12);
      });

      it('can be 1, and can be turned off', async () => {
        const one = ledger();
        const endless = ledger();
        await runTurn(
          mode,
          same(() => ({})),
          { tools: [one.tool], loop: { maxIdenticalCalls: 1 } },
        );
        await runTurn(
          mode,
          same(() => ({})),
          { tools: [endless.tool], loop: { maxIdenticalCalls: Infinity, maxIterations: 20 } },
        );

        expect([one.entries.length, endless.entries.length]).to.deep.equal([1, 20]);
      });

      it('[F4] ends with an error on request', async () => {
        const { entries, tool } = ledger();
        const error = await breach(
          runTurn(
            mode,
            same(() => ({})),
            { tools: [tool], loop: { onLimit: 'throw', maxIdenticalCalls: 2 } },
          ),
        );

        expect([error.limit, error.value, entries.length]).to.deep.equal(['identical-calls', 2, 2]);
        expect(error.message).to.include('raise maxIdenticalCalls');
        expect(isValidTranscript(error.result.history)).to.equal(true);
      });

      it('[F1] counts calls that cannot run', async () => {
        const { entries, tool } = ledger();
        const model = new ScriptedChatModel(same(() => '{"cut', 'ledger'));
        await runTurn(mode, model, { tools: [tool] });

        expect(entries).to.deep.equal([]);
        expect(model.prompts).to.have.length(6);
      });

      it('reports truncation to the model until it stops the turn', async () => {
        const { entries, tool } = ledger();
        const cut: ScriptedParts = {
          toolCalls: [{ name: 'ledger', arguments: '{"a":' }],
          finishReason: 'length',
        };
        const model = new ScriptedChatModel((prompt) => (offers(prompt) ? cut : 'I stop.'));
        await runTurn(mode, model, { tools: [tool] });

        expect([entries.length, model.prompts.length]).to.deep.equal([0, 6]);
        expect(contents(model).every((content) => String(content).includes('cut off'))).to.equal(
          true,
        );
      });
    });
  });
}
