import { expect } from 'chai';
import { Observable, Subscription } from 'rxjs';
import { ToolCallingAdvisor } from '../../advisors/tool-calling-advisor.js';
import {
  AdvisorOrder,
  CancelledError,
  ChatClient,
  ChatClientRequest,
  defineAdvisor,
  defineTool,
  Prompt,
  ToolCallingManager,
  type Advisor,
  type ChatEvent,
  type Tool,
  type ToolContext,
} from '../../src/index.js';
import { ScriptedChatModel, type ScriptedParts } from '../../src/testing/index.js';
import { deferred, settled, until } from '../support/promises.js';
import { rejection } from '../support/batch.js';
import { MODES } from '../support/modes.js';
import { runTurn, summary } from '../support/turn.js';

const call = (...names: readonly string[]): ScriptedParts => ({
  toolCalls: names.map((name) => ({ name })),
});

/** Subscribes, and unsubscribes at an event of a number. */
function takeUntilEvent(
  source: Observable<ChatEvent>,
  last: number,
): { readonly events: ChatEvent[]; readonly closed: Promise<void> } {
  const events: ChatEvent[] = [];
  const closed = deferred();
  const subscription = new Subscription();
  const stop = (): void => {
    subscription.unsubscribe();
    closed.resolve();
  };
  subscription.add(
    source.subscribe({
      next: (event) => {
        if (events.push(event) > last) stop();
      },
      error: closed.reject,
      complete: () => closed.resolve(),
    }),
  );
  return { events, closed: closed.promise };
}

describe('cancelling a tool loop', () => {
  for (const delay of [0, 1]) {
    it(`[F30] [law 3] ends the run at any event of a stream and starts nothing afterwards (model with ${delay} ms between deltas)`, async () => {
      const script = [
        { text: 'Let me look.', ...call('slow', 'slow', 'quick'), delay },
        { ...call('quick'), delay },
        { text: 'It is done.', delay },
      ];
      let total = Infinity;
      for (let last = 0; last < total; last++) {
        let over = false;
        const startedAfter: string[] = [];
        const running = new Set<AbortSignal>();
        const gate = deferred();
        const slow = defineTool({
          name: 'slow',
          execute: async (_, { signal, progress }) => {
            if (over) startedAfter.push('slow');
            running.add(signal);
            progress('working');
            await Promise.race([gate.promise, settled()]);
            running.delete(signal);
            progress('worked');
          },
        });
        const quick = defineTool({
          name: 'quick',
          execute: () => (over ? startedAfter.push('quick') : 'ok'),
        });
        const model = new ScriptedChatModel(script);
        const source = ChatClient.create(model)
          .prompt('?')
          .tools(slow, quick)
          .advisors(new ToolCallingAdvisor())
          .stream()
          .events();

        const { events, closed } = takeUntilEvent(source, last);
        await closed;
        over = true;
        const { length } = events;
        const asked = model.prompts.length;
        const wasRunning = [...running];
        await new Promise((resolve) => setTimeout(resolve, 3));

        if (events.at(-1)?.type === 'response') total = length;
        expect(events.length, `events after ${last}`).to.equal(length);
        expect(model.prompts.length, `model calls after ${last}`).to.equal(asked);
        expect(startedAfter, `tools started after ${last}`).to.deep.equal([]);
        expect(
          wasRunning.every((signal) => signal.aborted),
          `signals of running tools at ${last}`,
        ).to.equal(true);
      }
      expect(total).to.be.greaterThan(15).and.be.lessThan(40);
    });
  }

  it('[F30] starts no tool if the consumer unsubscribes at the tool-call events', async () => {
    let runs = 0;
    const tool = defineTool({ name: 'tool', execute: () => ++runs });
    const { events, closed } = takeUntilEvent(
      ChatClient.create(new ScriptedChatModel([{ ...call('tool'), delay: 1 }, 'Done.']))
        .prompt('?')
        .tools(tool)
        .stream()
        .events(),
      2,
    );
    await closed;
    await settled();

    expect(summary(events)).to.deep.equal(['tool-call-delta 0 tool', 'iteration 0 tool']);
    expect(runs).to.equal(0);
  });

  it('cancels the inner chain if the consumer unsubscribes at a synchronous event', async () => {
    let open = 0;
    const eager: Advisor = {
      name: 'eager',
      order: AdvisorOrder.LOGGER,
      advise: () =>
        new Observable((subscriber) => {
          open++;
          subscriber.next({ type: 'text-delta', text: 'now' });
          return () => open--;
        }),
    };
    const { closed } = takeUntilEvent(
      ChatClient.create(new ScriptedChatModel([])).prompt('?').advisors(eager).stream().events(),
      0,
    );
    await closed;

    expect(open).to.equal(0);
  });

  it('[F30] calls no model and no tool afterwards, also without a client', async () => {
    const gate = deferred();
    const asked: (string | null)[] = [];
    const tool = defineTool({ name: 'tool', execute: () => gate.promise });
    const model = new ScriptedChatModel((_, index) => ({
      text: `Answer ${index}.`,
      ...call('tool'),
    }));
    const advisor = new ToolCallingAdvisor({
      toolExecutionEligibilityChecker: (response) =>
        asked.push(response.text) > 0 && response.hasToolCalls(),
    });
    const request = new ChatClientRequest({
      prompt: new Prompt('?'),
      mode: 'stream',
      tools: [tool],
    });
    let iterations = 0;
    const next = ({ prompt }: ChatClientRequest): Observable<ChatEvent> => (
      iterations++,
      model.stream(prompt)
    );
    const run = advisor.advise(request, { advisors: [advisor], next });
    run.subscribe().unsubscribe();
    await settled();
    const whileRunning = run.subscribe();
    await until(() => asked.length > 0);
    await settled();
    whileRunning.unsubscribe();
    gate.resolve();
    await settled();

    expect(asked).to.deep.equal(['Answer 1.']);
    expect(iterations).to.equal(2);
  });

  it('[F36] leaves no trace of an abandoned tool call in the next turn', async () => {
    const gate = deferred<string>();
    let first = true;
    let runs = 0;
    const slow = defineTool({
      name: 'slow',
      execute: () => (runs++, first ? gate.promise : 'second turn'),
    });
    const model = new ScriptedChatModel([call('slow'), call('slow'), 'Done.']);
    const spec = ChatClient.create(model)
      .prompt('?')
      .tools(slow)
      .advisors(new ToolCallingAdvisor());
    const received: ChatEvent[] = [];
    const subscription = spec
      .stream()
      .events()
      .subscribe((event) => received.push(event));
    await until(() => runs > 0);
    subscription.unsubscribe();
    const before = received.length;
    first = false;
    const next = spec.call().chatResponse();
    gate.resolve('first turn');

    expect((await next).text).to.equal('Done.');
    expect(JSON.stringify(model.prompts.at(-1)?.messages))
      .to.include('second turn')
      .and.not.include('first turn');
    expect(received.length).to.equal(before);
  });

  for (const mode of MODES) {
    describe(`by the signal in ${mode} mode`, () => {
      const hanging = (seen: AbortSignal[]): Tool =>
        defineTool({
          name: 'hang',
          execute: (_, { signal }) => (seen.push(signal), new Promise(() => undefined)),
        });

      it('[D93] [F30] ends the run with a CancelledError at once, aborts running tools and starts no others', async () => {
        const controller = new AbortController();
        const seen: AbortSignal[] = [];
        const tools = [
          hanging(seen),
          defineTool({ name: 'after', execute: () => seen.push(new AbortController().signal) }),
        ];
        const model = new ScriptedChatModel([call('hang', 'hang', 'after'), 'Done.']);
        const events: ChatEvent[] = [];
        const loop = { manager: new ToolCallingManager({ concurrency: 2 }) };
        const turn = runTurn(mode, model, {
          tools,
          loop,
          signal: controller.signal,
          advisors: [
            defineAdvisor({
              name: 'second',
              order: 2,
              onEvent: (event) => void events.push(event),
            }),
          ],
        });
        const error = rejection(turn);
        await until(() => seen.length === 2);
        const reason = new Error('user left');
        controller.abort(reason);

        expect(await error)
          .to.be.instanceOf(CancelledError)
          .with.property('cause', reason);
        expect(seen.map((signal) => [signal.aborted, signal.reason])).to.deep.equal([
          [true, reason],
          [true, reason],
        ]);
        expect(model.prompts).to.have.length(1);
        expect(events.at(-1)?.type).to.equal('tool-start');
      });

      it('[F30] gives tools the reason of the user also right of an advisor that waits for the answer', async () => {
        const controller = new AbortController();
        const seen: AbortSignal[] = [];
        const around = defineAdvisor({
          name: 'around',
          order: 2,
          around: (request, next) => next(request),
        });
        const turn = runTurn(mode, new ScriptedChatModel([call('hang')]), {
          tools: [hanging(seen)],
          signal: controller.signal,
          advisors: [around],
        });
        const error = rejection(turn);
        await until(() => seen.length === 1);
        controller.abort('user left');

        expect(await error).to.include({ code: 'cancelled', cause: 'user left' });
        expect(seen.map((signal) => signal.reason as unknown)).to.deep.equal(['user left']);
      });

      it('[F31] runs nothing if it has already aborted', async () => {
        const model = new ScriptedChatModel([call('hang')]);
        const error = await rejection(
          runTurn(mode, model, { signal: AbortSignal.abort('before') }),
        );

        expect(error).to.be.instanceOf(CancelledError);
        expect(model.prompts).to.have.length(0);
      });

      it('ends a run without a client, also if a tool ignores it', async () => {
        const controller = new AbortController();
        const seen: AbortSignal[] = [];
        const advisor = new ToolCallingAdvisor();
        const model = new ScriptedChatModel([call('hang'), 'Done.']);
        const request = new ChatClientRequest({
          prompt: new Prompt('?'),
          mode,
          tools: [hanging(seen)],
          signal: controller.signal,
        });
        const errors: unknown[] = [];
        advisor
          .advise(request, { advisors: [advisor], next: ({ prompt }) => model.stream(prompt) })
          .subscribe({ error: (error) => errors.push(error) });
        await until(() => seen.length === 1);
        controller.abort('enough');

        expect(errors[0]).to.be.instanceOf(CancelledError).with.property('cause', 'enough');
        expect(seen.map(({ aborted, reason }) => [aborted, reason])).to.deep.equal([
          [true, 'enough'],
        ]);
        await settled();
        expect(model.prompts).to.have.length(1);
      });
    });
  }

  it('[F30] aborts the tools if an outer advisor gives up', async () => {
    const seen: AbortSignal[] = [];
    const started = deferred();
    const hang = defineTool({
      name: 'hang',
      execute: (_, { signal }) => (
        seen.push(signal),
        started.resolve(),
        new Promise(() => undefined)
      ),
    });
    const impatient: Advisor = {
      name: 'impatient',
      order: AdvisorOrder.GUARD,
      advise: (request, chain) =>
        new Observable((subscriber) => {
          const inner = chain
            .next(request)
            .subscribe({ error: (error) => subscriber.error(error) });
          void started.promise.then(() => {
            inner.unsubscribe();
            subscriber.error(new Error('too slow'));
          });
        }),
    };

    expect(
      await rejection(runTurn('stream', [call('hang')], { tools: [hang], advisors: [impatient] })),
    ).to.have.property('message', 'too slow');
    expect(seen[0]?.aborted).to.equal(true);
  });

  it('[F54] leaves no listener behind on the signal of the application', async () => {
    const { signal } = new AbortController();
    const counts = { added: 0, removed: 0 };
    const [add, remove] = [
      signal.addEventListener.bind(signal),
      signal.removeEventListener.bind(signal),
    ];
    signal.addEventListener = (...args: Parameters<typeof add>) => (counts.added++, add(...args));
    signal.removeEventListener = (...args: Parameters<typeof remove>) => (
      counts.removed++,
      remove(...args)
    );
    const tool = defineTool({ name: 'tool', execute: () => 'ok' });
    const advisor = new ToolCallingAdvisor();
    const request = new ChatClientRequest({
      prompt: new Prompt('?'),
      mode: 'stream',
      tools: [tool],
      signal,
    });
    for (const script of [
      [call('tool'), 'Done.'],
      [call('tool'), new Error('down')],
    ]) {
      const model = new ScriptedChatModel(script);
      const run = advisor.advise(request, {
        advisors: [advisor],
        next: ({ prompt }) => model.stream(prompt),
      });
      await new Promise<void>((resolve) =>
        run.subscribe({ error: () => resolve(), complete: () => resolve() }),
      );
    }

    expect(counts.added).to.be.greaterThan(0);
    expect(counts.removed).to.equal(counts.added);
  });

  for (const timeout of [1_000, Infinity])
    it(`does not abort the signals of tools when the turn succeeds (timeout ${timeout})`, async () => {
      const seen: AbortSignal[] = [];
      const execute = (_: unknown, { signal }: ToolContext): void => void seen.push(signal);
      const tool = defineTool({ name: 'tool', timeout, execute });
      for (const mode of MODES)
        await runTurn(mode, [call('tool', 'tool'), call('tool'), 'Done.'], { tools: [tool] });

      expect(seen.map((signal) => signal.aborted)).to.deep.equal(Array(6).fill(false));
    });

  it('[F30] closes the last model call of a turn that reached a limit', async () => {
    const tool = defineTool({ name: 'tool', execute: () => 'ok' });
    const model = new ScriptedChatModel([call('tool'), { text: 'A long last word.', delay: 1 }]);
    const source = ChatClient.create(model)
      .prompt('?')
      .tools(tool)
      .advisors(new ToolCallingAdvisor({ maxIterations: 1 }))
      .stream()
      .events();
    const { events, closed } = takeUntilEvent(source, 8);
    await closed;
    await settled();

    expect(summary(events).at(-1)).to.match(/^text-delta /);
    expect(model.cancelled).to.equal(1);
  });
});
