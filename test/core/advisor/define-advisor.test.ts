import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { take } from 'rxjs';
import type { ChatClientRequest } from '../../../src/core/advisor/chat-client-request.js';
import type { ChatClientResponse } from '../../../src/core/advisor/chat-client-response.js';
import { defineAdvisor, type AdvisorFunctions } from '../../../src/core/advisor/define-advisor.js';
import type { ChatEvent } from '../../../src/core/chat/chat-event.js';
import { ChatClient, defineTool, type Advisor } from '../../../src/index.js';
import { ChatResponse } from '../../../src/core/chat/chat-response.js';
import { ContextKey, CONVERSATION_ID } from '../../../src/core/chat/context.js';
import { ChainError, InvalidArgumentError } from '../../../src/core/errors/errors.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { createAdvisorChain } from '../../support/observers.js';
import {
  collect,
  hello,
  requestFor,
  responseOf,
  run,
  shownText,
  typesOf,
} from '../../support/runs.js';
import { deferred, settle } from '../../support/promises.js';
import { MODES } from '../../support/modes.js';

const SEEN = new ContextKey<string>('test.seen', '');

const advisor = (functions: Partial<AdvisorFunctions>) =>
  defineAdvisor({ name: 'mine', order: 1, ...functions });

describe('defineAdvisor', () => {
  for (const mode of MODES) {
    describe(`before (${mode})`, () => {
      it('passes the returned request to the rest', async () => {
        const model = hello();

        await run(
          [advisor({ before: (request) => request.withOptions({ temperature: 0 }) })],
          model,
          requestFor(mode),
        );

        expect(model.prompts[0]?.options).to.deep.equal({ temperature: 0 });
      });

      it('can be a method of a class', async () => {
        class Cold implements Advisor {
          readonly name = 'cold';
          readonly order = 1;
          private readonly temperature = 0;
          before(request: ChatClientRequest): ChatClientRequest {
            return request.withOptions({ temperature: this.temperature });
          }
        }
        const model = hello();

        await run([new Cold()], model, requestFor(mode));

        expect(model.prompts[0]?.options).to.deep.equal({ temperature: 0 });
      });

      it('can be async', async () => {
        const model = hello();
        const before = async (request: ChatClientRequest): Promise<ChatClientRequest> => {
          await settle();
          return request.withOptions({ temperature: 0 });
        };

        await run([advisor({ before })], model, requestFor(mode));

        expect(model.prompts[0]?.options).to.deep.equal({ temperature: 0 });
      });

      it('can return a promise of another realm', async () => {
        const model = hello();
        const OtherPromise = runInNewContext('Promise') as PromiseConstructor;
        const before = (request: ChatClientRequest): Promise<ChatClientRequest> =>
          OtherPromise.resolve(request.withOptions({ temperature: 0 }));

        await run([advisor({ before })], model, requestFor(mode));

        expect(model.prompts[0]?.options).to.deep.equal({ temperature: 0 });
      });

      it('keeps the request if it returns nothing', async () => {
        const model = hello();
        const request = requestFor(mode);

        await run([advisor({ before: () => undefined })], model, request);

        expect(model.prompts[0]).to.equal(request.prompt);
      });

      it('never calls the rest if it was unsubscribed meanwhile', async () => {
        const model = hello();
        const { promise, resolve } = deferred();

        const subscription = createAdvisorChain(
          [advisor({ before: () => promise })],
          model,
        )(requestFor(mode)).subscribe();
        subscription.unsubscribe();
        resolve();
        await settle();

        expect(model.prompts).to.have.lengthOf(0);
      });

      for (const functions of [{}, { after: () => undefined }]) {
        it(`is named in the error if it returns another value${'after' in functions ? ', also with after' : ''}`, async () => {
          const before = (): ChatClientRequest => 'hello' as unknown as ChatClientRequest;

          const { errors } = await run(
            [advisor({ before, ...functions })],
            hello(),
            requestFor(mode),
          );

          expect(errors[0]).to.be.instanceOf(ChainError);
          expect((errors[0] as Error).message).to.equal(
            'advisor "mine": before must return a ChatClientRequest or nothing, not "hello"',
          );
        });
      }
    });

    describe(`after (${mode})`, () => {
      it('receives the complete answer once, with its context and the request', async () => {
        const seen: unknown[] = [];
        const inner = defineAdvisor({
          name: 'inner',
          order: 2,
          before: (request) => request.withContext(SEEN, 'by inner'),
        });
        const before = (request: ChatClientRequest): ChatClientRequest =>
          request.withOptions({ seed: 1 });
        const after = (response: ChatClientResponse, request: ChatClientRequest): void => {
          seen.push(response.text, response.context.get(SEEN), request.prompt.options.seed);
        };

        await run([advisor({ before, after }), inner], hello(), requestFor(mode));

        expect(seen).to.deep.equal(['Hello there.', 'by inner', 1]);
      });

      it('returns another answer, which keeps the context', async () => {
        const inner = defineAdvisor({
          name: 'inner',
          order: 2,
          before: (request) => request.withContext(SEEN, 'by inner'),
        });

        const { response, context } = responseOf(
          await run(
            [advisor({ after: () => ChatResponse.ofText('Other.') }), inner],
            hello(),
            requestFor(mode),
          ),
        );

        expect([response.text, context.get(SEEN)]).to.deep.equal(['Other.', 'by inner']);
      });

      it('can add a value to the context', async () => {
        const after = (response: ChatClientResponse): ChatClientResponse =>
          response.withContext(SEEN, 'by after');

        const { response, context } = responseOf(
          await run([advisor({ after })], hello(), requestFor(mode)),
        );

        expect([response.text, context.get(SEEN)]).to.deep.equal(['Hello there.', 'by after']);
      });

      it('receives a response with a context also if around created the answer', async () => {
        const seen: unknown[] = [];
        const whole = advisor({
          before: (request) => request.withContext(SEEN, 'by before'),
          around: () => ChatResponse.ofText('Mine.'),
          after: (response) => void seen.push(response.text, response.context.get(SEEN)),
        });

        const { context } = responseOf(await run([whole], hello(), requestFor(mode)));

        expect(seen).to.deep.equal(['Mine.', 'by before']);
        expect(context.get(SEEN)).to.equal('by before');
      });

      it('is not called after an error', async () => {
        let called = 0;

        await run(
          [advisor({ after: () => void called++ })],
          new ScriptedChatModel([new Error('no')]),
          requestFor(mode),
        );

        expect(called).to.equal(0);
      });

      it('is not called after the run was unsubscribed', async () => {
        let called = 0;
        const { promise, resolve } = deferred();
        const around: AdvisorFunctions['around'] = async (request, next) => {
          const response = await next(request);
          await promise;
          return response;
        };

        const subscription = createAdvisorChain(
          [advisor({ around, after: () => void called++ })],
          hello(),
        )(requestFor(mode)).subscribe();
        await settle();
        subscription.unsubscribe();
        resolve();
        await settle();

        expect(called).to.equal(0);
      });

      for (const part of ['around', 'after'] as const) {
        it(`names the advisor whose ${part} returned an invalid response`, async () => {
          const { errors } = await run(
            [advisor({ [part]: () => 'Hello.' })],
            hello(),
            requestFor(mode),
          );

          expect(errors[0]).to.be.instanceOf(ChainError);
          expect((errors[0] as Error).message).to.equal(
            `advisor "mine": ${part} must return a ChatResponse, not "Hello."`,
          );
        });
      }
    });
  }

  it('passes deltas on while before, around and after are pending', async () => {
    const whole = advisor({
      before: () => undefined,
      around: (request, next) => next(request),
      after: () => undefined,
    });

    const result = await run([whole], hello(), requestFor('stream'));

    expect(typesOf(result)).to.deep.equal(['text-delta', 'text-delta', 'response']);
  });

  it('retracts the streamed text if after returns another, and streams that', async () => {
    const result = await run(
      [advisor({ after: () => ChatResponse.ofText('Censored.') })],
      hello(),
      requestFor('stream'),
    );

    expect(typesOf(result)).to.deep.equal([
      'text-delta',
      'text-delta',
      'retract',
      'text-delta',
      'response',
    ]);
    expect(shownText(result.events)).to.equal('Censored.');
  });

  it('retracts nothing if after changes only metadata', async () => {
    const after = (response: ChatClientResponse): ChatResponse =>
      response.with({ metadata: { checked: true } });

    const result = await run([advisor({ after })], hello(), requestFor('stream'));

    expect(typesOf(result)).to.deep.equal(['text-delta', 'text-delta', 'response']);
    expect(responseOf(result).response.metadata).to.deep.equal({ checked: true });
  });

  describe('onEvent', () => {
    it('receives every event with the request, also the response', async () => {
      const seen: string[] = [];
      const request = requestFor('stream');

      await run(
        [
          advisor({
            onEvent: (event, { mode, prompt }) =>
              void seen.push(`${event.type} ${mode} ${String(prompt === request.prompt)}`),
          }),
        ],
        hello(),
        request,
      );

      expect(seen).to.deep.equal([
        'iteration-start stream true',
        'text-delta stream true',
        'text-delta stream true',
        'response stream true',
      ]);
    });

    it('receives the request returned by before', async () => {
      const seen = new Set<unknown>();
      const whole = advisor({
        before: (request) => request.withOptions({ seed: 7 }),
        onEvent: (_, request) => void seen.add(request.prompt.options.seed),
      });

      await run([whole], hello(), requestFor('stream'));

      expect([...seen]).to.deep.equal([7]);
    });

    it('emits what it returns: another event, none, or several', async () => {
      const onEvent = (event: ChatEvent): ChatEvent | ChatEvent[] | void => {
        if (event.type === 'response')
          return { ...event, response: ChatResponse.ofText('there.!') };
        if (event.type !== 'text-delta') return;
        if (event.text.startsWith('H')) return [];
        return [event, { type: 'text-delta', text: '!' }];
      };

      const { events } = await run([advisor({ onEvent })], hello(), requestFor('stream'));

      expect(shownText(events)).to.equal('there.!');
    });

    for (const wrong of [5, 'text', true, { text: 'no type' }, [undefined], Promise.resolve()]) {
      it(`is named in the error if it returns ${JSON.stringify(wrong)}`, async () => {
        const onEvent = (): ChatEvent => wrong as unknown as ChatEvent;

        const { errors } = await run([advisor({ onEvent })]);

        expect(errors[0]).to.be.instanceOf(ChainError);
        expect((errors[0] as Error).message).to.match(
          /^advisor "mine": onEvent must return an event, an array of events or nothing, not /,
        );
      });
    }

    it('is not called again after it has thrown, also by a synchronous source', async () => {
      let called = 0;
      const onEvent = (): never => {
        called++;
        throw new Error('once');
      };

      const { errors } = await run([advisor({ onEvent })], hello(), requestFor('stream'));

      expect([called, errors.length]).to.deep.equal([1, 1]);
    });

    it('is not called again after the run was unsubscribed, also by a synchronous source', async () => {
      let called = 0;
      const events = createAdvisorChain(
        [advisor({ onEvent: () => void called++ })],
        hello(),
      )(requestFor('stream'));

      await collect(events.pipe(take(1)));

      expect(called).to.equal(1);
    });
  });

  it('[F51] emits an error, without an unhandled rejection, if before, around or after reject', async () => {
    for (const part of ['before', 'around', 'after'] as const) {
      const error = new Error(part);

      const { errors } = await run([advisor({ [part]: () => Promise.reject(error) })]);

      expect(errors).to.deep.equal([error]);
    }
  });

  it('creates an advisor with name, order, role and only the methods it needs', () => {
    const events = defineAdvisor({
      name: 'memory',
      order: 3,
      role: 'chat-memory',
      onEvent: () => undefined,
    });
    const tools = defineAdvisor({
      name: 'tools',
      order: 4,
      aroundTool: (call, next) => next(call),
    });

    expect(Object.keys(events)).to.deep.equal(['name', 'order', 'role', 'advise']);
    expect(Object.keys(tools)).to.deep.equal(['name', 'order', 'adviseToolCall']);
  });

  for (const [functions, message] of [
    [undefined, 'defineAdvisor: the argument must be a plain object, not undefined'],
    [{ name: 'a', order: 1 }, 'advisor "a" needs before, advise, around or adviseToolCall'],
    [
      { name: '', order: 1, before: () => undefined },
      'the name of an advisor must be a non-blank string, not ""',
    ],
    [
      { name: 'a', before: () => undefined },
      'advisor "a": order must be a finite number, not undefined',
    ],
    [{ name: 'a', order: 1, before: 'x' }, 'defineAdvisor: before must be a function, not "x"'],
    [
      { name: 'a', order: 1, inspect: {} },
      'defineAdvisor: inspect must be a function, not an object',
    ],
    [
      { name: 'a', order: 1, aroundTool: {} },
      'defineAdvisor: aroundTool must be a function, not an object',
    ],
  ] as const) {
    it(`rejects invalid functions: ${message}`, () => {
      expect(() => defineAdvisor(functions as unknown as AdvisorFunctions)).to.throw(
        InvalidArgumentError,
        message,
      );
    });
  }

  for (const mode of MODES)
    it(`shows its state to an inspector, which no turn asks for (${mode})`, async () => {
      const greeted = new Map<string | undefined, number>();
      let asked = 0;
      const counting = advisor({
        before: ({ context }) => {
          const id = context.get(CONVERSATION_ID);
          greeted.set(id, (greeted.get(id) ?? 0) + 1);
        },
        inspect: ({ context }) => {
          asked++;
          return { greetings: greeted.get(context.get(CONVERSATION_ID)) ?? 0 };
        },
      });
      const request = requestFor(mode).withContext(CONVERSATION_ID, 'anna');

      await run([counting], hello(), request);

      expect(asked).to.equal(0);
      expect(await counting.inspect?.(request)).to.deep.equal({ greetings: 1 });
      expect(await counting.inspect?.(requestFor(mode))).to.deep.equal({ greetings: 0 });
    });

  it('refuses a class whose inspect is no function', () => {
    const wrong = { name: 'a', order: 1, before: () => undefined, inspect: true as never };

    expect(() => createAdvisorChain([wrong], hello())).to.throw(
      InvalidArgumentError,
      'advisor "a": inspect must be a function, not true',
    );
  });

  it('[F26] sends the error of a call that aroundTool repeats concurrently to the model', async () => {
    let runs = 0;
    const flaky = defineTool({
      name: 'flaky',
      execute: () => (++runs === 1 ? 'fine' : Promise.reject(new Error('down'))),
    });
    const hedge = advisor({
      aroundTool: async (call, next) => (await Promise.all([next(call), next(call)]))[0],
    });
    const model = new ScriptedChatModel([{ toolCalls: [{ name: 'flaky' }] }, 'done']);
    const spec = ChatClient.create(model).prompt('go').tools(flaky).advisors(hedge);

    expect(await spec.call().content()).to.equal('done');
  });
});
