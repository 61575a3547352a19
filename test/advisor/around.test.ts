import { expect } from 'chai';
import type { Next } from '../../src/advisor/around.js';
import type { ChatClientResponse } from '../../src/advisor/chat-client-response.js';
import { defineAdvisor, type AdvisorFunctions } from '../../src/advisor/define-advisor.js';
import type { Advisor } from '../../src/advisor/advisor.js';
import type { ChatClientRequest } from '../../src/advisor/chat-client-request.js';
import type { ChatEvent } from '../../src/chat/chat-event.js';
import { ChatResponse } from '../../src/chat/chat-response.js';
import { ContextKey } from '../../src/chat/context.js';
import type { AssistantMessage, ToolCall } from '../../src/chat/message.js';
import { type AdvisorChainError, CancelledError, ChainError } from '../../src/errors.js';
import { Observable } from '../../src/rxjs.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { createAdvisorChain } from '../observers.js';
import { deferred, hello, MODES, requestFor, responseOf, run, settle, shownText, typesOf } from './runs.js';

const around = (whole: AdvisorFunctions['around'] & object): Advisor => defineAdvisor({ name: 'mine', order: 1, around: whole });

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
function playing(...scripts: readonly ((request: ChatClientRequest) => readonly ChatEvent[])[]): Advisor {
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
      it('may answer without next', async () => {
        const model = hello();

        const { response } = responseOf(await run([around(() => ChatResponse.ofText('No.'))], model, requestFor(mode)));

        expect(response.text).to.equal('No.');
        expect(model.prompts).to.have.lengthOf(0);
      });

      it('gets the complete answer of next, and gives on what it returns', async () => {
        const whole = around(async (request, next) => {
          const response = await next(request);
          return ChatResponse.ofText(`${response.text} And you?`);
        });

        expect(responseOf(await run([whole], hello(), requestFor(mode))).response.text).to.equal('Hello there. And you?');
      });

      it('may call next with another request', async () => {
        const model = hello();

        await run([around((request, next) => next(request.withOptions({ seed: 3 })))], model, requestFor(mode));

        expect(model.prompts[0]?.options.seed).to.equal(3);
      });

      it('may call next again after an error', async () => {
        const model = new ScriptedChatModel([new Error('1'), { deltas: ['Hel'], error: new Error('2') }, 'Hello.']);

        const { response } = responseOf(await run([retrying(2)], model, requestFor(mode)));

        expect(response.text).to.equal('Hello.');
        expect(model.prompts).to.have.lengthOf(3);
      });

      it('[F10] may call next 5,000 times in a row although the rest answers without a pause', async () => {
        const model = new ScriptedChatModel((_, index) => (index < 4_999 ? new Error('again') : 'at last'));

        const { response } = responseOf(await run([retrying(5_000)], model, requestFor(mode)));

        expect(response.text).to.equal('at last');
        expect(model.prompts).to.have.lengthOf(5_000);
      });

      it('may call next twice at the same time', async () => {
        const model = new ScriptedChatModel((prompt) => `Seed ${prompt.options.seed}.`);
        const both = around(async (request, next) => {
          const [one, two] = await Promise.all([next(request.withOptions({ seed: 1 })), next(request.withOptions({ seed: 2 }))]);
          return ChatResponse.ofText(`${one.text} ${two.text}`);
        });

        expect(responseOf(await run([both], model, requestFor(mode))).response.text).to.equal('Seed 1. Seed 2.');
      });

      it('cancels the slower one of two when it returns', async () => {
        const model = new ScriptedChatModel([{ text: 'slow', delay: 60_000 }, 'quick']);
        const race = around((request, next) => Promise.race([next(request), next(request)]));

        expect(responseOf(await run([race], model, requestFor(mode))).response.text).to.equal('quick');
        expect(model.cancelled).to.equal(1);
      });

      it('keeps the context of the answer where it returns one of its own', async () => {
        const SEEN = new ContextKey<string>('test.seen', '');
        const inner = defineAdvisor({ name: 'inner', order: 2, before: (request) => request.withContext(SEEN, 'inside') });
        const whole = around(async (request, next) => ChatResponse.ofText((await next(request)).text ?? ''));

        expect(responseOf(await run([whole, inner], hello(), requestFor(mode))).context.get(SEEN)).to.equal('inside');
      });

      it('[F82] keeps a response with a context that a second copy of the package made', async () => {
        const SEEN = new ContextKey<string>('test.seen', '');
        const whole = around(async (request, next) => {
          const response = (await next(request)).withContext(SEEN, 'kept');
          const { message } = response;
          // has the same methods, but is an instance of nothing here
          return { ...response, message, hasToolCalls: () => false, toEvent: () => response.toEvent() } as unknown as ChatClientResponse;
        });

        expect(responseOf(await run([whole], hello(), requestFor(mode))).context.get(SEEN)).to.equal('kept');
      });

      it('rejects next with the error of the rest, the same object', async () => {
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

      it('rejects next where the rest ends without a response', async () => {
        const { errors } = await run([around((request, next) => next(request)), playing(() => [])], hello(), requestFor(mode));

        expect(errors[0]).to.be.instanceOf(ChainError);
        expect((errors[0] as Error).message).to.equal('what follows the advisor "mine" ended without a response event');
      });

      it('rejects next where it is called without a request, and may go on', async () => {
        let message = '';
        const whole = around(async (request, next) => {
          await next(undefined as unknown as ChatClientRequest).catch((error: Error) => (message = error.message));
          return next(request);
        });

        const result = await run([whole], hello(), requestFor(mode));

        expect(message).to.equal('next(…): expected a ChatClientRequest, not undefined');
        expect(shownText(result.events)).to.equal(mode === 'stream' ? 'Hello there.' : '');
      });

      describe('that is unsubscribed', () => {
        it('[F51] [F52] rejects a waiting next, so that finally blocks run, and nobody hears of it', async () => {
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

          const subscription = createAdvisorChain([whole], model)(requestFor(mode)).subscribe({ error: (error) => errors.push(error) });
          await settle();
          subscription.unsubscribe();
          await settle();

          expect(log).to.deep.equal(['cancelled', 'finally']);
          expect(model.cancelled).to.equal(1);
          expect(errors).to.deep.equal([]);
        });

        it('[F51] leaves no rejection behind where nobody awaits next', async () => {
          const { promise, resolve } = deferred();
          const whole = around(async (request, next) => {
            void next(request);
            await promise;
            return ChatResponse.ofText('late');
          });
          const model = new ScriptedChatModel([{ text: 'slow', delay: 60_000 }]);

          const subscription = createAdvisorChain([whole], model)(requestFor(mode)).subscribe();
          subscription.unsubscribe();
          await settle();
          resolve();
          await settle();

          expect(model.cancelled).to.equal(1);
        });

        it('[F36] [F49] cannot ask the rest any more', async () => {
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

        it('is not begun where before took too long', async () => {
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

      describe('whose signal aborts', () => {
        it('ends at once with the reason as cause, whatever it waits for', async () => {
          const controller = new AbortController();
          const reason = new Error('enough');
          const whole = around(() => new Promise(() => undefined));

          const result = run([whole], hello(), requestFor(mode, { signal: controller.signal }));
          controller.abort(reason);

          const [error] = (await result).errors;
          expect(error).to.be.instanceOf(CancelledError);
          expect((error as AdvisorChainError).cause).to.equal(reason);
        });

        it('[F46] is cancelled also where it takes the error for an answer', async () => {
          const controller = new AbortController();
          const whole = around((request, next) => next(request).catch(() => ChatResponse.ofText('stopped')));
          const model = new ScriptedChatModel([{ text: 'slow', delay: 60_000 }]);

          const result = run([whole], model, requestFor(mode, { signal: controller.signal }));
          controller.abort();

          expect((await result).errors[0]).to.be.instanceOf(CancelledError);
          expect(model.cancelled).to.equal(1);
        });

        it('[F31] is not begun where it had aborted before', async () => {
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

          const { errors } = await run([whole], hello(), requestFor(mode, { signal: AbortSignal.abort() }));

          expect(begun).to.equal(0);
          expect(errors[0]).to.be.instanceOf(CancelledError);
        });
      });
    });
  }

  describe('in a stream', () => {
    const stream = (advisors: readonly Advisor[], model = hello()): ReturnType<typeof run> => run(advisors, model, requestFor('stream'));

    it('streams an answer of its own: reasoning, text and tool calls', async () => {
      const call: ToolCall = { id: 'c1', name: 'echo', arguments: '{}' };
      const message = { role: 'assistant', text: 'Wait.', reasoning: 'Hm.', toolCalls: [call] } as const;

      const result = await stream([around(() => new ChatResponse({ generations: [{ message }] }))]);

      expect(result.events.slice(0, -1)).to.deep.equal([
        { type: 'reasoning-delta', text: 'Hm.' },
        { type: 'text-delta', text: 'Wait.' },
        { type: 'tool-call-delta', index: 0, id: 'c1', name: 'echo', arguments: '{}' },
      ]);
    });

    it('passes the deltas of next on as they come', async () => {
      const result = await stream([around((request, next) => next(request))]);

      expect(typesOf(result)).to.deep.equal(['text-delta', 'text-delta', 'response']);
    });

    it('retracts the deltas of an attempt before it begins another', async () => {
      const model = new ScriptedChatModel([{ deltas: ['Hel'], error: new Error('cut') }, 'Hello.']);

      const result = await stream([retrying(1)], model);

      expect(result.events.slice(0, -1)).to.deep.equal([delta('Hel'), { type: 'retract', iteration: 0 }, delta('Hello.')]);
    });

    it('retracts nothing of an attempt that failed before its first delta', async () => {
      const result = await stream([retrying(1)], new ScriptedChatModel([new Error('busy'), 'Hello.']));

      expect(typesOf(result)).to.deep.equal(['text-delta', 'response']);
    });

    it('retracts the first answer where it asks again and returns the second', async () => {
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

    it('retracts the second answer where it returns the first', async () => {
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

    it('does not mix the deltas of two that run at the same time', async () => {
      const pieces = (text: string) => ({ deltas: [...text], delay: 1 });
      const model = new ScriptedChatModel((prompt) => pieces(prompt.options.seed === 1 ? 'abcdefgh' : '12345678'));
      const second = async (request: ChatClientRequest, next: Next) =>
        (await Promise.all([1, 2].map((seed) => next(request.withOptions({ seed })))))[1] as ChatClientResponse;

      const result = await stream([around(second)], model);

      const before = result.events.slice(
        0,
        result.events.findIndex((event) => event.type === 'retract'),
      );
      expect(shownText(before)).to.equal('abcdefgh');
      expect(shownText(result.events)).to.equal('12345678');
    });

    it('streams the whole answer of the second of two where the first failed', async () => {
      const model = new ScriptedChatModel([
        { deltas: ['a', 'b'], error: new Error('cut'), delay: 1 },
        { deltas: ['1', '2'], delay: 3 },
      ]);

      const result = await stream([around((request, next) => Promise.any([next(request), next(request)]))], model);

      expect(shownText(result.events)).to.equal('12');
    });

    it('passes on what the tools of a silent attempt do, but not what it says', async () => {
      const call: ToolCall = { id: 'c1', name: 'echo', arguments: '{}' };
      const unknown = { type: 'unknown' } as unknown as ChatEvent;
      const says = (text: string) => (request: ChatClientRequest) => [
        delta(text),
        { type: 'tool-call', call } as const,
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
          const advisor = first ? slow : playing(says('quiet'));
          first = false;
          return advisor.advise?.(request, chain) as Observable<ChatEvent>;
        },
      };
      const whole = around(async (request, next) => {
        const voice = next(request);
        await next(request);
        open();
        return voice;
      });

      const result = await stream([whole, chosen], new ScriptedChatModel(['poke']));

      expect(typesOf(result).slice(0, 3)).to.deep.equal(['text-delta', 'tool-call', 'unknown']);
      expect(typesOf(result)).not.to.include('iteration');
    });

    it('retracts a whole turn from its first iteration on', async () => {
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

      expect(result.events.filter((event) => event.type === 'retract')).to.deep.equal([{ type: 'retract', iteration: 0 }]);
    });

    it('retracts the last iteration alone where the answer of a turn is replaced', async () => {
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

      expect(result.events.filter((event) => event.type === 'retract')).to.deep.equal([{ type: 'retract', iteration: 1 }]);
      expect(shownText(result.events)).to.equal('It was.');
    });

    it('retracts nothing a second time that the rest has retracted itself', async () => {
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

      expect(typesOf(result)).to.deep.equal(['text-delta', 'retract', 'text-delta', 'retract', 'response']);
    });

    for (const [what, change] of [
      ['reasoning', { reasoning: undefined }],
      ['tool calls', { toolCalls: [] }],
    ] as const) {
      it(`retracts what was streamed where it takes away ${what} alone`, async () => {
        const whole = around(async (request, next) => {
          const response = await next(request);
          const message = { ...response.message, ...change } as AssistantMessage;
          return response.with({ generations: [{ message }] });
        });
        const model = new ScriptedChatModel([{ reasoning: 'Hm.', text: 'Wait.', toolCalls: [{ name: 'echo' }] }]);

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

    it('streams the answer that it asked for as a call', async () => {
      const result = await stream([around((request, next) => next(request.with({ mode: 'call' })))]);

      expect(typesOf(result)).to.deep.equal(['text-delta', 'response']);
    });

    it('asks nothing where the run is unsubscribed at the retract before the next attempt', async () => {
      const model = new ScriptedChatModel([{ deltas: ['Hel'], error: new Error('cut') }, 'Hello.']);
      const events = createAdvisorChain([retrying(1)], model)(requestFor('stream'));

      const subscription = events.subscribe((event) => event.type === 'retract' && subscription.unsubscribe());
      await settle();

      expect(model.prompts).to.have.lengthOf(1);
    });
  });
});
