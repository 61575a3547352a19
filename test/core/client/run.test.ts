import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { firstValueFrom, lastValueFrom, map, Observable, of, retry, toArray } from 'rxjs';
import {
  AdvisorContext,
  CancelledError,
  ChainError,
  ChatClient,
  ChatResponse,
  ContextKey,
  defineAdvisor,
  defineTool,
  textOf,
  type Advisor,
  type ChatEvent,
  type ChatModel,
} from '../../../src/index.js';
import { ScriptedChatModel, type Script } from '../../../src/testing/index.js';
import { RUNS } from '../../support/modes.js';
import { sweep } from '../../support/sweep.js';

const failureOf = (run: Promise<unknown>): Promise<unknown> =>
  run.then(
    () => undefined,
    (error: unknown) => error,
  );

const turns = (times: number): readonly number[] => Array.from({ length: times }, (_, n) => n);

for (const [mode, run] of RUNS) {
  describe(`a run by ${mode}`, () => {
    it('[CLI-33] [TCA-38] can run repeatedly and concurrently, each time through all advisors', async () => {
      const counts = { outer: 0, inner: 0 };
      const outer = defineAdvisor({ name: 'outer', order: 0, before: () => void counts.outer++ });
      const inner = defineAdvisor({
        name: 'inner',
        order: 9_000,
        before: () => void counts.inner++,
      });
      const tool = defineTool({
        name: 'f',
        execute: () => new Promise((resolve) => setImmediate(resolve, 'done')),
      });
      const model = new ScriptedChatModel(({ messages }) =>
        messages.length === 1 ? { toolCalls: [{ name: 'f' }] } : 'ok',
      );
      const spec = ChatClient.create(model).prompt('?').tools(tool).advisors(outer, inner);

      const first = await run(spec);
      const many = await Promise.all(turns(20).map(() => run(spec)));

      expect([first, ...many]).to.deep.equal(Array(21).fill('ok'));
      expect(counts).to.deep.equal({ outer: 21, inner: 42 });
      expect(model.prompts).to.have.lengthOf(42);
    });

    it('[D31] names the tool in its events and in the steps', async () => {
      const tool = defineTool({ name: 'f', execute: async () => ({ sum: 7 }) });
      const model = new ScriptedChatModel([{ toolCalls: [{ name: 'f' }] }, 'ok']);
      const named: unknown[] = [];
      const watch = defineAdvisor({
        name: 'watch',
        order: 0,
        onEvent: (event) => {
          if ('toolName' in event) named.push([event.type, event.toolName]);
          return event;
        },
      });
      const spec = ChatClient.create(model).prompt('?').tools(tool).advisors(watch);

      const { steps } = await (mode === 'call'
        ? spec.call().chatClientResponse()
        : firstValueFrom(spec.stream().chatClientResponse()));

      expect(named).to.deep.equal([
        ['tool-call', 'f'],
        ['tool-start', 'f'],
        ['tool-result', 'f'],
      ]);
      const [record] = steps[0]?.toolCalls ?? [];
      expect([record?.toolName, record?.result?.value?.sum]).to.deep.equal(['f', 7]);
    });

    it('[F76] isolates concurrent requests', async () => {
      const canary = new ContextKey<string>('test.canary', '');
      const leaks: string[] = [];
      const check = (own: string, shown: unknown): void => {
        for (const [found] of JSON.stringify(shown).matchAll(/canary-\d+/g))
          if (found !== own) leaks.push(`${found} in ${own}`);
      };
      const watcher = defineAdvisor({
        name: 'watcher',
        order: 0,
        before: async ({ prompt, context, toolContext }) => {
          await new Promise((resolve) => setImmediate(resolve));
          check(context.get(canary), [prompt.messages, toolContext]);
        },
        after: (response) => check(response.context.get(canary), response.generations),
      });
      const tool = defineTool({
        name: 'f',
        execute: async (_args, { values, advisorContext }) => {
          await new Promise((resolve) => setImmediate(resolve));
          check(advisorContext.get(canary), values);
          return values['own'];
        },
      });
      const model = new ScriptedChatModel(({ messages }) => {
        const last = messages.at(-1);
        return last?.role === 'tool'
          ? { text: `Answer ${textOf(last.content)}` }
          : { toolCalls: [{ name: 'f' }] };
      });
      const client = ChatClient.builder(model).defaultTools(tool).defaultAdvisors(watcher).build();

      const answers = await Promise.all(
        turns(sweep(500)).map((n) => {
          const own = `canary-${n}`;
          return run(
            client
              .prompt(own)
              .toolContext({ own })
              .advisors((a) => a.param(canary, own)),
          );
        }),
      );

      expect(leaks).to.deep.equal([]);
      expect(answers).to.deep.equal(turns(sweep(500)).map((n) => `Answer canary-${n}`));
    });

    it('[F31] calls no model if the signal has aborted, and reports the reason', async () => {
      const model = new ScriptedChatModel([]);
      const reason = new Error('closed');

      const error = await failureOf(
        run(ChatClient.create(model).prompt('?').signal(AbortSignal.abort(reason))),
      );

      expect(error).to.be.instanceOf(CancelledError).with.property('cause', reason);
      expect(model.prompts).to.deep.equal([]);
    });

    it('is cancelled by its signal while the model answers', async () => {
      const controller = new AbortController();
      const model = new ScriptedChatModel([{ text: 'never', delay: 60_000 }]);
      const running = failureOf(
        run(ChatClient.create(model).prompt('?').signal(controller.signal)),
      );

      controller.abort();

      expect(await running).to.have.property('code', 'cancelled');
      expect(model.cancelled).to.equal(1);
    });

    it('[F30] is cancelled by its signal while a tool runs: the tool receives the reason, and no model is called again', async () => {
      const controller = new AbortController();
      const reason = new Error('closed');
      let received: unknown;
      const tool = defineTool({
        name: 'slow',
        execute: (_args, { signal }) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => resolve((received = signal.reason)));
            controller.abort(reason);
          }),
      });
      const model = new ScriptedChatModel([{ toolCalls: [{ name: 'slow' }] }, 'never asked']);

      const error = await failureOf(
        run(ChatClient.create(model).prompt('?').tools(tool).signal(controller.signal)),
      );
      await new Promise((resolve) => setImmediate(resolve));

      expect(error).to.be.instanceOf(CancelledError).with.property('cause', reason);
      expect(received).to.equal(reason);
      expect(model.prompts).to.have.lengthOf(1);
    });

    it('is cancelled by a listener of the first event of a model call that fails', async () => {
      const controller = new AbortController();
      const cancelling = defineAdvisor({
        name: 'cancelling',
        order: 9_000,
        onEvent: ({ type }) => void (type === 'iteration-start' && controller.abort()),
      });
      const client = ChatClient.create(new ScriptedChatModel([new Error('down')]));

      const failure = await failureOf(
        run(client.prompt('?').signal(controller.signal).advisors(cancelling)),
      );

      expect(failure).to.be.instanceOf(CancelledError);
    });

    it('ignores a signal that aborts after its end', async () => {
      const controller = new AbortController();
      const signals: AbortSignal[] = [];
      const watcher = defineAdvisor({
        name: 'watcher',
        order: 0,
        before: ({ signal }) => void signals.push(signal),
      });

      const text = await run(
        ChatClient.create(new ScriptedChatModel(['ok']))
          .prompt('?')
          .advisors(watcher)
          .signal(controller.signal),
      );
      controller.abort();

      expect(text).to.equal('ok');
      expect(signals[0]?.aborted).to.equal(false);
    });

    it('aborts its signal when it fails, to cancel pending work of advisors', async () => {
      const signals: AbortSignal[] = [];
      const watcher = defineAdvisor({
        name: 'watcher',
        order: 0,
        before: ({ signal }) => void signals.push(signal),
      });

      await failureOf(
        run(
          ChatClient.create(new ScriptedChatModel([new Error('down')]))
            .prompt('?')
            .advisors(watcher),
        ),
      );

      expect(signals[0]?.aborted).to.equal(true);
    });

    it('[F54] leaves no listener on a signal shared by many turns', async function () {
      this.timeout(30_000);
      const { signal } = new AbortController();
      const spec = ChatClient.create(new ScriptedChatModel(() => 'ok'))
        .prompt('?')
        .signal(signal);

      for (const _ of turns(sweep(100))) await Promise.all(turns(100).map(() => run(spec)));

      expect(getEventListeners(signal, 'abort')).to.have.lengthOf(0);
    });

    it('[F54] adds one listener for 100 concurrent turns on one signal, without a warning of Node.js', async () => {
      const controller = new AbortController();
      const model = new ScriptedChatModel(() => ({ text: 'never', delay: 60_000 }));
      const spec = ChatClient.create(model).prompt('?').signal(controller.signal);

      const running = turns(100).map(() => failureOf(run(spec)));
      expect(getEventListeners(controller.signal, 'abort')).to.have.lengthOf(1);
      controller.abort();

      expect(
        (await Promise.all(running)).every((error) => error instanceof CancelledError),
      ).to.equal(true);
      expect(model.cancelled).to.equal(100);
      expect(getEventListeners(controller.signal, 'abort')).to.have.lengthOf(0);
    });

    describe('enforces the contract of the chain', () => {
      const response: ChatEvent = {
        type: 'response',
        response: ChatResponse.ofText('hi'),
        context: undefined as never,
      };
      const rogue = (events: Observable<ChatEvent>): Advisor => ({
        name: 'rogue',
        order: 0,
        advise: () => events,
      });
      const cases: readonly (readonly [string, Observable<ChatEvent>, string])[] = [
        ['no response', of(), 'advisor "rogue" ended without a response event'],
        [
          'two responses',
          of(response, response),
          'advisor "rogue" emitted the event "response" after its response',
        ],
        [
          'an event after the response',
          of<ChatEvent[]>(response, { type: 'text-delta', text: 'x' }),
          'advisor "rogue" emitted the event "text-delta" after its response',
        ],
      ];

      for (const [what, events, message] of cases) {
        it(`[F79] [D8] fails instead of hanging and names the advisor: ${what}`, async () => {
          const error = await failureOf(
            run(ChatClient.create(new ScriptedChatModel([])).prompt('?').advisors(rogue(events))),
          );

          expect(error).to.be.instanceOf(ChainError).with.property('message', message);
        });
      }

      it('cancels the run when the contract is broken', async () => {
        let ended = false;
        const endless = new Observable<ChatEvent>((subscriber) => {
          subscriber.next(response);
          subscriber.next(response);
          return () => (ended = true);
        });

        await failureOf(
          run(ChatClient.create(new ScriptedChatModel([])).prompt('?').advisors(rogue(endless))),
        );

        expect(ended).to.equal(true);
      });

      it('passes an error of an advisor on unchanged, once', async () => {
        const failure = new Error('broken');
        const throwing: Advisor = {
          name: 'throwing',
          order: 0,
          advise: () => {
            throw failure;
          },
        };

        expect(
          await failureOf(
            run(ChatClient.create(new ScriptedChatModel([])).prompt('?').advisors(throwing)),
          ),
        ).to.equal(failure);
      });
    });
  });
}

describe('a run', () => {
  it('[F103] retains nothing of the model after it was unsubscribed', () => {
    let open = 0;
    const stream = (): Observable<ChatEvent> =>
      new Observable(() => {
        open++;
        return () => void open--;
      });
    const model: ChatModel = {
      defaultOptions: {},
      stream,
      call: () => Promise.reject(new Error('not called')),
    };

    const subscription = ChatClient.create(model).prompt('?').stream().events().subscribe();
    expect(open).to.equal(1);
    subscription.unsubscribe();

    expect(open).to.equal(0);
  });

  it('[D24] emits iteration-start when the model is called, before it answers', () => {
    const events: ChatEvent[] = [];
    const model = new ScriptedChatModel([{ text: 'too slow', delay: 60_000 }]);

    const turn = ChatClient.create(model).prompt('?').stream().events();
    turn.subscribe((event) => events.push(event)).unsubscribe();

    expect(events).to.deep.equal([{ type: 'iteration-start', index: 0, model: 'scripted' }]);
  });

  it('[D3] [D24] emits the retract of a failed attempt before the iteration-start of the next', async () => {
    const model = new ScriptedChatModel([{ deltas: ['half'], error: new Error('cut') }, 'whole']);
    const retrying: Advisor = {
      name: 'retry',
      order: 1,
      advise: (request, chain) => chain.next(request).pipe(retry(1)),
    };

    const turn = ChatClient.create(model).prompt('?').advisors(retrying).stream().events();
    const types = await lastValueFrom(
      turn.pipe(
        map(({ type }) => type),
        toArray(),
      ),
    );

    expect(types).to.deep.equal([
      'iteration-start',
      'text-delta',
      'retract',
      'iteration-start',
      'text-delta',
      'response',
    ]);
  });

  const cut = new Error('cut');
  const asks = { toolCalls: [{ name: 'f' }] };
  const failures = {
    'after reasoning': [{ reasoning: 'hm', error: cut }, 'ok'],
    'in a later iteration': [asks, { error: cut }, 'ok'],
    'in a later iteration, and asked for tools again': [asks, { error: cut }, asks, 'ok'],
  } satisfies Record<string, Script>;
  for (const [name, script] of Object.entries(failures))
    it(`[D3] [D24] emits one iteration-start for each model call, for a retry after the retract, if it failed ${name}`, async () => {
      const again: Advisor = {
        name: 'again',
        order: 0,
        advise: (request, chain) => chain.next(request).pipe(retry(1)),
      };
      const model = new ScriptedChatModel(script);
      const tool = defineTool({ name: 'f', execute: () => 'done' });

      const turn = ChatClient.create(model).prompt('?').tools(tool).advisors(again).stream();
      const events = await lastValueFrom(turn.events().pipe(toArray()));

      const types = events.map(({ type }) => type);
      expect(types.filter((type) => type === 'iteration-start')).to.have.lengthOf(script.length);
      expect(types[types.indexOf('retract') + 1]).to.equal('iteration-start');
    });

  it('[D3] [D24] emits one iteration-start for each model call if a guard held the deltas of a failed one', async () => {
    const guard = defineAdvisor({ name: 'g', order: 0, holdDeltas: true, after: () => undefined });
    const again: Advisor = {
      name: 'again',
      order: 1,
      advise: (request, chain) => chain.next(request).pipe(retry(1)),
    };
    const model = new ScriptedChatModel([{ deltas: ['half'], error: cut }, 'ok']);

    const turn = ChatClient.create(model).prompt('?').advisors(guard, again).stream().events();
    const events = await lastValueFrom(turn.pipe(toArray()));

    expect(events.filter(({ type }) => type === 'iteration-start')).to.have.lengthOf(2);
  });

  it('emits nothing after it was unsubscribed', async () => {
    const events: string[] = [];
    const model = new ScriptedChatModel([{ toolCalls: [{ name: 'f' }] }, 'never']);
    await new Promise<void>((resolve) => {
      const tool = defineTool({
        name: 'f',
        execute: (_args, { progress }) => {
          subscription.unsubscribe();
          progress(1);
          setImmediate(resolve);
          return 'overdue';
        },
      });
      const subscription = ChatClient.create(model)
        .prompt('?')
        .tools(tool)
        .stream()
        .events()
        .subscribe(({ type }) => events.push(type));
    });

    expect(events).to.deep.equal([
      'iteration-start',
      'tool-call-delta',
      'iteration',
      'tool-call',
      'tool-start',
    ]);
    expect(model.prompts).to.have.lengthOf(1);
  });

  describe('[D20] names the author of a malformed response:', () => {
    const message = (fields: object): unknown =>
      new ChatResponse({
        generations: [{ message: { role: 'assistant', content: 'a', ...fields } }],
      } as never);
    const responses: readonly (readonly [unknown, string])[] = [
      [undefined, 'a ChatResponse, not undefined'],
      [
        Object.create(ChatResponse.prototype, { generations: { value: null } }) as unknown,
        'a ChatResponse with an array of generations, not null',
      ],
      [
        new ChatResponse({ generations: [null as never] }),
        'a ChatResponse with generations[0].message, not undefined',
      ],
      [
        message({ content: undefined }),
        'a ChatResponse with a string, null or parts as generations[0].message.content, not undefined',
      ],
      [
        message({ toolCalls: {} }),
        'a ChatResponse with an array as generations[0].message.toolCalls, not an object',
      ],
      [
        message({ toolCalls: [null] }),
        'a ChatResponse with a name in generations[0].message.toolCalls[0], not undefined',
      ],
    ];
    const failureWith = async (
      run: (typeof RUNS)[number][1],
      model: Partial<ChatModel>,
      ...advisors: Advisor[]
    ): Promise<unknown> => {
      const base = new ScriptedChatModel(() => 'x');
      const error = await failureOf(
        run(
          ChatClient.create(Object.assign(base, model))
            .prompt('x')
            .advisors(...advisors),
        ),
      );
      expect(error).to.be.instanceOf(ChainError);
      return (error as Error).message;
    };

    for (const [mode, run] of RUNS)
      for (const [value, problem] of responses)
        it(`${problem}, by ${mode}`, async () => {
          const response = value as ChatResponse;
          const event = { type: 'response', response, context: AdvisorContext.empty } as const;
          const broken = { call: () => Promise.resolve(response), stream: () => of(event) };
          const answers = defineAdvisor({ name: 'mine', order: 1, around: () => response });
          const emits: Advisor = { name: 'mine', order: 1, advise: () => of(event) };

          expect(await failureWith(run, broken)).to.equal(
            `the model "scripted" must answer with ${problem}`,
          );
          expect(await failureWith(run, {}, answers)).to.equal(
            `advisor "mine": around must return ${problem}`,
          );
          expect(await failureWith(run, {}, emits)).to.equal(`advisor "mine" must emit ${problem}`);
        });
  });
});
