import { expect } from 'chai';
import { retry } from 'rxjs';
import type { ChatClientResponse } from '../../../src/core/advisor/chat-client-response.js';
import { defineAdvisor, type AdvisorFunctions } from '../../../src/core/advisor/define-advisor.js';
import {
  AdvisorOrder,
  type Advisor,
  type AdvisorChain,
  type Next,
} from '../../../src/core/advisor/advisor.js';
import type { ChatClientRequest } from '../../../src/core/advisor/chat-client-request.js';
import type { ChatEvent } from '../../../src/core/chat/chat-event.js';
import { ChatResponse } from '../../../src/core/chat/chat-response.js';
import { ContextKey } from '../../../src/core/chat/context.js';
import type { AssistantMessage, ToolCall } from '../../../src/core/chat/message.js';
import {
  type AdvisorChainError,
  CancelledError,
  ChainError,
} from '../../../src/core/errors/errors.js';
import { Observable } from '../../../src/core/internal/rxjs.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { ChatClient, defineTool } from '../../../src/index.js';
import { createAdvisorChain } from '../../support/observers.js';
import { deferred, settle } from '../../support/promises.js';
import {
  hello,
  requestFor,
  responseOf,
  run,
  shownText,
  typesOf,
  withoutStarts,
} from '../../support/runs.js';
import { MODES } from '../../support/modes.js';
import { sweep } from '../../support/sweep.js';

const around = (whole: AdvisorFunctions['around'] & object): Advisor => ({
  name: 'mine',
  order: 1,
  around: whole,
});

const retrying = (times: number): Advisor =>
  around(async (request, next) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await next(request);
      } catch (error) {
        if (attempt > times) throw error;
      }
    }
  });

/** The rest of a chain as an inner advisor that plays its n-th script at the n-th subscription. */
function playing(
  ...scripts: readonly ((request: ChatClientRequest) => readonly ChatEvent[])[]
): Advisor {
  let at = 0;
  return {
    name: 'player',
    order: 2,
    advise: (request) =>
      new Observable((subscriber) => {
        for (const event of scripts[at++]?.(request) ?? []) subscriber.next(event);
        subscriber.complete();
      }),
  };
}

const delta = (text: string): ChatEvent => ({ type: 'text-delta', text });
const end = (text: string) => (request: ChatClientRequest) =>
  ({ type: 'response', response: ChatResponse.ofText(text), context: request.context }) as const;

describe('around', () => {
  for (const mode of MODES) {
    describe(`in a ${mode}`, () => {
      it('can answer without next', async () => {
        const model = hello();

        const { response } = responseOf(
          await run([around(() => ChatResponse.ofText('No.'))], model, requestFor(mode)),
        );

        expect(response.text).to.equal('No.');
        expect(model.prompts).to.have.lengthOf(0);
      });

      it('receives the complete answer of next and returns another', async () => {
        const whole = around(async (request, next) => {
          const response = await next(request);
          return ChatResponse.ofText(`${response.text} And you?`);
        });

        expect(responseOf(await run([whole], hello(), requestFor(mode))).response.text).to.equal(
          'Hello there. And you?',
        );
      });

      it('can call next with another request', async () => {
        const model = hello();

        await run(
          [around((request, next) => next(request.withOptions({ seed: 3 })))],
          model,
          requestFor(mode),
        );

        expect(model.prompts[0]?.options.seed).to.equal(3);
      });

      it('can call next again after an error', async () => {
        const model = new ScriptedChatModel([
          new Error('1'),
          { deltas: ['Hel'], error: new Error('2') },
          'Hello.',
        ]);

        const { response } = responseOf(await run([retrying(2)], model, requestFor(mode)));

        expect(response.text).to.equal('Hello.');
        expect(model.prompts).to.have.lengthOf(3);
      });

      it('[F10] can call next thousands of times although the rest answers synchronously', async () => {
        const times = Math.max(1_000, sweep(5_000));
        const model = new ScriptedChatModel((_, index) =>
          index < times - 1 ? new Error('again') : 'at last',
        );

        const { response } = responseOf(await run([retrying(times)], model, requestFor(mode)));

        expect(response.text).to.equal('at last');
        expect(model.prompts).to.have.lengthOf(times);
      });

      it('can call next twice concurrently', async () => {
        const model = new ScriptedChatModel((prompt) => `Seed ${prompt.options.seed}.`);
        const both = around(async (request, next) => {
          const [one, two] = await Promise.all([
            next(request.withOptions({ seed: 1 })),
            next(request.withOptions({ seed: 2 })),
          ]);
          return ChatResponse.ofText(`${one.text} ${two.text}`);
        });

        expect(responseOf(await run([both], model, requestFor(mode))).response.text).to.equal(
          'Seed 1. Seed 2.',
        );
      });

      it('cancels the slower of two attempts when it returns', async () => {
        const model = new ScriptedChatModel([{ text: 'slow', delay: 60_000 }, 'quick']);
        const race = around((request, next) => Promise.race([next(request), next(request)]));

        expect(responseOf(await run([race], model, requestFor(mode))).response.text).to.equal(
          'quick',
        );
        expect(model.cancelled).to.equal(1);
      });

      it('keeps the context of the answer if it returns another response', async () => {
        const SEEN = new ContextKey<string>('test.seen', '');
        const inner = defineAdvisor({
          name: 'inner',
          order: 2,
          before: (request) => request.withContext(SEEN, 'inside'),
        });
        const whole = around(async (request, next) =>
          ChatResponse.ofText((await next(request)).text ?? ''),
        );

        expect(
          responseOf(await run([whole, inner], hello(), requestFor(mode))).context.get(SEEN),
        ).to.equal('inside');
      });

      it('[F82] keeps a response with a context of a second copy of the package', async () => {
        const SEEN = new ContextKey<string>('test.seen', '');
        const whole = around(async (request, next) => {
          const response = (await next(request)).withContext(SEEN, 'kept');
          const { message } = response;
          // has the same methods, but is an instance of nothing here
          return {
            ...response,
            message,
            hasToolCalls: () => false,
            toEvent: () => response.toEvent(),
          } as unknown as ChatClientResponse;
        });

        expect(
          responseOf(await run([whole], hello(), requestFor(mode))).context.get(SEEN),
        ).to.equal('kept');
      });

      it('rejects next with the same error object as the rest', async () => {
        const error = new Error('no');
        let caught: unknown;
        const whole = around((request, next) =>
          next(request).catch((thrown: unknown) => {
            caught = thrown;
            throw thrown;
          }),
        );

        const { errors } = await run([whole], new ScriptedChatModel([error]), requestFor(mode));

        expect(caught).to.equal(error);
        expect(errors).to.deep.equal([error]);
      });

      it('rejects next if the rest ends without a response', async () => {
        const { errors } = await run(
          [around((request, next) => next(request)), playing(() => [])],
          hello(),
          requestFor(mode),
        );

        expect(errors[0]).to.be.instanceOf(ChainError);
        expect((errors[0] as Error).message).to.equal(
          'advisor "player" ended without a response event',
        );
      });

      it('rejects next without a request and can continue', async () => {
        let message = '';
        const whole = around(async (request, next) => {
          await next(undefined as unknown as ChatClientRequest).catch(
            (error: Error) => (message = error.message),
          );
          return next(request);
        });

        const result = await run([whole], hello(), requestFor(mode));

        expect(message).to.equal('next(…): request must be a ChatClientRequest, not undefined');
        expect(shownText(result.events)).to.equal(mode === 'stream' ? 'Hello there.' : '');
      });

      describe('when it is unsubscribed', () => {
        it('[F51] [F52] rejects a pending next, so that finally blocks run, and emits nothing', async () => {
          const log: string[] = [];
          const errors: unknown[] = [];
          const whole = around(async (request, next) => {
            try {
              return await next(request);
            } catch (error) {
              log.push(error instanceof CancelledError ? 'cancelled' : 'failed');
              throw error;
            } finally {
              log.push('finally');
            }
          });
          const model = new ScriptedChatModel([{ text: 'slow', delay: 60_000 }]);

          const subscription = createAdvisorChain(
            [whole],
            model,
          )(requestFor(mode)).subscribe({ error: (error) => errors.push(error) });
          await settle();
          subscription.unsubscribe();
          await settle();

          expect(log).to.deep.equal(['cancelled', 'finally']);
          expect(model.cancelled).to.equal(1);
          expect(errors).to.deep.equal([]);
        });

        it('[F51] leaves no unhandled rejection if next is not awaited', async () => {
          const { promise, resolve } = deferred();
          const whole = around(async (request, next) => {
            void next(request);
            await promise;
            return ChatResponse.ofText('Sorry.');
          });
          const model = new ScriptedChatModel([{ text: 'slow', delay: 60_000 }]);

          const subscription = createAdvisorChain([whole], model)(requestFor(mode)).subscribe();
          subscription.unsubscribe();
          await settle();
          resolve();
          await settle();

          expect(model.cancelled).to.equal(1);
        });

        it('[F36] [F49] cannot call the rest any more', async () => {
          const { promise, resolve } = deferred();
          let failure: unknown;
          const whole = around(async (request, next) => {
            await promise;
            return next(request).catch((error: unknown) => {
              failure = error;
              throw error;
            });
          });
          const model = hello();

          const subscription = createAdvisorChain([whole], model)(requestFor(mode)).subscribe();
          await settle();
          subscription.unsubscribe();
          resolve();
          await settle();

          expect(failure).to.be.instanceOf(CancelledError);
          expect(model.prompts).to.have.lengthOf(0);
        });

        it('belongs to the run until it has ended', async () => {
          const log: string[] = [];
          const whole = around(async (request, next) => {
            try {
              return await next(request);
            } finally {
              for (let task = 0; task < 20; task++)
                await new Promise((resolve) => setTimeout(resolve, 0));
              log.push('advisor');
            }
          });
          const request = requestFor(mode);
          const model = new ScriptedChatModel([{ text: 'slow', delay: 60_000 }]);

          createAdvisorChain([whole], model)(request).subscribe().unsubscribe();
          await request.run.settled;
          log.push('run');

          expect(log).to.deep.equal(['advisor', 'run']);
        });

        it('never runs after a before that ended after the run', async () => {
          const { promise, resolve } = deferred();
          let begun = false;
          const whole = defineAdvisor({
            name: 'mine',
            order: 1,
            before: () => promise,
            around: (request, next) => {
              begun = true;
              return next(request);
            },
          });

          const subscription = createAdvisorChain([whole], hello())(requestFor(mode)).subscribe();
          subscription.unsubscribe();
          resolve();
          await settle();

          expect(begun).to.equal(false);
        });
      });

      describe('when its signal aborts', () => {
        it('ends at once with the reason as cause, whatever it awaits', async () => {
          const controller = new AbortController();
          const reason = new Error('enough');
          const whole = around(() => new Promise(() => undefined));

          const result = run([whole], hello(), requestFor(mode, { signal: controller.signal }));
          controller.abort(reason);

          const [error] = (await result).errors;
          expect(error).to.be.instanceOf(CancelledError);
          expect((error as AdvisorChainError).cause).to.equal(reason);
        });

        it('[F46] is cancelled also if it handles the error and returns an answer', async () => {
          const controller = new AbortController();
          const whole = around((request, next) =>
            next(request).catch(() => ChatResponse.ofText('stopped')),
          );
          const model = new ScriptedChatModel([{ text: 'slow', delay: 60_000 }]);

          const result = run([whole], model, requestFor(mode, { signal: controller.signal }));
          controller.abort();

          expect((await result).errors[0]).to.be.instanceOf(CancelledError);
          expect(model.cancelled).to.equal(1);
        });

        it('[F31] never runs if the signal had aborted before', async () => {
          let begun = 0;
          const whole = defineAdvisor({
            name: 'mine',
            order: 1,
            before: () => void begun++,
            around: (request, next) => {
              begun++;
              return next(request);
            },
          });

          const { errors } = await run(
            [whole],
            hello(),
            requestFor(mode, { signal: AbortSignal.abort() }),
          );

          expect(begun).to.equal(0);
          expect(errors[0]).to.be.instanceOf(CancelledError);
        });
      });
    });
  }

  describe('in a stream', () => {
    const stream = (advisors: readonly Advisor[], model = hello()): ReturnType<typeof run> =>
      run(advisors, model, requestFor('stream'));

    it('streams its own answer: reasoning, text and tool calls', async () => {
      const call: ToolCall = { id: 'c1', name: 'echo', arguments: '{}' };
      const message = {
        role: 'assistant',
        content: 'Wait.',
        reasoning: 'Hm.',
        toolCalls: [call],
      } as const;

      const result = await stream([around(() => new ChatResponse({ generations: [{ message }] }))]);

      expect(result.events.slice(0, -1)).to.deep.equal([
        { type: 'reasoning-delta', text: 'Hm.' },
        { type: 'text-delta', text: 'Wait.' },
        { type: 'tool-call-delta', index: 0, id: 'c1', name: 'echo', arguments: '{}' },
      ]);
    });

    it('passes the deltas of next on immediately', async () => {
      const result = await stream([around((request, next) => next(request))]);

      expect(typesOf(result)).to.deep.equal(['text-delta', 'text-delta', 'response']);
    });

    it('retracts the deltas of an attempt before the next one', async () => {
      const model = new ScriptedChatModel([{ deltas: ['Hel'], error: new Error('cut') }, 'Hello.']);

      const result = await stream([retrying(1)], model);

      expect(withoutStarts(result.events).slice(0, -1)).to.deep.equal([
        delta('Hel'),
        { type: 'retract', iteration: 0 },
        delta('Hello.'),
      ]);
    });

    it('retracts nothing for an attempt that failed before its first delta', async () => {
      const result = await stream(
        [retrying(1)],
        new ScriptedChatModel([new Error('busy'), 'Hello.']),
      );

      expect(typesOf(result)).to.deep.equal(['text-delta', 'response']);
    });

    it('retracts the first answer if it returns the second', async () => {
      const result = await stream(
        [
          around(async (request, next) => {
            await next(request);
            return next(request);
          }),
        ],
        new ScriptedChatModel(['First.', 'Second.']),
      );

      expect(typesOf(result)).to.deep.equal(['text-delta', 'retract', 'text-delta', 'response']);
      expect(shownText(result.events)).to.equal('Second.');
    });

    it('retracts the second answer if it returns the first', async () => {
      const result = await stream(
        [
          around(async (request, next) => {
            const first = await next(request);
            await next(request);
            return first;
          }),
        ],
        new ScriptedChatModel(['First.', 'Second.']),
      );

      expect(shownText(result.events)).to.equal('First.');
      expect(responseOf(result).response.text).to.equal('First.');
    });

    it('does not mix the deltas of concurrent attempts', async () => {
      const pieces = (text: string) => ({ deltas: [...text], delay: 1 });
      const model = new ScriptedChatModel((prompt) =>
        pieces(prompt.options.seed === 1 ? 'abcdefgh' : '12345678'),
      );
      const second = async (request: ChatClientRequest, next: Next) =>
        (
          await Promise.all([1, 2].map((seed) => next(request.withOptions({ seed }))))
        )[1] as ChatClientResponse;

      const result = await stream([around(second)], model);

      const before = result.events.slice(
        0,
        result.events.findIndex((event) => event.type === 'retract'),
      );
      expect(shownText(before)).to.equal('abcdefgh');
      expect(shownText(result.events)).to.equal('12345678');
    });

    it('streams the whole answer of the second concurrent attempt if the first failed', async () => {
      const model = new ScriptedChatModel([
        { deltas: ['a', 'b'], error: new Error('cut'), delay: 1 },
        { deltas: ['1', '2'], delay: 3 },
      ]);

      const result = await stream(
        [around((request, next) => Promise.any([next(request), next(request)]))],
        model,
      );

      expect(shownText(result.events)).to.equal('12');
    });

    it('passes the tool events of a silent attempt on, but not its deltas', async () => {
      const call: ToolCall = { id: 'c1', name: 'echo', arguments: '{}' };
      const unknown = { type: 'unknown' } as unknown as ChatEvent;
      const answering = (text: string) => (request: ChatClientRequest) => [
        delta(text),
        { type: 'tool-call', toolName: call.name, call } as const,
        { type: 'iteration', index: 0, response: ChatResponse.ofText(text) } as const,
        unknown,
        delta('x'),
        { type: 'retract', iteration: 1 } as const,
        end(`${text}!`)(request),
      ];
      let open: () => void = () => undefined;
      const slow: Advisor = {
        name: 'slow',
        order: 2,
        advise: (request, chain) =>
          new Observable((subscriber) => {
            subscriber.next(delta('slow'));
            open = () => chain.next(request).subscribe(subscriber);
          }),
      };
      let first = true;
      const chosen: Advisor = {
        name: 'chosen',
        order: 2,
        advise: (request, chain) => {
          const advisor = first ? slow : playing(answering('quiet'));
          first = false;
          return advisor.advise?.(request, chain) as Observable<ChatEvent>;
        },
      };
      const whole = around(async (request, next) => {
        const pending = next(request);
        await next(request);
        open();
        return pending;
      });

      const result = await stream([whole, chosen], new ScriptedChatModel(['poke']));

      expect(typesOf(result).slice(0, 3)).to.deep.equal(['text-delta', 'tool-call', 'unknown']);
      expect(typesOf(result)).not.to.include('iteration');
    });

    it('retracts a whole turn from its first iteration', async () => {
      const turn = (request: ChatClientRequest): readonly ChatEvent[] => [
        delta('Let me see.'),
        { type: 'iteration', index: 0, response: ChatResponse.ofText('Let me see.') },
        delta('It is'),
        end('It is')(request),
      ];
      const twice = around(async (request, next) => {
        await next(request);
        return next(request);
      });

      const result = await stream([twice, playing(turn, turn)]);

      expect(result.events.filter((event) => event.type === 'retract')).to.deep.equal([
        { type: 'retract', iteration: 0 },
      ]);
    });

    it('retracts only the last iteration if the answer of a turn is replaced', async () => {
      const turn = (request: ChatClientRequest): readonly ChatEvent[] => [
        delta('Let me see.'),
        { type: 'iteration', index: 0, response: ChatResponse.ofText('Let me see.') },
        delta('It is'),
        end('It is')(request),
      ];
      const whole = around(async (request, next) => {
        await next(request);
        return ChatResponse.ofText('It was.');
      });

      const result = await stream([whole, playing(turn)]);

      expect(withoutStarts(result.events).slice(3, -1)).to.deep.equal([
        { type: 'retract', iteration: 1 },
        delta('It was.'),
      ]);
    });

    it('does not retract again what the rest has retracted', async () => {
      const attempt = (request: ChatClientRequest): readonly ChatEvent[] => [
        delta('Hel'),
        { type: 'retract', iteration: 0 },
        end('')(request),
      ];
      const twice = around(async (request, next) => {
        await next(request);
        return next(request);
      });

      const result = await stream([twice, playing(attempt, attempt)]);

      expect(typesOf(result)).to.deep.equal([
        'text-delta',
        'retract',
        'text-delta',
        'retract',
        'response',
      ]);
    });

    for (const [what, change] of [
      ['reasoning', { reasoning: undefined }],
      ['tool calls', { toolCalls: [] }],
    ] as const) {
      it(`retracts the streamed deltas if it removes only ${what}`, async () => {
        const whole = around(async (request, next) => {
          const response = await next(request);
          const message = { ...response.message, ...change } as AssistantMessage;
          return response.with({ generations: [{ message }] });
        });
        const model = new ScriptedChatModel([
          { reasoning: 'Hm.', text: 'Wait.', toolCalls: [{ name: 'echo' }] },
        ]);

        const { events } = await stream([whole], model);

        const last = events.findLastIndex((event) => event.type === 'retract');
        const standing = new Set(events.slice(last).map((event) => event.type));
        expect(last).to.be.above(0);
        expect([standing.has('reasoning-delta'), standing.has('tool-call-delta')]).to.deep.equal([
          what !== 'reasoning',
          what !== 'tool calls',
        ]);
      });
    }

    it('streams an answer that it requested as a call', async () => {
      const result = await stream([
        around((request, next) => next(request.with({ mode: 'call' }))),
      ]);

      expect(typesOf(result)).to.deep.equal(['text-delta', 'response']);
    });

    it('[D3] cancels an attempt if the run is unsubscribed at the retract before it', async () => {
      const model = new ScriptedChatModel([{ deltas: ['Hel'], error: new Error('cut') }, 'Hello.']);
      const events = createAdvisorChain([retrying(1)], model)(requestFor('stream'));

      const subscription = events.subscribe(
        (event) => event.type === 'retract' && subscription.unsubscribe(),
      );
      await settle();

      expect(model.prompts).to.have.lengthOf(2);
      expect(model.cancelled).to.equal(1);
    });
  });
});

describe('Advisor.around', () => {
  for (const mode of MODES) {
    it(`runs as a method, with the advisors of the chain (${mode})`, async () => {
      class Counter implements Advisor {
        readonly name = 'counter';
        readonly order = 1;
        readonly positions: number[] = [];

        around(request: ChatClientRequest, next: Next, chain: AdvisorChain): Promise<ChatResponse> {
          this.positions.push(chain.advisors.indexOf(this));
          return next(request);
        }
      }
      const counter = new Counter();
      const first = defineAdvisor({ name: 'first', order: 0, before: () => undefined });

      const result = await run([counter, first], hello(), requestFor(mode));

      expect(responseOf(result).response.text).to.equal('Hello there.');
      expect(counter.positions).to.deep.equal([1]);
    });

    it(`runs like the around of defineAdvisor (${mode})`, async () => {
      const whole = async (request: ChatClientRequest, next: Next): Promise<ChatResponse> =>
        (await next(request)).with({ id: 'changed' });
      const defined = defineAdvisor({ name: 'mine', order: 1, around: whole });

      const results = await Promise.all(
        [around(whole), defined].map((advisor) => run([advisor], hello(), requestFor(mode))),
      );

      expect(results[0]).to.deep.equal(results[1]);
    });
  }

  it('receives each event of next before the caller, if it asks for them', async () => {
    const order: string[] = [];
    const listening = around((request, next) =>
      next(request, ({ type }) => void order.push(`advisor ${type}`)),
    );
    const outer = defineAdvisor({
      name: 'outer',
      order: 0,
      onEvent: ({ type }) => void order.push(`caller ${type}`),
    });
    const model = new ScriptedChatModel([{ deltas: ['Hi'] }]);

    await run([outer, listening], model, requestFor('stream'));

    expect(order).to.deep.equal([
      'advisor iteration-start',
      'caller iteration-start',
      'advisor text-delta',
      'caller text-delta',
      'advisor response',
      'caller response',
    ]);
  });

  it('rejects next with the error of its event listener', async () => {
    const error = new Error('no listener');
    const failing = around((request, next) =>
      next(request, () => {
        throw error;
      }),
    );

    for (const mode of MODES)
      expect((await run([failing], hello(), requestFor(mode))).errors).to.deep.equal([error]);
  });
});

describe('holdDeltas', () => {
  const BAD = /secret/;
  const guard = (order: number): Advisor =>
    defineAdvisor({
      name: 'guard',
      order,
      holdDeltas: true,
      after: ({ text }) => (BAD.test(text ?? '') ? ChatResponse.ofText('[blocked]') : undefined),
    });
  const bad = ['the ', 'sec', 'ret ', 'is 42'];
  const SCRIPTS: Readonly<Record<string, readonly ScriptedAnswer[]>> = {
    'a bad answer': [{ deltas: bad }],
    'a bad answer after a failed attempt': [
      { deltas: bad, error: new Error('cut') },
      { deltas: bad },
    ],
    'bad text before a tool call': [
      { deltas: bad, toolCalls: [{ name: 'echo' }] },
      { deltas: bad },
    ],
  };
  const inner: Advisor = {
    name: 'retry',
    order: AdvisorOrder.RESILIENCE,
    advise: (request, chain) => chain.next(request).pipe(retry(1)),
  };

  for (const [place, order] of [
    ['left of the tool loop', AdvisorOrder.GUARD],
    ['right of the tool loop', AdvisorOrder.TOOL_CALLING + 1],
  ] as const)
    for (const [what, script] of Object.entries(SCRIPTS))
      it(`[D10] shows no bad text in content(): ${what}, ${place}`, async () => {
        const spec = ChatClient.create(new ScriptedChatModel(script))
          .prompt('Hi.')
          .tools(defineTool({ name: 'echo', execute: () => 'ok' }))
          .advisors(guard(order), inner);

        const texts: string[] = [];
        for await (const text of spec.stream()) texts.push(text);

        expect(texts.join('')).to.match(/^(\[blocked\]\s*)+$/);
      });

  it('[D10] streams a good answer when it is complete', async () => {
    const model = new ScriptedChatModel([{ deltas: ['all ', 'is ', 'well'] }]);

    const { events } = await run([guard(1)], model, requestFor('stream'));

    expect(typesOf({ events })).to.deep.equal(['text-delta', 'response']);
    expect(shownText(events)).to.equal('all is well');
  });
});
