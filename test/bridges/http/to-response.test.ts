import { expect } from 'chai';
import { toResponse } from '../../../src/bridges/http/index.js';
import {
  ChatClient,
  defineAdvisor,
  defineTool,
  ModelCallError,
  type ChatEvent,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { IterableObservable } from '../../../src/core/client/iterable-observable.js';

const find = defineTool({ name: 'find', execute: () => 'one row' });

function streamOf(script: ConstructorParameters<typeof ScriptedChatModel>[0]) {
  return ChatClient.builder(new ScriptedChatModel(script))
    .defaultTools(find)
    .build()
    .prompt('Q')
    .stream();
}

/** Events that a test writes. */
function eventsOf(run: (emit: (event: ChatEvent) => void) => void): IterableObservable<ChatEvent> {
  return new IterableObservable((subscriber) => {
    try {
      run((event) => subscriber.next(event));
      subscriber.complete();
    } catch (error) {
      subscriber.error(error);
    }
  });
}

const start: ChatEvent = { type: 'iteration-start', index: 0 };
const delta: ChatEvent = { type: 'text-delta', text: 'Hä\n😀' };
const tooMany = new ModelCallError('canary', { status: 429, retryAfter: 3_000 });

describe('a response', () => {
  it('has the text of a turn', async () => {
    const response = await toResponse(streamOf([{ text: 'It is warm.' }]), { format: 'text' });

    expect(response.status).to.equal(200);
    expect(response.headers.get('content-type')).to.equal('text/plain; charset=utf-8');
    expect(response.headers.get('cache-control')).to.equal('no-cache, no-transform');
    expect(response.headers.get('x-accel-buffering')).to.equal('no');
    expect(await response.text()).to.equal('It is warm.');
  });

  for (const [format, type, pattern] of [
    ['sse', 'text/event-stream; charset=utf-8', /^(?:data: \{.*\}\n\n)+$/],
    ['ndjson', 'application/x-ndjson; charset=utf-8', /^(?:\{.*\}\n)+$/],
  ] as const)
    it(`has the events of a turn as ${format}`, async () => {
      const script = [
        { toolCalls: [{ id: 'c1', name: 'find', arguments: '{}' }] },
        { text: 'One.' },
      ];

      const response = await toResponse(streamOf(script), { format });

      expect(response.headers.get('content-type')).to.equal(type);
      const body = await response.text();
      expect(body).to.match(pattern);
      const lines = body.split('\n').filter((line) => line !== '');
      const events = lines.map((line) => JSON.parse(line.replace(/^data: /, '')) as ChatEvent);
      expect(events.map((event) => event.type)).to.deep.equal([
        'iteration-start',
        'tool-call-delta',
        'iteration',
        'tool-call',
        'tool-start',
        'tool-result',
        'iteration-start',
        'text-delta',
        'response',
      ]);
      expect(events.at(5)).to.deep.equal({
        type: 'tool-result',
        toolName: 'find',
        call: { id: 'c1', name: 'find', arguments: '{}' },
        result: { content: 'one row' },
      });
      expect(Object.keys(events.at(-1) ?? {})).to.deep.equal(['type', 'response']);
    });

  it('has the status of a run that failed before the model has answered', async () => {
    const events = eventsOf((emit) => {
      emit(start);
      emit({ type: 'custom', name: 'note', data: 1 } as never);
      throw tooMany;
    });

    const response = await toResponse(events, { format: 'sse', headers: { 'x-own': '1' } });

    expect(response.status).to.equal(429);
    expect(response.headers.get('retry-after')).to.equal('3');
    expect(response.headers.get('x-own')).to.equal('1');
    expect(await response.json()).to.deep.include({ error: { status: 429, code: 'model_call', message: 'There are too many requests; try again later.', retryAfter: 3 } }); // prettier-ignore
  });

  it('ends with the error of a run that failed afterwards', async () => {
    const events = eventsOf((emit) => {
      emit(start);
      emit(delta);
      throw tooMany;
    });

    const response = await toResponse(events, { format: 'ndjson' });

    expect(response.status).to.equal(200);
    const lines = (await response.text()).trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as ChatEvent).type as string)).to.deep.equal([
      'iteration-start',
      'text-delta',
      'error',
    ]);
    expect(lines.at(-1)).to.include('"code":"model_call"').and.not.to.include('canary');
  });

  it('breaks the connection after text of a run that failed', async () => {
    const events = eventsOf((emit) => {
      emit(delta);
      throw tooMany;
    });

    const response = await toResponse(events, { format: 'text' });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();

    expect(new TextDecoder().decode((await reader.read()).value)).to.equal('Hä\n😀');
    expect(await reader.read().catch((error: unknown) => error)).to.equal(tooMany);
  });

  it('reports the error with the form that the client sees', async () => {
    const reported: unknown[] = [];
    const events = eventsOf(() => {
      throw new TypeError('canary');
    });

    const response = await toResponse(events, {
      format: 'sse',
      onError: (error, shown) => reported.push(String(error), shown),
    });

    const { error } = (await response.json()) as { error: unknown };
    expect(reported).to.deep.equal(['TypeError: canary', error]);
  });

  it('cancels the run when its reader leaves', async () => {
    let isOver = false;
    const events = new IterableObservable<ChatEvent>((subscriber) => {
      subscriber.add(() => (isOver = true));
      subscriber.next(delta);
    });
    const response = await toResponse(events, { format: 'sse' });

    await response.body?.cancel();

    expect(isOver).to.equal(true);
  });

  it('refuses a stream, an option and a header that are invalid before anything runs', async () => {
    const model = new ScriptedChatModel([{ text: 'x' }]);
    const spec = ChatClient.create(model).prompt('Q');
    const refused = [
      () => toResponse(spec.call() as never, { format: 'text' }),
      () => toResponse(spec.stream(), { format: 'xml' as never }),
      () => toResponse(spec.stream(), {} as never),
      () => toResponse(spec.stream(), { format: 'text', headers: { 'x-a': 'b\r\nset-cookie: c' } }),
      () => toResponse(spec.stream(), { format: 'text', heartbeat: -1 }),
    ];

    for (const each of refused) {
      const error = await each().then(() => undefined, (reason: unknown) => reason); // prettier-ignore
      expect(error).to.include({ code: 'invalid_argument' });
    }
    expect(model.prompts).to.have.length(0);
  });

  it('takes a stream of a client with an advisor and a custom format', async () => {
    const note = defineAdvisor({
      name: 'note',
      order: 0,
      around: (request, next, chain) => {
        chain.emit({ type: 'custom', name: 'note', data: 1n } as never);
        return next(request);
      },
    });
    const stream = ChatClient.create(new ScriptedChatModel([{ text: 'x' }]))
      .prompt('Q')
      .advisors(note)
      .stream();

    const response = await toResponse(stream, {
      format: {
        contentType: 'text/x-types',
        headers: { 'x-protocol': 'v1' },
        encoder: () => ({
          encode: ({ type }) => `${type} `,
          fail: ({ code }) => code,
          end: () => 'end',
          heartbeat: '',
        }),
      },
    });

    expect(response.headers.get('x-protocol')).to.equal('v1');
    expect(await response.text()).to.equal('custom iteration-start text-delta response end');
  });
});
