import { expect } from 'chai';
import { Observable, take } from 'rxjs';
import {
  ChatClient,
  ChatResponse,
  ContextKey,
  defineAdvisor,
  defineTool,
  type ChatEvent,
  type ChatModel,
  type StreamResult,
} from '../../../src/index.js';
import {
  ScriptedChatModel,
  type ScriptedAnswer,
  type ScriptedParts,
} from '../../../src/testing/index.js';
import { valuesOf } from '../../support/runs.js';

const NOTE = new ContextKey<string>('test.note', '');
const HELLO: ScriptedParts = { deltas: ['Hel', '', 'lo ', ' ', 'you'] };

const streamed = (
  ...answers: readonly ScriptedAnswer[]
): { readonly model: ScriptedChatModel; readonly stream: StreamResult } => {
  const model = new ScriptedChatModel(answers);
  return { model, stream: ChatClient.create(model).prompt('?').stream() };
};

/** A model that streams until it is cancelled, and reports the cancellation. */
function endless(): {
  readonly model: ChatModel;
  readonly state: { asked: number; cancelled: number };
} {
  const state = { asked: 0, cancelled: 0 };
  const stream = () =>
    new Observable<ChatEvent>((subscriber) => {
      state.asked++;
      const timer = setInterval(() => subscriber.next({ type: 'text-delta', text: 'x' }), 0);
      return () => {
        clearInterval(timer);
        state.cancelled++;
      };
    });
  return {
    state,
    model: { defaultOptions: {}, stream, call: () => Promise.reject(new Error('not called')) },
  };
}

describe('a stream', () => {
  it('emits texts immediately, without empty ones, with white space', async () => {
    expect(await valuesOf(streamed(HELLO).stream.content())).to.deep.equal([
      'Hel',
      'lo ',
      ' ',
      'you',
    ]);
  });

  it('[CLI-35] emits no text if the model sent none', async () => {
    expect(await valuesOf(streamed({ refusal: 'No.' }).stream.content())).to.deep.equal([]);
  });

  it('emits the complete response once, at the end', async () => {
    const responses = await valuesOf(streamed(HELLO).stream.chatResponse());

    expect(responses).to.have.lengthOf(1);
    expect(responses[0]).to.be.instanceOf(ChatResponse).with.property('text', 'Hello  you');
  });

  it('emits the complete response with its context', async () => {
    const note = defineAdvisor({
      name: 'note',
      order: 0,
      before: (request) => request.withContext(NOTE, 'seen'),
    });
    const stream = ChatClient.create(new ScriptedChatModel(['hi']))
      .prompt('?')
      .advisors(note)
      .stream();

    const [response] = await valuesOf(stream.chatClientResponse());

    expect([response?.text, response?.context.get(NOTE)]).to.deep.equal(['hi', 'seen']);
  });

  it('emits all events in order, the response last', async () => {
    const tool = defineTool({
      name: 'now',
      execute: (_args, { progress }) => (progress(50), 'noon'),
    });
    const model = new ScriptedChatModel([
      { text: 'Let me see.', toolCalls: [{ id: 'a', name: 'now' }] },
      'It is noon.',
    ]);

    const events = await valuesOf(
      ChatClient.create(model).prompt('?').tools(tool).stream().events(),
    );

    expect(events.map(({ type }) => type).join(' ')).to.equal(
      'iteration-start text-delta text-delta text-delta tool-call-delta iteration tool-call tool-start tool-progress tool-result step iteration-start text-delta text-delta text-delta response',
    );
  });

  it('is cold: calls the model once for each subscription', async () => {
    const { model, stream } = streamed('1', '2');
    const content = stream.content();
    stream[Symbol.asyncIterator]();
    stream.toReadableStream();
    await new Promise((resolve) => setImmediate(resolve));
    expect(model.prompts).to.have.lengthOf(0);

    expect([await valuesOf(content), await valuesOf(content)]).to.deep.equal([['1'], ['2']]);
  });

  it('fails with the same error object as the model, after the texts before it', async () => {
    const failure = new Error('down');
    const seen: string[] = [];
    const { stream } = streamed({ deltas: ['Hel', 'lo'], error: failure });

    const error = await new Promise((resolve) =>
      stream.content().subscribe({ next: (text) => seen.push(text), error: resolve }),
    );

    expect(error).to.equal(failure);
    expect(seen).to.deep.equal(['Hel', 'lo']);
  });

  it('cancels the request when it is unsubscribed', async () => {
    const { model, state } = endless();

    await new Promise<void>((resolve) => {
      const subscription = ChatClient.create(model)
        .prompt('?')
        .stream()
        .content()
        .subscribe(() => {
          subscription.unsubscribe();
          resolve();
        });
    });

    expect(state).to.deep.equal({ asked: 1, cancelled: 1 });
  });

  it('stops a synchronous source when the subscriber leaves', () => {
    let emitted = 0;
    const stream = () =>
      new Observable<ChatEvent>((subscriber) => {
        while (!subscriber.closed && emitted < 1_000) {
          emitted++;
          subscriber.next({ type: 'text-delta', text: 'x' });
        }
      });
    const model: ChatModel = {
      defaultOptions: {},
      stream,
      call: () => Promise.reject(new Error('not called')),
    };

    ChatClient.create(model).prompt('?').stream().content().pipe(take(3)).subscribe();

    expect(emitted).to.equal(3);
  });
});

describe('a stream as an async iterable', () => {
  it('yields the texts, with a run for each loop', async () => {
    const { model, stream } = streamed('a b', 'c');
    const seen: string[] = [];

    for await (const text of stream) seen.push(text);
    for await (const text of stream) seen.push(text);

    expect(seen).to.deep.equal(['a ', 'b', 'c']);
    expect(model.prompts).to.have.lengthOf(2);
  });

  it('cancels the request when the loop is left', async () => {
    const { model, state } = endless();

    for await (const text of ChatClient.create(model).prompt('?').stream()) if (text) break;

    expect(state).to.deep.equal({ asked: 1, cancelled: 1 });
  });

  it('throws the same error object as the model', async () => {
    const failure = new Error('down');
    const loop = async (): Promise<void> => {
      for await (const text of streamed({ deltas: ['x'], error: failure }).stream)
        expect(text).to.equal('x');
    };

    expect(await loop().catch((error: unknown) => error)).to.equal(failure);
  });

  it('[F52] settles every pending next when its signal aborts', async () => {
    const controller = new AbortController();
    const { model, state } = endless();
    const iterator = ChatClient.create(model)
      .prompt('?')
      .signal(controller.signal)
      .stream()
      [Symbol.asyncIterator]();
    const waiting = Promise.allSettled([iterator.next(), iterator.next(), iterator.next()]);

    controller.abort();

    const [first, second, third] = await waiting;
    expect(first).to.have.nested.property('reason.code', 'cancelled');
    expect([second, third]).to.deep.equal(
      Array(2).fill({ status: 'fulfilled', value: { done: true, value: undefined } }),
    );
    expect(state).to.deep.equal({ asked: 1, cancelled: 1 });
  });
});

describe('a stream as a web stream', () => {
  it('emits the texts and closes', async () => {
    const seen: string[] = [];

    for await (const text of streamed('a b').stream.toReadableStream()) seen.push(text);

    expect(seen).to.deep.equal(['a ', 'b']);
  });

  it('can be piped through others', async () => {
    const encoded = streamed('a b').stream.toReadableStream().pipeThrough(new TextEncoderStream());

    expect(await new Response(encoded).text()).to.equal('a b');
  });

  it('cancels the request when it is cancelled', async () => {
    const { model, state } = endless();
    const reader = ChatClient.create(model).prompt('?').stream().toReadableStream().getReader();

    await reader.read();
    await reader.cancel();

    expect(state).to.deep.equal({ asked: 1, cancelled: 1 });
  });

  it('fails with the same error object as the model', async () => {
    const failure = new Error('down');
    const reader = streamed({ deltas: ['x'], error: failure })
      .stream.toReadableStream()
      .getReader();

    expect(await reader.read()).to.deep.equal({ done: false, value: 'x' });
    expect(await reader.read().catch((error: unknown) => error)).to.equal(failure);
  });
});
