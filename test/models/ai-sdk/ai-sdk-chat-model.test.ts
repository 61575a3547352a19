import { expect } from 'chai';
import {
  CancelledError,
  IncompleteResponseError,
  InvalidArgumentError,
  LimitExceededError,
  ModelCallError,
  ModelTimeoutError,
  Prompt,
  type ChatEvent,
} from '../../../src/index.js';
import { AiSdkChatModel, type AiSdkChatModelOptions } from '../../../src/models/ai-sdk/index.js';
import { deferred } from '../../support/promises.js';
import { lastOf } from '../../support/recording-replay.js';
import {
  ScriptedLanguageModel,
  STOP,
  textParts,
  USAGE,
  type Part,
} from '../../support/scripted-language-model.js';

const PROMPT = new Prompt('hi');
const MODES = ['call', 'stream'] as const;
type Mode = (typeof MODES)[number];
type Answers = ConstructorParameters<typeof ScriptedLanguageModel>[0];

/** A server error as the packages of providers throw it. */
const apiError = (fields: object, message = 'overloaded'): Error =>
  Object.assign(new Error(message), { name: 'AI_APICallError', isRetryable: true }, fields);

function bridge(answers: Answers, options: Partial<AiSdkChatModelOptions> = {}, version = 'v3') {
  const source = new ScriptedLanguageModel(answers, version);
  return { source, model: new AiSdkChatModel({ model: source, maxRetries: 0, ...options }) };
}

function ask(model: AiSdkChatModel, mode: Mode, run = {}, prompt = PROMPT) {
  return mode === 'call' ? model.call(prompt, run) : lastOf(model.stream(prompt, run));
}

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

const never = (): Promise<never> => new Promise(() => undefined);
const WHOLE: Readonly<Record<Mode, readonly Part[]>> = {
  call: [{ type: 'text', text: 'Hello' }, STOP],
  stream: [...textParts('Hello'), STOP],
};

describe('AiSdkChatModel', () => {
  for (const version of ['v3', 'v4'])
    for (const mode of MODES)
      it(`answers a ${mode} of a ${version} model`, async () => {
        const { model } = bridge([WHOLE[mode]], {}, version);

        const response = await ask(model, mode);

        expect(response.text).to.equal('Hello');
        expect(response.finishReason).to.equal('stop');
        expect(response.usage).to.deep.equal({ inputTokens: 5, outputTokens: 3, totalTokens: 8 });
        expect(response.message.metadata).to.equal(undefined);
        expect(response.model).to.equal('made-up-1');
      });

  it('refuses a model of specification v2 with the next step', () => {
    expect(() => bridge([], {}, 'v2')).to.throw(
      InvalidArgumentError,
      /v3 or v4, not "v2"; update the package of its provider/,
    );
  });

  it('refuses what is no language model', () => {
    const model = 'gpt-5' as never;

    expect(() => new AiSdkChatModel({ model })).to.throw(InvalidArgumentError, /language model/);
  });

  it('checks its options', () => {
    expect(() => bridge([], { maxRetries: -1 })).to.throw(InvalidArgumentError, /maxRetries/);
    expect(() => bridge([], { temperature: -1 })).to.throw(InvalidArgumentError, /temperature/);
  });

  it('emits the deltas of text, reasoning and calls, whose arguments come once', async () => {
    const { model } = bridge([
      [
        { type: 'stream-start', warnings: [] },
        { type: 'reasoning-start', id: 'r' },
        { type: 'reasoning-delta', id: 'r', delta: 'Hm' },
        { type: 'reasoning-end', id: 'r' },
        ...textParts('Hello'),
        { type: 'tool-input-start', id: 'c1', toolName: 'weather' },
        { type: 'tool-input-delta', id: 'c1', delta: '{"city":' },
        { type: 'tool-input-delta', id: 'c1', delta: '"Oslo"}' },
        { type: 'tool-input-end', id: 'c1' },
        { type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: '{"city":"Oslo"}' },
        { type: 'tool-call', toolCallId: 'c2', toolName: 'time', input: '{}' },
        { type: 'finish', finishReason: { unified: 'tool-calls', raw: undefined }, usage: USAGE },
      ],
    ]);
    const events: ChatEvent[] = [];

    const response = await lastOf(model.stream(PROMPT), (event) => events.push(event));

    expect(response.message.reasoning).to.equal('Hm');
    expect(response.finishReason).to.equal('tool_calls');
    expect(response.message.toolCalls).to.deep.equal([
      { id: 'c1', name: 'weather', arguments: '{"city":"Oslo"}' },
      { id: 'c2', name: 'time', arguments: '{}' },
    ]);
    expect(events.slice(0, -1)).to.deep.equal([
      { type: 'reasoning-delta', text: 'Hm' },
      { type: 'text-delta', text: 'Hello' },
      { type: 'tool-call-delta', index: 0, id: 'c1', name: 'weather', arguments: '' },
      { type: 'tool-call-delta', index: 0, arguments: '{"city":' },
      { type: 'tool-call-delta', index: 0, arguments: '"Oslo"}' },
      { type: 'tool-call-delta', index: 1, id: 'c2', name: 'time', arguments: '' },
      { type: 'tool-call-delta', index: 1, arguments: '{}' },
    ]);
  });

  for (const mode of MODES)
    it(`ignores unknown parts of a ${mode}`, async () => {
      const strange = [{ type: 'hologram', data: 1 }, { type: 'ping' }, { kind: 'x' }] as Part[];
      const { model } = bridge([[...strange, ...WHOLE[mode]]]);

      expect((await ask(model, mode)).text).to.equal('Hello');
    });

  for (const [title, finish] of Object.entries({
    'no finish': [],
    'a finish without a reason': [{ ...STOP, finishReason: { unified: 'other' } }],
    'an interrupted finish': [{ ...STOP, finishReason: { unified: 'interrupted', raw: 'x' } }],
    'an error as its finish': [{ ...STOP, finishReason: { unified: 'error', raw: 'x' } }],
  }))
    it(`rejects a stream with ${title}`, async () => {
      const { model } = bridge([[...textParts('Hel'), ...finish]]);

      const error = await errorOf(ask(model, 'stream'));

      expect(error).to.be.instanceOf(IncompleteResponseError);
      expect(error).to.include({ partialText: 'Hel', retryable: true });
    });

  it('rejects a call that was interrupted', async () => {
    const finish = { ...STOP, finishReason: { unified: 'interrupted', raw: undefined } };
    const { model } = bridge([[{ type: 'text', text: 'Hel' }, finish]]);

    expect(await errorOf(ask(model, 'call'))).to.be.instanceOf(IncompleteResponseError);
  });

  it('rejects with an error part, its provider message and the text before it', async () => {
    const error = { type: 'overloaded_error', message: 'try later' };
    const { model } = bridge([[...textParts('Hel'), { type: 'error', error }]]);

    const thrown = await errorOf(ask(model, 'stream'));

    expect(thrown).to.be.instanceOf(ModelCallError);
    expect(thrown).to.include({ providerMessage: 'try later', partialText: 'Hel' });
  });

  for (const mode of MODES) {
    it(`sends a ${mode} again after a temporary failure, and reports it`, async () => {
      const fail = () => Promise.reject(apiError({ statusCode: 503, responseHeaders: NO_WAIT }));
      const { model, source } = bridge([fail, fail, WHOLE[mode]], { maxRetries: 2 });
      const retried: unknown[] = [];

      const response = await ask(model, mode, { onRetry: (error: unknown) => retried.push(error) });

      expect(response.text).to.equal('Hello');
      expect(source.requests).to.have.length(3);
      expect(retried.map((error) => (error as ModelCallError).status)).to.deep.equal([503, 503]);
    });

    it(`does not send a ${mode} again that the provider rejected`, async () => {
      const body = { error: { message: 'no such model', code: 'model_not_found' } };
      const fields = { statusCode: 404, isRetryable: false, responseBody: JSON.stringify(body) };
      const { model, source } = bridge([() => Promise.reject(apiError(fields))], { maxRetries: 2 });

      const error = await errorOf(ask(model, mode));

      expect(error).to.include({
        status: 404,
        providerMessage: 'no such model',
        providerCode: 'model_not_found',
        retryable: false,
      });
      expect(source.requests).to.have.length(1);
    });

    it(`ends a hung ${mode} that ignores its signal when the run is cancelled`, async () => {
      const entered = deferred();
      const hang = () => (entered.resolve(), never());
      const { model, source } = bridge([hang]);
      const controller = new AbortController();

      const error = errorOf(ask(model, mode, { signal: controller.signal }));
      await entered.promise;
      controller.abort();

      expect(await error).to.be.instanceOf(CancelledError);
      expect(source.requests[0]?.abortSignal?.aborted).to.equal(true);
    });

    it(`ends a hung ${mode} at its timeout`, async () => {
      const { model } = bridge([never], { timeout: 1 });

      const error = await errorOf(ask(model, mode));

      expect(error)
        .to.be.instanceOf(ModelTimeoutError)
        .and.match(/option timeout/);
    });

    it(`refuses a ${mode} beyond maxResponseBytes`, async () => {
      const { model } = bridge([WHOLE[mode]], { maxResponseBytes: 4 });

      const error = await errorOf(ask(model, mode));

      expect(error).to.be.instanceOf(LimitExceededError);
      expect(error).to.include({ option: 'maxResponseBytes' });
    });
  }

  for (const [option, parts] of Object.entries({
    firstChunkTimeout: [{ type: 'stream-start', warnings: [] }],
    idleTimeout: [...textParts('Hel')],
  }))
    it(`ends a stream that hangs by ${option}, and closes it`, async () => {
      const closed = deferred();
      const stream = new ReadableStream<object>({
        start: (controller) => parts.forEach((part) => controller.enqueue(part)),
        cancel: () => closed.resolve(),
      });
      const { model } = bridge([() => stream], { [option]: 1 });

      const error = await errorOf(ask(model, 'stream'));

      expect(error)
        .to.be.instanceOf(ModelTimeoutError)
        .and.match(new RegExp(`option ${option}`));
      await closed.promise;
    });

  it('closes the stream of a subscriber that leaves', async () => {
    const closed = deferred();
    const stream = new ReadableStream<object>({
      start: (controller) => textParts('Hel').forEach((part) => controller.enqueue(part)),
      cancel: () => closed.resolve(),
    });
    const { model } = bridge([() => stream]);
    const begun = deferred();

    const subscription = model.stream(PROMPT).subscribe(() => begun.resolve());
    await begun.promise;
    subscription.unsubscribe();

    await closed.promise;
  });

  it('reads on only when the consumer is ready', async () => {
    let read = 0;
    const pull = (controller: ReadableStreamDefaultController<object>): void => {
      const part = [...textParts('a'), STOP][read++];
      if (part) controller.enqueue(part);
    };
    const stream = new ReadableStream<object>({ pull }, { highWaterMark: 0 });
    const { model } = bridge([() => stream]);
    const [asked, ready] = [deferred(), deferred()];
    const isReady = (): Promise<void> => (asked.resolve(), ready.promise);

    const answer = lastOf(model.stream(PROMPT, { ready: isReady }));
    await asked.promise;
    const readBefore = read;
    ready.resolve();

    expect((await answer).text).to.equal('a');
    expect(readBefore).to.equal(1);
  });

  it('reads cached tokens that the package lost from the raw usage', async () => {
    const raw = { prompt_tokens: 5, prompt_tokens_details: { cached_tokens: 4 } };
    const { model } = bridge([[...textParts('a'), { ...STOP, usage: { ...USAGE, raw } }]]);

    expect((await ask(model, 'stream')).usage?.cachedInputTokens).to.equal(4);
  });

  it('passes on warnings, sources, files and provider metadata', async () => {
    const source = { type: 'source', sourceType: 'url', id: 's', url: 'https://a.example' };
    const warning = { type: 'unsupported', feature: 'seed' };
    const { model } = bridge([
      [
        { type: 'stream-start', warnings: [warning] },
        source,
        { type: 'file', mediaType: 'image/png', data: new Uint8Array([1, 2, 3]) },
        ...textParts('a'),
        { ...STOP, providerMetadata: { madeUp: { tier: 'x' } } },
      ],
    ]);

    const { metadata, citations } = await ask(
      model,
      'stream',
      {},
      new Prompt('hi', { user: 'anna' }),
    );

    expect(metadata).to.deep.equal({
      warnings: [
        {
          type: 'unsupported',
          feature: 'user',
          details: 'give it to the provider as extraBody: { providerOptions }',
        },
        warning,
      ],
      files: [{ mediaType: 'image/png', data: 'AQID' }],
      providerMetadata: { madeUp: { tier: 'x' } },
    });
    expect(citations).to.deep.equal([{ url: 'https://a.example', raw: source }]);
  });
});

const NO_WAIT = { 'retry-after-ms': '0' };
