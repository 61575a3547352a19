import { expect } from 'chai';
import { NEVER } from 'rxjs';
import {
  AdvisorOrder,
  ApprovalAdvisor,
  ChatClient,
  defineAdvisor,
  defineTool,
  DurableAdvisor,
  InMemoryDurableEngine,
  KeyValueError,
  SteeringAdvisor,
  SteeringInbox,
  type Advisor,
  type ChatModel,
  type PausedTurn,
  type SteeringOutcome,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { sentTexts } from '../../support/memory-advisor.js';
import { failureOf, MODES, runSpec, type Mode } from '../../support/modes.js';
import { decideAll, pauseOptions, untilAtRest } from '../../support/paused-turns.js';
import { deferred } from '../../support/promises.js';

const PAY: ScriptedAnswer = { toolCalls: [{ id: 'a', name: 'pay', arguments: {} }] };
const LOOK: ScriptedAnswer = { toolCalls: [{ id: 'b', name: 'look', arguments: {} }] };
const DOWN = new KeyValueError({
  operation: 'add',
  key: 'budget',
  outcome: 'unchanged',
  cause: new Error('ECONNRESET'),
});

/** An inbox to which the user sends a message in the first run of the tool. */
class Steered {
  readonly inbox = new SteeringInbox();
  outcome: Promise<SteeringOutcome> | undefined;
  readonly pay = defineTool({
    name: 'pay',
    effect: 'write',
    execute: () => {
      this.outcome ??= this.inbox.send('in euros');
      return 'paid';
    },
  });

  client(model: ScriptedChatModel, ...advisors: readonly Advisor[]): ChatClient {
    return ChatClient.builder(model)
      .defaultTools(this.pay)
      .defaultAdvisors(...advisors, new SteeringAdvisor({ inbox: this.inbox }))
      .build();
  }
}

/** A store of each iteration that is down once, in the second one, before or after the model. */
function failingStore(place: 'before' | 'after'): Advisor {
  let hasFailed = false;
  const fail = (iteration: number): void => {
    if (hasFailed || iteration === 0) return;
    hasFailed = true;
    throw DOWN;
  };
  return defineAdvisor({
    name: 'store',
    order: AdvisorOrder.RESILIENCE,
    around: async (request, next) => {
      if (place === 'before') fail(request.iteration);
      const response = await next(request);
      if (place === 'after') fail(request.iteration);
      return response;
    },
  });
}

/** The texts of the last request: the last answer was given to it. */
const lastSent = (model: ScriptedChatModel): readonly string[] => sentTexts(model).at(-1) ?? [];

for (const mode of MODES)
  describe(`the outcome of a message whose recorded turn fails (${mode})`, () => {
    for (const place of ['before', 'after'] as const) {
      it(`[D80] is delivered in a durable turn, which has it when it runs again: a store fails ${place} the model`, async () => {
        const steered = new Steered();
        const store = failingStore(place);
        const model = new ScriptedChatModel([PAY, 'done', 'done']);
        const run = (engine: InMemoryDurableEngine) =>
          runSpec(mode, steered.client(model, new DurableAdvisor({ engine }), store).prompt('q'));
        const engine = new InMemoryDurableEngine();
        const failure = await failureOf(run(engine));

        const { text } = await run(new InMemoryDurableEngine(engine.entries()));

        expect(failure).to.equal(DOWN);
        expect(text).to.equal('done');
        expect(lastSent(model)).to.deep.equal(['q', '>a', '<a', 'in euros']);
        expect(await steered.outcome).to.deep.equal({ status: 'delivered', iteration: 1 });
      });

      it(`[D80] is delivered in a resumed turn if it has it when it is resumed again, or else rejected: a store fails ${place} the model`, async () => {
        const steered = new Steered();
        const model = new ScriptedChatModel([PAY, 'done', 'done']);
        const approval = new ApprovalAdvisor({ pause: pauseOptions() });
        const client = steered.client(model, approval, failingStore(place));
        const first = await runSpec(mode, client.prompt('q'));
        const resumed = client.resume(first.paused?.state ?? '', decideAll(first));
        const failure = await failureOf(runSpec(mode, resumed));
        const { paused } = failure as { readonly paused?: PausedTurn };

        const { text } = await runSpec(mode, client.resume(paused?.state ?? '', {}));

        expect(text).to.equal('done');
        const has = lastSent(model).includes('in euros');
        const { status } = (await steered.outcome) ?? {};
        expect([has, status]).to.deep.equal(place === 'after' ? [true, 'delivered'] : [false, 'rejected']); // prettier-ignore
      });
    }

    for (const isKept of [true, false])
      it(`[D80] is known when its step has ${isKept ? 'been recorded' : 'failed'}, also if the turn was cancelled meanwhile`, async () => {
        const { outcome, has } = await cancelledInStep(mode, isKept);

        expect(await outcome).to.deep.equal(isKept ? { status: 'delivered', iteration: 1 } : { status: 'rejected' }); // prettier-ignore
        expect(has).to.equal(isKept);
      });

    it('[D80] is delivered in a resumed turn that is cancelled after it has interrupted a model call', async () => {
      const { inbox, pay } = new Steered();
      const abort = new AbortController();
      const sent: Promise<SteeringOutcome>[] = [];
      const scripted = new ScriptedChatModel([PAY, LOOK, 'done']);
      const model = hangingModel(scripted, [
        undefined,
        () => sent.push(inbox.send('by train', { mode: 'interrupt' })),
        () => abort.abort(),
      ]);
      const look = defineTool({ name: 'look', effect: 'read', execute: () => 'seen' });
      const pause = pauseOptions();
      const client = ChatClient.builder(model)
        .defaultTools(pay, look)
        .defaultAdvisors(new SteeringAdvisor({ inbox }))
        .defaultAdvisors(new ApprovalAdvisor({ pause }))
        .build();
      const first = await runSpec(mode, client.prompt('q'));
      const state = first.paused?.state ?? '';
      const resume = () => client.resume(state, decideAll(first));
      await failureOf(runSpec(mode, resume().signal(abort.signal)));
      await untilAtRest(pause.store, state);

      const { text } = await runSpec(mode, resume());

      expect(text).to.equal('done');
      expect(await sent[0]).to.deep.equal({ status: 'delivered', iteration: 1 });
      for (const texts of sentTexts(scripted).slice(1))
        expect(texts.slice(3, 5)).to.deep.equal(['in euros', 'by train']);
    });
  });

/** A model with calls that never end, after something has happened. */
function hangingModel(
  rest: ScriptedChatModel,
  events: readonly ((() => void) | undefined)[],
): ChatModel {
  let calls = 0;
  const hangs = (): boolean => {
    const happen = events[calls++];
    if (happen) setTimeout(happen, 1);
    return happen !== undefined;
  };
  return {
    defaultOptions: {},
    call: (prompt, run) => (hangs() ? new Promise(() => undefined) : rest.call(prompt, run)),
    stream: (prompt, run) => (hangs() ? NEVER : rest.stream(prompt, run)),
  };
}

/** Cancels a durable turn while its message is recorded, and runs the turn again. */
async function cancelledInStep(mode: Mode, isKept: boolean) {
  const steered = new Steered();
  const model = new ScriptedChatModel([PAY, 'done']);
  const inner = new InMemoryDurableEngine();
  const [begun, recorded] = [deferred(), deferred()];
  const engine: InMemoryDurableEngine = Object.create(inner, {
    step: {
      value: async (name: string, run: () => Promise<string>) => {
        if (name !== 'steering 1') return inner.step(name, run);
        const value = isKept ? await inner.step(name, run) : await run();
        begun.resolve();
        await recorded.promise;
        if (isKept) return value;
        throw new Error('the database of steps is down');
      },
    },
  }) as InMemoryDurableEngine;
  const spec = (own: InMemoryDurableEngine) =>
    steered.client(model, new DurableAdvisor({ engine: own })).prompt('q');
  const abort = new AbortController();
  const running = failureOf(runSpec(mode, spec(engine).signal(abort.signal)));
  await begun.promise;
  abort.abort();
  await running;
  recorded.resolve();
  const { outcome } = steered;
  await runSpec(mode, spec(new InMemoryDurableEngine(inner.entries())));
  return { outcome, has: lastSent(model).includes('in euros') };
}
