import { expect } from 'chai';
import { concat, EMPTY, lastValueFrom, toArray } from 'rxjs';
import {
  ToolCallingAdvisor,
  type ToolCallingAdvisorOptions,
} from '../../advisors/tool-calling-advisor.js';
import {
  AdvisorContext,
  AdvisorOrder,
  ChainError,
  ChatClient,
  ChatClientRequest,
  ChatResponse,
  ContextKey,
  defineAdvisor,
  defineTool,
  InvalidArgumentError,
  Prompt,
  toolResult,
  ToolCallingManager,
  ToolError,
  type Advisor,
  type Message,
  type Tool,
  type ToolExecutionResult,
  type Usage,
} from '../../src/index.js';
import { UNLOCKED_TOOLS } from '../../src/core/advisor/run-tools.js';
import type { ToolRun } from '../../src/core/tool-execution/tool-run.js';
import { ScriptedChatModel, type Script, type ScriptedParts } from '../../src/testing/index.js';
import { rejection } from '../support/batch.js';
import { MODES, type Mode } from '../support/modes.js';
import { roles, runTurn, summary, withoutDurations } from '../support/turn.js';

const weather = defineTool({ name: 'weather', execute: () => 'sunny' });
const time = defineTool({ name: 'time', execute: () => 'noon' });
const asks = (...names: readonly string[]): ScriptedParts => ({
  toolCalls: names.map((name) => ({ name })),
});
const direct = (name: string, result: unknown = name): Tool =>
  defineTool({ name, returnDirect: true, execute: () => result });

function usage(input: number, output: number, more: Partial<Usage> = {}): Usage {
  return { inputTokens: input, outputTokens: output, totalTokens: input + output, ...more };
}

/** A manager that keeps what it was asked. */
class WatchedManager extends ToolCallingManager {
  readonly prompts: Prompt[] = [];
  readonly runs: ToolRun[] = [];

  override executeToolCalls(
    prompt: Prompt,
    response: ChatResponse,
    run: ToolRun = {},
  ): Promise<ToolExecutionResult> {
    this.prompts.push(prompt);
    this.runs.push(run);
    return super.executeToolCalls(prompt, response, run);
  }
}

describe('ToolCallingAdvisor', () => {
  describe('options', () => {
    const wrong: Readonly<Record<string, readonly [options: object, message: string]>> = {
      '[TCA-01] no manager': [{ manager: null }, 'manager must be a ToolManager, not null'],
      '[TCA-02] an order that is no number': [
        { order: Number.NaN },
        'order must be a finite number, not NaN',
      ],
      '[TCA-02] an endless order': [
        { order: -Infinity },
        'order must be a finite number, not -Infinity',
      ],
      '[TCA-03] no eligibility checker': [
        { toolExecutionEligibilityChecker: null },
        'toolExecutionEligibilityChecker must be a function, not null',
      ],
      'no iterations': [
        { maxIterations: 0 },
        'maxIterations must be an integer >= 1 or Infinity, not 0',
      ],
      'half iterations': [
        { maxIterations: 1.5 },
        'maxIterations must be an integer >= 1 or Infinity, not 1.5',
      ],
      'iterations as text': [
        { maxIterations: '3' },
        'maxIterations must be an integer >= 1 or Infinity, not "3"',
      ],
      'no identical calls': [
        { maxIdenticalCalls: 0 },
        'maxIdenticalCalls must be an integer >= 1 or Infinity, not 0',
      ],
      'an unknown policy': [
        { onLimit: 'stop' },
        `onLimit must be 'answer', 'throw' or 'return', not "stop"`,
      ],
      'a history that is neither kept nor not': [
        { keepHistory: 'no' },
        'keepHistory must be true or false, not "no"',
      ],
    };
    for (const [what, [options, message]] of Object.entries(wrong)) {
      it(`rejects ${what}`, () => {
        expect(() => new ToolCallingAdvisor(options as ToolCallingAdvisorOptions))
          .to.throw(InvalidArgumentError)
          .with.property('message', `ToolCallingAdvisor: ${message}`);
      });
    }

    it('[TCA-05] [TCA-06] has the given order and reports whether it keeps the history', () => {
      const advisor = new ToolCallingAdvisor({ order: 7, keepHistory: false });

      expect([advisor.name, advisor.role, advisor.order, advisor.keepsHistory]).to.deep.equal([
        'tool-calling',
        'tool-loop',
        7,
        false,
      ]);
      expect(new ToolCallingAdvisor().order).to.equal(AdvisorOrder.TOOL_CALLING);
    });

    it('[TCA-07] can be extended', async () => {
      class Named extends ToolCallingAdvisor {
        override readonly order = 4_999;
      }
      const model = new ScriptedChatModel([asks('weather'), 'Sunny.']);

      expect(
        await ChatClient.create(model)
          .prompt('?')
          .tools(weather)
          .advisors(new Named())
          .call()
          .content(),
      ).to.equal('Sunny.');
    });

    it('[REG-11] is rejected twice in a chain, with both orders', () => {
      const twice = (): unknown =>
        ChatClient.builder(new ScriptedChatModel([]))
          .defaultAdvisors(
            new ToolCallingAdvisor({ order: 10 }),
            new ToolCallingAdvisor({ order: 20 }),
          )
          .build();

      expect(twice)
        .to.throw(ChainError)
        .with.property(
          'message',
          'a chain can have one tool loop, this one has 2: "tool-calling" (order 10), "tool-calling" (order 20)',
        );
    });

    it('is rejected beside another tool loop, with its name', () => {
      const other: Advisor = {
        ...defineAdvisor({ name: 'my-loop', order: 1, before: () => undefined }),
        role: 'tool-loop',
      };
      const both = (): unknown =>
        ChatClient.builder(new ScriptedChatModel([]))
          .defaultAdvisors(other, new ToolCallingAdvisor())
          .build();

      expect(both)
        .to.throw(ChainError)
        .with.property('message')
        .that.includes('"my-loop" (order 1), "tool-calling" (order 5000)');
    });
  });

  for (const mode of MODES) {
    describe(`in ${mode} mode`, () => {
      it('[TCA-13] [TCA-32] runs the tools of one iteration and gives the final answer', async () => {
        const model = new ScriptedChatModel([asks('weather'), 'It is sunny.']);
        const manager = new WatchedManager();
        const { response } = await runTurn(mode, model, { tools: [weather], loop: { manager } });

        expect(response.text).to.equal('It is sunny.');
        expect([model.prompts.length, manager.prompts.length]).to.deep.equal([2, 1]);
        expect(roles(model.prompts[1]?.messages)).to.equal('system user assistant tool');
      });

      it('[TCA-14] [TCA-18] continues until the model answers, with the whole history', async () => {
        const model = new ScriptedChatModel([
          asks('weather', 'time'),
          asks('weather'),
          'Sunny at noon.',
        ]);
        const manager = new WatchedManager();
        const { response } = await runTurn(mode, model, {
          tools: [weather, time],
          loop: { manager },
        });

        expect(response.text).to.equal('Sunny at noon.');
        expect([model.prompts.length, manager.prompts.length]).to.deep.equal([3, 2]);
        expect(roles(model.prompts[2]?.messages)).to.equal(
          'system user assistant tool tool assistant tool',
        );
      });

      it('[TCA-11] [TCA-31] passes an answer without tool calls on unchanged and never uses the manager', async () => {
        const answer = ChatResponse.ofText('Hello.');
        const manager = new WatchedManager();
        const { response } = await runTurn(mode, [answer], { tools: [weather], loop: { manager } });

        expect(response.chatResponse).to.equal(answer);
        expect(manager.prompts).to.deep.equal([]);
      });

      it('[TCA-09] [TCA-10] [TCA-30] passes requests and answers on if there are no tools', async () => {
        const answer = ChatResponse.ofText('Hello.').with({ usage: usage(1, 2) });
        const model = new ScriptedChatModel([answer]);
        const { response } = await runTurn(mode, model);

        expect(response.chatResponse).to.equal(answer);
        expect(model.prompts[0]?.options.tools).to.equal(undefined);
      });

      it('reports an unknown tool to the model if there are no tools', async () => {
        const model = new ScriptedChatModel([asks('weather'), 'I cannot know.']);
        const { response } = await runTurn(mode, model);

        expect(response.text).to.equal('I cannot know.');
        expect(model.prompts[1]?.messages.at(-1)).to.include({
          content: 'There is no tool "weather". There are no tools to call.',
        });
      });

      it('[F7] ends at an answer without tool calls, whatever its finish reason (the provider ran the tool)', async () => {
        const model = new ScriptedChatModel([
          { text: 'I searched the web.', finishReason: 'tool_calls' },
        ]);
        const { response } = await runTurn(mode, model, { tools: [weather] });

        expect(response.text).to.equal('I searched the web.');
        expect(model.prompts).to.have.length(1);
      });

      it('[F43] runs tools with the finish reason of a complete answer', async () => {
        const model = new ScriptedChatModel([
          { ...asks('weather'), finishReason: 'stop' },
          'Sunny.',
        ]);

        expect((await runTurn(mode, model, { tools: [weather] })).response.text).to.equal('Sunny.');
      });

      for (const finishReason of ['length', 'content_filter']) {
        it(`[F13] never runs a tool of a truncated answer and reports that to the model (${finishReason})`, async () => {
          let runs = 0;
          const tool = defineTool({ name: 'pay', execute: () => ++runs });
          const model = new ScriptedChatModel([{ ...asks('pay', 'pay'), finishReason }, 'Sorry.']);
          const { response } = await runTurn(mode, model, { tools: [tool] });

          expect(runs).to.equal(0);
          expect(response.text).to.equal('Sorry.');
          expect(
            model.prompts[1]?.messages
              .slice(3)
              .map((message) => (message as { content?: unknown }).content),
          ).to.deep.equal(
            Array.from(
              { length: 2 },
              () =>
                `Not run: your answer was cut off before its end (finish reason "${finishReason}"). Send the call again, shorter if possible.`,
            ),
          );
        });
      }

      for (const toolChoice of ['required', { tool: 'weather' }] as const) {
        it(`[F6] forces a call in the first iteration only (${JSON.stringify(toolChoice)})`, async () => {
          const model = new ScriptedChatModel([asks('weather'), asks('weather'), 'Sunny.']);
          await runTurn(mode, model, { tools: [weather], options: { toolChoice, temperature: 0 } });

          expect(model.prompts.map(({ options }) => options.toolChoice)).to.deep.equal([
            toolChoice,
            'auto',
            'auto',
          ]);
          expect(model.prompts.every(({ options }) => options.temperature === 0)).to.equal(true);
        });
      }

      for (const toolChoice of ['auto', 'none', undefined] as const) {
        it(`[F6] keeps the tool choice ${toolChoice}`, async () => {
          const model = new ScriptedChatModel([asks('weather'), 'Sunny.']);
          await runTurn(mode, model, { tools: [weather], options: { toolChoice } });

          expect(model.prompts.map(({ options }) => options.toolChoice)).to.deep.equal([
            toolChoice,
            toolChoice,
          ]);
        });
      }

      it('offers the same tools in the same order in every iteration', async () => {
        const model = new ScriptedChatModel([asks('weather'), asks('time'), 'Done.']);
        await runTurn(mode, model, { tools: [time, weather] });

        expect(
          model.prompts.map(({ options }) => options.tools?.map((tool) => tool.definition.name)),
        ).to.deep.equal([
          ['time', 'weather'],
          ['time', 'weather'],
          ['time', 'weather'],
        ]);
      });

      it('never sends the tool context to the model', async () => {
        const seen: unknown[] = [];
        const lookup = defineTool({
          name: 'lookup',
          execute: (_, { values }) => void seen.push(values),
        });
        const model = new ScriptedChatModel([asks('lookup'), 'Done.']);
        await runTurn(mode, model, { tools: [lookup], toolContext: { token: 'canary-51c' } });

        expect(seen).to.deep.equal([{ token: 'canary-51c' }]);
        expect(
          JSON.stringify(model.prompts.map(({ messages, options }) => ({ messages, options }))),
        ).to.not.include('canary-51c');
      });

      describe('the eligibility checker', () => {
        it('[TCA-15] [TCA-33] can return tool calls unexecuted', async () => {
          const model = new ScriptedChatModel([asks('weather')]);
          const { response } = await runTurn(mode, model, {
            tools: [weather],
            loop: { toolExecutionEligibilityChecker: () => false },
          });

          expect(response.hasToolCalls()).to.equal(true);
          expect(model.prompts).to.have.length(1);
        });

        it('[TCA-16] runs once per answer and decides', async () => {
          const asked: (string | null)[] = [];
          const toolExecutionEligibilityChecker = (response: ChatResponse): boolean =>
            asked.push(response.text) === 1;
          const model = new ScriptedChatModel([
            { text: 'one', ...asks('weather') },
            { text: 'two', ...asks('weather') },
          ]);
          const { response } = await runTurn(mode, model, {
            tools: [weather],
            loop: { toolExecutionEligibilityChecker },
          });

          expect(asked).to.deep.equal(['one', 'two']);
          expect(response.text).to.equal('two');
        });

        it('[4.9] can require both tool calls and a finish reason', async () => {
          const dual = (response: ChatResponse): boolean =>
            response.hasToolCalls() && response.hasFinishReason('TOOL_CALLS', 'stop');
          const run = async (finishReason: string): Promise<number> => {
            const model = new ScriptedChatModel([{ ...asks('weather'), finishReason }, 'Sunny.']);
            await runTurn(mode, model, {
              tools: [weather],
              loop: { toolExecutionEligibilityChecker: dual },
            });
            return model.prompts.length;
          };

          expect([
            await run('tool_calls'),
            await run('Stop'),
            await run('length'),
            await run('other'),
          ]).to.deep.equal([2, 2, 1, 1]);
        });

        it('causes an error if it accepts an answer without tool calls', async () => {
          const loop = { toolExecutionEligibilityChecker: () => true };

          expect(
            await rejection(runTurn(mode, ['Hello.'], { tools: [weather], loop })),
          ).to.be.instanceOf(InvalidArgumentError);
        });

        it('ends the run with the error that it throws', async () => {
          const error = new Error('checker');
          const toolExecutionEligibilityChecker = (): never => {
            throw error;
          };

          expect(
            await rejection(
              runTurn(mode, ['Hello.'], { loop: { toolExecutionEligibilityChecker } }),
            ),
          ).to.equal(error);
        });
      });

      describe('without a history of its own', () => {
        it('[TCA-19] sends the system message and the tool messages of the last batch', async () => {
          const model = new ScriptedChatModel([asks('weather', 'time'), asks('weather'), 'Done.']);
          await runTurn(mode, model, { tools: [weather, time], loop: { keepHistory: false } });

          expect(model.prompts.map(({ messages }) => roles(messages))).to.deep.equal([
            'system user',
            'system tool tool',
            'system tool',
          ]);
        });

        it('[TCA-20] [TCA-40] passes the whole history to the manager', async () => {
          const manager = new WatchedManager();
          await runTurn(mode, [asks('weather'), asks('time'), 'Done.'], {
            tools: [weather, time],
            loop: { keepHistory: false, manager },
          });

          expect(manager.prompts.map(({ messages }) => roles(messages))).to.deep.equal([
            'system user',
            'system user assistant tool',
          ]);
        });

        it('[TCA-44] [TCA-47] works with a memory inside the loop', async () => {
          const stored: Message[] = [];
          const memory = defineAdvisor({
            name: 'memory',
            order: AdvisorOrder.TOOL_CALLING + 1,
            role: 'chat-memory',
            around: async (request, next) => {
              stored.push(
                ...request.prompt.messages.filter((message) => message.role !== 'system'),
              );
              const system = request.prompt.messages.filter((message) => message.role === 'system');
              const response = await next(request.withMessages([...system, ...stored]));
              stored.push(response.message);
              return response;
            },
          });
          const model = new ScriptedChatModel([asks('weather'), asks('time'), 'Sunny at noon.']);
          const { response } = await runTurn(mode, model, {
            tools: [weather, time],
            loop: { keepHistory: false },
            advisors: [memory],
          });

          expect(response.text).to.equal('Sunny at noon.');
          expect(roles(model.prompts[2]?.messages)).to.equal(
            'system user assistant tool assistant tool',
          );
        });

        it('[F6] forces a call in the first iteration only', async () => {
          const model = new ScriptedChatModel([asks('weather'), 'Done.']);
          await runTurn(mode, model, {
            tools: [weather],
            loop: { keepHistory: false },
            options: { toolChoice: 'required' },
          });

          expect(model.prompts.map(({ options }) => options.toolChoice)).to.deep.equal([
            'required',
            'auto',
          ]);
        });
      });

      describe('return direct', () => {
        it('[F8] [TCA-17] [TCA-34] makes the result the answer, without another model call', async () => {
          const model = new ScriptedChatModel([{ ...asks('report'), usage: usage(3, 4) }]);
          const { response, events } = await runTurn(mode, model, {
            tools: [direct('report', { total: 7 })],
          });

          expect(model.prompts).to.have.length(1);
          expect(response.generations).to.deep.equal([
            {
              message: { role: 'assistant', content: '{"total":7}' },
              finishReason: 'returnDirect',
              metadata: { toolCallId: 'scripted_1', toolName: 'report' },
            },
          ]);
          expect([response.model, response.usage]).to.deep.equal(['scripted', usage(3, 4)]);
          expect(summary(events).slice(mode === 'call' ? 0 : 1)).to.deep.equal([
            'iteration 0 report',
            'tool-call scripted_1 report',
            'tool-result scripted_1 "{\\"total\\":7}"',
            'step 0',
            ...(mode === 'stream' ? ['text-delta {"total":7}'] : []),
            'response {"total":7}',
          ]);
        });

        it('[F8] creates one generation per call, in call order', async () => {
          const { response } = await runTurn(mode, [asks('a', 'b', 'a')], {
            tools: [direct('a'), direct('b')],
          });

          expect(
            response.generations.map(({ message, metadata }) => [
              message.content,
              metadata?.['toolCallId'],
            ]),
          ).to.deep.equal([
            ['a', 'scripted_1'],
            ['b', 'scripted_2'],
            ['a', 'scripted_3'],
          ]);
          expect(response.text).to.equal('a');
        });

        it('[F8] is ignored for a batch with another tool; all results go to the model', async () => {
          const model = new ScriptedChatModel([asks('report', 'weather'), 'Here.']);
          const { response } = await runTurn(mode, model, { tools: [direct('report'), weather] });

          expect(response.text).to.equal('Here.');
          expect(
            model.prompts[1]?.messages
              .slice(-2)
              .map((message) => (message as { content?: unknown }).content),
          ).to.deep.equal(['report', 'sunny']);
        });

        it('[TCA-28] works after other iterations, with their usage', async () => {
          const script = [
            { ...asks('weather'), usage: usage(10, 20) },
            { ...asks('report'), usage: usage(1, 2) },
          ];
          const { response } = await runTurn(mode, script, { tools: [weather, direct('report')] });

          expect([response.text, response.usage]).to.deep.equal(['report', usage(11, 22)]);
        });

        it('keeps parts without text in the metadata', async () => {
          const content = [
            { type: 'text', text: 'A map.' },
            { type: 'image', url: 'https://example.com/a.png' },
          ] as const;
          const map = direct('map', toolResult({ content }));
          const { response } = await runTurn(mode, [asks('map')], { tools: [map] });

          expect(response.text).to.equal('A map.');
          expect(response.result?.metadata).to.deep.equal({
            toolCallId: 'scripted_1',
            toolName: 'map',
            content,
          });
        });

        it('[F8] [MGR-39] has a generation with an empty text for an empty result', async () => {
          const { response } = await runTurn(mode, [asks('a', 'b')], {
            tools: [direct('a', ''), direct('b')],
          });

          expect(response.generations.map(({ message }) => message.content)).to.deep.equal([
            '',
            'b',
          ]);
          expect(response.text).to.equal('');
        });

        it('[F8] [4.6] applies to a failed tool; the error text is the answer', async () => {
          const fails = defineTool({
            name: 'fails',
            returnDirect: true,
            execute: () => Promise.reject(new ToolError('No report today.')),
          });
          const { response } = await runTurn(mode, [asks('report', 'fails')], {
            tools: [direct('report'), fails],
          });

          expect(
            response.generations.map(({ message, finishReason }) => [
              message.content,
              finishReason,
            ]),
          ).to.deep.equal([
            ['report', 'returnDirect'],
            ['No report today.', 'returnDirect'],
          ]);
        });

        it('[F8] [MGR-35] has the text and the parts of each result in call order', async () => {
          const image = { type: 'image', url: 'https://example.com/a.png' } as const;
          const parts = (text: string) => [{ type: 'text', text } as const, image];
          const tools = ['a', 'b'].map((name) =>
            direct(name, toolResult({ content: parts(name) })),
          );
          const { response } = await runTurn(mode, [asks('b', 'a')], { tools });

          expect(
            response.generations.map(({ message, metadata }) => [message.content, metadata]),
          ).to.deep.equal([
            ['b', { toolCallId: 'scripted_1', toolName: 'b', content: parts('b') }],
            ['a', { toolCallId: 'scripted_2', toolName: 'a', content: parts('a') }],
          ]);
        });

        it('[F8] lets the model answer if a call of the batch is unknown or over a limit', async () => {
          const manager = new ToolCallingManager({ maxCallsPerTool: 1, onLimit: 'send-to-model' });
          for (const other of ['none', 'report']) {
            const model = new ScriptedChatModel([asks('report', other), 'Here.']);
            const { response } = await runTurn(mode, model, {
              tools: [direct('report')],
              loop: { manager },
            });

            expect(response.text).to.equal('Here.');
            expect(model.prompts[1]?.messages.slice(-2)[0]).to.deep.include({
              role: 'tool',
              content: 'report',
            });
          }
        });

        it('[F8] ends at a limit like any other turn, not with results', async () => {
          const manager = new ToolCallingManager({ maxCallsPerTool: 1 });
          const { response } = await runTurn(mode, [asks('report', 'report'), 'Enough.'], {
            tools: [direct('report')],
            loop: { manager },
          });

          expect(response.text).to.equal('Enough.');
        });

        it('keeps the context values of the tool', async () => {
          const KEY = new ContextKey<string | undefined>('test.value');
          const store = direct(
            'store',
            toolResult({ content: 'x', context: AdvisorContext.empty.with(KEY, 'set') }),
          );

          expect(
            (await runTurn(mode, [asks('store')], { tools: [store] })).response.context.get(KEY),
          ).to.equal('set');
        });

        it('lets the model answer if the arguments are invalid', async () => {
          const strict = defineTool({
            name: 'strict',
            returnDirect: true,
            inputSchema: { type: 'object', required: ['x'] },
            execute: () => 'ok',
          });
          const script: Script = [
            asks('strict'),
            { toolCalls: [{ name: 'strict', arguments: { x: 1 } }] },
          ];
          const model = new ScriptedChatModel(script);

          expect((await runTurn(mode, model, { tools: [strict] })).response.text).to.equal('ok');
          expect(model.prompts).to.have.length(2);
        });
      });

      describe('usage', () => {
        const turn = async (
          ...usages: readonly (Usage | undefined)[]
        ): Promise<Usage | undefined> => {
          const script = usages.map((each, at): ScriptedParts => ({
            ...(at < usages.length - 1
              ? { toolCalls: [{ name: 'weather', arguments: { at } }] }
              : { text: 'Done.' }),
            ...(each && { usage: each }),
          }));
          return (await runTurn(mode, script, { tools: [weather] })).response.usage;
        };

        it('[F42] [TCA-27] equals the usage of the only iteration', async () => {
          expect(await turn(usage(5, 6))).to.deep.equal(usage(5, 6));
        });

        it('[F42] [TCA-35] [TCA-62] is the sum of all iterations', async () => {
          expect(await turn(usage(10, 20), usage(1, 2), usage(100, 200))).to.deep.equal(
            usage(111, 222),
          );
        });

        it('[F42] [TCA-63] sums cached and reasoning tokens; missing counts are zero', async () => {
          expect(
            await turn(
              usage(10, 20, { cachedInputTokens: 4 }),
              usage(1, 2, { reasoningTokens: 3 }),
              usage(1, 1, { cachedInputTokens: 5 }),
            ),
          ).to.deep.equal(usage(12, 23, { cachedInputTokens: 9, reasoningTokens: 3 }));
        });

        it('[F42] [TCA-64] has no cached or reasoning tokens if no iteration reports them', async () => {
          expect(await turn(usage(1, 1), usage(1, 1))).to.have.all.keys(
            'inputTokens',
            'outputTokens',
            'totalTokens',
          );
        });

        it('[F42] [TCA-60] [TCA-61] keeps reported counts if an iteration reports none', async () => {
          expect(await turn(usage(1, 2), undefined)).to.deep.equal(usage(1, 2));
          expect(await turn(undefined, usage(1, 2))).to.deep.equal(usage(1, 2));
          expect(await turn(usage(1, 2), undefined, usage(3, 4))).to.deep.equal(usage(4, 6));
        });

        it('[F42] is absent if no iteration reports it', async () => {
          expect(await turn(undefined, undefined)).to.equal(undefined);
        });
      });

      describe('[F38] context', () => {
        const TRAIL = new ContextKey<readonly string[]>('test.trail', []);

        it('is passed from iteration to iteration and into the final response', async () => {
          const inside = defineAdvisor({
            name: 'inside',
            order: AdvisorOrder.LOGGER,
            around: async (request, next) => {
              const trail = request.context.get(TRAIL);
              return (await next(request)).withContext(TRAIL, [
                ...trail,
                `iteration ${request.iteration}`,
              ]);
            },
          });
          const { response } = await runTurn(mode, [asks('weather'), asks('time'), 'Done.'], {
            tools: [weather, time],
            advisors: [inside],
          });

          expect(response.context.get(TRAIL)).to.deep.equal([
            'iteration 0',
            'iteration 1',
            'iteration 2',
          ]);
        });

        it('includes values that an inner advisor adds to the request', async () => {
          const inside = defineAdvisor({
            name: 'inside',
            order: AdvisorOrder.LOGGER,
            before: (request) =>
              request.withContext(TRAIL, [...request.context.get(TRAIL), `${request.iteration}`]),
          });
          const { response } = await runTurn(mode, [asks('weather'), 'Done.'], {
            tools: [weather],
            advisors: [inside],
          });

          expect(response.context.get(TRAIL)).to.deep.equal(['0', '1']);
        });

        it('is readable and extendable by tools', async () => {
          const seen: unknown[] = [];
          const adds = defineTool({
            name: 'adds',
            execute: ({ n }, { advisorContext }) => {
              seen.push(advisorContext.get(TRAIL));
              return toolResult({
                content: 'ok',
                context: AdvisorContext.empty.with(TRAIL, [
                  ...advisorContext.get(TRAIL),
                  `tool ${Number(n)}`,
                ]),
              });
            },
          });
          const call = (n: number): ScriptedParts => ({
            toolCalls: [{ name: 'adds', arguments: { n } }],
          });
          const { response } = await runTurn(mode, [call(1), call(2), 'Done.'], { tools: [adds] });

          expect(seen).to.deep.equal([[], ['tool 1']]);
          expect(response.context.get(TRAIL)).to.deep.equal(['tool 1', 'tool 2']);
        });

        it('keeps the values that concurrent tools add', async () => {
          const keys = ['a', 'b'].map((name) => new ContextKey<number>(name, 0));
          const tools = keys.map((key) =>
            defineTool({
              name: key.name,
              execute: (_args, { advisorContext }) =>
                toolResult({
                  content: 'ok',
                  context: advisorContext.with(key, advisorContext.get(key) + 1),
                }),
            }),
          );
          const { response } = await runTurn(mode, [asks('a', 'b'), asks('b', 'a'), 'Done.'], {
            tools,
          });

          expect(keys.map((key) => response.context.get(key))).to.deep.equal([2, 2]);
        });
      });

      describe('deferred tools', () => {
        const hidden = defineTool({ name: 'hidden', deferred: true, execute: () => 'ran hidden' });
        const secret = defineTool({ name: 'secret', deferred: true, execute: () => 'ran secret' });
        const search = defineTool({
          name: 'search',
          execute: ({ find }) => toolResult({ content: 'found', unlocks: find as string[] }),
        });
        const finds = (...find: readonly string[]): ScriptedParts => ({
          toolCalls: [{ name: 'search', arguments: { find } }],
        });
        const offered = (model: ScriptedChatModel): unknown =>
          model.prompts.map(({ options }) => options.tools?.map((tool) => tool.definition.name));

        it('are offered after the result that unlocks them, in order of discovery, until the turn ends', async () => {
          const model = new ScriptedChatModel([
            finds('secret'),
            finds('hidden', 'secret'),
            asks('hidden', 'secret'),
            'Done.',
            'Next turn.',
          ]);
          await runTurn(mode, model, { tools: [hidden, search, secret] });
          await runTurn(mode, model, { tools: [hidden, search, secret] });

          expect(offered(model)).to.deep.equal([
            ['search'],
            ['search', 'secret'],
            ['search', 'secret', 'hidden'],
            ['search', 'secret', 'hidden'],
            ['search'],
          ]);
        });

        it('[D59] are unknown to a model that was not offered them', async () => {
          const model = new ScriptedChatModel([asks('hidden', 'other'), 'Done.']);
          await runTurn(mode, model, { tools: [hidden, search] });

          expect(
            model.prompts[1]?.messages
              .slice(-2)
              .map((message) => (message as { content?: unknown }).content),
          ).to.deep.equal([
            'There is no tool "hidden". Tools you can call: search.',
            'There is no tool "other". Tools you can call: search.',
          ]);
        });

        it('are hidden again by a result that locks them, unless a result of the same batch unlocks them', async () => {
          const changes = defineTool({
            name: 'search',
            execute: ({ find, hide }) =>
              toolResult({ content: 'ok', unlocks: find as string[], locks: hide as string[] }),
          });
          const change = (find: readonly string[], hide: readonly string[]) => ({
            name: 'search',
            arguments: { find, hide },
          });
          const model = new ScriptedChatModel([
            { toolCalls: [change(['hidden', 'secret'], [])] },
            { toolCalls: [change([], ['hidden'])] },
            { toolCalls: [change(['hidden'], ['secret']), change([], ['hidden'])] },
            { toolCalls: [change([], ['none', 'search'])] },
            'Done.',
          ]);
          await runTurn(mode, model, { tools: [hidden, changes, secret] });

          expect(offered(model)).to.deep.equal([
            ['search'],
            ['search', 'hidden', 'secret'],
            ['search', 'secret'],
            ['search', 'hidden'],
            ['search', 'hidden'],
          ]);
        });

        it('are named in the context of the response once they are unlocked', async () => {
          const tools = [hidden, search, secret];
          const unlocking = await runTurn(mode, [finds('secret'), finds('hidden'), 'Done.'], {
            tools,
          });
          const other = await runTurn(mode, ['Done.'], { tools });

          expect(unlocking.response.context.get(UNLOCKED_TOOLS)).to.deep.equal([
            'secret',
            'hidden',
          ]);
          expect(other.response.context.has(UNLOCKED_TOOLS)).to.equal(false);
        });

        it('are not unlocked if they do not exist', async () => {
          const model = new ScriptedChatModel([finds('none', '__proto__'), 'Done.']);
          await runTurn(mode, model, { tools: [hidden, search] });

          expect(offered(model)).to.deep.equal([['search'], ['search']]);
        });
      });

      it('[TCA-42] [REG-06] runs a tool that an outer advisor adds to the request', async () => {
        const adds = defineAdvisor({
          name: 'adds',
          order: AdvisorOrder.TOOL_SEARCH,
          before: (request) => request.withTools([...request.tools, weather]),
        });
        const model = new ScriptedChatModel([asks('weather'), 'Sunny.']);

        expect((await runTurn(mode, model, { advisors: [adds] })).response.text).to.equal('Sunny.');
        expect(model.prompts[1]?.messages.at(-1)).to.include({ content: 'sunny' });
      });

      it('numbers its iterations from the one of the request', async () => {
        const seen: number[] = [];
        const inside = defineAdvisor({
          name: 'inside',
          order: AdvisorOrder.LOGGER,
          before: ({ iteration }) => void seen.push(iteration),
        });
        const outside = defineAdvisor({
          name: 'outside',
          order: 2,
          before: (request) => request.with({ iteration: 5 }),
        });
        const { events } = await runTurn(mode, [asks('weather'), 'Done.'], {
          tools: [weather],
          advisors: [inside, outside],
        });

        expect(seen).to.deep.equal([5, 6]);
        expect(events.find((event) => event.type === 'iteration')).to.include({ index: 5 });
      });

      it('[law 6] passes an error of the inner chain on unchanged, in any iteration', async () => {
        for (const script of [[], [asks('weather')], [asks('weather'), asks('time')]]) {
          const error = new Error('down');

          expect(
            await rejection(runTurn(mode, [...script, error], { tools: [weather, time] })),
          ).to.equal(error);
        }
      });

      it('[law 6] passes an error of a manager on unchanged', async () => {
        const error = new Error('manager');
        const manager = new ToolCallingManager();
        manager.executeToolCalls = () => Promise.reject(error);

        expect(
          await rejection(
            runTurn(mode, [asks('weather')], { tools: [weather], loop: { manager } }),
          ),
        ).to.equal(error);
      });

      it('[law 4] ends with an error if the inner chain ends without a response', async () => {
        const drops: Advisor = { name: 'drops', order: AdvisorOrder.LOGGER, advise: () => EMPTY };

        expect(await rejection(runTurn(mode, [], { advisors: [drops] })))
          .to.be.instanceOf(ChainError)
          .with.property('message', 'advisor "drops" ended without a response event');
      });

      it('[law 4] ends with an error if the inner chain emits after its response', async () => {
        const twice: Advisor = {
          name: 'twice',
          order: AdvisorOrder.LOGGER,
          advise: (request, chain) => concat(chain.next(request), chain.next(request)),
        };

        expect(await rejection(runTurn(mode, ['One.', 'Two.'], { advisors: [twice] })))
          .to.be.instanceOf(ChainError)
          .with.property('message')
          .that.matches(
            /^advisor "twice" emitted the event "(iteration-start|retract)" after its response$/,
          );
      });

      it('[law 1] [TCA-38] is cold, and every run has its own tools, usage and counts', async () => {
        let runs = 0;
        const counted = defineTool({ name: 'counted', execute: () => ++runs });
        const script: Script = (_, index) =>
          index % 2 === 0
            ? { ...asks('counted'), usage: usage(10, 20) }
            : { text: 'Done.', usage: usage(1, 2) };
        const model = new ScriptedChatModel(script);
        const spec = ChatClient.create(model)
          .prompt('?')
          .tools(counted)
          .advisors(
            new ToolCallingAdvisor({ manager: new ToolCallingManager({ maxTotalCalls: 1 }) }),
          );
        const stream = spec.stream().chatResponse();
        const once = (): Promise<ChatResponse> =>
          mode === 'call' ? spec.call().chatResponse() : lastValueFrom(stream);
        expect(model.prompts).to.have.length(0);

        const first = await once();
        const second = await once();

        expect([first.usage, second.usage]).to.deep.equal([usage(11, 22), usage(11, 22)]);
        expect(runs).to.equal(2);
      });

      it('[F76] isolates concurrent turns of one advisor', async () => {
        const loop = new ToolCallingAdvisor({
          manager: new ToolCallingManager({ maxCallsPerTool: 2, concurrency: 1 }),
        });
        const echo = defineTool({
          name: 'echo',
          execute: async ({ text }) => Promise.resolve(text),
        });
        const turn = async (user: string): Promise<string | null> => {
          const script: Script = (prompt, index) => {
            const last = prompt.messages.at(-1) as { content?: unknown };
            return index < 2
              ? { toolCalls: [{ name: 'echo', arguments: { text: `${user} ${index}` } }], delay: 1 }
              : { text: `${user} got ${String(last.content)}` };
          };
          const spec = ChatClient.create(new ScriptedChatModel(script))
            .prompt(user)
            .tools(echo)
            .advisors(loop);
          return mode === 'call'
            ? spec.call().content()
            : (await lastValueFrom(spec.stream().chatResponse())).text;
        };
        const names = Array.from({ length: 20 }, (_, at) => `user ${at}`);

        expect(await Promise.all(names.map(turn))).to.deep.equal(
          names.map((name) => `${name} got ${name} 1`),
        );
      });
    });
  }

  it('[law 7] has the same answer, requests and events in both modes, except for deltas', async () => {
    const turn = async (mode: Mode) => {
      const model = new ScriptedChatModel([
        { text: 'Let me look.', ...asks('weather', 'time'), usage: usage(10, 20) },
        { reasoning: 'Hm.', ...asks('none') },
        { text: 'It is sunny.', usage: usage(1, 2) },
      ]);
      const { events, response } = await runTurn(mode, model, { tools: [weather, time] });
      const plain = events.filter((event) => !event.type.endsWith('-delta')).map(withoutDurations);
      return {
        plain,
        response: response.chatResponse,
        prompts: model.prompts.map(({ messages }) => messages),
      };
    };

    expect(await turn('stream')).to.deep.equal(await turn('call'));
  });

  it('works without a client', async () => {
    const advisor = new ToolCallingAdvisor();
    const answers = [asks('weather'), 'Sunny.'].values();
    const model = new ScriptedChatModel(() => answers.next().value as ScriptedParts);
    const request = new ChatClientRequest({
      prompt: new Prompt('?'),
      mode: 'stream',
      tools: [weather],
    });
    const events = await lastValueFrom(
      advisor
        .advise(request, { advisors: [advisor], next: ({ prompt }) => model.stream(prompt) })
        .pipe(toArray()),
    );

    expect(summary(events).at(-1)).to.equal('response Sunny.');
  });
});
