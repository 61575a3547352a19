import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { defer, EMPTY, merge, NEVER, of, retry } from 'rxjs';
import { ToolCallingAdvisor } from '../../../advisors/index.js';
import { checkAdvisor, orderAdvisors } from '../../../src/core/advisor/advisor-chain.js';
import {
  AdvisorOrder,
  type Advisor,
  type AdvisorChain,
} from '../../../src/core/advisor/advisor.js';
import { ChatClientRequest } from '../../../src/core/advisor/chat-client-request.js';
import { defineAdvisor, type AdvisorFunctions } from '../../../src/core/advisor/define-advisor.js';
import type { ChatEvent } from '../../../src/core/chat/chat-event.js';
import { ChatResponse } from '../../../src/core/chat/chat-response.js';
import { AdvisorContext } from '../../../src/core/chat/context.js';
import { Prompt } from '../../../src/core/chat/prompt.js';
import {
  CancelledError,
  ChainError,
  InvalidArgumentError,
} from '../../../src/core/errors/errors.js';
import { ChatClient, type ChatModel } from '../../../src/index.js';
import { Observable, type Subscription } from '../../../src/core/internal/rxjs.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { createAdvisorChain } from '../../support/observers.js';
import { collect, hello, requestFor, responseOf, run, typesOf } from '../../support/runs.js';
import { MODES } from '../../support/modes.js';
import { settle } from '../../support/promises.js';
import { sweep } from '../../support/sweep.js';
import fc from 'fast-check';
import type * as Rxjs from 'rxjs';

const require = createRequire(import.meta.url);
const otherRxjs = require(
  join(dirname(require.resolve('rxjs/package.json')), 'dist/bundles/rxjs.umd.js'),
) as typeof Rxjs;

/** Notes in a log when it is passed, on the way in and on the way out. */
function tracer(name: string, order: number, log: string[]): Advisor {
  return defineAdvisor({
    name,
    order,
    before: () => void log.push(`> ${name}`),
    after: () => void log.push(`< ${name}`),
  });
}

const advisorWith = (advise: Advisor['advise'] & object, name = 'mine', order = 1): Advisor => ({
  name,
  order,
  advise,
});

describe('an advisor chain', () => {
  for (const mode of MODES) {
    it(`runs advisors by order on the way in and backwards on the way out (${mode})`, async () => {
      const log: string[] = [];
      const advisors = [tracer('c', 3, log), tracer('a', 1, log), tracer('b', 2, log)];

      await run(advisors, hello(), requestFor(mode));

      expect(log).to.deep.equal(['> a', '> b', '> c', '< c', '< b', '< a']);
    });

    it(`runs the parts of an advisor at their own positions (${mode})`, async () => {
      const log: string[] = [];
      const guard: Advisor = { ...tracer('a', 1, log), parts: [tracer('a.part', 3, log)] };

      await run([tracer('b', 2, log), guard], hello(), requestFor(mode));

      expect(log).to.deep.equal(['> a', '> b', '> a.part', '< a.part', '< b', '< a']);
    });

    it(`ends in the model, however high an order is (${mode}; Spring 3.2.4)`, async () => {
      const log: string[] = [];
      const model = new ScriptedChatModel(() => {
        log.push('model');
        return 'Hello.';
      });
      const advisors = [
        tracer('last', Number.MAX_VALUE, log),
        tracer('first', -Number.MAX_VALUE, log),
      ];

      await run(advisors, model, requestFor(mode));

      expect(log).to.deep.equal(['> first', '> last', 'model', '< last', '< first']);
    });

    it(`runs all advisors again for each subscription of one run (${mode}; Spring 3.3.1)`, async () => {
      const log: string[] = [];
      const model = hello();
      const events = createAdvisorChain(
        [tracer('a', 1, log), tracer('b', 2, log)],
        model,
      )(requestFor(mode));

      const first = await collect(events);
      const second = await collect(events);

      expect(log).to.deep.equal([...log.slice(0, 4), '> a', '> b', '< b', '< a']);
      expect(second.events).to.deep.equal(first.events);
      expect(model.prompts).to.have.lengthOf(2);
    });

    it(`runs all of the rest each time an advisor subscribes to it (${mode})`, async () => {
      const log: string[] = [];
      const thrice = defineAdvisor({
        name: 'thrice',
        order: 1,
        around: async (request, next) => {
          await next(request);
          await next(request);
          return next(request);
        },
      });
      const model = hello();

      await run([thrice, tracer('inner', 2, log)], model, requestFor(mode));

      expect(log).to.deep.equal(['> inner', '< inner', '> inner', '< inner', '> inner', '< inner']);
      expect(model.prompts).to.have.lengthOf(3);
    });

    it(`runs no advisor and no model before it is subscribed (${mode})`, async () => {
      const log: string[] = [];
      const model = hello();

      createAdvisorChain([tracer('a', 1, log)], model)(requestFor(mode));
      createAdvisorChain([], model)(requestFor(mode));
      await settle();

      expect([log.length, model.prompts.length]).to.deep.equal([0, 0]);
    });
  }

  it('calls only the model if there are no advisors', async () => {
    const model = new ScriptedChatModel(['Hello.']);

    expect(responseOf(await run([], model)).response.text).to.equal('Hello.');
  });

  it('[CHN-07] [CHN-08] gives each advisor the list of all advisors in order, also after several runs', async () => {
    const seen: string[][] = [];
    const looking = (name: string, order: number): Advisor =>
      advisorWith(
        (request, chain) => {
          seen.push(chain.advisors.map((advisor) => advisor.name));
          return chain.next(request);
        },
        name,
        order,
      );
    const chain = createAdvisorChain([looking('b', 2), looking('a', 1)], hello());

    await collect(chain(requestFor('call')));
    await collect(chain(requestFor('stream')));

    expect(seen).to.deep.equal(Array(4).fill(['a', 'b']));
  });

  it('[CHN-14] [CHN-19] cannot be changed through its input list or the list that advisors receive', async () => {
    const log: string[] = [];
    const advisors = [tracer('a', 1, log)];
    let shown: AdvisorChain['advisors'] = [];
    advisors.push(
      advisorWith((request, chain) => {
        shown = chain.advisors;
        return chain.next(request);
      }, 'looking'),
    );
    const chain = createAdvisorChain(advisors, hello());
    advisors.pop();

    await collect(chain(requestFor()));

    expect(shown.map((advisor) => advisor.name)).to.deep.equal(['a', 'looking']);
    expect(() => (shown as Advisor[]).push(tracer('b', 2, log))).to.throw(TypeError);
  });

  it('skips an advisor without advise and around', async () => {
    const advisor = defineAdvisor({
      name: 'tools only',
      order: 1,
      aroundTool: (call, next) => next(call),
    });

    expect(typesOf(await run([advisor]))).to.deep.equal(['response']);
  });

  it('accepts operators of another copy of RxJS', async () => {
    const foreign = advisorWith((request, chain) =>
      chain.next(request).pipe(otherRxjs.map((event) => event)),
    );

    const result = await run([foreign], hello(), requestFor('stream'));

    expect(otherRxjs.Observable).not.to.equal(Observable);
    expect(typesOf(result)).to.deep.equal(['text-delta', 'text-delta', 'response']);
  });

  it('unsubscribes from Observables of another copy of RxJS', async () => {
    const model = new ScriptedChatModel(['Hello.', { text: 'slow', delay: 60_000 }]);
    const foreign = advisorWith(
      (request, chain) =>
        new otherRxjs.Observable((subscriber) => chain.next(request).subscribe(subscriber)),
    );
    const chain = createAdvisorChain([foreign], model);

    const result = await collect(chain(requestFor('stream')));
    chain(requestFor('stream')).subscribe().unsubscribe();

    expect(typesOf(result)).to.deep.equal(['text-delta', 'response']);
    expect(model.cancelled).to.equal(1);
  });

  it('accepts a minimal Observable and unsubscribes through its subscription', async () => {
    let ended = 0;
    const foreign = advisorWith(
      () =>
        ({
          subscribe: (observer: { next(event: ChatEvent): void }) => {
            observer.next({ type: 'text-delta', text: 'Hi' });
            return { unsubscribe: () => ended++ };
          },
        }) as unknown as Observable<ChatEvent>,
    );
    const events: ChatEvent[] = [];

    createAdvisorChain(
      [foreign],
      hello(),
    )(requestFor('stream'))
      .subscribe((event) => events.push(event))
      .unsubscribe();

    expect(events).to.have.lengthOf(1);
    expect(ended).to.equal(1);
  });

  it('lets an advisor answer without calling next', async () => {
    const model = hello();
    const cached = advisorWith((request) =>
      of<ChatEvent>({
        type: 'response',
        response: ChatResponse.ofText('from the cache'),
        context: request.context,
      }),
    );

    expect(responseOf(await run([cached], model)).response.text).to.equal('from the cache');
    expect(model.prompts).to.have.lengthOf(0);
  });

  it('lets an advisor retry with an operator', async () => {
    const model = new ScriptedChatModel([new Error('1'), new Error('2'), 'third time']);

    const result = await run(
      [advisorWith((request, chain) => chain.next(request).pipe(retry(2)))],
      model,
    );

    expect(responseOf(result).response.text).to.equal('third time');
  });

  for (const [how, cancel] of [
    ['aborted', (controller: AbortController) => controller.abort()],
    [
      'unsubscribed',
      (_: AbortController, subscription: Subscription) => subscription.unsubscribe(),
    ],
  ] as const) {
    it(`[F49] stops calling the model once a run is ${how}, also if an operator retries forever`, async () => {
      let asked = 0;
      const base = new ScriptedChatModel([{ text: 'slow', delay: 60_000 }]);
      const model: ChatModel = {
        defaultOptions: {},
        call: () => Promise.reject(new Error('not asked')),
        stream: (prompt, modelRun) =>
          defer(() => {
            asked++;
            return base.stream(prompt, modelRun);
          }),
      };
      let tries = 0;
      const persistent = advisorWith(
        (request, chain) =>
          defer(() => {
            tries++;
            return chain.next(request);
          }).pipe(retry()),
        'persistent',
        AdvisorOrder.RESILIENCE,
      );
      const controller = new AbortController();
      const errors: unknown[] = [];

      const subscription = ChatClient.create(model)
        .prompt('Hi.')
        .advisors(persistent)
        .signal(controller.signal)
        .stream()
        .events()
        .subscribe({ error: (error: unknown) => errors.push(error) });
      await settle();
      cancel(controller, subscription);
      await settle();

      expect(asked).to.equal(1);
      expect(tries).to.be.at.most(2);
      expect(base.cancelled).to.equal(1);
      expect(errors).to.have.lengthOf(how === 'aborted' ? 1 : 0);
    });
  }

  for (const [what, advise] of [
    ['nothing', () => undefined as unknown as Observable<ChatEvent>],
    ['a promise', () => Promise.resolve() as unknown as Observable<ChatEvent>],
  ] as const) {
    it(`names the advisor that returned ${what} from advise`, async () => {
      const { errors } = await run([advisorWith(advise, 'forgetful')]);

      expect(errors).to.have.lengthOf(1);
      expect(errors[0]).to.be.instanceOf(ChainError);
      expect((errors[0] as Error).message).to.match(
        /^advisor "forgetful": advise must return an Observable, not /,
      );
    });
  }

  it('rejects next without a request', async () => {
    for (const advisors of [
      [],
      [defineAdvisor({ name: 'inner', order: 2, before: () => undefined })],
    ]) {
      const careless = advisorWith((_, chain) =>
        chain.next(undefined as unknown as ChatClientRequest),
      );

      const { errors } = await run([careless, ...advisors]);

      expect(errors[0]).to.be.instanceOf(InvalidArgumentError);
      expect((errors[0] as Error).message).to.equal(
        'next(…): request must be a ChatClientRequest, not undefined',
      );
    }
  });

  it('[F79] [D8] names the advisor that ended without a response', async () => {
    const { events, errors } = await run([advisorWith(() => EMPTY)]);

    expect(events).to.deep.equal([]);
    expect(errors[0]).to.be.instanceOf(ChainError);
    expect(errors[0]).to.have.property('message', 'advisor "mine" ended without a response event');
  });

  const dropping: AdvisorFunctions['onEvent'] = (event) => (event.type === 'response' ? [] : event);
  const DROPPING: Readonly<Record<string, AdvisorFunctions>> = {
    onEvent: { name: 'thief', order: 1, onEvent: dropping },
    'onEvent beside after': { name: 'thief', order: 1, onEvent: dropping, after: () => undefined },
    'onEvent beside around': {
      name: 'thief',
      order: 1,
      onEvent: dropping,
      around: (request, next) => next(request),
    },
    'onEvent inside the loop': { name: 'thief', order: 9_000, onEvent: dropping },
  };
  for (const [what, functions] of Object.entries(DROPPING))
    for (const mode of MODES)
      it(`[D8] names the advisor that dropped the response: ${what} (${mode})`, async () => {
        const chain = [
          tracer('outer', 0, []),
          defineAdvisor(functions),
          tracer('inner', 9_001, []),
        ];

        const { errors } = await run(
          [...chain, new ToolCallingAdvisor()],
          hello(),
          requestFor(mode),
        );

        expect(errors).to.have.lengthOf(1);
        expect(errors[0]).to.be.instanceOf(ChainError);
        expect((errors[0] as Error).message).to.include('advisor "thief"');
      });

  for (const mode of MODES)
    it(`[D8] names the advisor that answered twice (${mode})`, async () => {
      const twice = advisorWith((request, chain) =>
        merge(chain.next(request), chain.next(request)),
      );

      const { errors } = await run([tracer('outer', 0, []), twice], hello(), requestFor(mode));

      expect((errors[0] as Error).message).to.match(
        /^advisor "mine" emitted the event ".*" after its response$/,
      );
    });

  it('passes an error thrown in advise on unchanged', async () => {
    const error = new Error('boom');
    const throwing = advisorWith(() => {
      throw error;
    });

    expect((await run([throwing])).errors).to.deep.equal([error]);
  });

  it('has the names of its advisors in stack traces', async () => {
    const where: Advisor[] = ['outer', 'inner'].map((name, order) => ({
      name,
      order,
      advise: (request, chain) => chain.next(request),
    }));
    const model = new ScriptedChatModel(() => {
      throw new Error('here');
    });

    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = Infinity; // hooks of other tests add frames
    process.setSourceMapsEnabled(false); // the names of the engine, not of a map
    const { errors } = await run(where, model, requestFor('stream'));
    const { stack } = errors[0] as Error;
    process.setSourceMapsEnabled(true);
    Error.stackTraceLimit = limit;

    expect(stack).to.match(/at inner .*advisor-chain[^]*at outer .*advisor-chain/);
  });

  it('cancels the rest when it is unsubscribed', () => {
    let open = 0;
    const waiting = advisorWith(
      () =>
        new Observable((subscriber) => {
          open++;
          subscriber.add(NEVER.subscribe());
          return () => open--;
        }),
      'waiting',
      9,
    );
    const outer = defineAdvisor({
      name: 'outer',
      order: 1,
      before: () => undefined,
      after: () => undefined,
      onEvent: () => undefined,
    });

    const subscription = createAdvisorChain([outer, waiting], hello())(requestFor()).subscribe();

    return settle().then(() => {
      expect(open).to.equal(1);
      subscription.unsubscribe();
      expect(open).to.equal(0);
    });
  });
});

describe('the order of advisors', () => {
  const named = (order: number, at: number): Advisor => ({
    name: `${at}`,
    order,
    advise: (request, chain) => chain.next(request),
  });

  it('keeps the registration order of equal orders (Spring 3.2.3)', () => {
    const advisors = [named(1, 0), named(0, 1), named(1, 2), named(0, 3), named(1, 4)];

    expect(orderAdvisors(advisors).map(({ name }) => name)).to.deep.equal([
      '1',
      '3',
      '0',
      '2',
      '4',
    ]);
  });

  it('[F78] is by order, then by registration, for every registration', () => {
    const order = fc.oneof(
      fc.integer({ min: -3, max: 3 }),
      fc.constantFrom(-Number.MAX_VALUE, Number.MAX_VALUE, 0.5, -0, 2 ** 53),
    );
    fc.assert(
      fc.property(fc.array(order, { maxLength: 30 }), (orders) => {
        const sorted = orderAdvisors(orders.map(named));

        for (const [at, advisor] of sorted.entries()) {
          const before = sorted[at - 1];
          if (!before) continue;
          expect(
            before.order < advisor.order ||
              (before.order === advisor.order && Number(before.name) < Number(advisor.name)),
          ).to.equal(true);
        }
        expect(new Set(sorted).size).to.equal(orders.length);
      }),
      { numRuns: sweep(2_000) },
    );
  });

  it('[F78] is the same for every permutation of advisors with distinct orders', () => {
    const advisors = [5, 3, 9, 1, 7, 2].map(named);
    fc.assert(
      fc.property(fc.shuffledSubarray(advisors, { minLength: advisors.length }), (shuffled) => {
        expect(orderAdvisors(shuffled).map((advisor) => advisor.order)).to.deep.equal([
          1, 2, 3, 5, 7, 9,
        ]);
      }),
      { numRuns: sweep(2_000) },
    );
  });

  it('[F78] rejects two advisors with one name', () => {
    expect(() => orderAdvisors([named(1, 0), named(2, 0)])).to.throw(
      ChainError,
      'two advisors are named "0"; give one of them another name',
    );
  });

  it('rejects two tool loops, with both names and orders', () => {
    const loop = (name: string, order: number): Advisor => ({
      ...named(order, 0),
      name,
      role: 'tool-loop',
    });

    expect(() => orderAdvisors([loop('a', 1), loop('b', 2)])).to.throw(
      ChainError,
      'a chain can have one tool loop, this one has 2: "a" (order 1), "b" (order 2)',
    );
  });

  it('has the documented slots in order, retrieval left of the loop', () => {
    const slots = Object.entries(AdvisorOrder).toSorted(([, a], [, b]) => a - b);

    expect(slots.map(([name]) => name)).to.deep.equal([
      'TURN',
      'OBSERVABILITY',
      'LOCK',
      'GUARD',
      'MEMORY',
      'TOOL_SEARCH',
      'RETRIEVAL',
      'TOOL_CALLING',
      'STEERING',
      'COMPACTION',
      'STRUCTURED_OUTPUT_VALIDATION',
      'RESILIENCE',
      'PROMPT_CACHE',
      'LOGGER',
      'DURABLE',
    ]);
  });

  it('has room between all slots', () => {
    const orders = Object.values(AdvisorOrder).toSorted((a, b) => a - b);

    expect(
      Math.min(...orders.slice(1).map((order, at) => order - (orders[at] as number))),
    ).to.be.at.least(100);
  });
});

describe('checkAdvisor', () => {
  const advise: Advisor['advise'] = (request, chain) => chain.next(request);

  for (const [value, message] of [
    [
      null,
      'advisor chain: an advisor must be an object with name and order, such as new MessageChatMemoryAdvisor({ chatMemory }), not null',
    ],
    [
      'logger',
      'advisor chain: an advisor must be an object with name and order, such as new MessageChatMemoryAdvisor({ chatMemory }), not "logger"',
    ],
    [{ order: 1, advise }, 'such as new MessageChatMemoryAdvisor({ chatMemory }), not an object'],
    [{ name: ' ', order: 1, advise }, 'the name of an advisor must be a non-blank string, not " "'],
    [{ name: 'a', advise }, 'advisor "a": order must be a finite number, not undefined'],
    [{ name: 'a', order: '1', advise }, 'advisor "a": order must be a finite number, not "1"'],
    [{ name: 'a', order: NaN, advise }, 'advisor "a": order must be a finite number, not NaN'],
    [
      { name: 'a', order: Infinity, advise },
      'advisor "a": order must be a finite number, not Infinity',
    ],
    [{ name: 'a', order: 1 }, 'advisor "a" needs before, advise, around or adviseToolCall'],
    [
      { name: 'a', order: 1, before: () => undefined, around: () => undefined },
      'advisor "a" has both before and around',
    ],
    [{ name: 'a', order: 1, advise: 'x' }, 'advisor "a": advise must be a function, not "x"'],
    [{ name: 'a', order: 1, around: 'x' }, 'advisor "a": around must be a function, not "x"'],
    [
      { name: 'a', order: 1, advise, around: () => undefined },
      'advisor "a" has both advise and around; keep one of them',
    ],
    [
      { name: 'a', order: 1, advise, adviseToolCall: 7 },
      'advisor "a": adviseToolCall must be a function, not 7',
    ],
  ] as const) {
    it(`[CHN-02] [CHN-04] rejects: ${message}`, () => {
      expect(() => checkAdvisor(value as Advisor, 'advisor chain')).to.throw(
        InvalidArgumentError,
        message,
      );
      expect(() => createAdvisorChain([value as Advisor], hello())).to.throw(
        InvalidArgumentError,
        message,
      );
    });
  }

  it('accepts an instance of a class', () => {
    class Mine implements Advisor {
      readonly name = 'mine';
      get order(): number {
        return 1;
      }
      advise(request: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent> {
        return chain.next(request);
      }
    }

    expect(() => checkAdvisor(new Mine(), 'advisor chain')).not.to.throw();
  });
});

describe('the end of the chain', () => {
  for (const mode of MODES) {
    it(`adds the context of the request to the answer (${mode})`, async () => {
      const context = AdvisorContext.empty;

      expect(responseOf(await run([], hello(), requestFor(mode, { context }))).context).to.equal(
        context,
      );
    });

    it(`passes an error of the model on unchanged (${mode})`, async () => {
      const error = new Error('no model');

      expect(
        (await run([], new ScriptedChatModel([error]), requestFor(mode))).errors,
      ).to.deep.equal([error]);
    });

    it(`passes an error on that a model throws synchronously (${mode})`, async () => {
      const error = new Error('broken model');
      const fail = (): never => {
        throw error;
      };

      const { errors } = await run(
        [],
        { defaultOptions: {}, call: fail, stream: fail },
        requestFor(mode),
      );

      expect(errors).to.deep.equal([error]);
    });

    it(`cancels the model when it is unsubscribed (${mode})`, async () => {
      const model = new ScriptedChatModel([{ text: 'slow', delay: 60_000 }]);

      const subscription = createAdvisorChain([], model)(requestFor(mode)).subscribe();
      await settle();
      subscription.unsubscribe();

      expect(model.cancelled).to.equal(1);
    });

    it(`[F31] never calls the model for a request whose signal has aborted (${mode})`, async () => {
      const model = hello();
      const reason = new Error('timed out');

      const { errors } = await run(
        [],
        model,
        requestFor(mode, { signal: AbortSignal.abort(reason) }),
      );

      expect(model.prompts).to.have.lengthOf(0);
      expect(errors[0]).to.be.instanceOf(CancelledError).with.property('cause', reason);
    });

    it(`[F54] removes its cancellation callback, with or without an answer (${mode})`, async () => {
      const waiting = new Set<unknown>();
      const cancellation = {
        signal: new AbortController().signal,
        cancelled: false,
        onCancel: (callback: unknown) => {
          waiting.add(callback);
          return () => waiting.delete(callback);
        },
      };
      const request = new ChatClientRequest({ prompt: new Prompt('Hi.'), mode, cancellation });
      const around = defineAdvisor({
        name: 'around',
        order: 1,
        around: (asked, next) => next(asked),
      });
      const chain = createAdvisorChain(
        [around],
        new ScriptedChatModel(['Hello.', new Error('no'), { text: 'slow', delay: 60_000 }]),
      );

      await collect(chain(request));
      await collect(chain(request));
      const subscription = chain(request).subscribe();
      await settle();
      expect(waiting.size).to.be.above(0);
      subscription.unsubscribe();

      expect(waiting.size).to.equal(0);
    });

    it(`does not notify the model of a cancellation after its answer (${mode})`, async () => {
      const reasons: unknown[] = [];
      const quick = hello();
      const listening: ChatModel = {
        defaultOptions: {},
        call: (prompt, modelRun) => {
          modelRun?.onCancel?.((reason) => reasons.push(reason));
          return quick.call(prompt);
        },
        stream: (prompt) => quick.stream(prompt),
      };
      const controller = new AbortController();

      await run([], listening, requestFor(mode, { signal: controller.signal }));
      controller.abort();

      expect(reasons).to.deep.equal([]);
    });
  }

  it('accepts the stream of a model with another Observable library', async () => {
    const model = {
      defaultOptions: {},
      call: () => Promise.reject(new Error('not asked')),
      stream: () =>
        ({
          subscribe: (observer: { next(event: ChatEvent): void; complete(): void }) => {
            observer.next({
              type: 'response',
              response: ChatResponse.ofText('foreign'),
              context: AdvisorContext.empty,
            });
            observer.complete();
            return { unsubscribe: () => undefined };
          },
        }) as unknown as Observable<ChatEvent>,
    };

    expect(responseOf(await run([], model, requestFor('stream'))).response.text).to.equal(
      'foreign',
    );
  });
});
