import { expect } from 'chai';
import {
  ApprovalAdvisor,
  ChatClient,
  defineTool,
  InMemoryKeyValueStore,
  InvalidArgumentError,
  LimitExceededError,
  ToolLedgerAdvisor,
  ToolOutcomeUnknownError,
  type Advisor,
  type PromptSpec,
  type Reconcile,
  type Tool,
  type ToolReconcileEvent,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { durableSpec, finish, KilledEngine, type Finished } from '../../support/durable.js';
import { failureOf, MODES, runSpec, type Mode } from '../../support/modes.js';
import { decideAll, pauseOptions, untilAtRest } from '../../support/paused-turns.js';
import { VirtualTime } from '../../support/virtual-time.js';

const ANSWERS: readonly ScriptedAnswer[] = [{ toolCalls: [{ id: 'c1', name: 'pay' }] }, 'Done.'];
const modelOf = (): ScriptedChatModel =>
  new ScriptedChatModel(
    ({ messages }) => ANSWERS[messages.filter(({ role }) => role === 'assistant').length] ?? '',
  );

/** A bank, and a turn whose payment was interrupted after it, or before it. */
class Payment {
  readonly paid: string[] = [];
  readonly abort = new AbortController();

  /** @param interruption what ends the first run of the tool */
  tool(interruption?: () => Promise<never>, isBefore = false): Tool {
    return defineTool({
      name: 'pay',
      effect: 'write',
      execute: (_, { idempotencyKey }) => {
        if (!isBefore) this.paid.push(idempotencyKey);
        return interruption ? interruption() : 'Paid.';
      },
    });
  }

  /** Asks the bank. */
  readonly find: Reconcile = ({ context }) =>
    this.paid.includes(context.idempotencyKey) ? { content: 'Paid before.' } : 'not-run';
}

const never = (): Promise<never> => new Promise(() => undefined);
const clientOf = (tool: Tool, advisor: Advisor): ChatClient =>
  ChatClient.builder(modelOf()).defaultTools(tool).defaultAdvisors(advisor).build();

/** A turn that was interrupted in its payment. */
interface Interrupted {
  /** Its next attempt, with a function that asks the bank. */
  readonly next: (reconcile?: Reconcile) => PromptSpec;
  /** Resolves when an attempt that was cancelled refuses the next one no more. */
  readonly atRest?: () => Promise<void>;
}

type Interrupt = (payment: Payment, mode: Mode, isBefore: boolean) => Promise<Interrupted>;

const RECORDERS: Readonly<Record<string, Interrupt>> = {
  'a ledger': async (payment, mode, isBefore) => {
    const store = new InMemoryKeyValueStore();
    const failing = payment.tool(() => Promise.reject(new Error('socket hang up')), isBefore);
    const spec = (tool: Tool, reconcile?: Reconcile): PromptSpec =>
      clientOf(tool, new ToolLedgerAdvisor({ store, reconcile })).prompt('Pay.').turnId('turn-1');
    await runSpec(mode, spec(failing));
    return { next: (reconcile) => spec(payment.tool(), reconcile) };
  },
  'a durable turn': async (payment, mode, isBefore) => {
    const spec = (tool: Tool, engine: KilledEngine, reconcile?: Reconcile): PromptSpec =>
      durableSpec({ model: modelOf(), tools: [tool], options: { reconcile } }, engine);
    const engine = new KilledEngine([], { at: 'tool pay c1', place: 'after' });
    const hung = payment.tool(async () => Promise.reject(new Error('socket hang up')), isBefore);
    await finish(spec(hung, engine), mode);
    const entries = engine.inner.entries().filter(([name]) => name !== 'tool pay c1');
    return { next: (reconcile) => spec(payment.tool(), new KilledEngine(entries), reconcile) };
  },
  'a paused turn': async (payment, mode, isBefore) => {
    const pause = pauseOptions();
    const spec = (tool: Tool, reconcile?: Reconcile): ChatClient =>
      clientOf(tool, new ApprovalAdvisor({ pause: { ...pause, reconcile } }));
    const aborted = payment.tool(() => (payment.abort.abort(), never()), isBefore);
    const first = await runSpec(mode, spec(aborted).prompt('Pay.'));
    const state = first.paused?.state ?? '';
    const resume = (client: ChatClient): PromptSpec => client.resume(state, decideAll(first));
    await failureOf(runSpec(mode, resume(spec(aborted)).signal(payment.abort.signal)));
    const atRest = (): Promise<void> => untilAtRest(pause.store, state);
    await atRest();
    return { next: (reconcile) => resume(spec(payment.tool(), reconcile)), atRest };
  },
};

const resultOf = ({ response }: Finished): { content?: unknown; error?: unknown } =>
  response?.run?.toolCalls[0]?.result ?? {};
const eventsOf = ({ events }: Finished): readonly ToolReconcileEvent[] =>
  events.flatMap((event) =>
    event.type === 'custom' && event.name === 'tool-reconcile' ? [event.data] : [],
  );

for (const [recorder, interrupt] of Object.entries(RECORDERS))
  for (const mode of MODES)
    describe(`a call of unknown outcome in ${recorder} (${mode})`, () => {
      const virtual = new VirtualTime();
      afterEach(() => virtual.restore());
      const interrupted = async (isBefore = false) => {
        const payment = new Payment();
        const { next, atRest } = await interrupt(payment, mode, isBefore);
        const again = (reconcile?: Reconcile): Promise<Finished> => finish(next(reconcile), mode);
        return { payment, next, again, atRest };
      };

      it('gets the result that its service knows, and makes its effect once', async () => {
        const { payment, again } = await interrupted();

        const end = await again(payment.find);

        expect(resultOf(end).content).to.equal('Paid before.');
        expect(payment.paid).to.have.length(1);
        expect(end.response?.text).to.equal('Done.');
        if (mode === 'stream')
          expect(eventsOf(end)).to.deep.equal([
            { toolName: 'pay', callId: 'c1', outcome: 'result' },
          ]);
      });

      it('is made if its service has not made it', async () => {
        const { payment, again } = await interrupted(true);

        const end = await again(payment.find);

        expect(resultOf(end).content).to.equal('Paid.');
        expect(payment.paid).to.have.length(1);
      });

      for (const reconcile of [undefined, () => 'unknown' as const])
        it(`is refused ${reconcile ? 'if its service does not know' : 'without a function'}`, async () => {
          const { payment, again } = await interrupted();

          const { error } = resultOf(await again(reconcile)) as { error: Error };

          expect(error.cause).to.be.instanceOf(ToolOutcomeUnknownError);
          expect((error.cause as Error).cause).to.equal(undefined);
          expect(payment.paid).to.have.length(1);
        });

      const offline = new Error('the bank is offline');
      for (const [fails, reconcile] of [
        ['throws', (): never => { throw offline; }], // prettier-ignore
        ['rejects', () => Promise.reject(offline)],
      ] as const)
        it(`is refused, and has the error, if the function ${fails}`, async () => {
          const { payment, again } = await interrupted();

          const end = await again(reconcile);

          const { error } = resultOf(end) as { error: Error };
          const cause = error.cause as Error;
          expect([cause instanceof ToolOutcomeUnknownError, cause.cause]).to.deep.equal([true, offline]); // prettier-ignore
          expect(payment.paid).to.have.length(1);
          if (mode === 'stream')
            expect(eventsOf(end)).to.deep.equal([
              { toolName: 'pay', callId: 'c1', outcome: 'unknown', error: offline },
            ]);
        });

      for (const wrong of [undefined, null, 'run', { content: 1 }])
        it(`is refused if the function returns ${JSON.stringify(wrong)}`, async () => {
          const { again } = await interrupted();

          const { error } = resultOf(await again(() => wrong as never)) as { error: Error };

          const cause = (error.cause as Error).cause as Error;
          expect(cause).to.be.instanceOf(InvalidArgumentError);
          expect(cause.message).to.include(
            "must be the result of the call, 'not-run' or 'unknown'",
          );
        });

      it('is refused if the function hangs, whose signal aborts', async () => {
        const { again } = await interrupted();
        const virtual = new VirtualTime();
        let signal: AbortSignal | undefined;
        virtual.start();
        const hang: Reconcile = ({ context }) => ((signal = context.signal), never());

        const { value, time } = await virtual.until(again(hang)).finally(() => virtual.restore());

        const { error } = resultOf(value) as { error: Error };
        const cause = ((error.cause as Error).cause as Error).cause as LimitExceededError;
        expect(cause).to.be.instanceOf(LimitExceededError);
        expect([cause.option, cause.value, signal?.aborted]).to.deep.equal(['timeout', 30_000, true]); // prettier-ignore
        expect(time).to.be.at.least(30_000);
      });

      it('stays open if the turn is cancelled meanwhile', async () => {
        const { payment, next, atRest } = await interrupted();
        const abort = new AbortController();
        const hang: Reconcile = () => (abort.abort(), never());
        const { error } = await finish(next(hang).signal(abort.signal), mode);
        expect(error).to.include({ code: 'cancelled' });
        await atRest?.();

        const end = await finish(next(payment.find), mode);

        expect(resultOf(end).content).to.equal('Paid before.');
        expect(payment.paid).to.have.length(1);
      });
    });
