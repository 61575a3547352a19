import { expect } from 'chai';
import {
  AdvisorOrder,
  afterCalls,
  afterToolCall,
  ApprovalAdvisor,
  CancelledError,
  ChatClient,
  ChatResponse,
  defineTool,
  InvalidArgumentError,
  RetryAdvisor,
  StructuredOutputError,
  ToolCallingAdvisor,
  ToolError,
  type ChatMemory,
  type Message,
  type Step,
} from '../../src/index.js';
import { TurnJournal } from '../../advisors/approval/turn-journal.js';
import { encodeResponse } from '../../src/core/chat/response-codec.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../src/testing/index.js';
import { shortTexts } from '../support/conversation.js';
import { durableSpec, finish, KilledEngine } from '../support/durable.js';
import { failureOf, MODES, runSpec } from '../support/modes.js';
import { inConversation, sentTexts, setUpMemory, storedTexts } from '../support/memory-advisor.js';
import { pauseOptions } from '../support/paused-turns.js';
import { runTurn, summary } from '../support/turn.js';

const asks = (name: string, text = ''): ScriptedAnswer => ({
  text,
  toolCalls: [{ name, id: `c-${name}` }],
});
const look = defineTool({ name: 'look', execute: () => 'found' });
const save = defineTool({ name: 'save', execute: () => 'saved' });
const broken = defineTool({
  name: 'save',
  execute: () => {
    throw new ToolError('not now');
  },
});
const tools = [look, save];
const TURN = ['Go.', '>c-look', '<c-look', '>c-save', '<c-save'];
const ANSWERS = [asks('look', 'Looking.'), asks('save', 'Saving.'), 'Done.'];

const namesOf = (steps: readonly Step[]): string =>
  steps.map(({ toolCalls }) => toolCalls.map(({ toolName }) => toolName).join('+')).join(' ');

for (const mode of MODES)
  describe(`stopWhen, ${mode}`, () => {
    const client = (answers: readonly ScriptedAnswer[] = ANSWERS) => {
      const model = new ScriptedChatModel(answers);
      return { model, client: ChatClient.builder(model).defaultTools(look, save).build() };
    };

    it('ends the turn after the results of an iteration, without a further model call', async () => {
      const { model, client: chat } = client();

      const response = await runSpec(mode, chat.prompt('Go.').stopWhen(afterToolCall('save')));

      expect(model.prompts).to.have.lengthOf(2);
      expect([response.text, response.finishReason]).to.deep.equal([null, 'stopCondition']);
      expect(response.hasToolCalls()).to.equal(false);
      expect(namesOf(response.steps)).to.equal('look save');
      const last = response.steps.at(-1);
      expect(last?.response.text).to.equal('Saving.');
      expect(last?.toolCalls[0]?.result?.content).to.equal('saved');
      expect(shortTexts(response.transcript)).to.deep.equal(TURN);
    });

    it('counts model calls, and asks after each iteration with all steps so far', async () => {
      const seen: string[] = [];
      const { model, client: chat } = client();
      const watch = (steps: readonly Step[]): boolean => {
        seen.push(namesOf(steps));
        return false;
      };

      await runSpec(mode, chat.prompt('Go.').stopWhen(watch, afterCalls(1)));
      await runSpec(mode, client().client.prompt('Go.').stopWhen(watch));

      expect(model.prompts).to.have.lengthOf(1);
      expect(seen).to.deep.equal(['look', 'look', 'look save']);
    });

    it('asks conditions of the loop, the client and the request; a promise is awaited', async () => {
      const stops = async (): Promise<boolean> => Promise.resolve(true);
      const loop = new ToolCallingAdvisor({ stopWhen: stops });
      const runs = [
        client().client.prompt('Go.').advisors(loop),
        client().client.mutate().defaultStopWhen(stops).build().prompt('Go.'),
        client().client.prompt('Go.').stopWhen(stops).mutate().build().prompt('Go.'),
        client()
          .client.prompt('Go.')
          .stopWhen(() => false)
          .stopWhen(stops),
      ];

      for (const run of runs)
        expect((await runSpec(mode, run)).finishReason).to.equal('stopCondition');
    });

    it('does not stop after a call that failed: the model corrects it', async () => {
      const { response } = await runTurn(mode, ANSWERS, {
        tools: [look, broken],
        loop: { stopWhen: afterToolCall('save') },
      });

      expect(response.text).to.equal('Done.');
    });

    it('ends by a limit of the same iteration if a condition does not hold', async () => {
      const { response } = await runTurn(mode, [asks('look'), asks('save')], {
        tools,
        loop: { maxIterations: 1, onLimit: 'return', stopWhen: () => false },
      });
      const stopped = await runTurn(mode, [asks('look')], {
        tools,
        loop: { maxIterations: 1, onLimit: 'throw', stopWhen: () => true },
      });

      expect(response.finishReason).to.equal('toolCallLimitExceeded');
      expect(stopped.response.finishReason).to.equal('stopCondition');
    });

    it('leaves an answer without calls, and results that are the answer, alone', async () => {
      const receipt = defineTool({ name: 'pay', returnDirect: true, execute: () => 'Paid.' });
      let asked = 0;
      const stopWhen = (): boolean => ++asked > 0;

      const direct = await runTurn(mode, [asks('pay')], { tools: [receipt], loop: { stopWhen } });
      const plain = await runTurn(mode, ['Hi.'], { loop: { stopWhen } });

      expect([direct.response.text, plain.response.text, asked]).to.deep.equal(['Paid.', 'Hi.', 0]);
    });

    it('fails the turn with the error of a condition', async () => {
      const failure = new Error('no');
      const run = runTurn(mode, [asks('look')], {
        tools,
        loop: {
          stopWhen: () => {
            throw failure;
          },
        },
      });

      expect(await failureOf(run)).to.equal(failure);
    });

    it('ends with a cancellation while a condition waits', async () => {
      const controller = new AbortController();
      const run = runTurn(mode, [asks('look')], {
        tools,
        signal: controller.signal,
        loop: {
          stopWhen: () => {
            controller.abort();
            return new Promise<boolean>(() => undefined);
          },
        },
      });

      expect(await failureOf(run)).to.be.instanceOf(CancelledError);
    });

    it('asks no model after a condition has ended the run', async () => {
      const controller = new AbortController();
      const model = new ScriptedChatModel(ANSWERS);
      const run = runTurn(mode, model, {
        tools,
        signal: controller.signal,
        loop: {
          stopWhen: async () => {
            controller.abort();
            return Promise.resolve(false);
          },
        },
      });

      expect(await failureOf(run)).to.be.instanceOf(CancelledError);
      expect(model.prompts).to.have.lengthOf(1);
    });

    it('stores calls with their results, and the next turn is sent with them', async () => {
      const { client: chat, model, repository } = setUpMemory([...ANSWERS.slice(0, 2), 'Hello.']);
      const spec = inConversation(chat.prompt('Go.').tools(...tools));

      await runSpec(mode, spec.stopWhen(afterToolCall('save')));
      const stored = await storedTexts(repository);
      await runSpec(mode, inConversation(chat.prompt('And?').tools(...tools)));

      expect(stored).to.deep.equal(TURN);
      expect(sentTexts(model).at(-1)).to.deep.equal(['[s]', ...TURN, 'And?']);
      expect(await storedTexts(repository)).to.deep.equal([...TURN, 'And?', 'Hello.']);
    });

    it('stores the text that was shown last where a store drops tool messages', async () => {
      const stored: (readonly Message[])[] = [];
      const chatMemory: ChatMemory = {
        capabilities: { durable: false, transactional: false, storesToolMessages: false },
        load: async () => ({ messages: [], version: 0 }),
        get: async () => [],
        clear: async () => undefined,
        add: async (_, messages) => stored.push([messages].flat()),
      };
      const { client: chat } = setUpMemory(ANSWERS, { chatMemory });

      const spec = inConversation(chat.prompt('Go.').tools(...tools));
      await runSpec(mode, spec.stopWhen(afterToolCall('save')));

      expect(stored.map(shortTexts)).to.deep.equal([['Go.', 'Saving.']]);
    });

    it('gives a structured output no value', async () => {
      const { client: chat } = client();
      const spec = chat.prompt('Go.').stopWhen(afterCalls(1));
      const value =
        mode === 'call'
          ? spec.call().entity({ type: 'object' })
          : spec.stream().entity({ type: 'object' });

      expect(await failureOf(value)).to.be.instanceOf(StructuredOutputError);
    });

    it('is no failure for a retry left of the loop', async () => {
      const { model, client: chat } = client();
      const retry = new RetryAdvisor({ order: AdvisorOrder.GUARD });

      const response = await runSpec(
        mode,
        chat.prompt('Go.').advisors(retry).stopWhen(afterCalls(1)),
      );

      expect(response.finishReason).to.equal('stopCondition');
      expect(model.prompts).to.have.lengthOf(1);
    });

    it('is decided once: a replay ends at the same iteration after the condition changed', async () => {
      const turn = (stops: boolean, asked: string[]) => ({
        model: new ScriptedChatModel(ANSWERS),
        tools,
        spec: (spec: ReturnType<ChatClient['prompt']>) =>
          spec.stopWhen((steps) => {
            asked.push(namesOf(steps));
            return stops && steps.length === 2;
          }),
      });
      const engine = new KilledEngine([]);
      const first = await finish(durableSpec(turn(true, []), engine), mode);
      const entries = engine.inner.entries();
      expect(first.response?.finishReason).to.equal('stopCondition');

      const again: string[] = [];
      const { response } = await finish(
        durableSpec(turn(false, again), new KilledEngine(entries)),
        mode,
      );

      expect(response?.finishReason).to.equal('stopCondition');
      expect(again).to.deep.equal([]);
      expect(entries.map(([name]) => name).filter((name) => name.startsWith('stop'))).to.deep.equal(
        ['stop 0', 'stop 1'],
      );
    });

    it('is decided by the process that continues where it was not recorded', async () => {
      for (const place of ['before', 'after'] as const) {
        const turn = {
          model: new ScriptedChatModel(ANSWERS),
          tools,
          spec: (spec: ReturnType<ChatClient['prompt']>) => spec.stopWhen(afterToolCall('save')),
        };
        const killed = new KilledEngine([], { at: 'stop 1', place });
        await finish(durableSpec(turn, killed), mode);

        const next = new KilledEngine(killed.inner.entries());
        const { response } = await finish(durableSpec(turn, next), mode);

        expect(response?.finishReason).to.equal('stopCondition');
        expect(next.ran).to.deep.equal(['stop 1']);
      }
    });

    it('is asked once in a turn that pauses and is resumed', async () => {
      const asked: string[] = [];
      const read = defineTool({ name: 'look', effect: 'read', execute: () => 'found' });
      const pay = defineTool({ name: 'pay', effect: 'write', execute: () => 'paid' });
      const approval = new ApprovalAdvisor({ pause: pauseOptions() });
      const model = new ScriptedChatModel([asks('look'), asks('pay'), 'Done.']);
      const chat = ChatClient.builder(model)
        .defaultTools(read, pay)
        .defaultAdvisors(approval)
        .defaultStopWhen((steps) => {
          asked.push(namesOf(steps));
          return steps.at(-1)?.toolCalls.some(({ toolName }) => toolName === 'pay') === true;
        })
        .build();
      const open = await runSpec(mode, chat.prompt('Pay.'));
      const [request] = open.paused?.requests ?? [];

      const decisions = { [request?.id ?? '']: { type: 'allow' } } as const;

      const response = await runSpec(mode, chat.resume(open.paused?.state ?? '', decisions));

      expect(response.finishReason).to.equal('stopCondition');
      expect(asked).to.deep.equal(['look', 'look pay']);
      expect(model.prompts).to.have.lengthOf(2);
    });
  });

describe('stop conditions', () => {
  it('show a stopped turn in a stream without text of its own, and nothing is retracted', async () => {
    const { events } = await runTurn('stream', ANSWERS, {
      tools,
      loop: { stopWhen: afterToolCall('save') },
    });

    expect(summary(events).slice(-6)).to.deep.equal([
      'tool-call-delta 0 save',
      'iteration 1 save',
      'tool-call c-save save',
      'tool-result c-save "saved"',
      'step 1',
      'response null',
    ]);
  });

  it('of answers that a failed turn asks for again are asked again, too', () => {
    const answer = encodeResponse(ChatResponse.ofText('{'), 'test');
    const journal = new TurnJournal([
      ['memory read', []],
      ['model 0', { response: answer }],
      ['stop 0', false],
      ['model 1', { response: answer }],
    ]);

    const entries = journal.entriesBeforeFailure(
      new StructuredOutputError('no', 'not-json', '{', []),
      [],
    );

    expect(entries.map(([name]) => name)).to.deep.equal(['memory read']);
  });

  for (const [name, make] of [
    ['no integer', () => afterCalls(0.5)],
    ['no calls', () => afterCalls(0)],
    ['no name', () => afterToolCall(' ')],
    ['a number', () => new ToolCallingAdvisor({ stopWhen: 3 as never })],
    [
      'a number of a request',
      () =>
        ChatClient.create(new ScriptedChatModel([]))
          .prompt('?')
          .stopWhen(3 as never),
    ],
  ] as const)
    it(`refuse ${name} at once`, () => {
      expect(make).to.throw(InvalidArgumentError);
    });
});
