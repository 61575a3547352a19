import { expect } from 'chai';
import { retry } from 'rxjs';
import {
  AdvisorOrder,
  CancelledError,
  ChatClient,
  CompactionAdvisor,
  ConversationLockAdvisor,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  FallbackAdvisor,
  InMemoryChatMemoryRepository,
  InMemoryKeyValueStore,
  InvalidArgumentError,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ModelCallError,
  RetryAdvisor,
  SteeringAdvisor,
  SteeringInbox,
  ToolCallingAdvisor,
  ToolLedgerAdvisor,
  textOf,
  toolCallingAutoRegister,
  type Advisor,
  type MessageChatMemoryAdvisorOptions,
  type PromptSpec,
  type SteeringMode,
  type SteeringOutcome,
  type Tool,
  type UserMessage,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { invalidReason } from '../../support/conversation.js';
import { callOf, INSIDE, look, sentTexts, storedTexts } from '../../support/memory-advisor.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { deferred, settle } from '../../support/promises.js';
import { recorder, summary } from '../../support/turn.js';
import type { ChatEvent } from '../../../src/index.js';

const delivered = (iteration: number): SteeringOutcome => ({ status: 'delivered', iteration });
const DEFERRED: SteeringOutcome = { status: 'deferred' };
const REJECTED: SteeringOutcome = { status: 'rejected' };

/** A model that sends the messages of each call, by its number, to an inbox while it is asked. */
class BusyModel extends ScriptedChatModel {
  readonly outcomes: Promise<SteeringOutcome>[] = [];

  constructor(
    script: readonly ScriptedAnswer[],
    readonly inbox: SteeringInbox,
    sends: Readonly<Record<number, readonly (readonly [string, SteeringMode?])[]>>,
  ) {
    super((_prompt, index) => {
      for (const [text, mode] of sends[index] ?? [])
        this.outcomes.push(this.inbox.send(text, { mode }));
      return script[index] ?? 'unexpected';
    });
  }
}

/** A client with a memory and steering; its messages are sent while the model is asked. */
function setUp(
  script: readonly ScriptedAnswer[],
  sends: ConstructorParameters<typeof BusyModel>[2] = {},
  {
    memory = {},
    advisors = [],
    inbox = new SteeringInbox(),
    tools = [look],
    order,
  }: {
    readonly memory?: Partial<MessageChatMemoryAdvisorOptions>;
    readonly advisors?: readonly Advisor[];
    readonly inbox?: SteeringInbox;
    readonly tools?: readonly Tool[];
    readonly order?: number;
  } = {},
) {
  const model = new BusyModel(script, inbox, sends);
  const repository = new InMemoryChatMemoryRepository();
  const chatMemory = new MessageWindowChatMemory({ repository });
  const events: ChatEvent[] = [];
  const client = ChatClient.builder(model)
    .defaultTools(...tools)
    .defaultAdvisors(
      recorder(events),
      new MessageChatMemoryAdvisor({ chatMemory, ...memory }),
      new SteeringAdvisor({ inbox, order }),
      ...advisors,
      (a) => a.param(CONVERSATION_ID, 'c'),
    )
    .build();
  const ask = (text = 'q'): PromptSpec => client.prompt(text);
  const stored = (): Promise<readonly string[]> => storedTexts(repository);
  return { model, repository, inbox, client, events, ask, stored };
}

const TWO_CALLS = [{ toolCalls: [callOf('a')] }, { toolCalls: [callOf('b')] }, 'done'] as const;

describe('SteeringAdvisor', () => {
  for (const [options, message] of [
    [undefined, 'inbox must be a SteeringInbox or a function, not undefined'],
    [{ inbox: {} }, 'inbox must be a SteeringInbox or a function, not'],
    [{ inbox: new SteeringInbox(), name: ' ' }, 'name must be a non-blank string, not " "'],
    [{ inbox: new SteeringInbox(), order: NaN }, 'order must be a finite number, not NaN'],
  ] as const)
    it(`rejects ${JSON.stringify(options)}: ${message}`, () => {
      expect(() => new SteeringAdvisor(options as never)).to.throw(
        InvalidArgumentError,
        `SteeringAdvisor: ${message}`,
      );
    });

  it('is warned of left of the tool loop, where messages wait for the whole turn', () => {
    const { client } = setUp([], {}, { order: AdvisorOrder.GUARD });

    expect(client.explain().warnings).to.deep.equal([
      '"steering" takes messages left of the tool loop: they wait for the end of the turn; give it an order above TOOL_CALLING',
    ]);
    expect(setUp([]).client.explain().warnings).to.deep.equal([]);
  });

  it('is warned of left of a memory inside the loop, which stores an answer that is void', () => {
    const memory = { order: AdvisorOrder.STEERING + 1 };
    const loop = new ToolCallingAdvisor({ keepHistory: false });

    expect(setUp([], {}, { memory, advisors: [loop] }).client.explain().warnings).to.deep.equal([
      '"chat-memory" is right of "steering": it stores an answer that a message of the user voids; give the memory a lower order',
    ]);
  });

  for (const mode of MODES)
    describe(mode, () => {
      it('adds a message after the results, before the next model call (pydantic-ai-harness#89, docker-agent#2363, picoclaw#1517)', async () => {
        const { ask, model, stored } = setUp(TWO_CALLS, { 0: [['steer']] });

        const response = await runSpec(mode, ask());

        expect(sentTexts(model)).to.deep.equal([
          ['q'],
          ['q', '>a', '<a', 'steer'],
          ['q', '>a', '<a', 'steer', '>b', '<b'],
        ]);
        expect(await model.outcomes[0]).to.deep.equal(delivered(1));
        expect(response.text).to.equal('done');
        expect(await stored()).to.deep.equal(['q', 'steer', 'done']);
      });

      it('keeps the order of several messages', async () => {
        const { ask, model } = setUp(TWO_CALLS, { 0: [['1'], ['2']], 1: [['3']] });

        await runSpec(mode, ask());

        expect(sentTexts(model).at(-1)).to.deep.equal(['q', '>a', '<a', '1', '2', '>b', '<b', '3']);
        expect(await Promise.all(model.outcomes)).to.deep.equal([1, 1, 2].map(delivered));
      });

      it('takes media', async () => {
        const { ask, model, inbox, repository } = setUp(TWO_CALLS);
        const photo: UserMessage = {
          role: 'user',
          content: [{ type: 'image', url: 'https://photos.example/1.png' }],
        };
        const sending = defineAdvisor({
          name: 'sending',
          order: AdvisorOrder.LOGGER,
          before: ({ iteration }) => void (iteration === 0 && inbox.send(photo)),
        });

        await runSpec(mode, ask().advisors(sending));

        expect(model.prompts[1]?.messages.at(-1)).to.deep.equal(photo);
        const { messages } = await repository.read('c');
        expect(messages.map(({ message }) => message)).to.deep.include(photo);
      });

      it('asks again if a message comes before the answer has ended', async () => {
        const { ask, model, events, stored } = setUp(['It is 20 °C.', 'It is 68 °F.'], {
          0: [['In Fahrenheit, please.']],
        });

        const response = await runSpec(mode, ask());

        expect(response.text).to.equal('It is 68 °F.');
        expect(sentTexts(model)).to.deep.equal([['q'], ['q', 'In Fahrenheit, please.']]);
        expect(await model.outcomes[0]).to.deep.equal(delivered(0));
        expect(await stored()).to.deep.equal(['q', 'In Fahrenheit, please.', 'It is 68 °F.']);
        if (mode === 'stream')
          expect(summary(events)).to.deep.equal([
            'text-delta It ',
            'text-delta is ',
            'text-delta 20 ',
            'text-delta °C.',
            'retract 0',
            'text-delta It ',
            'text-delta is ',
            'text-delta 68 ',
            'text-delta °F.',
            'response It is 68 °F.',
          ]);
      });

      it('defers a message that comes after the answer has ended', async () => {
        const { ask, model, inbox, stored } = setUp(['done']);
        let outcome: Promise<SteeringOutcome> | undefined;
        const after = defineAdvisor({
          name: 'after',
          order: AdvisorOrder.TOOL_SEARCH,
          after: () => void (outcome = inbox.send('more')),
        });

        await runSpec(mode, ask().advisors(after));

        expect(await outcome).to.deep.equal(DEFERRED);
        expect(inbox.takeDeferred()).to.deep.equal([{ role: 'user', content: 'more' }]);
        expect(inbox.takeDeferred()).to.deep.equal([]);
        expect([model.prompts.length, await stored()]).to.deep.equal([1, ['q', 'done']]);
      });

      it('keeps a queued message for the next turn, which begins with it (llxprt-code#2297)', async () => {
        const { ask, model, inbox, client, stored } = setUp(
          [{ toolCalls: [callOf('a')] }, 'one', 'two'],
          { 0: [['later', 'queue']] },
        );

        await runSpec(mode, ask());
        const outcome = await model.outcomes[0];
        await runSpec(mode, client.prompt().messages(...inbox.takeDeferred()));

        expect(outcome).to.deep.equal(DEFERRED);
        expect(sentTexts(model)).to.deep.equal([['q'], ['q', '>a', '<a'], ['q', 'one', 'later']]);
        expect(await stored()).to.deep.equal(['q', 'one', 'later', 'two']);
      });

      it('atlas-ui#854: reports a message as deferred when the turn is stored, so that the next one cannot race on the history', async () => {
        const write = deferred();
        const repository = new InMemoryChatMemoryRepository();
        const memory = new MessageWindowChatMemory({ repository });
        const chatMemory = Object.assign(Object.create(memory) as typeof memory, {
          add: async (...args: Parameters<typeof memory.add>) => {
            await write.promise;
            return memory.add(...args);
          },
        });
        const { ask, model } = setUp(
          ['one'],
          { 0: [['later', 'queue']] },
          { memory: { chatMemory } },
        );
        let outcome: SteeringOutcome | undefined;
        const turn = runSpec(mode, ask());
        await settle();
        void model.outcomes[0]?.then((given) => (outcome = given));
        await settle();
        const before = outcome;

        write.resolve();
        await turn;
        await settle();

        expect([before, outcome]).to.deep.equal([undefined, DEFERRED]);
        expect(await storedTexts(repository)).to.deep.equal(['q', 'one']);
      });

      it('atlas-ui#854: refuses a second turn at the same time on one inbox', async () => {
        const gate = deferred();
        const wait = defineTool({ name: 'wait', execute: () => gate.promise });
        const { ask } = setUp(
          [{ toolCalls: [{ name: 'wait' }] }, 'one', 'two'],
          {},
          { tools: [wait] },
        );
        const first = runSpec(mode, ask());
        await settle();

        const failure = await failureOf(runSpec(mode, ask('second')));
        gate.resolve();

        expect(failure).to.be.instanceOf(InvalidArgumentError);
        expect(String(failure)).to.include('give each conversation an inbox of its own');
        expect((await first).text).to.equal('one');
      });

      it('atlas-ui#854: lets a second turn on one inbox follow under a conversation lock', async () => {
        const gate = deferred();
        const wait = defineTool({ name: 'wait', execute: () => gate.promise });
        const { ask, model, stored } = setUp(
          [{ toolCalls: [{ id: '1', name: 'wait' }] }, 'one', 'two', 'three'],
          { 2: [['steer']] },
          { tools: [wait], advisors: [new ConversationLockAdvisor()] },
        );
        const first = runSpec(mode, ask());
        await settle();
        const second = runSpec(mode, ask('second'));
        await settle();
        const early = model.inbox.send('more');
        gate.resolve();

        await first;
        await second;

        expect(await early).to.deep.equal(delivered(1));
        expect(await model.outcomes[0]).to.deep.equal(delivered(0));
        expect(await stored()).to.deep.equal(['q', 'more', 'one', 'second', 'steer', 'three']);
      });

      it('joins a turn whose history is compacted', async () => {
        const long = defineTool({ name: 'long', execute: () => 'x'.repeat(20_000) });
        const call = (id: string): ScriptedAnswer => ({ toolCalls: [{ id, name: 'long' }] });
        const { ask, model, stored } = setUp(
          [call('a'), call('b'), 'done'],
          { 0: [['1']], 1: [['2']] },
          {
            tools: [long],
            advisors: [new CompactionAdvisor({ maxTokens: 8_000, keepIterations: 1 })],
          },
        );

        await runSpec(mode, ask());

        const [summary, ...others] = sentTexts(model).at(-1) ?? [];
        expect(summary).to.match(/^Summary/);
        expect(others).to.deep.equal(['q', '1', '>b', '<b', '2']);
        expect(await Promise.all(model.outcomes)).to.deep.equal([1, 2].map(delivered));
        expect((await stored()).filter((text) => text !== summary)).to.deep.equal([
          'q',
          '1',
          '2',
          'done',
        ]);
      });

      it('is not lost by an advisor that rebuilds the prompt', async () => {
        const rebuilding = defineAdvisor({
          name: 'rebuilding',
          order: INSIDE,
          before: (request) => request.withMessages([...request.prompt.messages]),
        });
        const { ask, model } = setUp(TWO_CALLS, { 0: [['steer']] }, { advisors: [rebuilding] });

        await runSpec(mode, ask());

        expect(sentTexts(model).at(-1)).to.deep.equal(['q', '>a', '<a', 'steer', '>b', '<b']);
      });

      for (const [name, order] of [
        ['right of it', AdvisorOrder.RESILIENCE],
        ['between the loop and it', INSIDE],
      ] as const)
        it(`is kept, once, by a retry ${name}`, async () => {
          const down = new ModelCallError('overloaded', { retryable: true });
          const { ask, model, stored } = setUp(
            [{ toolCalls: [callOf('a')] }, down, down, 'done', 'done again'],
            { 0: [['steer']], 2: [['more']] },
            { advisors: [new RetryAdvisor({ firstDelay: 0, order })] },
          );

          await runSpec(mode, ask());

          const first = ['q', '>a', '<a', 'steer'];
          const both = [...first, 'more'];
          // right of it, the attempts are one model call, after which the second message is there
          const isRight = order !== INSIDE;
          expect(sentTexts(model).slice(1)).to.deep.equal(
            isRight ? [first, first, first, both] : [first, first, both],
          );
          expect(await Promise.all(model.outcomes)).to.deep.equal([1, 1].map(delivered));
          const answer = isRight ? 'done again' : 'done';
          expect(await stored()).to.deep.equal(['q', 'steer', 'more', answer]);
        });

      it('is kept, once, by a fallback to another model', async () => {
        const other = new ScriptedChatModel(['done']);
        const { ask, model, stored } = setUp(
          [{ toolCalls: [callOf('a')] }, new ModelCallError('down', { retryable: true })],
          { 0: [['steer']] },
          { advisors: [new FallbackAdvisor({ models: [other] })] },
        );

        await runSpec(mode, ask());

        expect(sentTexts(other)).to.deep.equal([['q', '>a', '<a', 'steer']]);
        expect(await model.outcomes[0]).to.deep.equal(delivered(1));
        expect(await stored()).to.deep.equal(['q', 'steer', 'done']);
      });

      it('is kept, once, by a repetition of the whole turn', async () => {
        const again: Advisor = {
          name: 'again',
          order: AdvisorOrder.TOOL_SEARCH,
          advise: (request, chain) => chain.next(request).pipe(retry(1)),
        };
        const { ask, model, stored } = setUp(
          [{ toolCalls: [callOf('a')] }, new Error('busy'), { toolCalls: [callOf('b')] }, 'done'],
          { 0: [['steer']] },
          { advisors: [again], memory: { storeToolMessages: true } },
        );

        await runSpec(mode, ask());

        expect(sentTexts(model).slice(2)).to.deep.equal([
          ['q', 'steer'],
          ['q', 'steer', '>b', '<b'],
        ]);
        expect(await stored()).to.deep.equal(['q', 'steer', '>b', '<b', 'done']);
      });

      it('is not added again after a compaction has removed it', async () => {
        const compaction = defineAdvisor({
          name: 'compaction',
          order: AdvisorOrder.COMPACTION,
          before: (request) =>
            request.iteration === 2
              ? request.withTranscript(() => [{ role: 'user', content: '(summary)' }])
              : request,
        });
        const { ask, model } = setUp(
          [...TWO_CALLS.slice(0, 2), { toolCalls: [callOf('c')] }, 'done'],
          { 0: [['steer']] },
          { advisors: [compaction] },
        );

        await runSpec(mode, ask());

        expect(sentTexts(model).slice(2)).to.deep.equal([['(summary)'], ['(summary)', '>c', '<c']]);
      });

      it('stands at its place in a memory that stores tool messages', async () => {
        const { ask, stored } = setUp(
          TWO_CALLS,
          { 0: [['1']], 1: [['2']] },
          { memory: { storeToolMessages: true } },
        );

        await runSpec(mode, ask());

        expect(await stored()).to.deep.equal(['q', '>a', '<a', '1', '>b', '<b', '2', 'done']);
      });

      for (const [name, order] of [
        ['left', AdvisorOrder.STEERING + 1],
        ['right', AdvisorOrder.STEERING - 1],
      ] as const)
        it(`is stored once by a memory inside the loop, ${name} of which it stands`, async () => {
          const { ask, model, stored } = setUp(
            TWO_CALLS,
            { 0: [['1']], 1: [['2']] },
            { memory: { order }, advisors: [new ToolCallingAdvisor({ keepHistory: false })] },
          );

          await runSpec(mode, ask());

          const all = ['q', '>a', '<a', '1', '>b', '<b', '2'];
          expect(sentTexts(model)).to.deep.equal([['q'], all.slice(0, 4), all]);
          expect(await stored()).to.deep.equal([...all, 'done']);
        });

      it('interrupts the model call that runs: its text is retracted (claude-code#6115)', async () => {
        const { ask, model, events, stored } = setUp(
          // a call ends by the interruption alone
          [{ text: 'a long answer', delay: mode === 'stream' ? 5 : 60_000 }, { text: 'Short.' }],
          {},
        );
        const spec = ask();
        const turn = runSpec(mode, spec);
        await (mode === 'stream' ? untilEvent(events, 'text-delta') : settle());
        const outcome = model.inbox.send('Be brief.', { mode: 'interrupt' });

        const response = await turn;

        expect([response.text, model.cancelled]).to.deep.equal(['Short.', 1]);
        expect(await outcome).to.deep.equal(delivered(0));
        expect(sentTexts(model)).to.deep.equal([['q'], ['q', 'Be brief.']]);
        expect(await stored()).to.deep.equal(['q', 'Be brief.', 'Short.']);
        if (mode === 'stream')
          expect(
            summary(events).filter((each) => !each.includes('delta a')),
          ).to.include.ordered.members(['retract 0', 'text-delta Short.', 'response Short.']);
      });

      it('interrupts a model call within the event of its first delta', async () => {
        const inbox = new SteeringInbox();
        const sent: Promise<SteeringOutcome>[] = [];
        const interrupting = defineAdvisor({
          name: 'interrupting',
          order: AdvisorOrder.LOGGER,
          onEvent: ({ type }) => {
            if (type === 'text-delta' && sent.length < 3)
              sent.push(inbox.send(`${sent.length}`, { mode: 'interrupt' }));
          },
        });
        const { ask, model } = setUp(
          ['a b', 'c d', 'e f', 'g h'],
          {},
          { inbox, advisors: [interrupting] },
        );

        const response = await runSpec(mode, ask());

        expect(response.text).to.equal(mode === 'stream' ? 'g h' : 'a b');
        expect(model.prompts).to.have.length(mode === 'stream' ? 4 : 1);
        expect(await Promise.all(sent)).to.deep.equal(sent.map(() => delivered(0)));
      });

      it('runs no more tools of the old plan after an interruption, and cancels the running one', async () => {
        const aborted: unknown[] = [];
        const started: string[] = [];
        const work = defineTool({
          name: 'work',
          input: { type: 'object', properties: { id: { type: 'string' } } },
          effect: 'write',
          execute: ({ id }, { signal }) => {
            started.push(String(id));
            if (id === 'a') return 'ready';
            return new Promise(() => signal.addEventListener('abort', () => aborted.push(id)));
          },
        });
        const calls = ['a', 'b', 'c', 'd'].map((id) => ({ id, name: 'work', arguments: { id } }));
        const { ask, model, inbox, stored } = setUp(
          [{ toolCalls: calls }, 'Stopped.'],
          {},
          { tools: [work] },
        );
        const turn = runSpec(mode, ask());
        await settle();
        const outcome = inbox.send('Stop.', { mode: 'interrupt' });

        const response = await turn;

        expect([started, aborted]).to.deep.equal([['a', 'b'], ['b']]);
        expect(model.prompts[1]?.messages.map((each) => textOf(each))).to.deep.equal([
          'q',
          '',
          'ready',
          'Cancelled before its end: the user has sent another message. It may have had its effect.',
          'Not run: the user has sent another message.',
          'Not run: the user has sent another message.',
          'Stop.',
        ]);
        expect(invalidReason(model.prompts[1]?.messages ?? [])).to.equal(undefined);
        expect(await outcome).to.deep.equal(delivered(1));
        expect([response.text, await stored()]).to.deep.equal([
          'Stopped.',
          ['q', 'Stop.', 'Stopped.'],
        ]);
      });

      for (const order of [AdvisorOrder.STEERING - 1, AdvisorOrder.STEERING + 1])
        it(`leaves a call that a message has cancelled open in a ledger at ${order}: the turn does not pay again when it is repeated`, async () => {
          let payments = 0;
          const pay = defineTool({
            name: 'pay',
            effect: 'write',
            execute: () => (payments++, new Promise(() => undefined)),
          });
          const ledger = new ToolLedgerAdvisor({ store: new InMemoryKeyValueStore(), order });
          const paying = { toolCalls: [{ name: 'pay' }] };
          const { ask, inbox, model } = setUp(
            [paying, 'Stopped.', paying, 'Asked.'],
            {},
            { tools: [pay], advisors: [ledger] },
          );
          const turn = runSpec(mode, ask().turnId('t'));
          await settle();
          void inbox.send('Stop.', { mode: 'interrupt' });
          await turn;

          const { text } = await runSpec(mode, ask().turnId('t'));

          expect([text, payments]).to.deep.equal(['Asked.', 1]);
          expect(JSON.stringify(model.prompts.at(-1)?.messages)).to.include(
            'may have had its effect',
          );
        });

      it('is not brought into a turn that another advisor repeats after it was rejected', async () => {
        const again: Advisor = {
          name: 'again',
          order: AdvisorOrder.LOCK + 50,
          advise: (request, chain) => chain.next(request).pipe(retry(1)),
        };
        const { ask, model, stored } = setUp(
          [{ toolCalls: [callOf('a')] }, new Error('busy'), 'done'],
          { 0: [['steer']] },
          { advisors: [again] },
        );

        await runSpec(mode, ask());

        expect(await model.outcomes[0]).to.deep.equal(REJECTED);
        expect(sentTexts(model).at(-1)).to.deep.equal(['q']);
        expect(await stored()).to.deep.equal(['q', 'done']);
      });

      it('cancels a tool that runs with its turn', async () => {
        const reasons: unknown[] = [];
        const work = defineTool({
          name: 'work',
          execute: (_args, { signal }) =>
            new Promise(() => signal.addEventListener('abort', () => reasons.push(signal.reason))),
        });
        const controller = new AbortController();
        const { ask } = setUp([{ toolCalls: [{ name: 'work' }] }], {}, { tools: [work] });
        const turn = failureOf(runSpec(mode, ask().signal(controller.signal)));
        await settle();

        controller.abort('the user left');

        expect(await turn).to.be.instanceOf(CancelledError);
        expect(reasons).to.deep.equal(['the user left']);
      });

      it('interrupts again and again', async () => {
        const wait = defineTool({ name: 'wait', execute: () => new Promise(() => undefined) });
        const waiting = { toolCalls: [{ name: 'wait' }] };
        const { ask, inbox } = setUp([waiting, waiting, 'done'], {}, { tools: [wait] });
        const turn = runSpec(mode, ask());
        const outcomes: Promise<SteeringOutcome>[] = [];
        for (const text of ['1', '2']) {
          await settle();
          outcomes.push(inbox.send(text, { mode: 'interrupt' }));
        }

        expect((await turn).text).to.equal('done');
        expect(await Promise.all(outcomes)).to.deep.equal([1, 2].map(delivered));
      });

      it('does not make the text of an interruption the answer of a return-direct tool', async () => {
        const gate = deferred();
        const pay = defineTool({
          name: 'pay',
          returnDirect: true,
          execute: async () => {
            await gate.promise;
            return 'Paid.';
          },
        });
        const { ask, inbox } = setUp([{ toolCalls: [{ name: 'pay' }] }], {}, { tools: [pay] });
        const turn = runSpec(mode, ask());
        await settle();
        const outcome = inbox.send('Wait!', { mode: 'interrupt' });
        gate.resolve();

        expect((await turn).text).to.equal('Paid.');
        expect(await outcome).to.deep.equal(DEFERRED);
      });

      it('defers a message when the turn pauses with open calls, which it must not separate from their results', async () => {
        const pausing = new ToolCallingAdvisor({ toolExecutionEligibilityChecker: () => false });
        const { ask, model, inbox, stored } = setUp(
          [{ toolCalls: [callOf('a')] }],
          { 0: [['steer']] },
          { advisors: [pausing] },
        );

        const response = await runSpec(mode, ask());

        expect(response.hasToolCalls()).to.equal(true);
        expect(await model.outcomes[0]).to.deep.equal(DEFERRED);
        expect(inbox.takeDeferred()).to.have.length(1);
        expect(await stored()).to.deep.equal(['q', '>a']);
      });

      it('is confirmed by the answer of the iteration that has it, not by the end of the turn', async () => {
        const gate = deferred();
        const wait = defineTool({ name: 'wait', execute: () => gate.promise });
        const { ask, model } = setUp(
          [{ toolCalls: [callOf('a')] }, { toolCalls: [{ name: 'wait' }] }, 'done'],
          { 0: [['steer']] },
          { tools: [look, wait] },
        );
        const turn = runSpec(mode, ask());
        await settle();

        const outcome = await model.outcomes[0];
        gate.resolve();
        await turn;

        expect(outcome).to.deep.equal(delivered(1));
      });

      it('lets the tools of a batch finish for a message that steers', async () => {
        const gate = deferred();
        const work = defineTool({ name: 'work', execute: () => gate.promise });
        const { ask, model, inbox } = setUp(
          [{ toolCalls: [{ name: 'work' }] }, 'ok'],
          {},
          { tools: [work] },
        );
        const turn = runSpec(mode, ask());
        await settle();
        const outcome = inbox.send('And then rest.');
        gate.resolve();

        await turn;

        expect(model.prompts[1]?.messages.slice(-2)).to.deep.include.members([
          { role: 'user', content: 'And then rest.' },
        ]);
        expect(await outcome).to.deep.equal(delivered(1));
      });

      it('gives the tool an error of its own, also if a message interrupts later', async () => {
        const failing = defineTool({
          name: 'work',
          execute: () => Promise.reject(new Error('no')),
        });
        const { ask, model } = setUp(
          [{ toolCalls: [{ id: 'work-a', name: 'work' }] }, 'ok'],
          {},
          { tools: [failing] },
        );

        await runSpec(mode, ask());

        expect(model.prompts[1]?.messages.at(-1)).to.include({
          content: 'The tool "work" failed. Error id: work-a',
        });
      });

      it('rejects what no model has answered to when the turn fails, and defers the queue', async () => {
        const broken = new Error('broken');
        const { ask, model, inbox, stored } = setUp([{ toolCalls: [callOf('a')] }, broken], {
          0: [['1']],
          1: [['2'], ['3', 'queue']],
        });

        const failure = await failureOf(runSpec(mode, ask()));

        expect(failure).to.equal(broken);
        expect(sentTexts(model)[1]).to.deep.equal(['q', '>a', '<a', '1']);
        expect(await Promise.all(model.outcomes)).to.deep.equal([REJECTED, REJECTED, DEFERRED]);
        expect(inbox.takeDeferred()).to.deep.equal([{ role: 'user', content: '3' }]);
        expect(await stored()).to.deep.equal([]);
      });

      it('is stored with a partial turn, after the results that it followed', async () => {
        const { ask, model, stored } = setUp(
          [{ toolCalls: [callOf('a')] }, { toolCalls: [callOf('b')] }, new Error('broken')],
          { 0: [['1'], ['2']], 1: [['3'], ['4']] },
          { memory: { onIncomplete: 'keep-partial', storeToolMessages: true } },
        );

        await failureOf(runSpec(mode, ask()));

        const messages = ['q', '>a', '<a', '1', '2', '>b', '<b', '3', '4', ''];
        expect(await stored()).to.deep.equal(messages);
        // stored as the question is, and like it without an answer
        const [first, second] = [delivered(1), REJECTED];
        expect(await Promise.all(model.outcomes)).to.deep.equal([first, first, second, second]);
      });

      it('is stored with a partial turn whose first call has failed', async () => {
        const error = new ModelCallError('broken', { partialText: 'half' });
        const { ask, stored } = setUp(
          [{ text: 'one' }, error],
          { 0: [['1'], ['2']] },
          { memory: { onIncomplete: 'keep-partial' } },
        );

        await failureOf(runSpec(mode, ask()));

        expect(await stored()).to.deep.equal(['q', '1', '2', 'half']);
      });

      it('ignores the failure of a model call that a message has interrupted before', async () => {
        const { ask, model } = setUp([new Error('broken'), 'fine'], { 0: [['now', 'interrupt']] });

        const response = await runSpec(mode, ask());

        expect([response.text, model.prompts.length]).to.deep.equal(['fine', 2]);
        expect(await model.outcomes[0]).to.deep.equal(delivered(0));
      });

      it('rejects what no model has answered to when the turn is cancelled', async () => {
        const controller = new AbortController();
        const { ask, inbox, model } = setUp([{ text: 'long', delay: 60_000 }]);
        const turn = failureOf(runSpec(mode, ask().signal(controller.signal)));
        await settle();
        const outcome = inbox.send('more');
        controller.abort();

        expect(await turn).to.be.instanceOf(CancelledError);
        expect(await outcome).to.deep.equal(REJECTED);
        expect([model.prompts.length, model.cancelled]).to.deep.equal([1, 1]);
      });

      it('defers a message at once if no turn runs', async () => {
        const { ask, inbox } = setUp(['done']);
        const before = await inbox.send('before');
        await runSpec(mode, ask());
        const after = await inbox.send('after', { mode: 'interrupt' });

        expect([before, after]).to.deep.equal([DEFERRED, DEFERRED]);
        expect(inbox.takeDeferred().map(({ content }) => content)).to.deep.equal([
          'before',
          'after',
        ]);
      });

      it('brings a deferred message into no turn by itself', async () => {
        const { ask, inbox, model } = setUp(TWO_CALLS);
        await inbox.send('before');

        await runSpec(mode, ask());

        expect(sentTexts(model).flat()).not.to.include('before');
      });

      it('defers a message when a limit ends the turn without a model call', async () => {
        const { ask, model } = setUp(
          TWO_CALLS,
          { 0: [['steer']] },
          { advisors: [new ToolCallingAdvisor({ maxIterations: 1, onLimit: 'return' })] },
        );

        await runSpec(mode, ask());

        expect(await model.outcomes[0]).to.deep.equal(DEFERRED);
      });

      it('brings a message into the last answer at a limit', async () => {
        const { ask, model } = setUp(
          [{ toolCalls: [callOf('a')] }, 'first', 'second'],
          { 1: [['steer']] },
          { advisors: [new ToolCallingAdvisor({ maxIterations: 1 })] },
        );

        const response = await runSpec(mode, ask());

        expect(response.text).to.equal('second');
        expect(response.metadata?.['limit']).to.include({ limit: 'iterations' });
        expect(model.prompts.map(({ options }) => options.tools?.length ?? 0)).to.deep.equal([
          1, 0, 0,
        ]);
      });

      it('does not leak between turns at the same time: each conversation has its inbox', async () => {
        const inboxes = { anna: new SteeringInbox(), ben: new SteeringInbox() };
        const gates = { anna: deferred(), ben: deferred() };
        const model = new ScriptedChatModel(({ messages, options }) => {
          const { content } = messages[0] as UserMessage;
          return options.tools && messages.length === 1
            ? { toolCalls: [{ name: 'wait', arguments: { user: textOf(content) } }] }
            : messages.map((each) => textOf(each)).join(' ');
        });
        const wait = defineTool({
          name: 'wait',
          input: { type: 'object', properties: { user: { type: 'string' } } },
          execute: async ({ user }) => {
            await gates[user as 'anna' | 'ben'].promise;
            return 'waited';
          },
        });
        const steering = new SteeringAdvisor({
          inbox: ({ context }) => inboxes[context.get(CONVERSATION_ID) as 'anna' | 'ben'],
        });
        const client = ChatClient.builder(model)
          .defaultTools(wait)
          .defaultAdvisors(steering)
          .build();
        const turns = (['anna', 'ben', 'carl'] as const).map((user) =>
          runSpec(
            mode,
            client.prompt(user).advisors((a) => a.param(CONVERSATION_ID, user)),
          ),
        );
        await settle();
        void inboxes.anna.send('for anna');
        void inboxes.ben.send('for ben', { mode: 'interrupt' });
        gates.anna.resolve();
        const carl = failureOf(turns[2] as Promise<unknown>);

        expect((await turns[0])?.text).to.equal('anna  waited for anna');
        expect((await turns[1])?.text).to.match(/^ben {2}Cancelled .* for ben$/);
        expect(await carl).to.equal(undefined);
      });

      it('leaves the messages of a turn to it, not to the turns nested in it', async () => {
        const { ask, inbox, client, model } = setUp(
          [{ toolCalls: [{ name: 'ask' }] }, 'inner', 'outer'],
          { 1: [['steer']] },
          { tools: [] },
        );
        const nested = defineTool({
          name: 'ask',
          execute: (_args, { signal }) =>
            client
              .prompt('inner?')
              .advisors((a) => a.param(CONVERSATION_ID, 'inner'))
              .signal(signal)
              .call()
              .content(),
        });

        const response = await runSpec(mode, ask().tools(nested));

        expect(response.text).to.equal('outer');
        expect(sentTexts(model)[1]).to.deep.equal(['inner?']);
        expect(sentTexts(model)[2]?.at(-1)).to.equal('steer');
        expect(inbox.takeDeferred()).to.deep.equal([]);
      });

      it('works without a tool loop', async () => {
        const { ask, model, stored } = setUp(['one', 'two'], { 0: [['steer']] }, { tools: [] });

        const response = await runSpec(mode, ask().advisors(toolCallingAutoRegister(false)));

        expect(response.text).to.equal('two');
        expect(await model.outcomes[0]).to.deep.equal(delivered(0));
        expect(await stored()).to.deep.equal(['q', 'steer', 'two']);
      });

      it('counts the tokens of an answer that a message has overtaken', async () => {
        const usage = { inputTokens: 5, outputTokens: 5, totalTokens: 10 };
        const { ask } = setUp(
          [
            { text: 'one', usage },
            { text: 'two', usage },
          ],
          { 0: [['steer']] },
        );

        const response = await runSpec(mode, ask());

        expect(response.usage?.totalTokens).to.equal(20);
      });

      it('is something new for a model without progress', async () => {
        const call = { toolCalls: [callOf('a')] };
        const { ask, model } = setUp([call, call, call, call, call, 'done'], {
          2: [['Try again.']],
        });

        await runSpec(mode, ask());

        expect(JSON.stringify(model.prompts.at(-1)?.messages)).not.to.include('Not run');
      });

      it('reports an inbox function that returns something else', async () => {
        const advisor = new SteeringAdvisor({ inbox: () => 'inbox' as never });
        const spec = ChatClient.create(new ScriptedChatModel(['no']))
          .prompt('q')
          .advisors(advisor);

        expect(await failureOf(runSpec(mode, spec))).to.include({
          message: 'advisor "steering": the inbox must be a SteeringInbox, not "inbox"',
        });
      });
    });
});

async function untilEvent(events: readonly ChatEvent[], type: ChatEvent['type']): Promise<void> {
  while (!events.some((event) => event.type === type))
    await new Promise((resolve) => setImmediate(resolve));
}

describe('SteeringInbox', () => {
  for (const [message, options, problem] of [
    [' ', {}, 'the message is blank; send a text or media'],
    [{ role: 'assistant', content: 'x' }, {}, 'the message must be a user message'],
    [{ role: 'user' }, {}, 'a user message needs `content`'],
    ['x', { mode: 'now' }, "mode must be 'steer', 'interrupt' or 'queue', not \"now\""],
  ] as const)
    it(`rejects ${JSON.stringify(message)} with ${JSON.stringify(options)}`, () => {
      expect(() => new SteeringInbox().send(message as never, options as never)).to.throw(
        InvalidArgumentError,
        `SteeringInbox.send(…): ${problem}`,
      );
    });

  it('keeps a copy of a message, which the application cannot change', async () => {
    const inbox = new SteeringInbox();
    const message = { role: 'user' as const, content: 'original' };
    await inbox.send(message);

    message.content = 'changed';

    expect(inbox.takeDeferred()).to.deep.equal([{ role: 'user', content: 'original' }]);
  });
});
