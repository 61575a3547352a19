import { expect } from 'chai';
import { config } from 'rxjs';
import {
  AdvisorOrder,
  ChatClient,
  defineAdvisor,
  defineTool,
  GuardAdvisor,
  RetryAdvisor,
  ModelCallError,
  ToolCallingAdvisor,
  wordRule,
  type Advisor,
  type ChatEvent,
  type Step,
  type ToolCallingAdvisorOptions,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { durableSpec, finish, KilledEngine } from '../../support/durable.js';
import { MODES } from '../../support/modes.js';
import { runTurn, summary } from '../../support/turn.js';

const asks = (text: string, ...names: readonly string[]): ScriptedAnswer => ({
  text,
  toolCalls: names.map((name) => ({ name, id: `c-${name}` })),
});
const look = defineTool({ name: 'look', execute: () => 'found' });
const big = defineTool({ name: 'big', execute: () => ({ n: 1n, at: new Date(0) }) });
const tools = [look, big];
const stepsOf = (events: readonly ChatEvent[]) =>
  events.flatMap((event) => (event.type === 'step' ? [event] : []));
const textOfStep = ({ index, response, toolCalls }: Step): string =>
  `${index} ${response.text}: ${toolCalls.map(({ call, status }) => `${call.name} ${status}`).join(', ')}`;

for (const mode of MODES) {
  describe(`the event "step", ${mode}`, () => {
    const eventsOf = async (
      answers: readonly ScriptedAnswer[],
      ...advisors: readonly Advisor[]
    ): Promise<readonly ChatEvent[]> => {
      const client = ChatClient.builder(new ScriptedChatModel(answers))
        .defaultTools(...tools)
        .defaultAdvisors(...advisors)
        .build();
      return (await finish(client.prompt('?'), 'stream')).events;
    };

    it('has an iteration with all its results, before the next one begins', async () => {
      const { events } = await runTurn(mode, [asks('One.', 'look', 'big'), 'Done.'], { tools });

      const shown = summary(events).filter((event) =>
        /^(iteration|tool-(call|result) |step|resp)/.test(event),
      );
      expect(shown).to.deep.equal([
        'iteration 0 look+big',
        'tool-call c-look look',
        'tool-call c-big big',
        'tool-result c-look "found"',
        shown[4],
        'step 0',
        'response Done.',
      ]);
      expect(stepsOf(events).map(({ step }) => textOfStep(step))).to.deep.equal([
        '0 One.: look finished, big finished',
      ]);
    });

    it('stays as it was, and is data', async () => {
      const { events } = await runTurn(mode, [asks('One.', 'big'), 'Done.'], { tools });

      const [event] = stepsOf(events);

      expect(Object.isFrozen(event?.step)).to.equal(true);
      expect(JSON.parse(JSON.stringify(event))).to.have.nested.property(
        'step.toolCalls.0.toolName',
        'big',
      );
    });

    it('shows what a guard left of the loop has shown', async () => {
      const guard = new GuardAdvisor({
        output: [{ rules: wordRule({ words: ['secret'] }), action: 'redact' }],
      });

      const events = await eventsOf([asks('The secret.', 'look'), 'Done.'], guard);

      expect(stepsOf(events)).to.have.lengthOf(1);
      expect(JSON.stringify(stepsOf(events))).not.to.include('secret');
    });

    it('is not shown if an advisor lets no iteration through', async () => {
      const hides = defineAdvisor({
        name: 'hides',
        order: 0,
        onEvent: (event) => (event.type === 'iteration' ? [] : undefined),
      });

      const events = await eventsOf([asks('One.', 'look'), 'Done.'], hides);

      expect(stepsOf(events)).to.deep.equal([]);
    });

    it('comes again for each attempt of a turn', async () => {
      const retry = new RetryAdvisor({ order: AdvisorOrder.GUARD, firstDelay: 0 });
      const down = new ModelCallError('down', { retryable: true });

      const events = await eventsOf(
        [asks('One.', 'look'), down, asks('Two.', 'look'), 'Done.'],
        retry,
      );

      expect(stepsOf(events).map(({ step }) => textOfStep(step))).to.deep.equal([
        '0 One.: look finished',
        '0 Two.: look finished',
      ]);
    });

    it('is marked as replayed if the answer and all its results are recorded', async () => {
      const seen: (readonly [number, boolean])[] = [];
      const loop = new ToolCallingAdvisor({
        onStep: ({ index }, isReplayed) => void seen.push([index, isReplayed]),
      });
      const answers = [asks('One.', 'look'), asks('Two.', 'big'), 'Done.'];
      const turn = () => ({
        model: new ScriptedChatModel(({ messages }) => {
          const at = messages.filter(({ role }) => role === 'assistant').length;
          return answers[at] as ScriptedAnswer;
        }),
        tools,
        advisors: [loop],
      });
      const killed = new KilledEngine([], { at: 'model 1', place: 'before' });
      await finish(durableSpec(turn(), killed), mode);
      seen.length = 0;

      const { events } = await finish(
        durableSpec(turn(), new KilledEngine(killed.inner.entries())),
        mode,
      );

      expect(seen).to.deep.equal([
        [0, true],
        [1, false],
        [2, false],
      ]);
      if (mode === 'stream')
        expect(stepsOf(events).map(({ isReplayed }) => isReplayed)).to.deep.equal([
          true,
          undefined,
        ]);
    });
  });

  describe(`onStep, ${mode}`, () => {
    const steps = async (
      onStep: NonNullable<ToolCallingAdvisorOptions['onStep']>,
      loop: ToolCallingAdvisorOptions = {},
    ) =>
      runTurn(mode, [asks('One.', 'look'), asks('Two.', 'look'), 'Done.'], {
        tools,
        loop: { ...loop, onStep },
      });

    it('has each iteration with its results, the last answer included', async () => {
      const seen: string[] = [];

      const { response } = await steps((step) => void seen.push(textOfStep(step)));

      expect(seen).to.deep.equal(['0 One.: look finished', '1 Two.: look finished', '2 Done.: ']);
      expect(response.steps.map(textOfStep)).to.deep.equal(seen);
    });

    it('has the last answer of a turn at its limit', async () => {
      const seen: string[] = [];
      const { response } = await runTurn(mode, [asks('One.', 'look'), 'Enough.'], {
        tools,
        loop: { maxIterations: 1, onStep: (step) => void seen.push(textOfStep(step)) },
      });

      expect(response.text).to.equal('Enough.');
      expect(seen).to.deep.equal(['0 One.: look finished', '1 Enough.: ']);
    });

    for (const [name, failing] of [
      [
        'throws',
        () => {
          throw new Error('broken');
        },
      ],
      ['rejects', () => Promise.reject(new Error('broken'))],
    ] as const)
      it(`that ${name} is reported, and ends no turn`, async () => {
        const reported: unknown[] = [];
        const before = config.onUnhandledError;
        config.onUnhandledError = (error) => void reported.push(error);
        try {
          const { response } = await steps(failing);
          await new Promise((resolve) => setTimeout(resolve, 5));

          expect(response.text).to.equal('Done.');
          expect(reported.map(String)).to.deep.equal(Array(3).fill('Error: broken'));
        } finally {
          config.onUnhandledError = before;
        }
      });

    it('is not waited for', async () => {
      const { response } = await steps(() => new Promise(() => undefined));

      expect(response.text).to.equal('Done.');
    });
  });

  describe(`request.steps, ${mode}`, () => {
    it('has the iterations before this one inside the loop, and none before it', async () => {
      const seen: string[] = [];
      const watch = (name: string, order: number): Advisor =>
        defineAdvisor({
          name,
          order,
          before: (request) => {
            seen.push(`${name} ${request.steps.map(textOfStep).join('; ')}`.trimEnd());
            return request.withMessages([...request.prompt.messages]);
          },
        });

      await runTurn(mode, [asks('One.', 'look'), asks('Two.', 'big'), 'Done.'], {
        tools,
        advisors: [watch('outside', 0), watch('inside', AdvisorOrder.LOGGER)],
      });

      expect(seen).to.deep.equal([
        'outside',
        'inside',
        'inside 0 One.: look finished',
        'inside 0 One.: look finished; 1 Two.: big finished',
      ]);
    });

    it('lets an advisor prepare each iteration: its options and its model', async () => {
      const small = new ScriptedChatModel(['Done.']);
      const prepareStep = defineAdvisor({
        name: 'prepare-step',
        order: AdvisorOrder.LOGGER,
        before: (request) =>
          request.steps.length === 0
            ? request.withOptions({ toolChoice: 'required' })
            : request.withModel(small),
      });
      const model = new ScriptedChatModel([asks('One.', 'look')]);

      const { response } = await runTurn(mode, model, { tools, advisors: [prepareStep] });

      expect(response.text).to.equal('Done.');
      expect(model.prompts[0]?.options.toolChoice).to.equal('required');
      expect(small.prompts.map(({ options }) => options.toolChoice)).to.deep.equal([undefined]);
    });

    it('begins again with each attempt of the loop, also at the same time', async () => {
      const seen: number[] = [];
      const twice = defineAdvisor({
        name: 'twice',
        order: 0,
        around: async (request, next) => (await Promise.all([next(request), next(request)]))[1],
      });
      const inside = defineAdvisor({
        name: 'inside',
        order: AdvisorOrder.LOGGER,
        before: (request) => {
          seen.push(request.steps.length);
          return request;
        },
      });

      await runTurn(
        mode,
        ({ messages }) => (messages.at(-1)?.role === 'tool' ? 'Done.' : asks('', 'look')),
        {
          tools,
          advisors: [twice, inside],
        },
      );

      expect(seen.toSorted((a, b) => a - b)).to.deep.equal([0, 0, 1, 1]);
    });
  });
}
