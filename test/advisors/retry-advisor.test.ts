import { mock } from 'node:test';
import { expect } from 'chai';
import {
  AdvisorOrder,
  CancelledError,
  ChatClient,
  defineAdvisor,
  defineTool,
  IncompleteResponseError,
  InvalidArgumentError,
  LimitExceededError,
  ModelCallError,
  ObservabilityAdvisor,
  RetryAdvisor,
  type RetryAdvisorOptions,
} from '../../src/index.js';
import { ScriptedChatModel, type Script } from '../../src/testing/index.js';
import { failureOf, MODES, RUNS, runSpec } from '../support/modes.js';
import { settle } from '../support/promises.js';
import { recordSpans } from '../support/recorded-spans.js';
import { runTurn, summary } from '../support/turn.js';
import { VirtualTime } from '../support/virtual-time.js';
import { useWireModel } from '../support/wire-model.js';
import { sendJson } from '../support/wire-server.js';

const usage = (tokens: number) => ({
  inputTokens: tokens,
  outputTokens: 1,
  totalTokens: tokens + 1,
});
const down = (tokens = 10): ModelCallError =>
  new ModelCallError('overloaded', { retryable: true, usage: usage(tokens) });
const at = (options: RetryAdvisorOptions = {}): RetryAdvisor =>
  new RetryAdvisor({ firstDelay: 0, ...options });

describe('RetryAdvisor', () => {
  afterEach(() => mock.restoreAll());

  for (const [options, message] of [
    [{ maxRetries: -1 }, 'maxRetries must be an integer >= 0, not -1'],
    [{ when: true }, 'when must be a function, not true'],
    [{ firstDelay: -1 }, 'firstDelay must be a number of milliseconds >= 0 and < 2 ** 31, not -1'],
    [
      { maxDelay: Infinity },
      'maxDelay must be a number of milliseconds >= 0 and < 2 ** 31, not Inf',
    ],
    [{ name: '' }, 'name must be a non-blank string, not ""'],
    [{ order: NaN }, 'order must be a finite number, not NaN'],
  ] as const)
    it(`rejects ${JSON.stringify(options)}`, () => {
      expect(() => new RetryAdvisor(options as never)).to.throw(
        InvalidArgumentError,
        `RetryAdvisor: ${message}`,
      );
    });

  it('is warned of left of the tool loop, where finished tools would run again', () => {
    const client = (order?: number): ChatClient =>
      ChatClient.create(new ScriptedChatModel([])).mutate().defaultAdvisors(at({ order })).build();

    expect(client(AdvisorOrder.GUARD).explain().warnings).to.have.length(1);
    expect(client(AdvisorOrder.GUARD).explain().warnings[0]).to.match(/"retry" retries left of/);
    expect(client().explain().warnings).to.deep.equal([]);
  });

  for (const mode of MODES) {
    const failing = async (script: Script, options: RetryAdvisorOptions = {}) => {
      const model = new ScriptedChatModel(script);
      const failure = await failureOf(
        runSpec(mode, ChatClient.create(model).prompt('?').advisors(at(options))),
      );
      return { failure, calls: model.prompts.length };
    };

    it(`${mode}: repeats failures that are worth it, and throws the last one`, async () => {
      const last = down();
      const { failure, calls } = await failing([down(), down(), last, 'unused']);

      expect(failure).to.equal(last);
      expect(calls).to.equal(3);
    });

    for (const error of [
      new ModelCallError('a bad key', { status: 401 }),
      new LimitExceededError('too large', {
        limit: 'response-bytes',
        value: 1,
        spent: 2,
        option: 'x',
      }),
      new TypeError('a bug'),
    ])
      it(`${mode}: does not repeat what would fail again: ${error.message}`, async () => {
        expect(await failing([error, 'no'])).to.deep.equal({ failure: error, calls: 1 });
      });

    it(`${mode}: asks the predicate about errors and responses`, async () => {
      const asked: unknown[] = [];
      const model = new ScriptedChatModel([new TypeError('a bug'), '', 'Fine.']);
      const retry = at({
        when: (error, response) => {
          asked.push(error ?? response?.text);
          return Promise.resolve(error instanceof TypeError || response?.text === '');
        },
      });

      const response = await runSpec(mode, ChatClient.create(model).prompt('?').advisors(retry));

      expect(response.text).to.equal('Fine.');
      expect(asked.map(String)).to.deep.equal(
        ['TypeError: a bug', '', 'Fine.'].slice(0, asked.length),
      );
      expect(model.prompts).to.have.length(3);
    });

    it(`${mode}: keeps the last response, also if the predicate refuses it`, async () => {
      const model = new ScriptedChatModel(['one', 'two', 'three']);
      const retry = at({ when: () => true });

      const response = await runSpec(mode, ChatClient.create(model).prompt('?').advisors(retry));

      expect(response.text).to.equal('three');
    });

    it(`${mode}: ends with a predicate that throws`, async () => {
      const error = new Error('a broken predicate');
      const { failure } = await failing(['?'], {
        when: () => {
          throw error;
        },
      });

      expect(failure).to.equal(error);
    });

    it(`${mode}: swallows no control flow: a cancelled run is not repeated (langchain#38722, langchain#39199)`, async () => {
      const controller = new AbortController();
      const model = new ScriptedChatModel(() => {
        controller.abort(new Error('the user left'));
        return down();
      });
      const spec = ChatClient.create(model).prompt('?').signal(controller.signal);

      const failure = await failureOf(runSpec(mode, spec.advisors(at({ when: () => true }))));

      expect(failure).to.include({ code: 'cancelled' });
      expect(model.prompts).to.have.length(1);
    });

    it(`${mode}: swallows no control flow: a cancelled part of the run is not repeated (langchain#38722)`, async () => {
      const error = new CancelledError('a nested run was cancelled');

      const outcome = await failing([error, 'no'], { when: () => true });

      expect(outcome).to.deep.equal({ failure: error, calls: 1 });
    });

    it(`${mode}: ends a wait, and its timer, when a part of the run is cancelled`, async () => {
      const set = mock.method(globalThis, 'setTimeout');
      const clear = mock.method(globalThis, 'clearTimeout');
      const part = new AbortController();
      const outer = defineAdvisor({
        name: 'outer',
        order: AdvisorOrder.RESILIENCE - 1,
        around: (request, next) => next(request.withSignal(part.signal)),
      });
      const spec = ChatClient.create(new ScriptedChatModel([down()])).prompt('?');
      const failure = failureOf(runSpec(mode, spec.advisors(outer, at({ firstDelay: 60_000 }))));
      await settle();

      part.abort();

      expect(await failure).to.include({ code: 'cancelled' });
      const wait = set.mock.calls.find(
        ({ arguments: [, time] }) => Number(time) > 40_000 && Number(time) <= 60_000,
      );
      expect(wait?.result).to.be.an('object');
      expect(clear.mock.calls.map(({ arguments: [timer] }) => timer)).to.include(wait?.result);
    });

    it(`${mode}: repeats one iteration, and no finished tool call (vercel/ai#18667)`, async () => {
      let runs = 0;
      const tool = defineTool({ name: 'pay', effect: 'write', execute: () => ++runs });
      const model = new ScriptedChatModel([
        down(),
        { toolCalls: [{ name: 'pay' }] },
        down(),
        down(),
        'Paid.',
      ]);

      const { response } = await runTurn(mode, model, { tools: [tool], advisors: [at()] });

      expect(response.text).to.equal('Paid.');
      expect(runs).to.equal(1);
      expect(model.prompts[4]?.messages).to.deep.equal(model.prompts[2]?.messages);
    });

    it(`${mode}: counts the usage of each attempt once`, async () => {
      const model = new ScriptedChatModel([
        down(100),
        down(200),
        { text: 'Fine.', usage: usage(300) },
      ]);
      const spec = ChatClient.create(model).prompt('?').advisors(at());

      const { run, usage: total } = await runSpec(mode, spec);

      expect(
        run?.ledger.map((call) => [call.attempt, call.outcome, call.usage?.inputTokens]),
      ).to.deep.equal([
        [1, 'failed', 100],
        [2, 'failed', 200],
        [3, 'answered', 300],
      ]);
      expect(total).to.include({ inputTokens: 600, totalTokens: 603 });
    });

    it(`${mode}: shows retries on its span`, async () => {
      const recording = recordSpans();
      const observability = new ObservabilityAdvisor({ tracer: recording.tracer });
      const model = new ScriptedChatModel([down(), 'Fine.']);

      await runSpec(mode, ChatClient.create(model).prompt('?').advisors(observability, at()));

      const span = recording.spans.find(({ name }) => name.includes('retry'));
      expect(span?.events.map(({ name }) => name)).to.deep.equal(['advisor_chain.retry']);
    });

    it(`${mode}: repeats the turn left of the loop: other calls run, finished ones do not`, async () => {
      let runs = 0;
      const tool = defineTool({ name: 'look', effect: 'read', execute: () => ++runs });
      const call = { toolCalls: [{ name: 'look', id: 'a' }], text: 'Let me look. ' };
      const other = { toolCalls: [{ name: 'look', id: 'b' }] };
      const advisors = [at({ order: AdvisorOrder.TOOL_CALLING - 1 })];

      const script = [call, { text: 'Half', error: down() }, call, down(), other, 'Fine.'];
      const { events, response } = await runTurn(mode, script, { tools: [tool], advisors });

      expect([response.text, runs]).to.deep.equal(['Fine.', 2]);
      if (mode === 'stream') expect(summary(events)).to.include('retract 0');
    });
  }

  for (const [mode, run] of RUNS)
    it(`${mode}: doubles no text after a failure in mid-stream (nuguard#455, deepagents#5905, kram#109, genaiscript#1803)`, async () => {
      const model = new ScriptedChatModel([{ text: 'Hello wor', error: down() }, 'Hello world']);

      const text = await run(ChatClient.create(model).prompt('?').advisors(at()));

      expect(text).to.equal('Hello world');
    });

  it('begins a streamed answer again only after it has voided the first one (ai-retry#51)', async () => {
    const script = [{ deltas: ['Hel', 'lo'], error: down() }, { deltas: ['He', 'llo'] }];
    const { events } = await runTurn('stream', script, { advisors: [at()] });

    const types = events.map((event) => (event.type === 'text-delta' ? event.text : event.type));
    expect(types).to.deep.equal([
      'iteration-start',
      'Hel',
      'lo',
      'retract',
      'iteration-start',
      'He',
      'llo',
      'response',
    ]);
  });

  it('repeats an answer that was cut off', async () => {
    const cut = new IncompleteResponseError('cut', { retryable: true });
    const script = [{ deltas: ['Hel'], error: cut }, 'Hello'];

    const { response } = await runTurn('stream', script, { advisors: [at()] });

    expect(response.text).to.equal('Hello');
  });

  describe('in time', () => {
    const time = new VirtualTime();
    beforeEach(() => time.start());
    afterEach(() => time.restore());

    const timeOf = async (errors: readonly ModelCallError[], options: RetryAdvisorOptions = {}) => {
      const model = new ScriptedChatModel([...errors, 'Fine.']);
      const spec = ChatClient.create(model).prompt('?').advisors(new RetryAdvisor(options));
      return (await time.until(failureOf(spec.call().content()))).time;
    };

    it('doubles the waits up to the maximum', async () => {
      mock.method(Math, 'random', () => 0);
      const errors = [down(), down(), down(), down()];

      expect(await timeOf(errors, { maxRetries: 4, maxDelay: 1_500 })).to.equal(
        500 + 1_000 + 3_000,
      );
    });

    it('shortens a wait at random, by a quarter at most', async () => {
      mock.method(Math, 'random', () => 1);

      expect(await timeOf([down()], { firstDelay: 1_000 })).to.equal(750);
    });

    it('waits as long as the server asks', async () => {
      const error = new ModelCallError('slow down', { retryable: true, retryAfter: 20_000 });

      expect(await timeOf([error])).to.equal(20_000);
    });

    it('throws at once if the server asks for more than the maximum', async () => {
      const error = new ModelCallError('slow down', { retryable: true, retryAfter: 20_001 });
      const model = new ScriptedChatModel([error, 'Fine.']);
      const spec = ChatClient.create(model).prompt('?');

      const failure = await failureOf(
        spec
          .advisors(new RetryAdvisor({ maxDelay: 20_000 }))
          .call()
          .content(),
      );

      expect(failure).to.equal(error);
    });

    for (const mode of MODES)
      it(`${mode}: ends a wait when the run is cancelled`, async () => {
        const controller = new AbortController();
        const model = new ScriptedChatModel([down(), 'Fine.']);
        const spec = ChatClient.create(model).prompt('?').signal(controller.signal);
        const failure = failureOf(runSpec(mode, spec.advisors(new RetryAdvisor())));
        await time.pass(100);

        controller.abort();

        expect(await failure).to.include({ code: 'cancelled' });
        await time.pass(10_000);
        expect(model.prompts).to.have.length(1);
      });

    it('does not wait for a predicate when the run is cancelled', async () => {
      const controller = new AbortController();
      const when = (): Promise<boolean> => new Promise(() => undefined);
      const spec = ChatClient.create(new ScriptedChatModel([down()])).prompt('?');
      const failure = failureOf(
        spec.signal(controller.signal).advisors(at({ when })).call().content(),
      );
      await settle();

      controller.abort();

      expect(await failure).to.include({ code: 'cancelled' });
    });
  });

  describe('with a model that retries by itself', () => {
    const wire = useWireModel();

    for (const mode of MODES)
      it(`${mode}: multiplies no retries: the advisor's are all there are`, async () => {
        wire.answer = (exchange) =>
          sendJson(exchange, { error: { message: 'down' } }, 503, { 'retry-after-ms': '1' });
        const client = ChatClient.create(wire.modelWith({ maxRetries: 4 }));

        const failure = await failureOf(runSpec(mode, client.prompt('?').advisors(at())));

        expect(failure).to.include({ status: 503 });
        expect(wire.server.exchanges).to.have.length(3);
      });
  });
});
