import { expect } from 'chai';
import { concatMap, defer, from, map, Observable, of, retry, shareReplay, type Subscription } from 'rxjs';
import type { Advisor, AdvisorChain } from '../../src/advisor/advisor.js';
import type { ChatClientRequest } from '../../src/advisor/chat-client-request.js';
import { defineAdvisor, type AdvisorFunctions } from '../../src/advisor/define-advisor.js';
import type { ChatEvent } from '../../src/chat/chat-event.js';
import { ChatResponse } from '../../src/chat/chat-response.js';
import { AdvisorContext, ContextKey } from '../../src/chat/context.js';
import { textOf } from '../../src/chat/message.js';
import { InvalidArgumentError } from '../../src/errors.js';
import { lawsOf } from '../../src/testing/contract-laws.js';
import { Trial } from '../../src/testing/contract-trial.js';
import { itBehavesLikeAnAdvisor, type AdvisorContract } from '../../src/testing/index.js';

const LAWS = {
  cold: 'is cold: nothing happens before subscribe [law 1]',
  fields: 'keeps nothing of a run in its fields [law 1]',
  anew: 'makes each subscription a run of its own [law 2]',
  alone: 'shares nothing between two runs at the same time [law 2]',
  unsubscribe: 'ends what is under way when it is unsubscribed, at every event [law 3]',
  abort: 'ends with the error of the cancellation when the signal aborts, at every event [law 3]',
  response: 'gives exactly one response, last, and completes [law 4]',
  deltas: 'gives deltas that add up to the text of their iteration [law 4]',
  events: 'passes on events that it does not know [law 5]',
  context: 'passes the context on, to the model and back [law 5]',
  metadata: 'passes on metadata and options that it does not know [law 5]',
  errors: 'passes errors on as they are [law 6]',
  sameAnswer: 'gives the same answer for call and stream [law 7]',
  sameRequest: 'asks the same in both modes [law 8]',
  toolResults: 'passes tool calls and their results on [tool calls]',
  toolErrors: 'passes errors of tools on as they are [tool calls]',
  toolsAlone: 'shares nothing between two tool calls at the same time [tool calls]',
} as const;

type Advise = (request: ChatClientRequest, chain: AdvisorChain) => Observable<ChatEvent>;

/** An advisor with a fault, made anew for each run so that faults with a state begin from the start. */
interface Rogue {
  readonly breaks: (typeof LAWS)[keyof typeof LAWS];
  readonly create: () => Advisor;
  readonly contract?: Partial<AdvisorContract>;
}

const rogue = (breaks: Rogue['breaks'], make: () => Advise, contract: Partial<AdvisorContract> = {}): Rogue => ({
  breaks,
  create: () => ({ name: 'rogue', order: 1, advise: make() }),
  contract,
});

const functions = (breaks: Rogue['breaks'], parts: Partial<AdvisorFunctions>): Rogue => ({
  breaks,
  create: () => defineAdvisor({ name: 'rogue', order: 1, ...parts }),
});

const shout = (response: ChatResponse): ChatResponse =>
  response.with({
    generations: response.generations.map((each) => ({ ...each, message: { ...each.message, text: `${each.message.text}!` } })),
  });

class KeepsTheRequest implements Advisor {
  readonly name = 'rogue';
  readonly order = 1;
  private request: ChatClientRequest | undefined;

  advise(request: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent> {
    this.request = request;
    return chain
      .next(request)
      .pipe(map((event) => (event.type === 'response' ? { ...event, context: (this.request as ChatClientRequest).context } : event)));
  }
}

const LAST = new ContextKey<string>('test.last', '');

class RemembersPrivately implements Advisor {
  readonly name = 'rogue';
  readonly order = 1;
  #last = '';

  advise(request: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent> {
    this.#last = textOf(request.prompt.userMessage?.content ?? '');
    return chain
      .next(request)
      .pipe(map((event) => (event.type === 'response' ? { ...event, context: event.context.with(LAST, this.#last) } : event)));
  }
}

const ROGUES: Readonly<Record<string, Rogue>> = {
  'asks the rest of the chain before anybody subscribed': rogue(LAWS.cold, () => (request, chain) => {
    const early = chain.next(request).pipe(shareReplay());
    early.subscribe({ error: () => undefined });
    return early;
  }),
  'keeps the request in a field': { breaks: LAWS.fields, create: () => new KeepsTheRequest() },
  'keeps the request in a field, and may': { breaks: LAWS.alone, create: () => new KeepsTheRequest(), contract: { writesFields: true } },
  'keeps the request in a private field': { breaks: LAWS.alone, create: () => new RemembersPrivately() },
  'gives the first run to everybody': rogue(LAWS.anew, () => {
    return (request, chain) => chain.next(request).pipe(shareReplay());
  }),
  'works only once': rogue(LAWS.anew, () => {
    let used = false;
    return (request, chain) =>
      new Observable((subscriber) => {
        if (used) return subscriber.complete();
        used = true;
        return chain.next(request).subscribe(subscriber);
      });
  }),
  'does not unsubscribe what it has subscribed': rogue(LAWS.unsubscribe, () => (request, chain) => {
    return new Observable((subscriber) => void chain.next(request).subscribe(forward(subscriber)));
  }),
  'asks again when it is unsubscribed': rogue(LAWS.unsubscribe, () => (request, chain) => {
    return new Observable((subscriber) => {
      const subscription: Subscription = chain.next(request).subscribe(forward(subscriber));
      return () => {
        if (!subscription.closed) chain.next(request).subscribe({ error: () => undefined });
        subscription.unsubscribe();
      };
    });
  }),
  'gives the rest of the chain another signal': rogue(LAWS.abort, () => (request, chain) => {
    return chain.next(request.withSignal(new AbortController().signal));
  }),
  'takes a cancellation for an answer': rogue(LAWS.abort, () => (request, chain) => {
    return new Observable((subscriber) =>
      chain.next(request).subscribe({
        ...forward(subscriber),
        error: (error: unknown) => {
          if (!request.signal.aborted) return subscriber.error(error);
          subscriber.next({ type: 'response', response: ChatResponse.ofText('stopped'), context: request.context });
          subscriber.complete();
        },
      }),
    );
  }),
  'does not tell a running tool': rogue(LAWS.unsubscribe, () => (request, chain) => {
    const [tool] = request.tools;
    const call = { id: 'c', name: 'echo', arguments: '{}' };
    const { signal } = new AbortController();
    const context = { call, values: {}, advisorContext: request.context, idempotencyKey: 'k', progress: () => undefined, signal };
    return defer(async () => tool?.call({}, { ...context, get: ({ defaultValue }) => defaultValue })).pipe(
      concatMap(() => chain.next(request)),
    );
  }),
  'drops the response': functions(LAWS.response, { onEvent: (event) => (event.type === 'response' ? [] : event) }),
  'answers twice': functions(LAWS.response, { onEvent: (event) => (event.type === 'response' ? [event, event] : event) }),
  'goes on after the response': functions(LAWS.response, {
    onEvent: (event) => (event.type === 'response' ? [event, { type: 'text-delta', text: ' PS' }] : event),
  }),
  'never completes': rogue(
    LAWS.response,
    () => (request, chain) => {
      return new Observable((subscriber) => chain.next(request).subscribe({ ...forward(subscriber), complete: () => undefined }));
    },
    { timeout: 50 },
  ),
  'streams in a call': functions(LAWS.response, {
    onEvent: (event) => (event.type === 'response' ? [{ type: 'text-delta', text: event.response.text ?? '' }, event] : []),
  }),
  'returns no Observable': rogue(LAWS.response, () => () => undefined as unknown as Observable<ChatEvent>),
  'keeps the deltas back': functions(LAWS.deltas, { onEvent: (event) => (event.type === 'text-delta' ? [] : event) }),
  'changes the text without a retract': functions(LAWS.deltas, {
    onEvent: (event) => (event.type === 'response' ? { ...event, response: shout(event.response) } : event),
  }),
  'changes the deltas but not the text': functions(LAWS.deltas, {
    onEvent: (event) => (event.type === 'text-delta' ? { ...event, text: event.text.toUpperCase() } : event),
  }),
  'drops a retract': functions(LAWS.deltas, { onEvent: (event) => (event.type === 'retract' ? [] : event) }),
  'passes on only what it knows': functions(LAWS.events, {
    onEvent: (event) => (/delta|iteration|tool|retract|response/.test(event.type) ? event : []),
  }),
  'gives the rest of the chain an empty context': rogue(LAWS.context, () => (request, chain) => {
    return chain.next(request.with({ context: AdvisorContext.empty }));
  }),
  'puts the context of the request into the answer': functions(LAWS.context, {
    onEvent: (event, request) => (event.type === 'response' ? { ...event, context: request.context } : event),
  }),
  'builds the messages anew': functions(LAWS.metadata, {
    before: (request) => request.withMessages([{ role: 'user', content: textOf(request.prompt.userMessage?.content ?? '') }]),
  }),
  'builds the options anew': functions(LAWS.metadata, {
    before: (request) => request.withPrompt(request.prompt.replaceOptions({ model: 'mine' })),
  }),
  'builds the answer anew': functions(LAWS.metadata, { after: (response) => ChatResponse.ofText(response.text ?? '') }),
  'wraps errors': functions(LAWS.errors, {
    around: (request, next) =>
      next(request).catch((error: unknown) => Promise.reject(new Error('stream processing failed', { cause: error }))),
  }),
  'makes an answer of an error': functions(LAWS.errors, {
    around: (request, next) => next(request).catch(() => ChatResponse.ofText('sorry')),
  }),
  'ends silently at an error': rogue(LAWS.errors, () => (request, chain) => {
    return new Observable((subscriber) => chain.next(request).subscribe({ ...forward(subscriber), error: () => subscriber.complete() }));
  }),
  'retries for ever': rogue(LAWS.errors, () => (request, chain) => chain.next(request).pipe(retry({ delay: 5 })), { timeout: 50 }),
  'changes the answer of a call only': rogue(LAWS.sameAnswer, () => {
    return (request, chain) =>
      chain
        .next(request)
        .pipe(
          map((event) => (event.type === 'response' && request.mode === 'call' ? { ...event, response: shout(event.response) } : event)),
        );
  }),
  'leaves something behind only in a call': leavesBehind(),
  'does nothing in a stream': functions(LAWS.sameRequest, {
    before: (request) => (request.mode === 'stream' ? undefined : request.withOptions({ temperature: 0 })),
  }),
  'makes a call of a stream': rogue(LAWS.sameRequest, () => (request, chain) => {
    return chain
      .next(request.with({ mode: 'call' }))
      .pipe(
        concatMap((event) =>
          event.type === 'response' && request.mode === 'stream'
            ? from<ChatEvent[]>([{ type: 'text-delta', text: event.response.text ?? '' }, event])
            : of(event),
        ),
      );
  }),
  'drops what a tool says besides its content': functions(LAWS.toolResults, {
    aroundTool: async (call, next) => ({ content: (await next(call)).content }),
  }),
  'gives no tool result': functions(LAWS.toolResults, { aroundTool: () => Promise.resolve(undefined as never) }),
  'wraps errors of tools': functions(LAWS.toolErrors, {
    aroundTool: (call, next) => next(call).catch((error: unknown) => Promise.reject(new Error('failed', { cause: error }))),
  }),
  'mixes up tool calls': mixesUp(),
};

function forward(subscriber: { next(event: ChatEvent): void; error(error: unknown): void; complete(): void }) {
  return {
    next: (event: ChatEvent) => subscriber.next(event),
    error: (error: unknown) => subscriber.error(error),
    complete: () => subscriber.complete(),
  };
}

function leavesBehind(): Rogue {
  let log: string[] = [];
  return {
    breaks: LAWS.sameAnswer,
    create: () => {
      log = [];
      return defineAdvisor({ name: 'rogue', order: 1, before: ({ mode }) => void (mode === 'call' && log.push('asked')) });
    },
    contract: { observe: () => [...log] },
  };
}

function mixesUp(): Rogue {
  return {
    breaks: LAWS.toolsAlone,
    create: () => {
      let last = '';
      return defineAdvisor({
        name: 'rogue',
        order: 1,
        aroundTool: async (call, next) => {
          last = call.call.id;
          return { ...(await next(call)), content: last };
        },
      });
    },
    contract: { changesAnswer: true },
  };
}

/** The laws that an advisor breaks, by title. */
async function broken(contract: AdvisorContract): Promise<string[]> {
  const titles: string[] = [];
  for (const { title, check } of lawsOf(contract)) {
    await check(new Trial(contract)).catch(() => titles.push(title));
  }
  return titles;
}

describe('itBehavesLikeAnAdvisor', () => {
  for (const [name, { breaks, create, contract }] of Object.entries(ROGUES)) {
    it(`catches an advisor that ${name}: it no longer "${breaks}"`, async () => {
      expect(await broken({ create, ...contract })).to.include(breaks);
    });
  }

  it('has a rogue for every law', () => {
    const proven = new Set(Object.values(ROGUES).map(({ breaks }) => breaks));
    const all = lawsOf({
      create: () => defineAdvisor({ name: 'all', order: 1, before: () => undefined, aroundTool: (call, next) => next(call) }),
    });

    expect(all.map(({ title }) => title).filter((title) => !proven.has(title as (typeof LAWS)['cold']))).to.deep.equal([]);
  });

  it('says in which mode, in which scene and at which event a law was broken', async () => {
    const contract = { create: ROGUES['does not unsubscribe what it has subscribed']?.create as () => Advisor };
    const law = lawsOf(contract).find(({ title }) => title === LAWS.unsubscribe);

    const message = await law?.check(new Trial(contract)).catch((error: Error) => error.message);

    expect(message).to.match(
      /^call, an answer, at event 1 \("advisor-chain.contract"\), after the advisor was unsubscribed: the rest of the chain runs on/,
    );
  });

  it('lets an advisor put values of one run into the context, such as times', async () => {
    const STARTED = new ContextKey<unknown>('test.started');
    let runs = 0;
    const create = (): Advisor =>
      defineAdvisor({ name: 'timing', order: 1, before: (request) => request.withContext(STARTED, { run: runs++ }) });

    expect(await broken({ create })).to.deep.equal([]);
  });

  it('checks an advisor without advise by the laws of tool calls alone', () => {
    const titles = lawsOf({ create: () => defineAdvisor({ name: 'a', order: 1, aroundTool: (call, next) => next(call) }) }).map(
      ({ title }) => title,
    );

    expect(titles).to.deep.equal([LAWS.toolResults, LAWS.toolErrors, LAWS.toolsAlone]);
  });

  it('asks for answersItself where the rest of the chain is never asked', async () => {
    const create = (): Advisor => defineAdvisor({ name: 'a', order: 1, around: () => ChatResponse.ofText('no') });

    expect(await broken({ create })).to.include(LAWS.context);
    expect(await broken({ create, answersItself: true })).to.deep.equal([]);
  });

  describe('with a test runner', () => {
    const runner = globalThis as { describe?: unknown; it?: unknown };
    const real = { describe: runner.describe, it: runner.it };
    afterEach(() => Object.assign(runner, real));

    it('makes a suite with a test for each law', () => {
      const titles: string[] = [];
      runner.describe = (title: string, body: () => void) => {
        titles.push(title);
        body();
      };
      runner.it = (title: string) => titles.push(title);

      itBehavesLikeAnAdvisor({ create: () => defineAdvisor({ name: 'mine', order: 1, before: () => undefined }) });

      expect(titles[0]).to.equal('mine behaves like an advisor');
      expect(titles.slice(1)).to.deep.equal(Object.values(LAWS).filter((title) => !title.endsWith('[tool calls]')));
    });

    it('says what is needed where there is none', () => {
      delete runner.it;

      expect(() => itBehavesLikeAnAdvisor({ create: () => defineAdvisor({ name: 'mine', order: 1, before: () => undefined }) })).to.throw(
        InvalidArgumentError,
        'needs global describe and it',
      );
    });
  });
});
