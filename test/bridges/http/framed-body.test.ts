import { expect } from 'chai';
import { toResponse, type FormatName } from '../../../src/bridges/http/index.js';
import { IterableObservable } from '../../../src/core/client/iterable-observable.js';
import { Observable, type Subscriber } from '../../../src/core/internal/rxjs.js';
import { ChatClient, defineAdvisor, type ChatEvent } from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { deferred, settle, until } from '../../support/promises.js';
import { VirtualTime } from '../../support/virtual-time.js';

type Ready = (() => Promise<void> | undefined) | undefined;

/** A run whose events a test emits. */
class Source {
  subscriber!: Subscriber<ChatEvent>;
  ready: Ready;
  runs = 0;
  isOver = false;
  readonly events = new IterableObservable<ChatEvent>((subscriber, ready) => {
    this.runs++;
    this.subscriber = subscriber;
    this.ready = ready;
    subscriber.add(() => (this.isOver = true));
  });

  emit(...texts: readonly string[]): void {
    for (const text of texts) this.subscriber.next({ type: 'text-delta', text });
  }
}

interface Reading {
  readonly response: Response;
  readonly read: () => Promise<string>;
  readonly reader: ReadableStreamDefaultReader<Uint8Array>;
}

function readingOf(response: Response): Reading {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const read = async (): Promise<string> => {
    const { value } = await reader.read();
    return value ? new TextDecoder().decode(value) : '(end)';
  };
  return { response, reader, read };
}

const formats: readonly FormatName[] = ['text', 'sse', 'ndjson'];

describe('the body of a response', () => {
  for (const format of formats)
    describe(`as ${format}`, () => {
      it('ends the run when the signal of the request aborts, also before the first frame', async () => {
        for (const texts of [[], ['a']]) {
          const source = new Source();
          const leaving = new AbortController();
          const answer = toResponse(source.events, { format, signal: leaving.signal });
          await settle();
          source.emit(...texts);
          if (texts.length > 0) await answer;

          leaving.abort();

          expect(source.isOver).to.equal(true);
          expect((await answer).status).to.equal(texts.length > 0 ? 200 : 499);
        }
      });

      it('starts nothing if the client has left before', async () => {
        for (const keepRunning of [false, true]) {
          const source = new Source();
          const options = { format, keepRunning, signal: AbortSignal.abort() };

          const response = await toResponse(source.events, options);

          expect([response.status, source.runs]).to.deep.equal([499, 0]);
        }
      });

      it('keeps the run if it is asked to, and reads it to its end', async () => {
        const source = new Source();
        const reported: unknown[] = [];
        const options = { format, keepRunning: true, onError: (e: unknown) => reported.push(e) };
        const answer = toResponse(source.events, options);
        await settle();
        source.emit('a');

        await (await answer).body?.cancel();
        for (let count = 0; count < 1_000; count++) source.emit('b');
        await settle();

        expect([source.isOver, source.ready?.()]).to.deep.equal([false, undefined]);
        source.subscriber.error('a failure');
        await settle();
        expect(reported).to.deep.equal(['a failure']);
      });

      it('reads nothing ahead: a slow reader stops the run', async () => {
        const source = new Source();
        const answer = toResponse(source.events, { format });
        await settle();
        for (let count = 0; count < 1_000 && !source.ready?.(); count++) source.emit('x');
        await answer;
        await settle();

        expect(source.ready?.()).to.be.instanceOf(Promise);
        expect(source.isOver).to.equal(false);
      });
    });

  it('is broken, not complete, when a signal ends the run while a reader waits', async () => {
    const source = new Source();
    const limit = new AbortController();
    const answer = toResponse(source.events, { format: 'sse', signal: limit.signal });
    await settle();
    source.emit('a');
    const { read } = readingOf(await answer);
    await read();

    const next = read();
    limit.abort(new DOMException('The time is over.', 'TimeoutError'));

    expect(await next).to.match(
      /^data: \{"type":"error","error":\{"status":504,"code":"cancelled"/,
    );
    expect(await read()).to.equal('(end)');
  });

  it('takes an Observable of another kind, and unsubscribes from it', async () => {
    let isOver = false;
    const events = new Observable<ChatEvent>((subscriber) => {
      subscriber.next({ type: 'text-delta', text: 'a' });
      return () => (isOver = true);
    });
    const { read, reader } = readingOf(await toResponse(events, { format: 'text' }));

    expect(await read()).to.equal('a');
    await reader.cancel();
    expect(isOver).to.equal(true);
  });

  it('leaves an async iterable whose next event never comes', async () => {
    async function* log(): AsyncGenerator<ChatEvent> {
      yield { type: 'text-delta', text: 'a' };
      await new Promise(() => undefined);
    }
    const { read, reader } = readingOf(await toResponse(log(), { format: 'text' }));

    expect(await read()).to.equal('a');
    const last = read();
    await reader.cancel();
    expect(await last).to.equal('(end)');
  });

  it('continues a text like content() when a retry has changed it', async () => {
    const answers = [
      { text: 'It is cold', deltas: ['It is', ' cold'], error: new Error('x') },
      { text: 'It is warm today.', deltas: ['It is', ' warm today.'] },
    ];
    const again = defineAdvisor({
      name: 'again',
      order: 0,
      around: async (request, next) => {
        try {
          return await next(request);
        } catch {
          return next(request);
        }
      },
    });
    const stream = () =>
      ChatClient.create(new ScriptedChatModel(answers)).prompt('Q').advisors(again).stream();
    const texts: string[] = [];
    for await (const text of stream()) texts.push(text);

    const own = await toResponse(stream(), { format: 'text' });
    const ofEvents = await toResponse(stream().events(), { format: 'text' });
    const held = await toResponse(
      ChatClient.create(new ScriptedChatModel(answers))
        .prompt('Q')
        .advisors(again)
        .stream({ onRetract: 'hold' }),
      { format: 'text' },
    );

    expect(await own.text()).to.equal(texts.join(''));
    expect(await ofEvents.text()).to.equal(texts.join(''));
    expect(await held.text()).to.equal('It is warm today.');
  });

  it('survives an encoder that throws, in a frame and in its error frame', async () => {
    const source = new Source();
    const broken = (): never => {
      throw new Error('canary');
    };
    const format = {
      contentType: 'text/x',
      encoder: () => ({ encode: broken, fail: broken, end: broken, heartbeat: '' }),
    };
    const answer = toResponse(source.events, { format });
    await settle();
    source.emit('a');
    const response = await answer;

    expect(response.status).to.equal(500);
    expect(await response.text()).not.to.include('canary');
    expect(source.isOver).to.equal(true);
  });
});

describe('the heartbeat of a response', () => {
  const time = new VirtualTime();
  beforeEach(() => time.start());
  afterEach(() => time.restore());

  async function opened(source: Source, heartbeat?: number): Promise<Reading> {
    const answer = toResponse(source.events, { format: 'sse', heartbeat });
    await settle();
    source.emit('a');
    return readingOf(await answer);
  }

  it('is written after each 15 seconds of silence, and not before', async () => {
    const source = new Source();
    const { read } = await opened(source);
    await read();
    const read1 = read();
    await time.pass(14_000);
    source.emit('b');
    expect(await read1).to.include('"b"');

    const { value, time: waited } = await time.until(read());
    expect(value).to.equal(':\n\n');
    expect(waited).to.be.within(14_900, 15_100);
    expect((await time.until(read())).time).to.be.within(14_900, 15_100);
  });

  it('is not kept for a reader that does not read, and leaves no timer', async () => {
    const source = new Source();
    const { read, reader } = await opened(source, 1_000);
    await read();

    await time.pass(60_000);
    source.emit('b');
    expect(await read()).to.include('"b"');
    await reader.cancel();
    await time.pass(60_000);
  });

  it('sends the headers if the model has not answered by then', async () => {
    for (const format of formats) {
      const source = new Source();
      const shown = format !== 'text' && { customEvents: ['note' as never] };
      const answer = toResponse(source.events, { format, heartbeat: 1_000, ...shown });
      await time.pass(100);
      source.subscriber.next({ type: 'custom', name: 'note', data: 1 } as never);

      const { value, time: waited } = await time.until(answer);

      expect([value.status, waited]).to.deep.equal([200, 900]);
      source.subscriber.error(new Error('x'));
      const body = await value.text().catch(() => 'broken');
      if (format === 'text') expect(body).to.equal('broken');
      else expect(body).to.match(/"note"[^]*"error"/);
    }
  });

  it('is never written with 0', async () => {
    const source = new Source();
    const { read } = await opened(source, 0);
    await read();
    const next = deferred<string>();
    void read().then(next.resolve);
    await time.pass(100_000);
    source.subscriber.complete();

    expect(await next.promise).to.equal('(end)');
  });
});

describe('a response of a client', () => {
  it('ends the model call when its reader leaves', async () => {
    const model = new ScriptedChatModel([{ deltas: ['a', 'b', 'c'], delay: 60_000 }]);
    let signal: AbortSignal | undefined;
    const look = defineAdvisor({
      name: 'look',
      order: 0,
      around: (request, next) => ((signal = request.signal), next(request)),
    });
    const stream = ChatClient.create(model).prompt('Q').advisors(look).stream();
    const leaving = new AbortController();
    const answer = toResponse(stream, { format: 'sse', signal: leaving.signal });
    await until(() => signal !== undefined);

    leaving.abort();

    expect([(await answer).status, signal?.aborted]).to.deep.equal([499, true]);
  });
});
