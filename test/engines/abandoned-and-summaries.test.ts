import { expect } from 'chai';
import { Observable, throwError, timeout, TimeoutError } from 'rxjs';
import {
  AdvisorOrder,
  ChatClient,
  CONVERSATION_ID,
  DurableAdvisor,
  FallbackAdvisor,
  GuardAdvisor,
  InMemoryChatMemoryRepository,
  InMemoryDurableEngine,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  RetryAdvisor,
  SummarizingChatMemory,
  TimeoutAdvisor,
  wordRule,
  type Advisor,
  type ChatModel,
  type DurableEngine,
  type Usage,
} from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { finish, KilledEngine } from '../support/durable.js';
import { entriesOf, latestTurn, newInspector } from '../support/inspected-turns.js';
import { MODES } from '../support/modes.js';

const HOUR = 3_600_000;

/** Answers when its delay is over: never, for these tests. */
const silent = (): ScriptedChatModel =>
  new ScriptedChatModel(() => ({ text: 'Slow.', delay: HOUR }), { model: 'slow' });

/** A model that gives its first answer up, and is silent then. */
const spending = (usage: Usage): ChatModel => ({
  defaultOptions: { model: 'slow' },
  call: (_, run) => {
    run?.onSpent?.(usage);
    return new Promise(() => undefined);
  },
  stream: (_, run) => new Observable(() => run?.onSpent?.(usage)),
});

for (const mode of MODES)
  describe(`a durable turn (${mode})`, () => {
    it('[D109] neither asks a model again that a time limit gave up, nor waits for the limit again', async () => {
      const play = async (engine: DurableEngine, slow: ChatModel, fast: ChatModel, limit = 20) => {
        const advisors = [
          new FallbackAdvisor({ models: [fast] }),
          new TimeoutAdvisor({ iteration: limit }),
          new DurableAdvisor({ engine }),
        ];
        const client = ChatClient.builder(slow).defaultAdvisors(...advisors);
        return finish(client.build().prompt('Hi.').turnId('t'), mode);
      };
      const first = new InMemoryDurableEngine();
      const whole = await play(first, silent(), new ScriptedChatModel(['Fast.']));
      const again = [silent(), new ScriptedChatModel([])] as const;

      const replayed = await play(new InMemoryDurableEngine(first.entries()), ...again, HOUR);

      expect(whole.error ?? whole.response?.text).to.equal('Fast.');
      expect(replayed.error ?? replayed.response?.text).to.equal('Fast.');
      expect(again.flatMap(({ prompts }) => prompts)).to.have.length(0);
      expect(first.entries().map(([name]) => name)).to.deep.equal(['model 0', 'model 0 #2']);
    });

    it('[D109] has the same ledger when it runs again, also of a call that was given up', async () => {
      const usage = { inputTokens: 7, outputTokens: 1, totalTokens: 8 };
      const play = async (engine: DurableEngine, fast: ChatModel) => {
        const advisors = [
          new FallbackAdvisor({ models: [fast] }),
          new TimeoutAdvisor({ iteration: 20 }),
          new DurableAdvisor({ engine }),
        ];
        const client = ChatClient.builder(spending(usage)).defaultAdvisors(...advisors);
        const { response } = await finish(client.build().prompt('Hi.').turnId('t'), mode);
        const ledger = response?.ledger.map(({ outcome, usage: spent }) => [outcome, spent]);
        return { ledger, usage: response?.usage };
      };
      const engine = new InMemoryDurableEngine();
      const whole = await play(engine, new ScriptedChatModel([{ text: 'Fast.', usage }]));

      const again = new InMemoryDurableEngine(engine.entries());
      const replayed = await play(again, new ScriptedChatModel([]));

      expect(whole.ledger).to.deep.equal([
        ['cancelled', usage],
        ['answered', usage],
      ]);
      expect(replayed).to.deep.equal(whole);
    });

    it('[D109] ends with the error of the advisor that gave a call up, which was not the next one', async () => {
      const play = (engine: DurableEngine, inner: number, outer: number) => {
        const advisors = [
          new RetryAdvisor({ order: AdvisorOrder.RESILIENCE + 250, firstDelay: 1 }),
          new TimeoutAdvisor({ iteration: outer, name: 'outer' }),
          new TimeoutAdvisor({ iteration: inner, name: 'z-inner', order: 7_300 }),
          new DurableAdvisor({ engine }),
        ];
        const client = ChatClient.builder(silent()).defaultAdvisors(...advisors);
        return finish(client.build().prompt('Hi.').turnId('t'), mode);
      };
      const first = new InMemoryDurableEngine();
      const whole = await play(first, HOUR, 20);

      const replayed = await play(new InMemoryDurableEngine(first.entries()), HOUR, 2 * HOUR);

      const expected = { code: 'model_timeout', option: 'iteration' };
      expect(whole.error).to.include(expected);
      expect(replayed.error).to.include(expected);
      expect(String(replayed.error)).to.include(`${2 * HOUR} ms`);
    });

    it('asks no model when it is cancelled as the step of the call begins', async () => {
      const abort = new AbortController();
      class CancellingEngine extends InMemoryDurableEngine {
        override step: InMemoryDurableEngine['step'] = (name, run) => {
          if (name.startsWith('model')) abort.abort();
          return super.step(name, run);
        };
      }
      const inspector = newInspector();
      let asked = 0;
      const model: ChatModel = {
        defaultOptions: {},
        call: () => (asked++, Promise.reject(new Error('asked'))),
        stream: () => (asked++, throwError(() => new Error('asked'))),
      };
      const chatMemory = new MessageWindowChatMemory({ repository: new InMemoryChatMemoryRepository() }); // prettier-ignore
      const spec = ChatClient.create(model)
        .prompt('Hi.')
        .turnId('t')
        .signal(abort.signal)
        .advisors(inspector, new MessageChatMemoryAdvisor({ chatMemory }))
        .advisors(new DurableAdvisor({ engine: new CancellingEngine() }))
        .advisors((a) => a.param(CONVERSATION_ID, 'c'));

      const { error } = await finish(spec, mode);

      expect(error).to.have.property('code', 'cancelled');
      expect(asked).to.equal(0);
      expect(entriesOf(latestTurn(inspector)).filter((each) => each.startsWith('model'))).to.deep.equal([]); // prettier-ignore
    });

    it('[D109] ends a call again that an operator of RxJS has ended', async () => {
      const play = (engine: DurableEngine) => {
        const limited: Advisor = {
          name: 'limited',
          order: AdvisorOrder.RESILIENCE,
          advise: (request, chain) => chain.next(request).pipe(timeout(20)),
        };
        const durable = new DurableAdvisor({ engine });
        const client = ChatClient.builder(silent()).defaultAdvisors(limited, durable);
        return finish(client.build().prompt('Hi.').turnId('t'), mode);
      };
      const first = new InMemoryDurableEngine();
      await play(first);

      const { error } = await play(new InMemoryDurableEngine(first.entries()));

      expect(error).to.be.an.instanceOf(TimeoutError);
      expect(first.entries()[0]?.[1]).to.include({ abandoned: true });
    });

    it('[D103] summarizes its conversation once, after its answer: a replay does neither wait nor summarize', async () => {
      const repository = new InMemoryChatMemoryRepository();
      const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };
      const summarizer = new ScriptedChatModel(() => ({ text: 'They greeted.', usage }));
      const play = async (engine: DurableEngine) => {
        const chatMemory = new SummarizingChatMemory({
          repository,
          model: summarizer,
          maxMessages: 2,
        });
        const client = ChatClient.builder(new ScriptedChatModel(() => ({ text: 'Hi.', usage })))
          .defaultAdvisors(new MessageChatMemoryAdvisor({ chatMemory }))
          .defaultAdvisors(new DurableAdvisor({ engine }))
          .build();
        const spec = client.prompt('Hello.').turnId(`turn`);
        const finished = await finish(
          spec.advisors((a) => a.param(CONVERSATION_ID, 'c')),
          mode,
        );
        await finished.response?.run?.settled;
        return finished;
      };
      await repository.append('c', [{ role: 'user', content: 'One.' }]);
      await repository.append('c', [{ role: 'user', content: 'Two.' }]);
      const first = new KilledEngine([]);
      const whole = await play(first);
      const { messages } = await repository.read('c');

      const again = await play(new KilledEngine(first.inner.entries()));

      expect(again.error).to.equal(undefined);
      expect(summarizer.prompts).to.have.length(1);
      expect((await repository.read('c')).messages).to.deep.equal(messages);
      const kindsOf = ({ response }: typeof whole): unknown =>
        response?.run?.ledger.map(({ kind, usage: used }) => [kind, used?.totalTokens]);
      const answer = ['chat', 5];
      expect(kindsOf(whole)).to.deep.equal([answer, answer]); // the second one is the summary
      expect(kindsOf(again)).to.deep.equal([answer]);
    });
  });

describe('[D109] a durable turn whose guard has ended a model call', () => {
  it('is refused again when it runs again', async () => {
    const play = (engine: DurableEngine, model: ChatModel) => {
      const client = ChatClient.builder(model)
        .defaultAdvisors(
          new GuardAdvisor({
            output: [{ rules: wordRule({ words: ['secret'] }), action: 'block' }],
          }),
        )
        .defaultAdvisors(new DurableAdvisor({ engine }));
      return finish(client.build().prompt('Hi.').turnId('t'), 'stream');
    };
    const deltas = ['It is ', 'a secret ', 'of the bank ', 'in Rome'];
    const model = new ScriptedChatModel([{ text: deltas.join(''), deltas, delay: 5 }]);
    const first = new InMemoryDurableEngine();
    const whole = await play(first, model);

    const again = await play(new InMemoryDurableEngine(first.entries()), new ScriptedChatModel([]));

    expect(whole.response?.text).to.include('cannot help');
    expect(again.response?.text).to.equal(whole.response?.text);
  });
});
