import { expect } from 'chai';
import { lastValueFrom, toArray } from 'rxjs';
import {
  ApprovalAdvisor,
  ChatClient,
  defineTool,
  InMemoryDurableEngine,
  LoggerAdvisor,
  ModelCallError,
  ObservabilityAdvisor,
  RetryAdvisor,
  type Advisor,
  type ChatEvent,
  type LogEntry,
  type PausedTurn,
  type PromptSpec,
} from '../../../src/index.js';
import { RecordingTracer, ScriptedChatModel } from '../../../src/testing/index.js';
import { durableSpec, finish } from '../../support/durable.js';
import { MODES, runSpec } from '../../support/modes.js';
import { decideAll, pauseOptions } from '../../support/paused-turns.js';

const usage = { inputTokens: 90, outputTokens: 10, totalTokens: 100 };
const pay = defineTool({ name: 'pay', effect: 'write', execute: () => 'paid' });
const ANSWERS = [
  { error: new ModelCallError('busy', { retryable: true, status: 503 }) },
  { toolCalls: [{ id: 'c1', name: 'pay' }], usage },
  { text: 'Done.', usage },
];

/** An advisor that observes turns, with the model calls and tokens that it has reported. */
function observed() {
  const tracer = new RecordingTracer();
  let tokens = 0;
  const createHistogram = (name: string) => ({
    record: (value: number) => void (tokens += name.endsWith('token.usage') ? value : 0),
  });
  const meter = { createHistogram, createCounter: () => ({ add: () => undefined }) };
  const advisor = new ObservabilityAdvisor({ tracer, meter: meter as never });
  const chats = (): readonly string[] =>
    tracer.spans.filter(({ name }) => name.startsWith('chat')).map(({ name }) => name);
  return { advisor, chats, tokens: () => tokens };
}

const retry = new RetryAdvisor({ firstDelay: 0 });

for (const mode of MODES)
  describe(`spans and metrics of replayed model calls (${mode})`, () => {
    it('[D84] are not made when a paused turn is resumed', async () => {
      const { advisor, chats, tokens } = observed();
      const model = new ScriptedChatModel(ANSWERS);
      const approval = new ApprovalAdvisor({ pause: pauseOptions() });
      const client = ChatClient.builder(model)
        .defaultTools(pay)
        .defaultAdvisors(approval, advisor, retry)
        .build();
      const first = await runSpec(mode, client.prompt('Pay.'));
      const { state } = first.paused as PausedTurn;

      const { text } = await runSpec(mode, client.resume(state, decideAll(first)));

      expect(text).to.equal('Done.');
      expect(model.prompts).to.have.length(3);
      expect(chats()).to.have.length(3);
      expect(tokens()).to.equal(200);
    });

    it('[D84] are not made when a durable turn runs again', async () => {
      const turnOf = (advisors: readonly Advisor[]) => ({
        model: new ScriptedChatModel(ANSWERS),
        tools: [pay],
        advisors: [...advisors, retry],
      });
      const [before, after] = [observed(), observed()];
      const engine = new InMemoryDurableEngine();
      await finish(durableSpec(turnOf([before.advisor]), engine), mode);

      const again = new InMemoryDurableEngine(engine.entries());
      const { response } = await finish(durableSpec(turnOf([after.advisor]), again), mode);

      expect(response?.text).to.equal('Done.');
      expect([before.chats().length, before.tokens()]).to.deep.equal([3, 200]);
      expect([after.chats().length, after.tokens()]).to.deep.equal([0, 0]);
    });
  });

/** The events of a turn: type, and if it is marked as replayed. */
const marksOf = (events: readonly ChatEvent[]): readonly string[] =>
  events
    .filter(({ type }) => ['iteration-start', 'tool-call', 'tool-result'].includes(type))
    .map((event) => event.type + ('isReplayed' in event && event.isReplayed ? ' again' : ''));

const eventsOf = (spec: PromptSpec): Promise<readonly ChatEvent[]> =>
  lastValueFrom(spec.stream().events().pipe(toArray())) as Promise<readonly ChatEvent[]>;

describe('events of a replayed turn', () => {
  it('[D84] are marked when a paused turn is resumed: the call was shown, its result is new', async () => {
    const approval = new ApprovalAdvisor({ pause: pauseOptions() });
    const client = ChatClient.builder(new ScriptedChatModel(ANSWERS.slice(1)))
      .defaultTools(pay)
      .defaultAdvisors(approval)
      .build();
    const first = await eventsOf(client.prompt('Pay.'));
    const { response } = first.at(-1) as Extract<ChatEvent, { readonly type: 'response' }>;
    const { state = '' } = response.paused ?? {};

    const resumed = await eventsOf(client.resume(state, decideAll(response)));

    expect(marksOf(first)).to.deep.equal(['iteration-start', 'tool-call']);
    expect(marksOf(resumed)).to.deep.equal([
      'iteration-start again',
      'tool-call again',
      'tool-result',
      'iteration-start',
    ]);
  });

  it('[D84] are marked in a durable turn up to where it was', async () => {
    const turn = () => ({
      model: new ScriptedChatModel(ANSWERS.slice(2)),
      tools: [pay],
      advisors: [],
    });
    const engine = new InMemoryDurableEngine();
    const whole = { ...turn(), model: new ScriptedChatModel(ANSWERS.slice(1)) };
    const first = await finish(durableSpec(whole, engine), 'stream');
    const entries = engine.entries().filter(([name]) => name !== 'model 1');

    const killed = await finish(durableSpec(turn(), new InMemoryDurableEngine(entries)), 'stream');
    const again = new InMemoryDurableEngine(engine.entries());
    const ended = await finish(durableSpec(turn(), again), 'stream');

    const events = ['iteration-start', 'tool-call', 'tool-result', 'iteration-start'];
    expect(marksOf(first.events)).to.deep.equal(events);
    expect(marksOf(killed.events)).to.deep.equal(
      events.map((type, at) => (at < 3 ? `${type} again` : type)),
    );
    expect(marksOf(ended.events)).to.deep.equal(events.map((type) => `${type} again`));
  });
});

for (const mode of MODES)
  describe(`logs and tool spans of a replayed turn (${mode})`, () => {
    it('[D84] are marked, without tokens', async () => {
      const entries: LogEntry[] = [];
      const logger = {
        debug: (entry: LogEntry) => void entries.push(entry),
        error: () => undefined,
      };
      const tracer = new RecordingTracer();
      const client = ChatClient.builder(new ScriptedChatModel(ANSWERS.slice(1)))
        .defaultTools(pay)
        .defaultAdvisors(new ApprovalAdvisor({ pause: pauseOptions() }))
        .defaultAdvisors(
          new LoggerAdvisor({ logger, level: 'debug' }),
          new ObservabilityAdvisor({ tracer }),
        )
        .build();
      const first = await runSpec(mode, client.prompt('Pay.'));
      const { state = '' } = first.paused ?? {};

      await runSpec(mode, client.resume(state, decideAll(first)));

      const lines = entries.map(
        ({ message, iteration, isReplayed, inputTokens }) =>
          `${message} ${iteration}: ${inputTokens}${isReplayed ? ' again' : ''}`,
      );
      expect(lines).to.deep.equal([
        'chat request 0: undefined',
        'chat response 0: 90',
        'chat request 0: undefined again',
        'chat response 0: undefined again',
        'chat request 1: undefined',
        'chat response 1: 90',
      ]);
    });

    it('[D84] show a recorded result of a tool as such', async () => {
      const engine = new InMemoryDurableEngine();
      const turn = (advisors: readonly Advisor[]) => ({
        model: new ScriptedChatModel(ANSWERS.slice(1)),
        tools: [pay],
        advisors,
      });
      await finish(durableSpec(turn([]), engine), mode);
      const tracer = new RecordingTracer();
      const advisor = new ObservabilityAdvisor({ tracer });

      const again = new InMemoryDurableEngine(engine.entries());
      await finish(durableSpec(turn([advisor]), again), mode);

      const span = tracer.spans.find(({ name }) => name === 'execute_tool pay');
      expect(span?.attributes).to.include({ 'advisor_chain.replayed': true });
    });
  });
