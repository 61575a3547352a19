import { expect } from 'chai';
import {
  ApprovalAdvisor,
  defineTool,
  ToolOutcomeUnknownError,
  type DurableAdvisorOptions,
  type DurableEntries,
  type PendingRequest,
} from '../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../src/testing/index.js';
import { durableSpec, finish, KilledEngine, type Finished } from '../support/durable.js';
import { MODES, type Mode } from '../support/modes.js';

const ANSWERS: readonly ScriptedAnswer[] = [
  { toolCalls: [{ name: 'pay', id: 'c1', arguments: { euros: 5 } }] },
  'Done.',
];

/** A turn with a call that has an effect, in processes of which the first is killed in the call. */
class Payment {
  paid = 0;

  constructor(
    private readonly mode: Mode,
    private readonly options: Partial<DurableAdvisorOptions> = {},
    private readonly approval?: ApprovalAdvisor,
  ) {}

  async killed(): Promise<DurableEntries> {
    const engine = new KilledEngine([], { at: 'tool pay c1', place: 'after' });
    await this.run(engine);
    return engine.inner.entries();
  }

  run(engine: KilledEngine): Promise<Finished> {
    const model = new ScriptedChatModel(
      ({ messages }) =>
        ANSWERS[messages.filter(({ role }) => role === 'assistant').length] as ScriptedAnswer,
    );
    const pay = defineTool({ name: 'pay', effect: 'write', execute: () => `Paid ${++this.paid}.` });
    const advisors = this.approval ? [this.approval] : [];
    const { options, mode } = this;
    return finish(durableSpec({ model, tools: [pay], advisors, options }, engine), mode);
  }
}

const resultOf = ({ response }: Finished): { content?: unknown; error?: unknown } =>
  response?.run?.toolCalls[0]?.result ?? {};

for (const mode of MODES)
  describe(`an interrupted call with an effect in a durable turn (${mode})`, () => {
    it('is refused if no person can be asked', async () => {
      const payment = new Payment(mode);
      const end = await payment.run(new KilledEngine(await payment.killed()));

      const { error } = resultOf(end);
      expect(payment.paid).to.equal(1);
      expect((error as Error).cause).to.be.instanceOf(ToolOutcomeUnknownError);
    });

    it("runs again with onUnknown: 'run'", async () => {
      const payment = new Payment(mode, { onUnknown: 'run' });
      const end = await payment.run(new KilledEngine(await payment.killed()));

      expect(resultOf(end).content).to.equal('Paid 2.');
    });

    for (const [value, paid, content] of [
      ['run', 2, 'Paid 2.'],
      ['refuse', 1, 'Not run'],
    ] as const)
      it(`asks a person by the engine, and takes the answer "${value}" once`, async () => {
        const approval = new ApprovalAdvisor({ policy: { pay: 'allow' } });
        const payment = new Payment(mode, {}, approval);
        const engine = new KilledEngine(await payment.killed());
        const asked = new Promise<PendingRequest>((resolve) => {
          engine.onWait = (_, options) => resolve(options?.request as unknown as PendingRequest);
        });
        const running = payment.run(engine);
        const request = await asked;

        engine.inner.send(request.id, { type: 'answer', value });
        const end = await running;
        const again = await payment.run(new KilledEngine(engine.inner.entries()));

        expect(request).to.include({ type: 'question', toolName: 'pay', callId: 'c1' });
        expect(request.prompt).to.include('{"euros":5}');
        expect(payment.paid).to.equal(paid);
        for (const each of [end, again]) expect(resultOf(each).content).to.include(content);
      });

    it('does not reject its step while it asks: engines record that as a failure for good', async () => {
      const approval = new ApprovalAdvisor({
        policy: { pay: 'allow' },
        decide: () => ({ type: 'answer', value: 'run' }),
      });
      const payment = new Payment(mode, {}, approval);
      const engine = new KilledEngine(await payment.killed());
      const rejected: string[] = [];
      const step = engine.step.bind(engine);
      engine.step = (name, run) =>
        step(name, run).catch((error: unknown) => {
          rejected.push(name);
          throw error;
        });

      const end = await payment.run(engine);

      expect(resultOf(end).content).to.equal('Paid 2.');
      expect(rejected).to.deep.equal([]);
    });

    it('is decided again if it is interrupted again', async () => {
      const approval = new ApprovalAdvisor({ policy: { pay: 'allow' } });
      const payment = new Payment(mode, {}, approval);
      const answer = async (
        entries: DurableEntries,
        kill?: ConstructorParameters<typeof KilledEngine>[1],
      ) => {
        const engine = new KilledEngine(entries, kill);
        const prompts: string[] = [];
        engine.onWait = (_, options) => {
          const { request = null } = options ?? {};
          const { id, prompt } = request as unknown as PendingRequest;
          prompts.push(prompt);
          engine.inner.send(id, { type: 'answer', value: kill ? 'run' : 'refuse' });
        };
        return { end: await payment.run(engine), prompts, entries: engine.inner.entries() };
      };

      const second = await answer(await payment.killed(), { at: 3, place: 'after' });
      const third = await answer(second.entries);

      expect(second.prompts).to.have.length(1);
      expect(third.prompts.at(-1)).to.include('Attempt 2 of this call');
      expect(payment.paid).to.equal(2);
      expect(resultOf(third.end).content).to.include('Not run');
    });

    it('is refused if the person does not answer', async () => {
      const approval = new ApprovalAdvisor({
        policy: { pay: 'allow' },
        decide: () => ({ type: 'cancel' }),
      });
      const payment = new Payment(mode, {}, approval);
      const end = await payment.run(new KilledEngine(await payment.killed()));

      expect(payment.paid).to.equal(1);
      expect(resultOf(end).content).to.include('Not run');
    });
  });

for (const mode of MODES)
  describe(`a failed call in a durable turn (${mode})`, () => {
    it('replays as a failure of the tool if a person has edited its arguments', async () => {
      const pay = defineTool({
        name: 'pay',
        effect: 'write',
        execute: () => Promise.reject(new Error('The bank is closed.')),
      });
      const edit = { type: 'edit', arguments: { euros: 4 } } as const;
      const run = (entries: DurableEntries): readonly [KilledEngine, Promise<Finished>] => {
        const engine = new KilledEngine(entries);
        const advisors = [new ApprovalAdvisor({ decide: () => edit })];
        const model = new ScriptedChatModel(ANSWERS);
        return [engine, finish(durableSpec({ model, tools: [pay], advisors }, engine), mode)];
      };
      const [engine, first] = run([]);
      const { response } = await first;
      const [, replay] = run(engine.inner.entries());

      expect(response?.text).to.equal('Done.');
      expect((await replay).response?.text).to.equal('Done.');
    });
  });
