import { expect } from 'chai';
import {
  AdvisorOrder,
  CancelledError,
  ChatClient,
  defineTool,
  FallbackAdvisor,
  InvalidArgumentError,
  ModelCallError,
  ObservabilityAdvisor,
  RetryAdvisor,
  type FallbackAdvisorOptions,
} from '../../src/index.js';
import { ScriptedChatModel, type Script } from '../../src/testing/index.js';
import { failureOf, MODES, runSpec } from '../support/modes.js';
import { recordSpans } from '../support/recorded-spans.js';
import { runTurn } from '../support/turn.js';
import { VirtualTime } from '../support/virtual-time.js';

const usage = { inputTokens: 10, outputTokens: 1, totalTokens: 11 };
const down = (): ModelCallError => new ModelCallError('down', { status: 503, retryable: true });
const model = (
  name: string,
  script: Script = () => ({ text: `I am ${name}.`, model: name, usage }),
): ScriptedChatModel => new ScriptedChatModel(script, { model: name });
const noop = defineTool({ name: 'noop', execute: () => 'done' });

describe('FallbackAdvisor', () => {
  const MODELS = 'an array with at least one chat model, or { model, options }';
  for (const [options, message] of [
    [{ models: undefined }, `models must be ${MODELS}, not undefined`],
    [{ models: [] }, `models must be ${MODELS}, not an array`],
    [{ models: [1] }, 'models[0] must be a chat model with call and stream, not 1'],
    [{ models: [null] }, 'models[0] must be a chat model with call and stream, not null'],
    [{ models: [{ model: 1 }] }, 'models[0] must be a chat model with call and stream, not 1'],
    [
      { models: [{ model: model('b'), options: { topP: 2 } }] },
      'models[0].options: topP must be a number from 0 to 1, not 2',
    ],
    [{ when: 1 }, 'when must be a function, not 1'],
    [{ maxFailures: 0 }, 'maxFailures must be an integer >= 1, not 0'],
    [{ cooldown: -1 }, 'cooldown must be a number of milliseconds >= 0 and < 2 ** 31, not -1'],
    [{ name: ' ' }, 'name must be a non-blank string, not " "'],
    [{ order: NaN }, 'order must be a finite number, not NaN'],
  ] as const)
    it(`rejects ${message}`, () => {
      const valid = { models: [model('b')] };

      expect(() => new FallbackAdvisor({ ...valid, ...options } as never)).to.throw(
        InvalidArgumentError,
        `FallbackAdvisor: ${message}`,
      );
    });

  it('is warned of left of the tool loop, where finished tools would run again', () => {
    const order = AdvisorOrder.GUARD;
    const advisor = new FallbackAdvisor({ models: [model('b')], order });
    const client = ChatClient.builder(model('a')).defaultAdvisors(advisor).build();

    expect(client.explain().warnings[0]).to.match(/"fallback" retries left of the tool loop/);
  });

  for (const mode of MODES) {
    it(`${mode}: asks the models in turn, and throws the error of the last one (vercel/ai#2636, vercel/ai#9030)`, async () => {
      const last = down();
      const [a, b, c] = [
        model('a', () => down()),
        model('b', () => down()),
        model('c', () => last),
      ];
      const spec = ChatClient.create(a).prompt('?');

      const failure = await failureOf(
        runSpec(mode, spec.advisors(new FallbackAdvisor({ models: [b, c] }))),
      );

      expect(failure).to.equal(last);
      expect([a, b, c].map(({ prompts }) => prompts.length)).to.deep.equal([1, 1, 1]);
    });

    it(`${mode}: takes a model with a field "model" for a model`, async () => {
      class Wrapper extends ScriptedChatModel {
        readonly model = 'wrapped';
      }
      const advisor = new FallbackAdvisor({ models: [new Wrapper(['Fine.'])] });
      const spec = ChatClient.create(model('a', () => down())).prompt('?');

      expect((await runSpec(mode, spec.advisors(advisor))).text).to.equal('Fine.');
    });

    it(`${mode}: keeps tools, messages and options, with no message to continue (langchainjs#6869, litellm#31067)`, async () => {
      const a = model('a', [
        { toolCalls: [{ name: 'noop' }] },
        { text: 'Half', error: down() },
        'End.',
      ]);
      const b = model('b', [{ toolCalls: [{ name: 'noop' }], model: 'b' }]);
      const advisors = [new FallbackAdvisor({ models: [{ model: b, options: { maxTokens: 7 } }] })];

      const { response } = await runTurn(mode, a, {
        tools: [noop],
        advisors,
        options: { temperature: 0 },
      });

      expect(response.text).to.equal('End.');
      const [, failed] = a.prompts;
      const [asked] = b.prompts;
      expect(asked?.messages).to.deep.equal(failed?.messages);
      expect(asked?.options.tools?.map(({ definition }) => definition.name)).to.deep.equal([
        'noop',
      ]);
      expect(asked?.options).to.include({ temperature: 0, maxTokens: 7, model: 'b' });
      expect(a.prompts[2]?.options).to.not.have.property('maxTokens');
    });

    it(`${mode}: sends no reasoning or provider data of one model to another (opencode#35689)`, async () => {
      const own = { reasoning: 'hm', metadata: { openai: { id: 'rs_1' } } };
      const a = model('a', [{ toolCalls: [{ name: 'noop' }], ...own }, down()]);
      const b = model('b');

      await runTurn(mode, a, { tools: [noop], advisors: [new FallbackAdvisor({ models: [b] })] });

      expect(JSON.stringify(a.prompts[1]?.messages)).to.include('rs_1');
      expect(JSON.stringify(b.prompts[0]?.messages)).to.not.match(/rs_1|"hm"/);
    });

    it(`${mode}: runs no finished tool again`, async () => {
      let runs = 0;
      const pay = defineTool({ name: 'pay', effect: 'write', execute: () => ++runs });
      const a = model('a', [{ toolCalls: [{ name: 'pay' }] }, down()]);
      const advisors = [new FallbackAdvisor({ models: [model('b')] })];

      const { response } = await runTurn(mode, a, { tools: [pay], advisors });

      expect([response.text, runs]).to.deep.equal(['I am b.', 1]);
    });

    it(`${mode}: asks the predicate about responses; usage of all counts`, async () => {
      const a = model('a', [{ text: 'I cannot.', refusal: 'no', model: 'a', usage }]);
      const when: FallbackAdvisorOptions['when'] = (_error, response) =>
        Promise.resolve(response?.message.refusal !== undefined);
      const advisor = new FallbackAdvisor({ models: [model('b')], when });

      const { run, ...response } = await runSpec(
        mode,
        ChatClient.create(a).prompt('?').advisors(advisor),
      ).then((answer) => ({ text: answer.text, usage: answer.usage, run: answer.run }));

      expect(response.text).to.equal('I am b.');
      expect(response.usage).to.include({ totalTokens: 22 });
      expect(run?.ledger.map((call) => call.model)).to.deep.equal(['a', 'b']);
    });

    for (const status of [400, 422])
      it(`${mode}: does not repeat a request that is at fault itself: ${status}`, async () => {
        const error = new ModelCallError('bad request', { status });
        const b = model('b');
        const spec = ChatClient.create(model('a', () => error)).prompt('?');

        const failure = await failureOf(
          runSpec(mode, spec.advisors(new FallbackAdvisor({ models: [b] }))),
        );

        expect(failure).to.equal(error);
        expect(b.prompts).to.have.length(0);
      });

    it(`${mode}: falls back on a model whose key is rejected, and no other error`, async () => {
      const key = new ModelCallError('bad key', { status: 401 });
      const advisor = new FallbackAdvisor({ models: [model('b')] });
      const ask = (error: Error) =>
        runSpec(
          mode,
          ChatClient.create(model('a', () => error))
            .prompt('?')
            .advisors(advisor),
        );

      expect((await ask(key)).text).to.equal('I am b.');
      expect(await failureOf(ask(new TypeError('a bug')))).to.be.instanceOf(TypeError);
    });

    it(`${mode}: shows the fallback on its span`, async () => {
      const recording = recordSpans();
      const advisors = [
        new ObservabilityAdvisor({ tracer: recording.tracer }),
        new FallbackAdvisor({ models: [model('b')] }),
      ];

      await runSpec(
        mode,
        ChatClient.create(model('a', [down()]))
          .prompt('?')
          .advisors(...advisors),
      );

      const span = recording.spans.find(({ name }) => name.includes('fallback'));
      expect(
        span?.events.map(({ name, attributes }) => [name, attributes?.['gen_ai.request.model']]),
      ).to.deep.equal([['advisor_chain.fallback', 'b']]);
    });

    it(`${mode}: gives each model the attempts of a retry right of it`, async () => {
      const [a, b] = [model('a', () => down()), model('b', [down(), 'Fine.'])];
      const advisors = [
        new RetryAdvisor({ firstDelay: 0, maxRetries: 1 }),
        new FallbackAdvisor({ models: [b] }),
      ];

      const { response } = await runTurn(mode, a, { advisors });

      expect(response.text).to.equal('Fine.');
      expect([a.prompts.length, b.prompts.length]).to.deep.equal([2, 2]);
    });

    it(`${mode}: asks no other model when a part of the run was cancelled`, async () => {
      const error = new CancelledError('a nested run was cancelled');
      const b = model('b');
      const advisor = new FallbackAdvisor({ models: [b], when: () => true });
      const spec = ChatClient.create(model('a', [error]))
        .prompt('?')
        .advisors(advisor);

      expect(await failureOf(runSpec(mode, spec))).to.equal(error);
      expect(b.prompts).to.have.length(0);
    });

    it(`${mode}: asks no other model after a cancellation`, async () => {
      const controller = new AbortController();
      const a = model('a', () => {
        controller.abort();
        return down();
      });
      const b = model('b');
      const advisor = new FallbackAdvisor({ models: [b], when: () => true });
      const spec = ChatClient.create(a).prompt('?').signal(controller.signal).advisors(advisor);

      expect(await failureOf(runSpec(mode, spec))).to.include({ code: 'cancelled' });
      expect(b.prompts).to.have.length(0);
    });
  }

  it('streams the answer of the other model as it arrives, after a retract (langchainjs#6026)', async () => {
    const a = model('a', [{ deltas: ['Hel'], error: down() }]);
    const b = model('b', [{ deltas: ['Good ', 'day'], model: 'b' }]);

    const { events } = await runTurn('stream', a, {
      advisors: [new FallbackAdvisor({ models: [b] })],
    });

    expect(
      events.map((event) => (event.type === 'text-delta' ? event.text : event.type)),
    ).to.deep.equal([
      'iteration-start',
      'Hel',
      'retract',
      'iteration-start',
      'Good ',
      'day',
      'response',
    ]);
  });

  describe('remembers a dead model', () => {
    const time = new VirtualTime();
    beforeEach(() => time.start());
    afterEach(() => time.restore());

    for (const mode of MODES) {
      const scene = (script: Script, options: Partial<FallbackAdvisorOptions> = {}) => {
        const a = model('a', script);
        const advisor = new FallbackAdvisor({ models: [model('b')], maxFailures: 2, ...options });
        const client = ChatClient.builder(a).defaultAdvisors(advisor).build();
        const ask = async (): Promise<string | null> =>
          (await time.until(runSpec(mode, client.prompt('?')))).value.text;
        return { a, ask, client };
      };

      it(`${mode}: skips it for a while, then one run tries it again`, async () => {
        let isDown = true;
        const { a, ask } = scene(() => (isDown ? down() : 'I am a.'));
        for (let turn = 0; turn < 5; turn++) expect(await ask()).to.equal('I am b.');
        expect(a.prompts).to.have.length(2);

        await time.pass(30_000);
        await Promise.all([ask(), ask(), ask()]); // still down: one of them tries
        expect(a.prompts).to.have.length(3);

        isDown = false;
        await time.pass(30_000);
        expect(await ask()).to.equal('I am a.');
        expect(await ask()).to.equal('I am a.');
      });

      it(`${mode}: skips it for longer if its server asks for that`, async () => {
        const { a, ask } = scene(
          () => new ModelCallError('later', { retryable: true, retryAfter: 90_000 }),
        );
        await ask();
        await ask();

        await time.pass(80_000);
        await ask();
        expect(a.prompts).to.have.length(2);

        await time.pass(10_000);
        await ask();
        expect(a.prompts).to.have.length(3);
      });

      for (const other of [
        () => ({ error: down(), delay: 20 }),
        () => ({ text: 'Here.', delay: 20 }),
      ])
        it(`[D105] ${mode}: the end of another run does not shorten the pause that its server asks for: ${'error' in other() ? 'failure' : 'answer'}`, async () => {
          const later = new ModelCallError('later', { retryable: true, retryAfter: 600_000 });
          const { a, client } = scene(
            (_, index) => (index === 0 ? { error: later, delay: 5 } : index === 1 ? other() : 'a'),
            { maxFailures: 1 },
          );
          const ask = () => time.until(runSpec(mode, client.prompt('?')));
          await Promise.all([ask(), ask()]);

          await time.pass(599_000);
          await ask();
          expect(a.prompts).to.have.length(2);

          await time.pass(1_100);
          await ask();
          expect(a.prompts).to.have.length(3);
        });

      it(`${mode}: counts failures in a row, in mid-stream too, and no refused answer`, async () => {
        const cut = { text: 'Half', error: down() };
        const { a, ask } = scene([cut, 'Fine.', cut, 'bad', 'bad', 'Fine.'], {
          when: (error, response) => error !== undefined || response?.text === 'bad',
        });

        for (let turn = 0; turn < 6; turn++) await ask();

        expect(a.prompts).to.have.length(6);
      });

      it(`${mode}: asks the model of the request if each one is to be skipped`, async () => {
        const b = model('b', () => down());
        const { a, client } = scene(() => down(), { models: [b], maxFailures: 1 });

        for (let turn = 0; turn < 3; turn++)
          await time.until(failureOf(runSpec(mode, client.prompt('?'))));

        expect([a.prompts.length, b.prompts.length]).to.deep.equal([3, 1]);
      });
    }
  });
});
