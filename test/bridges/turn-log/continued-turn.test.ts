import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { encodeEvent } from '../../../src/bridges/turn-log/event-codec.js';
import { InMemoryTurnLog, TurnStreams } from '../../../src/bridges/turn-log/index.js';
import {
  ApprovalAdvisor,
  ChatClient,
  defineAdvisor,
  defineTool,
  DurableAdvisor,
  InMemoryDurableEngine,
  RetryAdvisor,
  TurnLogError,
  type Advisor,
  type ChatEvent,
  type DurableEntries,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { failureOf } from '../../support/modes.js';
import { PushedEvents } from '../../support/pushed-events.js';
import { standing } from '../../support/standing-events.js';

const TIMES = { lease: 1, ttl: 60_000 };

/** Answers of one process by iteration: another process gets other words for a call that is asked again. */
type Scene = (process: number, iteration: number, attempt: number) => ScriptedAnswer;

const words = (process: number): string => (process === 1 ? 'warm and dry' : 'warm, but wet');
const calls = [
  { id: 'a', name: 'find', arguments: '{"city":"Rome"}' },
  { id: 'b', name: 'find', arguments: '{"city":"Oslo"}' },
];
const SCENES: Readonly<Record<string, Scene>> = {
  'two calls, and an answer': (process, iteration) =>
    iteration === 0
      ? { reasoning: 'Look.', text: `Let me look. ${words(process)}`, toolCalls: calls }
      : { text: `It is ${words(process)} there.`, citations: [{ url: 'https://a.example' }] },
  'three iterations': (process, iteration) =>
    iteration < 2
      ? {
          text: `${iteration} ${words(process)}`,
          toolCalls: [{ ...calls[0], id: `c${iteration}` } as never],
        }
      : { text: `It is ${words(process)} there.` },
  'an attempt that fails in the middle': (process, iteration, attempt) =>
    iteration === 1 && attempt === 0
      ? { deltas: ['It is ', 'cold', ' there'], error: new Error('broken') }
      : iteration === 0
        ? { toolCalls: calls }
        : { text: `It is ${words(process)} there.` },
};

const noting: Advisor = defineAdvisor({
  name: 'noting',
  order: 350,
  around: async (request, next, { emit }) => {
    emit({ type: 'custom', name: 'note', data: { begins: true } } as never);
    return next(request);
  },
});

function streamOf(scene: Scene, process: number, engine: InMemoryDurableEngine) {
  const attempts = new Map<number, number>();
  const model = new ScriptedChatModel((prompt) => {
    const iteration = prompt.messages.filter(({ role }) => role === 'assistant').length;
    const attempt = attempts.get(iteration) ?? 0;
    attempts.set(iteration, attempt + 1);
    // the failed attempt is recorded with the first process
    return scene(process, iteration, process === 1 ? attempt : attempt + 1);
  });
  const find = defineTool({
    name: 'find',
    effect: 'read',
    input: { type: 'object', properties: { city: { type: 'string' } } },
    execute: ({ city }, { progress }) => (progress({ city }), `found ${String(city)}`),
  });
  return ChatClient.builder(model)
    .defaultTools(find)
    .defaultAdvisors(
      new DurableAdvisor({ engine }),
      new RetryAdvisor({ when: (error) => error !== undefined, firstDelay: 0 }),
      noting,
    )
    .build()
    .prompt('Q')
    .turnId('turn')
    .stream();
}

interface Moment {
  readonly event: ChatEvent;
  readonly entries: DurableEntries;
}

/** The events of a process, with what its engine has recorded at each. */
function momentsOf(scene: Scene): Promise<readonly Moment[]> {
  const engine = new InMemoryDurableEngine();
  const moments: Moment[] = [];
  return new Promise((resolve, reject) =>
    streamOf(scene, 1, engine)
      .events()
      .subscribe({
        next: (event) => moments.push({ event, entries: engine.entries() }),
        error: reject,
        complete: () => resolve(moments),
      }),
  );
}

/** A log that a process has left. */
async function leftLog(events: readonly ChatEvent[]): Promise<InMemoryTurnLog> {
  const log = new InMemoryTurnLog();
  const run = { writer: 'dead', ...TIMES };
  const { generation } = await log.begin('-:key', { ...run, turnId: 'turn' });
  const entries = events.map((event) => encodeEvent(event, false)).filter((each) => each !== undefined); // prettier-ignore
  await log.append('-:key', { ...run, generation, after: 0, entries });
  await delay(3);
  return log;
}

async function collect(events: AsyncIterable<ChatEvent> | undefined): Promise<ChatEvent[]> {
  const all: ChatEvent[] = [];
  for await (const event of events ?? []) all.push(event);
  return all;
}

describe('a durable turn that continues the log of a dead process', () => {
  afterEach(() => PushedEvents.endAll());

  for (const [name, scene] of Object.entries(SCENES))
    it(`shows each event once, and the text of the response, wherever it died: ${name}`, async function () {
      this.timeout(60_000);
      const moments = await momentsOf(scene);
      for (let died = 0; died <= moments.length; died++)
        for (const missing of [0, 1, 2, 5, died]) {
          if (missing > died) continue;
          const before = moments.slice(0, died - missing).map(({ event }) => event);
          const engine = new InMemoryDurableEngine(moments[died - 1]?.entries ?? []);
          const log = await leftLog(before);
          const streams = new TurnStreams({ log, lease: 100, writeInterval: 0 });
          const started = await streams.start('key', streamOf(scene, 2, engine), {
            turnId: 'turn',
          });
          await started.ended;
          const events = await collect(await streams.resume('key'));
          const where = `died after event ${died} of ${moments.length}, logged ${died - missing}`;

          const logged = before.filter(({ type }) => type !== 'step').length;
          expect(
            events.some((each) => 'isReplayed' in each),
            where,
          ).to.equal(false);
          expect(events.slice(0, logged), where).to.have.length(logged);
          const left = standing(events);
          const response = events.at(-1);
          expect(response?.type, where).to.equal('response');
          const { text } = (response as Extract<ChatEvent, { type: 'response' }>).response;
          expect(left.texts.at(-1), where).to.equal(text);
          const once = left.keys.filter((key) => !key.startsWith('tool-progress'));
          expect(once, where).to.deep.equal([...new Set(once)]);
          const wanted = standing(await collect(streamOf(scene, 2, engine2(engine)).events()));
          expect(left.texts, where).to.deep.equal(wanted.texts);
          expect(left.reasonings, where).to.deep.equal(wanted.reasonings);
          expect(once.toSorted(), where).to.deep.equal(
            wanted.keys.filter((key) => !key.startsWith('tool-progress')).concat(startsOf(once)).toSorted(), // prettier-ignore
          );
        }
    });

  it('logs nothing again when its log is complete, and runs the turn to its end', async () => {
    const [scene] = Object.values(SCENES) as [Scene];
    const engine = new InMemoryDurableEngine();
    const log = new InMemoryTurnLog();
    const streams = new TurnStreams({ log });
    await (
      await streams.start('key', streamOf(scene, 1, engine), { turnId: 'turn' })
    ).ended;
    const events = await collect(await streams.resume('key'));
    const again = new InMemoryDurableEngine(engine.entries());
    const started = await streams.start('key', streamOf(scene, 2, again), { turnId: 'turn' });
    await started.ended;

    expect(JSON.stringify(await collect(started))).to.equal(JSON.stringify(events));
    expect(again.isReplaying).to.equal(false);
  });

  it('waits for the lease of the dead process, and refuses while that lives', async () => {
    const log = new InMemoryTurnLog();
    const first = new TurnStreams({ log, lease: 200 });
    const living = new PushedEvents();
    const started = await first.start('key', living, { turnId: 'turn' });
    const second = new TurnStreams({ log, lease: 200 });
    const error = await failureOf(second.start('key', new PushedEvents(), { turnId: 'turn' }));

    expect(error).to.be.instanceOf(TurnLogError).and.to.have.property('reason', 'running');
    living.end();
    await started.ended;
  });

  it('keeps readers waiting until another process continues', async () => {
    const log = await leftLog([{ type: 'iteration-start', index: 0 }, { type: 'text-delta', text: 'It ' }]); // prettier-ignore
    const streams = new TurnStreams({ log, lease: 100, recovery: 20_000 });
    const reading = collect(await streams.resume('key'));
    await delay(50);
    const run = new PushedEvents();
    run.push({ type: 'iteration-start', index: 0 });
    run.texts('Is it?');
    run.end();
    await streams.start('key', run, { turnId: 'turn' });

    expect(standing(await reading).texts).to.deep.equal(['Is it?']);
  });

  it('ends readers when none continues it in time', async () => {
    const log = await leftLog([]);
    const streams = new TurnStreams({ log, lease: 100, recovery: 100 });
    const error = await failureOf(collect(await streams.resume('key')));

    expect(error).to.have.property('reason', 'abandoned');
  });

  it('is stopped if that was asked while no process ran it', async () => {
    const log = await leftLog([]);
    const streams = new TurnStreams({ log, lease: 100 });
    expect(await streams.stop('key')).to.equal(true);
    const run = new PushedEvents();
    await (
      await streams.start('key', run, { turnId: 'turn' })
    ).ended;

    expect(run.isCancelled).to.equal(true);
  });

  it('shows what the log lacks while the turn waits for a person', async () => {
    const engine = new InMemoryDurableEngine();
    const stream = (entries: InMemoryDurableEngine) =>
      ChatClient.builder(
        new ScriptedChatModel(({ messages }) =>
          messages.length > 1 ? 'Paid.' : { toolCalls: [{ id: 'a', name: 'pay' }] },
        ),
      )
        .defaultTools(defineTool({ name: 'pay', effect: 'write', execute: () => 'ok' }))
        .defaultAdvisors(
          new DurableAdvisor({ engine: entries }),
          new ApprovalAdvisor({ decide: 'elsewhere' }),
        )
        .build()
        .prompt('Q')
        .turnId('turn')
        .stream();
    const shown: ChatEvent[] = [];
    const subscription = stream(engine)
      .events()
      .subscribe((event) => shown.push(event));
    while (!shown.some(({ type }) => (type as string) === 'custom')) await delay(1);
    subscription.unsubscribe();
    const log = await leftLog(shown.slice(0, 1));
    const streams = new TurnStreams({ log, lease: 100 });
    const again = new InMemoryDurableEngine(engine.entries().filter(([name]) => !name.startsWith('wait '))); // prettier-ignore
    const started = await streams.start('key', stream(again), { turnId: 'turn' });
    let asked: string | undefined;
    const types: string[] = [];
    for await (const event of started) {
      types.push(event.type);
      if ((event.type as string) !== 'custom') continue;
      const { data } = event as unknown as { data: { state: string; request: { id: string } } };
      if (data.state === 'asked') again.send((asked = data.request.id), { type: 'allow' });
    }

    expect(asked).to.be.a('string');
    expect(types.filter((type) => type === 'tool-result')).to.have.length(1);
  });
});

/** An engine with all that another has recorded. */
function engine2(engine: InMemoryDurableEngine): InMemoryDurableEngine {
  return new InMemoryDurableEngine(engine.entries());
}

/** A replay does not start recorded calls. */
function startsOf(keys: readonly string[]): readonly string[] {
  return keys.filter((key) => key.startsWith('tool-start'));
}
