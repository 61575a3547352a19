import { expect } from 'chai';
import { Observable } from 'rxjs';
import {
  CancelledError,
  ChatClient,
  defineTool,
  type ChatEvent,
  type ChatModel,
  type StreamResult,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { failureOf } from '../../support/modes.js';
import { valuesOf } from '../../support/runs.js';
import { unhandledErrorsOf } from '../../support/unhandled-errors.js';

const now = defineTool({ name: 'now', execute: () => 'noon' });

function streamed(...answers: readonly ScriptedAnswer[]): {
  readonly model: ScriptedChatModel;
  readonly stream: StreamResult;
} {
  const model = new ScriptedChatModel(answers);
  return { model, stream: ChatClient.create(model).prompt('?').tools(now).stream() };
}

async function iterated<T>(source: AsyncIterable<T>): Promise<T[]> {
  const values: T[] = [];
  for await (const value of source) values.push(value);
  return values;
}

const textOfEvents = (events: readonly ChatEvent[]): string =>
  events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');

/** The ways to read the text of a run. */
const READERS: readonly (readonly [string, (stream: StreamResult) => Promise<string>])[] = [
  ['for await', async (stream) => (await iterated(stream)).join('')],
  ['content()', async (stream) => (await valuesOf(stream.content())).join('')],
  ['events()', async (stream) => textOfEvents(await valuesOf(stream.events()))],
  ['an iteration of events()', async (stream) => textOfEvents(await iterated(stream.events()))],
  ['toReadableStream()', async (stream) => (await iterated(stream.toReadableStream())).join('')],
  [
    'a piped web stream',
    (stream) => new Response(stream.toReadableStream().pipeThrough(new TextEncoderStream())).text(),
  ],
];

describe('finalResponse of a stream', () => {
  for (const [reader, read] of READERS)
    for (const delay of [0, 1]) {
      const answer = { text: 'It is noon.', usage: { totalTokens: 7 }, delay } as ScriptedAnswer;
      const what = `${reader}${delay ? ', asynchronous' : ''}`;

      it(`[D6] after ${what}: one model call`, async () => {
        const { model, stream } = streamed(answer);

        const text = await read(stream);
        const response = await stream.finalResponse();

        expect([text, response.text, response.usage?.totalTokens]).to.deep.equal([
          'It is noon.',
          'It is noon.',
          7,
        ]);
        expect(model.prompts).to.have.lengthOf(1);
      });

      it(`[D6] before ${what}: one model call`, async () => {
        const { model, stream } = streamed(answer);

        const pending = stream.finalResponse();
        const text = await read(stream);

        expect([text, (await pending).text]).to.deep.equal(['It is noon.', 'It is noon.']);
        expect(model.prompts).to.have.lengthOf(1);
      });
    }

  it('[D6] during the iteration: one model call', async () => {
    for (const delay of [0, 1]) {
      const { model, stream } = streamed({ text: 'It is noon.', delay });
      const pending: Promise<{ readonly text: string | null }>[] = [];

      for await (const text of stream) if (text) pending.push(stream.finalResponse());

      const texts = (await Promise.all(pending)).map(({ text }) => text);
      expect(texts).to.deep.equal(Array(3).fill('It is noon.'));
      expect(model.prompts).to.have.lengthOf(1);
    }
  });

  it('[D6] asked for in a synchronous subscriber: one model call', async () => {
    const { model, stream } = streamed('It is noon.');
    let pending: Promise<{ readonly text: string | null }> | undefined;

    stream.content().subscribe(() => void (pending ??= stream.finalResponse()));

    expect((await pending)?.text).to.equal('It is noon.');
    expect(model.prompts).to.have.lengthOf(1);
  });

  it('[D6] alone: starts one run, however often it is asked for', async () => {
    const { model, stream } = streamed({ toolCalls: [{ name: 'now' }] }, 'It is noon.');

    const first = await stream.finalResponse();
    const second = await stream.finalResponse();

    expect([first.text, first.steps.length]).to.deep.equal(['It is noon.', 2]);
    expect(second).to.equal(first);
    expect(model.prompts).to.have.lengthOf(2);
  });

  it('[D6] gives the run that it started to the first subscriber, later ones start their own', async () => {
    const { model, stream } = streamed('one', 'two');

    await stream.finalResponse();

    expect(await valuesOf(stream.content())).to.deep.equal(['one']);
    expect(model.prompts).to.have.lengthOf(1);
    expect(await valuesOf(stream.content())).to.deep.equal(['two']);
    expect((await stream.finalResponse()).text).to.equal('two');
  });

  it('[D6] belongs to the run that was started last', async () => {
    const { stream } = streamed('one', 'two');

    await iterated(stream);
    const first = stream.finalResponse();
    await iterated(stream);
    const second = stream.finalResponse();

    expect([(await first).text, (await second).text]).to.deep.equal(['one', 'two']);
  });

  it('[D6] is there when a subscriber leaves after the response', async () => {
    const { model, stream } = streamed('one');

    for await (const event of stream.events()) if (event.type === 'response') break;

    expect((await stream.finalResponse()).text).to.equal('one');
    expect(model.prompts).to.have.lengthOf(1);
  });

  for (const [reader, read] of READERS)
    it(`[D6] of a failed run rejects with the error of ${reader}`, async () => {
      const failure = new Error('down');
      const { stream } = streamed({ deltas: ['Hel', 'lo'], error: failure });

      const before = failureOf(stream.finalResponse());
      const errors = [await failureOf(read(stream)), await before];
      errors.push(await failureOf(stream.finalResponse()));

      expect(errors).to.deep.equal([failure, failure, failure]);
      expect(failure).to.have.nested.property('run.partialText', 'Hello');
    });

  it('[D6] of a run that was left early rejects with a CancelledError', async () => {
    const { model, stream } = streamed({ text: 'a b c', delay: 1 });

    for await (const text of stream) if (text === 'a ') break;

    const error = await failureOf(stream.finalResponse());
    expect(error).to.be.instanceOf(CancelledError).with.nested.property('run.partialText', 'a ');
    expect(model.prompts).to.have.lengthOf(1);
  });

  it('[D6] that waits rejects when the run is left or aborted', async () => {
    const controller = new AbortController();
    const model = new ScriptedChatModel(() => ({ text: 'a b', delay: 1 }));
    const stream = ChatClient.create(model).prompt('?').signal(controller.signal).stream();
    const subscription = stream.content().subscribe();
    const left = failureOf(stream.finalResponse());
    subscription.unsubscribe();
    const errors: unknown[] = [];
    stream.content().subscribe({ error: (error: unknown) => errors.push(error) });
    const aborted = failureOf(stream.finalResponse());

    controller.abort();

    expect(await left).to.be.instanceOf(CancelledError);
    expect([await aborted]).to.deep.equal(errors);
  });

  it('[D6] rejects for an invalid request, with the same error', async () => {
    const stream = ChatClient.create(new ScriptedChatModel([])).prompt().stream();

    const error = await failureOf(iterated(stream));

    expect(error).to.have.property('code', 'invalid_argument');
    expect(await failureOf(stream.finalResponse())).to.equal(error);
  });

  it('[D6] leaves no unhandled rejection when it is not asked for', async () => {
    const rejections: unknown[] = [];
    const record = (reason: unknown): void => void rejections.push(reason);
    process.on('unhandledRejection', record);
    try {
      const reported = await unhandledErrorsOf(async () => {
        const { stream } = streamed(new Error('down'), new Error('down'));
        void stream.finalResponse();
        await failureOf(iterated(stream));
        await failureOf(iterated(stream));
      });

      expect([...reported, ...rejections]).to.deep.equal([]);
    } finally {
      process.off('unhandledRejection', record);
    }
  });
});

describe('Observables of a stream', () => {
  it('[D37] can be iterated, each iteration is a run', async () => {
    const { model, stream } = streamed('a b', 'c', 'd', 'e');

    expect(await iterated(stream.content())).to.deep.equal(['a ', 'b']);
    const types = (await iterated(stream.events())).map(({ type }) => type);
    expect(types).to.deep.equal(['iteration-start', 'text-delta', 'response']);
    expect((await iterated(stream.chatResponse())).map(({ text }) => text)).to.deep.equal(['d']);
    expect((await iterated(stream.chatClientResponse()))[0]?.text).to.equal('e');
    expect(model.prompts).to.have.lengthOf(4);
  });

  it('[D37] are cancelled when the loop is left', async () => {
    const { model, stream } = streamed({ text: 'a b c', delay: 1 });

    for await (const event of stream.events()) if (event.type === 'text-delta') break;

    expect(model.cancelled).to.equal(1);
  });

  it('[D37] ask the source to pause while nothing is read', async () => {
    let ready: (() => Promise<void> | undefined) | undefined;
    const model: ChatModel = {
      defaultOptions: {},
      call: () => Promise.reject(new Error('not called')),
      stream: (_prompt, run) =>
        new Observable<ChatEvent>((subscriber) => {
          ready = run?.ready;
          for (let n = 0; n < 300; n++) subscriber.next({ type: 'text-delta', text: 'x' });
        }),
    };
    const events = ChatClient.create(model).prompt('?').stream().events()[Symbol.asyncIterator]();

    await events.next();

    expect(ready?.()).to.be.instanceOf(Promise);
    await events.return?.();
  });
});
