import { mock } from 'node:test';
import { expect } from 'chai';
import {
  AdvisorOrder,
  CancelledError,
  ChatClient,
  defineTool,
  FallbackAdvisor,
  InMemoryKeyValueStore,
  InvalidArgumentError,
  ModelCallError,
  RateLimitAdvisor,
  RateLimitError,
  RetryAdvisor,
  type ChatClientResponse,
  type RateLimitAdvisorOptions,
} from '../../../src/index.js';
import { ScriptedChatModel, type Script } from '../../../src/testing/index.js';
import { failureOf, MODES, runSpec, type Mode } from '../../support/modes.js';
import { settle } from '../../support/promises.js';
import { VirtualTime } from '../../support/virtual-time.js';

const START = 1_700_000_003_000;
const usage = (totalTokens: number) => ({
  inputTokens: totalTokens - 1,
  outputTokens: 1,
  totalTokens,
});
const limiting = (options: RateLimitAdvisorOptions): RateLimitAdvisor =>
  new RateLimitAdvisor(options);

describe('RateLimitAdvisor', () => {
  const time = new VirtualTime();
  const useVirtualTime = (): void => {
    time.start();
    mock.method(Date, 'now', () => START + performance.now());
  };
  afterEach(() => time.restore());

  /** A client with a limiter, and the times at which its model is called. */
  const limited = (options: RateLimitAdvisorOptions, script: Script = () => 'fine') => {
    const times: number[] = [];
    const model = new ScriptedChatModel((prompt, index) => {
      times.push(performance.now());
      const answer = typeof script === 'function' ? script(prompt, index) : script[index];
      return answer ?? 'fine';
    });
    const client = ChatClient.builder(model).defaultAdvisors(limiting(options)).build();
    const ask = (mode: Mode = 'call', question = '?'): Promise<ChatClientResponse> =>
      runSpec(mode, client.prompt(question));
    return { client, model, times, ask };
  };

  for (const [options, message] of [
    [{}, 'requestsPerMinute or tokensPerMinute must be set'],
    [undefined, 'requestsPerMinute or tokensPerMinute must be set'],
    [{ requestsPerMinute: 0 }, 'requestsPerMinute must be an integer >= 1, not 0'],
    [{ tokensPerMinute: 1.5 }, 'tokensPerMinute must be an integer >= 1, not 1.5'],
    [{ requestsPerMinute: 9, burst: 0 }, 'burst must be an integer >= 1, not 0'],
    [{ requestsPerMinute: 60_001, burst: 1 }, 'burst must be an integer >= 2, not 1'],
    [{ tokensPerMinute: 9, burst: 5 }, 'burst needs requestsPerMinute, too'],
    [{ key: 'a' }, 'key must be a function, not "a"'],
    [{ maxWait: -1 }, 'maxWait must be a number of milliseconds >= 0 and < 2 ** 31, not -1'],
    [{ store: {} }, 'store must be a KeyValueStore, not an object'],
  ] as const)
    it(`rejects ${JSON.stringify(options)}`, () => {
      expect(() => limiting(options as never)).to.throw(
        InvalidArgumentError,
        `RateLimitAdvisor: ${message}`,
      );
    });

  it('is warned of left of the tool loop, where a turn would count as one request', () => {
    const advisor = limiting({ requestsPerMinute: 1, order: AdvisorOrder.GUARD });
    const client = ChatClient.builder(new ScriptedChatModel([])).defaultAdvisors(advisor).build();

    expect(client.explain().warnings).to.have.length(1);
  });

  for (const mode of MODES) {
    it(`${mode}: lets as many requests pass at once as the limit has, and the next a minute later`, async () => {
      useVirtualTime();
      const { ask, times } = limited({ requestsPerMinute: 2, maxWait: 120_000 });

      await time.until(Promise.all([ask(mode), ask(mode), ask(mode)]));

      expect(times.slice(0, 2)).to.deep.equal([0, 0]);
      expect(times[2]).to.be.within(60_000, 65_000);
    });

    it(`${mode}: lets the requests of a second pass at once, not all of a minute`, async () => {
      useVirtualTime();
      const { ask, times } = limited({ requestsPerMinute: 300 });

      await time.until(Promise.all(Array.from({ length: 60 }, () => ask(mode))));

      const seconds = times.map((at) => Math.floor(at / 1_000));
      expect(seconds).to.deep.equal(Array.from({ length: 60 }, (_, at) => Math.floor(at / 5)));
    });

    it(`${mode}: lets a burst pass at once`, async () => {
      useVirtualTime();
      const { ask, times } = limited({ requestsPerMinute: 60, burst: 1 });
      await time.until(Promise.all([ask(mode), ask(mode), ask(mode)]));
      expect(times).to.deep.equal([0, 1_000, 2_000]);

      const all = limited({ requestsPerMinute: 60, burst: 60 });
      await Promise.all(Array.from({ length: 60 }, () => all.ask(mode)));
      expect(all.times).to.have.length(60);
    });

    it(`${mode}: fails with the time until the next burst if that is longer than maxWait`, async () => {
      useVirtualTime();
      const { ask } = limited({ requestsPerMinute: 60, burst: 1, maxWait: 500 });
      await ask(mode);

      const error = await failureOf(ask(mode));

      expect(error).to.be.instanceOf(RateLimitError).and.include({ limit: 'requests', value: 60 });
      expect((error as RateLimitError).retryAfter).to.equal(1_000);
    });

    it(`${mode}: counts tokens: the estimate before a call, the usage after it`, async () => {
      useVirtualTime();
      const script: Script = [
        { text: 'a', usage: usage(10) },
        { text: 'b', usage: usage(95) },
      ];
      const { ask, times } = limited(
        { tokensPerMinute: 100, estimateTokens: () => 90, maxWait: 120_000 },
        script,
      );

      await time.until(ask(mode));
      await time.until(ask(mode));
      await time.until(ask(mode));

      expect(times.slice(0, 2)).to.deep.equal([0, 0]);
      expect(times[2]).to.be.within(60_000, 65_000);
    });

    it(`${mode}: counts each attempt, and the tokens of those that failed`, async () => {
      useVirtualTime();
      const down = new ModelCallError('overloaded', { retryable: true, usage: usage(40) });
      const model = new ScriptedChatModel([down, down, 'fine']);
      const limit = limiting({ tokensPerMinute: 100, estimateTokens: () => 30, maxWait: 0 });
      const client = ChatClient.builder(model)
        .defaultAdvisors(new RetryAdvisor({ firstDelay: 0 }), limit)
        .build();

      const { value: error } = await time.until(failureOf(runSpec(mode, client.prompt('?'))));

      expect(error).to.be.instanceOf(RateLimitError).with.property('limit', 'tokens');
      expect(model.prompts).to.have.length(2);
    });

    it(`${mode}: fails with the time to wait if that is longer than maxWait`, async () => {
      useVirtualTime();
      const { ask, model } = limited({ requestsPerMinute: 1, maxWait: 10_000 });
      await ask(mode);
      await time.pass(20_000);

      const error = await failureOf(ask(mode));

      expect(error).to.be.instanceOf(RateLimitError);
      expect(error).to.include({
        code: 'rate_limit',
        limit: 'requests',
        value: 1,
        key: 'scripted',
      });
      expect((error as RateLimitError).retryAfter).to.be.within(40_000, 45_000);
      expect(model.prompts).to.have.length(1);
    });

    it(`${mode}: ends a call that is cancelled while it waits at once`, async () => {
      useVirtualTime();
      const { client, ask, times } = limited({ requestsPerMinute: 1 });
      await ask(mode);
      const controller = new AbortController();
      const waiting = failureOf(runSpec(mode, client.prompt('?').signal(controller.signal)));
      const next = ask(mode);
      await time.pass(1_000);
      controller.abort();

      expect(await waiting).to.be.instanceOf(CancelledError);
      await time.until(next);
      expect(times).to.have.length(2);
    });

    it(`${mode}: emits an event before it waits`, async () => {
      useVirtualTime();
      const { client, ask } = limited({ requestsPerMinute: 1, maxWait: 120_000 });
      await ask(mode);
      const events: unknown[] = [];
      const done = new Promise<void>((resolve, reject) =>
        client
          .prompt('?')
          .stream()
          .events()
          .subscribe({
            next: (event) => void (event.type === 'custom' && events.push(event)),
            error: reject,
            complete: resolve,
          }),
      );
      await time.until(done);

      expect(events).to.have.length(1);
      expect(events[0]).to.deep.include({
        name: 'rate-limit-wait',
        data: { key: 'scripted', limit: 'requests', wait: 62_000 },
      });
    });
  }

  it('keeps limits for each key, and none without a key', async () => {
    useVirtualTime();
    const keys = ['a', 'b', undefined, undefined, 'a'];
    const { ask, model } = limited({ requestsPerMinute: 1, maxWait: 0, key: () => keys.shift() });

    for (let call = 0; call < 4; call++) await ask();

    expect(await failureOf(ask()))
      .to.be.instanceOf(RateLimitError)
      .with.property('key', 'a');
    expect(model.prompts).to.have.length(4);
  });

  it('lets calls pass in order of arrival, and fails those that cannot in time', async () => {
    useVirtualTime();
    const order: unknown[] = [];
    const { ask } = limited({ requestsPerMinute: 1, maxWait: 100_000 }, ({ userMessage }) => {
      order.push(userMessage?.content);
      return 'fine';
    });
    const asked = ['a', 'b', 'c'].map((question) => failureOf(ask('call', question)));

    const errors = (await time.until(Promise.all(asked))).value;

    expect(order).to.deep.equal(['a', 'b']);
    expect(errors.slice(0, 2)).to.deep.equal([undefined, undefined]);
    expect(errors[2]).to.be.instanceOf(RateLimitError);
  });

  it('refuses a call that alone has more tokens than the limit', async () => {
    const { ask, model } = limited({ tokensPerMinute: 10 });

    const error = await failureOf(ask('call', 'x'.repeat(100)));

    expect(error).to.be.instanceOf(RateLimitError).with.property('retryAfter', undefined);
    expect((error as Error).message).to.include('shorten the prompt, or raise tokensPerMinute');
    expect(model.prompts).to.have.length(0);
  });

  it('counts messages, tools and maxTokens in its estimate', async () => {
    const store = new InMemoryKeyValueStore();
    const add = mock.method(store, 'add');
    const { client } = limited({ tokensPerMinute: 10_000, store });

    await client.prompt('x'.repeat(400)).options({ maxTokens: 500 }).call().content();

    const counters = add.mock.calls.map(({ arguments: [, amounts] }) => amounts);
    expect(Math.max(...counters.flatMap((each) => Object.values(each)))).to.equal(604);
  });

  it('counts no tool that the model is not offered', async () => {
    const { client } = limited({ tokensPerMinute: 1_000 });
    const hidden = defineTool({
      name: 'hidden',
      description: 'x'.repeat(40_000),
      deferred: true,
      execute: () => 'ok',
    });

    expect(await client.prompt('?').tools(hidden).call().content()).to.equal('fine');
  });

  it('makes no call if the store fails, and keeps the answer if it fails after it', async () => {
    const store = new InMemoryKeyValueStore();
    const { ask, model } = limited({ tokensPerMinute: 1_000, store }, () => ({
      text: 'fine',
      usage: usage(500),
    }));
    let calls = 0;
    const failing = mock.method(store, 'add', () =>
      ++calls > 2 ? Promise.reject(new Error('store is down')) : Promise.resolve({}),
    );

    expect((await ask()).text).to.equal('fine');
    expect(await failureOf(ask())).to.have.property('message', 'store is down');
    expect(model.prompts).to.have.length(1);
    failing.mock.restore();
  });

  for (const mode of MODES) {
    it(`${mode}: returns the answer of a call whose store does not answer any more`, async () => {
      const store = new InMemoryKeyValueStore();
      const { ask } = limited({ tokensPerMinute: 1_000, store }, () => {
        mock.method(store, 'add', () => new Promise(() => undefined));
        return { text: 'fine', usage: usage(500) };
      });

      expect((await ask(mode)).text).to.equal('fine');
    });

    it(`${mode}: ends a call that is cancelled while its store does not answer`, async () => {
      const store = new InMemoryKeyValueStore();
      mock.method(store, 'add', () => new Promise(() => undefined));
      const { client, model } = limited({ requestsPerMinute: 1, store });
      const controller = new AbortController();
      const asked = failureOf(runSpec(mode, client.prompt('?').signal(controller.signal)));
      await settle();
      controller.abort();

      expect(await asked).to.be.instanceOf(CancelledError);
      expect(model.prompts).to.have.length(0);
    });
  }

  it('corrects the count of a call until none reads it', async () => {
    useVirtualTime();
    let calls = 0;
    const { ask } = limited({ tokensPerMinute: 100, estimateTokens: () => 10, maxWait: 0 }, () =>
      calls++ ? 'fine' : { text: 'slow', usage: usage(95), delay: 61_000 },
    );
    await time.until(ask());

    expect(await failureOf(ask())).to.be.instanceOf(RateLimitError);
    await time.pass(5_000);
    expect(await failureOf(ask())).to.equal(undefined);
  });

  it('counts each model that a fallback asks by its name', async () => {
    const keys: string[] = [];
    const store = new InMemoryKeyValueStore();
    const add = store.add.bind(store);
    mock.method(store, 'add', (key: string, ...rest: [never, never]) => {
      keys.push(key.replace(/^(?:rate|pace):\d+:/, ''));
      return add(key, ...rest);
    });
    const other = new ScriptedChatModel(['fine'], { model: 'other' });
    const client = ChatClient.builder(new ScriptedChatModel([new ModelCallError('down')]))
      .defaultAdvisors(
        new FallbackAdvisor({ models: [other] }),
        limiting({ requestsPerMinute: 10, store }),
      )
      .build();

    expect(await client.prompt('?').call().content()).to.equal('fine');
    expect([...new Set(keys)]).to.deep.equal(['scripted', 'other']);
  });
});
