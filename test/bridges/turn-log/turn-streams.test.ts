import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { toHttpError, toResponse } from '../../../src/bridges/http/index.js';
import { InMemoryTurnLog, TurnStreams, type TurnLog } from '../../../src/bridges/turn-log/index.js';
import {
  ChatClient,
  InvalidArgumentError,
  ModelCallError,
  TurnLogError,
  type ChatEvent,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { failureOf } from '../../support/modes.js';
import { PushedEvents } from '../../support/pushed-events.js';
import { until } from '../../support/promises.js';
import { FORMATS, framesOf, turnEvents } from '../../support/turn-events.js';

/** Two instances with one log are like two processes. */
function twoProcesses(options: Partial<ConstructorParameters<typeof TurnStreams>[0]> = {}) {
  const log = new InMemoryTurnLog();
  const all = { log, writeInterval: 0, ...options };
  return { log, here: new TurnStreams(all), there: new TurnStreams(all) };
}

async function textsOf(events: AsyncIterable<ChatEvent> | undefined): Promise<string> {
  let text = '';
  for await (const event of events ?? []) if (event.type === 'text-delta') text += event.text;
  return text;
}

async function bodyOf(
  events: AsyncIterable<ChatEvent> | undefined,
  format = 'sse',
): Promise<string> {
  expect(events).not.to.equal(undefined);
  const response = await toResponse(events as AsyncIterable<ChatEvent>, {
    format: format as 'sse',
  });
  return response.text();
}

describe('a logged run', () => {
  afterEach(() => PushedEvents.endAll());

  it('goes to its end without a reader, and is read by every process', async () => {
    const { here, there } = twoProcesses();
    const client = ChatClient.create(new ScriptedChatModel([{ deltas: ['It ', 'is ', 'warm.'] }]));

    const started = await here.start('key', client.prompt('Q').stream());
    await started.ended;

    expect(await textsOf(started)).to.equal('It is warm.');
    expect(await textsOf(await there.resume('key'))).to.equal('It is warm.');
    expect(await bodyOf(started)).to.equal(await bodyOf(await there.resume('key')));
  });

  it('is read while it is under way, by several readers, each at its own speed', async () => {
    const { here, there } = twoProcesses();
    const run = new PushedEvents();
    const started = await here.start('key', run);
    const slow = started[Symbol.asyncIterator]();
    const readers = [started, await here.resume('key'), await there.resume('key')].map(textsOf);
    run.texts('a', 'b');
    expect(await slow.next()).to.deep.equal({ value: { type: 'text-delta', text: 'a' } });
    run.texts('c');
    run.end();
    await started.ended;

    expect(await Promise.all(readers)).to.deep.equal(['abc', 'abc', 'abc']);
    expect(await slow.next()).to.deep.equal({ value: { type: 'text-delta', text: 'b' } });
    expect(await slow.next()).to.deep.equal({ value: { type: 'text-delta', text: 'c' } });
    expect((await slow.next()).done).to.equal(true);
  });

  it('is not cancelled by readers that leave', async () => {
    const { here, there } = twoProcesses();
    const run = new PushedEvents();
    const started = await here.start('key', run);
    const readers = [started, await there.resume('key')].map((each) =>
      (each as AsyncIterable<ChatEvent>)[Symbol.asyncIterator](),
    );
    const waiting = readers.map((reader) => reader.next());
    for (const reader of readers) await reader.return?.();

    for (const next of await Promise.all(waiting)) expect(next.done).to.equal(true);
    expect(run.isCancelled).to.equal(false);
    run.texts('a');
    run.end();
    await started.ended;
    expect(await textsOf(started)).to.equal('a');
  });

  it('has no timer left of 500 readers that have left, nor of a run that has ended', async () => {
    const { here, there } = twoProcesses();
    const timers = (): number =>
      process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length;
    await delay(1); // the timer of the test runner has begun then
    const before = timers();
    const run = new PushedEvents();
    const started = await here.start('key', run);
    const readers = await Promise.all(
      Array.from({ length: 500 }, async (_, at) =>
        ((await (at % 2 ? here : there).resume('key')) as AsyncIterable<ChatEvent>)[
          Symbol.asyncIterator
        ](),
      ),
    );
    const waiting = readers.map((reader) => reader.next());
    await delay(30);
    const during = timers();
    for (const reader of readers) await reader.return?.();
    await Promise.all(waiting);
    run.end();
    await started.ended;

    expect(during - before).to.be.at.least(500);
    expect(timers()).to.equal(before);
  });

  it('is refused under the key of one that is under way', async () => {
    const { here, there } = twoProcesses();
    const run = new PushedEvents();
    await here.start('key', run);
    const other = new PushedEvents();
    const error = await failureOf(there.start('key', other));

    expect(error).to.be.instanceOf(TurnLogError).and.to.deep.include({ reason: 'running', key: 'key' }); // prettier-ignore
    expect(toHttpError(error)).to.deep.include({ status: 409, code: 'turn_log' });
    run.end();
    await here.start('other', other);
  });

  it('begins a new run under the key of one that has ended', async () => {
    const { here, there } = twoProcesses();
    for (const text of ['first', 'second']) {
      const run = new PushedEvents();
      run.texts(text);
      run.end();
      await (
        await here.start('key', run)
      ).ended;
    }

    expect(await textsOf(await there.resume('key'))).to.equal('second');
  });

  it('lets a slow reader read its run although the next one has begun', async () => {
    const { here, there } = twoProcesses();
    const run = new PushedEvents();
    const started = await here.start('key', run);
    const reader = ((await there.resume('key')) as AsyncIterable<ChatEvent>)[
      Symbol.asyncIterator
    ]();
    run.texts('a');
    expect((await reader.next()).value).to.deep.equal({ type: 'text-delta', text: 'a' });
    run.texts('b');
    run.end();
    await started.ended;
    await here.start('key', new PushedEvents());

    expect((await reader.next()).value).to.deep.equal({ type: 'text-delta', text: 'b' });
    expect((await reader.next()).done).to.equal(true);
  });

  it('looks like no run to another owner', async () => {
    const { here, there } = twoProcesses({ lease: 100 });
    const run = new PushedEvents();
    await here.start('key', run, { owner: 'anna' });

    for (const owner of ['bob', 'ann', undefined]) {
      expect(await there.resume('key', { owner })).to.equal(undefined);
      expect(await there.stop('key', { owner })).to.equal(false);
    }
    // a key of another owner is another key, whatever the texts
    expect(await there.resume('nakey', { owner: 'an' })).to.equal(undefined);
    const bobs = new PushedEvents();
    bobs.texts('b');
    bobs.end();
    expect(await textsOf(await there.start('key', bobs, { owner: 'bob' }))).to.equal('b');
    expect(run.isCancelled).to.equal(false);
    expect(await there.stop('key', { owner: 'anna' })).to.equal(true);
    await until(() => run.isCancelled);
  });

  it('takes the next run when the log has none', async () => {
    const { here } = twoProcesses();

    expect(await here.resume('key')).to.equal(undefined);
    expect(await here.stop('key')).to.equal(false);
  });

  it('stops at once in its own process, and ends as cancelled for every reader', async () => {
    const errors: unknown[] = [];
    const { here, there } = twoProcesses({ onError: (error) => errors.push(error) });
    const run = new PushedEvents();
    const started = await here.start('key', run);
    const reading = Promise.all([bodyOf(started), bodyOf(await there.resume('key'))]);
    run.texts('a');
    expect(await here.stop('key')).to.equal(true);
    expect(run.isCancelled).to.equal(true);
    await started.ended;
    const [first, second] = await reading;

    expect(first).to.equal(second);
    expect(first).to.match(/"code":"cancelled"/);
    expect(await here.stop('key')).to.equal(false);
    expect(errors).to.deep.equal([]);
  });

  it('stops within a bounded number of events when another process asks for it', async () => {
    const { here, there } = twoProcesses({ writeInterval: 5 });
    let count = 0;
    let isCancelled = false;
    async function* endless(): AsyncGenerator<ChatEvent> {
      try {
        for (;;) {
          yield { type: 'text-delta', text: `${count++} ` };
          await delay(1);
        }
      } finally {
        isCancelled = true;
      }
    }
    const started = await here.start('key', endless());
    await until(() => count > 20);
    expect(await there.stop('key')).to.equal(true);
    const atStop = count;
    await started.ended;
    await until(() => isCancelled);

    expect(count - atStop).to.be.below(200);
    expect(await bodyOf(await there.resume('key'))).to.match(/"code":"cancelled"/);
  });

  it('stops in another process also while it is silent', async () => {
    const { here, there } = twoProcesses({ lease: 100 });
    const run = new PushedEvents();
    const started = await here.start('key', run);
    await there.stop('key');
    await started.ended;

    expect(run.isCancelled).to.equal(true);
  });

  it('ends with the same error for every reader, which is reported once', async () => {
    const reports: unknown[] = [];
    const { here, there } = twoProcesses({
      onError: (error, shown) => reports.push([error, shown]),
    });
    const run = new PushedEvents();
    const failure = new ModelCallError('canary', { status: 500 });
    const started = await here.start('key', run);
    run.texts('a');
    run.fail(failure);
    await started.ended;
    const errors = [];
    for (const events of [started, await there.resume('key')])
      errors.push(toHttpError(await failureOf(textsOf(events))));
    const bodies = [await bodyOf(started), await bodyOf(await there.resume('key'))];

    expect(errors[0]).to.deep.equal(errors[1]);
    expect(errors[0])
      .to.deep.include({ status: 502, code: 'model_call' })
      .and.to.have.property('id');
    expect(reports).to.deep.equal([[failure, errors[0]]]);
    expect(bodies[0]).to.equal(bodies[1]).and.not.to.include('canary');
    expect(bodies[0]).to.include(JSON.stringify({ type: 'error', error: errors[0] }));
  });

  it('has the status of a failure before the model has answered', async () => {
    const { here } = twoProcesses();
    const run = new PushedEvents();
    run.fail(new ModelCallError('x', { status: 429, retryAfter: 2_000 }));
    const response = await toResponse(await here.start('key', run), { format: 'sse' });

    expect(response.status).to.equal(429);
    expect(response.headers.get('retry-after')).to.equal('2');
  });

  it('ends with status 503 and the same id for every reader when its process has died', async () => {
    const { log, here, there } = twoProcesses({ lease: 100 });
    const { generation } = await log.begin('-:key', { writer: 'dead', lease: 1, ttl: 60_000 });
    const entries = ['{"type":"text-delta","text":"a"}'];
    await log.append('-:key', {
      generation,
      writer: 'dead',
      after: 0,
      entries,
      lease: 100,
      ttl: 60_000,
    });
    const errors = [];
    for (const events of [await here.resume('key'), await there.resume('key')])
      errors.push(await failureOf(textsOf(events)));

    expect(errors[0]).to.be.instanceOf(TurnLogError).and.to.have.property('reason', 'abandoned');
    expect(toHttpError(errors[0])).to.deep.equal(toHttpError(errors[1]));
    expect(toHttpError(errors[0])).to.deep.include({ status: 503, code: 'turn_log' });
    // it is not a part of the log, and a client keeps the id of the last event
    expect((await bodyOf(await here.resume('key'))).match(/^id: .*$/gm)).to.deep.equal([`id: ${generation}-1`]); // prettier-ignore
    const run = new PushedEvents();
    run.end();
    await (
      await here.start('key', run)
    ).ended;
  });

  it('is forgotten after its time', async () => {
    const { here } = twoProcesses({ ttl: 100 });
    const run = new PushedEvents();
    run.texts('a');
    run.end();
    await (
      await here.start('key', run)
    ).ended;
    expect(await textsOf(await here.resume('key'))).to.equal('a');

    while (await here.resume('key')) await delay(10);
  });

  it('writes many small events together', async () => {
    const log = new InMemoryTurnLog();
    let writes = 0;
    const counted: TurnLog = {
      begin: (...args) => log.begin(...args),
      append: (...args) => (writes++, log.append(...args)),
      read: (...args) => log.read(...args),
      stop: (...args) => log.stop(...args),
    };
    const streams = new TurnStreams({ log: counted, writeInterval: 50 });
    const run = new PushedEvents();
    const started = await streams.start('key', run);
    for (let round = 0; round < 300; round++) {
      run.texts(`${round} `);
      if (round % 10 === 0) await delay(1);
    }
    run.end();
    await started.ended;

    expect(writes).to.be.below(40);
    expect((await textsOf(started)).split(' ')).to.have.length(301);
  });

  it('pauses its run while the store is away, and writes each event once', async () => {
    const log = new InMemoryTurnLog();
    let isAway = false;
    let failures = 0;
    const away = async <T>(work: () => Promise<T>, isAfter = false): Promise<T> => {
      if (!isAway) return work();
      failures++;
      if (isAfter) await work(); // the answer is lost
      throw new TurnLogError({ reason: 'store', key: 'key', cause: new Error('away') });
    };
    const flaky: TurnLog = {
      begin: (...args) => log.begin(...args),
      append: (...args) => away(() => log.append(...args), failures % 2 === 0),
      read: (...args) => away(() => log.read(...args)),
      stop: (...args) => log.stop(...args),
    };
    let read = 0;
    async function* many(): AsyncGenerator<ChatEvent> {
      for (; read < 5_000; read++) yield { type: 'text-delta', text: `${read} ` };
    }
    const streams = new TurnStreams({ log: flaky, writeInterval: 0 });
    isAway = true;
    const started = await streams.start('key', many());
    const reading = textsOf(started);
    await until(() => failures > 3);
    const whileAway = read;
    isAway = false;
    await started.ended;

    expect(whileAway).to.be.below(1_000);
    expect(await reading).to.equal(Array.from({ length: 5_000 }, (_, at) => `${at} `).join(''));
  });

  it('is cancelled, and reported, when the store is away for too long', async () => {
    const log = new InMemoryTurnLog();
    const errors: unknown[] = [];
    const broken: TurnLog = {
      begin: (...args) => log.begin(...args),
      append: () => Promise.reject(new TurnLogError({ reason: 'store', key: 'key', cause: new Error('away') })), // prettier-ignore
      read: (...args) => log.read(...args),
      stop: (...args) => log.stop(...args),
    };
    const onError = (error: unknown): unknown => errors.push(error);
    const streams = new TurnStreams({ log: broken, recovery: 100, onError });
    const run = new PushedEvents();
    await (
      await streams.start('key', run)
    ).ended;

    expect(run.isCancelled).to.equal(true);
    expect(errors).to.have.length(1);
    expect(errors[0]).to.have.property('reason', 'store');
  });

  it('is cancelled when another writer has its log', async () => {
    const { log, here } = twoProcesses({ lease: 100 });
    const run = new PushedEvents();
    const started = await here.start('key', run, { turnId: 'turn' });
    const lost = log.append.bind(log);
    log.append = () => Promise.resolve(undefined);
    await started.ended;
    log.append = lost;

    expect(run.isCancelled).to.equal(true);
  });

  it('refuses ids of events that cannot be, as invalid input', async () => {
    const { here } = twoProcesses();
    for (const lastEventId of [
      'x',
      '1',
      '1-',
      '-1',
      '1-2-3-4',
      '1-1\n',
      '01-1',
      '1-1e3',
      `${'9'.repeat(17)}-1`,
    ]) {
      const error = await failureOf(here.resume('key', { lastEventId }));

      expect(error).to.be.instanceOf(InvalidArgumentError);
      expect(toHttpError(error).status).to.equal(400);
    }
    for (const lastEventId of [null, undefined, '', '1-1'])
      expect(await here.resume('key', { lastEventId })).to.equal(undefined);
  });

  it('refuses wrong options, keys and owners', async () => {
    expect(() => new TurnStreams({} as never)).to.throw(InvalidArgumentError, 'log must be');
    const { here } = twoProcesses();
    for (const key of ['', ' ', 'a\0', 'x'.repeat(513), 7] as never[]) {
      expect(await failureOf(here.start(key, new PushedEvents()))).to.be.instanceOf(InvalidArgumentError); // prettier-ignore
      expect(await failureOf(here.resume(key))).to.be.instanceOf(InvalidArgumentError);
      expect(await failureOf(here.stop(key))).to.be.instanceOf(InvalidArgumentError);
      expect(toHttpError(await failureOf(here.resume(key))).status).to.equal(400); // of a request
    }
    for (const owner of ['', 'x'.repeat(251), 7] as never[])
      expect(await failureOf(here.stop('key', { owner }))).to.be.instanceOf(InvalidArgumentError);
    await (await here.start('日'.repeat(512), new PushedEvents(), { owner: '日'.repeat(250) })).reader().return(); // prettier-ignore
  });
});

describe('a resumed reader', () => {
  afterEach(() => PushedEvents.endAll());

  it('gets the frames after the last one it has, in every format, wherever it was cut', async function () {
    this.timeout(60_000);
    await fc.assert(
      fc.asyncProperty(
        turnEvents,
        fc.constantFrom(...Object.keys(FORMATS)),
        fc.nat(),
        async (events, name, seed) => {
          const format = FORMATS[name] as (typeof FORMATS)[string];
          const { here, there } = twoProcesses();
          async function* run(): AsyncGenerator<ChatEvent> {
            yield* events;
          }
          await (
            await here.start('key', run())
          ).ended;
          const response = await toResponse((await here.resume('key')) as never, { format });
          const body = response.ok ? await response.text().catch(() => undefined) : undefined;
          const isSse = format.contentType.startsWith('text/event-stream');
          const whole = framesOf(format, events).join('');

          // a text breaks off where the turn waits for people
          if (body === undefined) return void expect(name).to.equal('text');
          expect(body.replaceAll(/^id: .*\n/gm, '')).to.equal(whole);
          if (!isSse || body === '') return;
          const frames = body.split(/(?<=\n\n)/);
          const cut = seed % (frames.length + 1);
          const lastEventId = /^id: (.*)$/m.exec(frames[cut - 1] ?? '')?.[1];
          const rest = await there.resume('key', { lastEventId });
          const resumed = rest && (await toResponse(rest, { format }));

          expect((await resumed?.text()) ?? '').to.equal(frames.slice(cut).join(''));
          // an EventSource that has all of it does not connect again
          if (cut === frames.length) expect(resumed?.status ?? 204).to.equal(204);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('gets a failure as a frame, since it has the answer in part', async () => {
    const { here } = twoProcesses();
    const run = new PushedEvents();
    const started = await here.start('key', run);
    run.texts('a');
    run.fail(new Error('x'));
    await started.ended;
    const [, lastEventId] = /^id: (.*)$/m.exec(await bodyOf(started)) ?? [];
    const response = await toResponse((await here.resume('key', { lastEventId })) as never, { format: 'sse' }); // prettier-ignore

    expect(response.status).to.equal(200);
    expect(await response.text()).to.match(/^id: .*\ndata: \{"type":"error"/);
  });

  it('has no run when a later one has followed but one', async () => {
    const { here } = twoProcesses();
    const ids: (string | undefined)[] = [];
    for (const text of ['a', 'b', 'c']) {
      const run = new PushedEvents();
      run.texts(text, 'end');
      run.end();
      const started = await here.start('key', run);
      ids.push(/^id: (.*)$/m.exec(await bodyOf(started))?.[1]);
    }

    expect(await here.resume('key', { lastEventId: ids[0] })).to.equal(undefined);
    expect(await textsOf(await here.resume('key', { lastEventId: ids[1] }))).to.equal('end');
    expect(await textsOf(await here.resume('key', { lastEventId: ids[2] }))).to.equal('end');
  });
});
