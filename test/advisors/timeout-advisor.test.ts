import { expect } from 'chai';
import {
  AdvisorContext,
  AdvisorOrder,
  ChatClient,
  ChatResponse,
  defineTool,
  FallbackAdvisor,
  InvalidArgumentError,
  LimitExceededError,
  ModelTimeoutError,
  RetryAdvisor,
  TimeoutAdvisor,
  type Advisor,
  type ChatModel,
  type TimeoutAdvisorOptions,
} from '../../src/index.js';
import { Observable } from 'rxjs';
import { ScriptedChatModel, type ScriptedAnswer } from '../../src/testing/index.js';
import { failureOf, MODES, runSpec, type Mode } from '../support/modes.js';
import { VirtualTime } from '../support/virtual-time.js';

const DELTAS = ['one ', 'two ', 'three'];

/** More deltas than a stream buffers for its consumer. */
const MANY = Array.from({ length: 600 }, () => 'x');

/** Emits no delta before its consumer is ready for it, as models on a network do. */
const PACED: ChatModel = {
  defaultOptions: {},
  call: () => Promise.reject(new Error('only streams')),
  stream: (_prompt, run) =>
    new Observable((subscriber) => {
      const emit = async (): Promise<void> => {
        for (const text of MANY) {
          await run?.ready?.();
          subscriber.next({ type: 'text-delta', text });
        }
        await run?.ready?.();
        const response = ChatResponse.ofText(MANY.join(''));
        subscriber.next({ type: 'response', response, context: AdvisorContext.empty });
        subscriber.complete();
      };
      void emit();
    }),
};

describe('TimeoutAdvisor', () => {
  const LIMIT = 'a number of milliseconds > 0 and < 2 ** 31, or Infinity';
  for (const [options, message] of [
    [{}, 'one of firstDelta, idle, iteration and turn must be set'],
    [{ turn: 1, idle: 1 }, 'turn is limited left of the tool loop, firstDelta, idle and iteration'],
    [{ firstDelta: 0 }, `firstDelta must be ${LIMIT}, not 0`],
    [{ idle: -1 }, `idle must be ${LIMIT}, not -1`],
    [{ iteration: '1' }, `iteration must be ${LIMIT}, not "1"`],
    [{ turn: NaN }, `turn must be ${LIMIT}, not NaN`],
    [{ turn: 1, name: '' }, 'name must be a non-blank string, not ""'],
    [{ turn: 1, order: NaN }, 'order must be a finite number, not NaN'],
  ] as const)
    it(`rejects ${JSON.stringify(options)}`, () => {
      expect(() => new TimeoutAdvisor(options as never)).to.throw(
        InvalidArgumentError,
        `TimeoutAdvisor: ${message}`,
      );
    });

  it('is warned of on the wrong side of the tool loop', () => {
    const warningsOf = (options: TimeoutAdvisorOptions): readonly string[] =>
      ChatClient.builder(new ScriptedChatModel([]))
        .defaultAdvisors(new TimeoutAdvisor(options))
        .build()
        .explain().warnings;
    const { GUARD, RESILIENCE } = AdvisorOrder;

    expect(warningsOf({ iteration: 1, order: GUARD })[0]).to.match(/"timeout" limits model calls/);
    expect(warningsOf({ turn: 1, order: RESILIENCE })[0]).to.match(
      /"turn-timeout" limits the turn/,
    );
    expect([...warningsOf({ iteration: 1 }), ...warningsOf({ turn: 1 })]).to.deep.equal([]);
  });

  describe('in time', () => {
    const time = new VirtualTime();
    beforeEach(() => time.start());
    afterEach(() => time.restore());

    const run = (
      mode: Mode,
      model: ChatModel | readonly ScriptedAnswer[],
      ...advisors: readonly Advisor[]
    ) => {
      const asked = 'call' in model ? model : new ScriptedChatModel(model);
      const spec = ChatClient.create(asked)
        .prompt('?')
        .advisors(...advisors);
      return time.until(
        runSpec(mode, spec).then(
          ({ text }) => text,
          (error: unknown) => error,
        ),
      );
    };

    for (const [name, options, delay, expected] of [
      ['firstDelta', { firstDelta: 200 }, 250, 200],
      ['idle', { idle: 200, firstDelta: 400 }, 250, 450],
      ['iteration', { iteration: 300 }, 250, 300],
    ] as const)
      it(`stream: ends an answer at ${name}, and names it`, async () => {
        const model = new ScriptedChatModel([{ deltas: DELTAS, delay }]);

        const { value, time: elapsed } = await run('stream', model, new TimeoutAdvisor(options));

        expect(value).to.be.instanceOf(ModelTimeoutError);
        expect(value).to.include({ code: 'model_timeout', option: name, retryable: true });
        expect(elapsed).to.equal(expected);
        expect(model.cancelled).to.equal(1);
      });

    it('stream: lets an answer pass that keeps all limits', async () => {
      const advisor = new TimeoutAdvisor({ firstDelta: 300, idle: 300, iteration: 2_000 });

      const { value } = await run('stream', [{ deltas: DELTAS, delay: 250 }], advisor);

      expect(value).to.equal('one two three');
    });

    it('call: limits the iteration; there are no deltas', async () => {
      const script = [{ text: 'slow', delay: 250 }];
      const deltas = new TimeoutAdvisor({ firstDelta: 50, idle: 50, name: 'deltas' });

      expect((await run('call', script, deltas)).value).to.equal('slow');
      const { value } = await run('call', script, new TimeoutAdvisor({ iteration: 200 }));
      expect(value).to.include({ code: 'model_timeout', option: 'iteration' });
    });

    for (const mode of MODES) {
      it(`${mode}: takes Infinity for no limit`, async () => {
        const options = { firstDelta: Infinity, idle: Infinity, iteration: Infinity };
        const turn = new TimeoutAdvisor({ turn: Infinity });
        const script = [{ deltas: DELTAS, delay: 100_000 }];

        const { value } = await run(mode, script, turn, new TimeoutAdvisor(options));

        expect(value).to.equal('one two three');
      });

      it(`${mode}: ends a model that ignores its cancellation`, async () => {
        const deaf: ChatModel = {
          defaultOptions: {},
          call: () => new Promise(() => undefined),
          stream: () => new Observable(),
        };

        const { value } = await run(mode, deaf, new TimeoutAdvisor({ iteration: 500 }));

        expect(value).to.include({ option: 'iteration' });
      });

      it(`${mode}: limits each attempt of a retry and each model of a fallback`, async () => {
        const slow = { text: 'slow', delay: 1_000 };
        const a = new ScriptedChatModel([slow, slow]);
        const b = new ScriptedChatModel([slow, { text: 'fast', delay: 10 }]);
        const advisors = [
          new TimeoutAdvisor({ iteration: 500 }),
          new RetryAdvisor({ maxRetries: 1, firstDelay: 0 }),
          new FallbackAdvisor({ models: [b] }),
        ];

        const { value } = await run(mode, a, ...advisors);

        expect(value).to.equal('fast');
        expect([a.cancelled, b.cancelled]).to.deep.equal([2, 1]);
      });

      it(`${mode}: limits the retries as a whole from the left of them, and ends their wait`, async () => {
        const timeout = new TimeoutAdvisor({ iteration: 700, order: AdvisorOrder.RESILIENCE - 1 });
        const retry = new RetryAdvisor({ when: () => true, firstDelay: 60_000 });
        const model = new ScriptedChatModel(['no', 'no', 'no']);

        const { value, time: elapsed } = await run(mode, model, timeout, retry);

        expect(value).to.include({ option: 'iteration' });
        expect(elapsed).to.equal(700);
        await time.pass(200_000);
        expect(model.prompts).to.have.length(1);
      });

      it(`${mode}: ends a turn with its tools, and is not repeated`, async () => {
        let aborted = false;
        const hang = defineTool({
          name: 'hang',
          execute: (_args, { signal }) =>
            new Promise((resolve) => {
              signal.addEventListener('abort', () => resolve((aborted = true)));
            }),
        });
        const model = new ScriptedChatModel(() => ({ toolCalls: [{ name: 'hang' }] }));
        const spec = ChatClient.create(model).prompt('?').tools(hang);
        const advisors = [new TimeoutAdvisor({ turn: 5_000 }), new RetryAdvisor()];

        const { value, time: elapsed } = await time.until(
          failureOf(runSpec(mode, spec.advisors(...advisors))),
        );

        expect(value).to.be.instanceOf(LimitExceededError);
        expect(value).to.include({ limit: 'duration', option: 'turn', value: 5_000, spent: 5_000 });
        expect(elapsed).to.equal(5_000);
        expect(aborted).to.equal(true);
        expect(model.prompts).to.have.length(1);
      });

      it(`${mode}: begins again with each iteration`, async () => {
        const noop = defineTool({ name: 'noop', execute: () => 'done' });
        const slow = { delay: 300 };
        const model = new ScriptedChatModel([
          { ...slow, toolCalls: [{ name: 'noop' }] },
          { ...slow, text: 'Fine.' },
        ]);
        const spec = ChatClient.create(model).prompt('?').tools(noop);

        const { value } = await time.until(
          runSpec(mode, spec.advisors(new TimeoutAdvisor({ iteration: 700, firstDelta: 350 }))),
        );

        expect(value.text).to.equal('Fine.');
      });
    }

    it('stream: does not count the time of a slow consumer', async () => {
      const spec = ChatClient.create(PACED).prompt('?');
      const answer = spec.advisors(new TimeoutAdvisor({ idle: 200 })).stream();
      const reading = (async () => {
        let text = '';
        for await (const piece of answer) {
          if (text === '') await new Promise((resolve) => setTimeout(resolve, 1_000));
          text += piece;
        }
        return text;
      })();

      const { value, time: elapsed } = await time.until(reading);
      expect(value).to.equal(MANY.join(''));
      expect(elapsed).to.equal(1_000);
    });
  });
});
