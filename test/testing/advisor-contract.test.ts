import { expect } from 'chai';
import {
  concatMap,
  defer,
  filter,
  from,
  map,
  Observable,
  of,
  retry,
  shareReplay,
  type Subscription,
} from 'rxjs';
import type { Advisor, AdvisorChain } from '../../src/core/advisor/advisor.js';
import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import { defineAdvisor, type AdvisorFunctions } from '../../src/core/advisor/define-advisor.js';
import type { ChatEvent } from '../../src/core/chat/chat-event.js';
import { ChatResponse } from '../../src/core/chat/chat-response.js';
import { AdvisorContext, ContextKey } from '../../src/core/chat/context.js';
import { textOf } from '../../src/core/chat/message.js';
import { InvalidArgumentError } from '../../src/core/errors/errors.js';
import { lawsOf } from '../../src/testing/advisor-contract/it-behaves-like-an-advisor.js';
import { itBehavesLikeAnAdvisor, type AdvisorContract } from '../../src/testing/index.js';

const LAWS = {
  cold: 'is cold: nothing happens before subscribe [law 1]',
  fields: 'keeps no state of a run in its fields [law 1]',
  separate: 'makes each subscription a run of its own [law 2]',
  concurrent: 'shares nothing between concurrent runs [law 2]',
  unsubscribe: 'cancels pending work when it is unsubscribed, at every event [law 3]',
  abort: 'fails with a CancelledError when the signal aborts, at every event [law 3]',
  response: 'emits exactly one response, as the last event, and completes [law 4]',
  deltas: 'emits deltas that add up to the text of their iteration [law 4]',
  json: 'emits events that survive JSON.stringify [law 13]',
  events: 'forwards unknown events [law 5]',
  context: 'passes the context to the model and back [law 5]',
  metadata: 'passes unknown metadata and options [law 5]',
  errors: 'passes errors unchanged [law 6]',
  sameAnswer: 'gives the same answer for call and stream [law 7]',
  sameRequest: 'sends the same requests in both modes [law 8]',
  attempts: 'emits deltas that add up, whatever was tried again, replaced or raced [law 9]',
  retract: 'passes retract on [law 9]',
  takenBack: 'shows no text that it takes back, unless an attempt failed [law 9]',
  pairs: 'sends each tool call with its results [law 9]',
  toolResults: 'passes tool calls and their results [tool calls]',
  toolErrors: 'passes errors of tools unchanged [tool calls]',
  concurrentTools: 'shares nothing between concurrent tool calls [tool calls]',
} as const;

type Advise = (request: ChatClientRequest, chain: AdvisorChain) => Observable<ChatEvent>;

/** A faulty advisor, created for each run so that faults with state start from their beginning. */
interface Fault {
  readonly breaks: (typeof LAWS)[keyof typeof LAWS];
  readonly create: () => Advisor;
  readonly contract?: Partial<AdvisorContract>;
}

const fault = (
  breaks: Fault['breaks'],
  make: () => Advise,
  contract: Partial<AdvisorContract> = {},
): Fault => ({
  breaks,
  create: () => ({ name: 'faulty', order: 1, advise: make() }),
  contract,
});

const functions = (breaks: Fault['breaks'], parts: Partial<AdvisorFunctions>): Fault => ({
  breaks,
  create: () => defineAdvisor({ name: 'faulty', order: 1, ...parts }),
});

const shout = (response: ChatResponse): ChatResponse =>
  response.with({
    generations: response.generations.map((each) => ({
      ...each,
      message: { ...each.message, content: `${textOf(each.message)}!` },
    })),
  });

class KeepsTheRequest implements Advisor {
  readonly name = 'faulty';
  readonly order = 1;
  private request: ChatClientRequest | undefined;

  advise(request: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent> {
    this.request = request;
    return chain
      .next(request)
      .pipe(
        map((event) =>
          event.type === 'response'
            ? { ...event, context: (this.request as ChatClientRequest).context }
            : event,
        ),
      );
  }
}

const LAST = new ContextKey<string>('test.last', '');

class RemembersPrivately implements Advisor {
  readonly name = 'faulty';
  readonly order = 1;
  #last = '';

  advise(request: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent> {
    this.#last = textOf(request.prompt.userMessage?.content ?? '');
    return chain
      .next(request)
      .pipe(
        map((event) =>
          event.type === 'response'
            ? { ...event, context: event.context.with(LAST, this.#last) }
            : event,
        ),
      );
  }
}

const FAULTS: Readonly<Record<string, Fault>> = {
  'calls the rest of the chain before it is subscribed': fault(
    LAWS.cold,
    () => (request, chain) => {
      const early = chain.next(request).pipe(shareReplay());
      early.subscribe({ error: () => undefined });
      return early;
    },
  ),
  'keeps the request in a field': { breaks: LAWS.fields, create: () => new KeepsTheRequest() },
  'keeps the request in a field, and declares writesFields': {
    breaks: LAWS.concurrent,
    create: () => new KeepsTheRequest(),
    contract: { writesFields: true },
  },
  'keeps the request in a private field': {
    breaks: LAWS.concurrent,
    create: () => new RemembersPrivately(),
  },
  'shares the first run with all subscribers': fault(LAWS.separate, () => {
    return (request, chain) => chain.next(request).pipe(shareReplay());
  }),
  'works only once': fault(LAWS.separate, () => {
    let used = false;
    return (request, chain) =>
      new Observable((subscriber) => {
        if (used) return subscriber.complete();
        used = true;
        return chain.next(request).subscribe(subscriber);
      });
  }),
  'does not unsubscribe from the rest of the chain': fault(
    LAWS.unsubscribe,
    () => (request, chain) => {
      return new Observable(
        (subscriber) => void chain.next(request).subscribe(forward(subscriber)),
      );
    },
  ),
  'calls the rest of the chain again when it is unsubscribed': fault(
    LAWS.unsubscribe,
    () => (request, chain) => {
      return new Observable((subscriber) => {
        const subscription: Subscription = chain.next(request).subscribe(forward(subscriber));
        return () => {
          if (!subscription.closed) chain.next(request).subscribe({ error: () => undefined });
          subscription.unsubscribe();
        };
      });
    },
  ),
  'passes another signal to the rest of the chain': fault(LAWS.abort, () => (request, chain) => {
    return chain.next(request.withSignal(new AbortController().signal));
  }),
  'turns a cancellation into an answer': fault(LAWS.abort, () => (request, chain) => {
    return new Observable((subscriber) =>
      chain.next(request).subscribe({
        ...forward(subscriber),
        error: (error: unknown) => {
          if (!request.signal.aborted) return subscriber.error(error);
          subscriber.next({
            type: 'response',
            response: ChatResponse.ofText('stopped'),
            context: request.context,
          });
          subscriber.complete();
        },
      }),
    );
  }),
  'does not abort the signal of a running tool': fault(LAWS.unsubscribe, () => (request, chain) => {
    const [tool] = request.tools;
    const call = { id: 'c', name: 'echo', arguments: '{}' };
    const { signal } = new AbortController();
    const context = {
      call,
      values: {},
      advisorContext: request.context,
      idempotencyKey: 'k',
      ask: () => Promise.reject(new Error('no person to ask')),
      progress: () => undefined,
      emit: () => undefined,
      signal,
    };
    return defer(async () =>
      tool?.call({}, { ...context, get: ({ defaultValue }) => defaultValue }),
    ).pipe(concatMap(() => chain.next(request)));
  }),
  'drops the response': functions(LAWS.response, {
    onEvent: (event) => (event.type === 'response' ? [] : event),
  }),
  'answers twice': functions(LAWS.response, {
    onEvent: (event) => (event.type === 'response' ? [event, event] : event),
  }),
  'emits events after the response': functions(LAWS.response, {
    onEvent: (event) =>
      event.type === 'response' ? [event, { type: 'text-delta', text: ' PS' }] : event,
  }),
  'never completes': fault(
    LAWS.response,
    () => (request, chain) => {
      return new Observable((subscriber) =>
        chain.next(request).subscribe({ ...forward(subscriber), complete: () => undefined }),
      );
    },
    { timeout: 50 },
  ),
  'emits deltas in a call': functions(LAWS.response, {
    onEvent: (event) =>
      event.type === 'response'
        ? [{ type: 'text-delta', text: event.response.text ?? '' }, event]
        : [],
  }),
  'returns no Observable': fault(
    LAWS.response,
    () => () => undefined as unknown as Observable<ChatEvent>,
  ),
  'drops the deltas': functions(LAWS.deltas, {
    onEvent: (event) => (event.type === 'text-delta' ? [] : event),
  }),
  'changes the text without a retract': functions(LAWS.deltas, {
    onEvent: (event) =>
      event.type === 'response' ? { ...event, response: shout(event.response) } : event,
  }),
  'changes the deltas but not the text': functions(LAWS.deltas, {
    onEvent: (event) =>
      event.type === 'text-delta' ? { ...event, text: event.text.toUpperCase() } : event,
  }),
  'emits an event with a big integer': functions(LAWS.json, {
    onEvent: (event) =>
      event.type === 'response'
        ? [{ type: 'custom', name: 'count', data: 1n } as unknown as ChatEvent, event]
        : event,
  }),
  'drops a retract': functions(LAWS.deltas, {
    onEvent: (event) => (event.type === 'retract' ? [] : event),
  }),
  'retries and drops the retract': fault(
    LAWS.attempts,
    () => (request, chain) =>
      chain.next(request).pipe(
        retry(2),
        filter(({ type }) => type !== 'retract'),
      ),
    { handlesErrors: true },
  ),
  'drops a retract of reasoning': functions(LAWS.retract, {
    onEvent: (event) => (event.type === 'retract' ? [] : event),
  }),
  'replaces an answer that it has shown': {
    breaks: LAWS.takenBack,
    create: () =>
      defineAdvisor({ name: 'faulty', order: 1, after: ({ chatResponse }) => shout(chatResponse) }),
    contract: { changesAnswer: true },
  },
  'sends the last three messages': functions(LAWS.pairs, {
    before: (request) => request.withMessages(request.prompt.messages.slice(-3)),
  }),
  'drops unknown events': functions(LAWS.events, {
    onEvent: (event) => (/delta|iteration|tool|retract|response/.test(event.type) ? event : []),
  }),
  'passes an empty context to the rest of the chain': fault(
    LAWS.context,
    () => (request, chain) => {
      return chain.next(request.with({ context: AdvisorContext.empty }));
    },
  ),
  'puts the context of the request into the answer': functions(LAWS.context, {
    onEvent: (event, request) =>
      event.type === 'response' ? { ...event, context: request.context } : event,
  }),
  'rebuilds the messages': functions(LAWS.metadata, {
    before: (request) =>
      request.withMessages([
        { role: 'user', content: textOf(request.prompt.userMessage?.content ?? '') },
      ]),
  }),
  'rebuilds the options': functions(LAWS.metadata, {
    before: (request) => request.withPrompt(request.prompt.replaceOptions({ model: 'mine' })),
  }),
  'rebuilds the answer': functions(LAWS.metadata, {
    after: (response) => ChatResponse.ofText(response.text ?? ''),
  }),
  'wraps errors': functions(LAWS.errors, {
    around: (request, next) =>
      next(request).catch((error: unknown) =>
        Promise.reject(new Error('stream processing failed', { cause: error })),
      ),
  }),
  'turns an error into an answer': functions(LAWS.errors, {
    around: (request, next) => next(request).catch(() => ChatResponse.ofText('sorry')),
  }),
  'completes after an error': fault(LAWS.errors, () => (request, chain) => {
    return new Observable((subscriber) =>
      chain.next(request).subscribe({ ...forward(subscriber), error: () => subscriber.complete() }),
    );
  }),
  'retries for ever': fault(
    LAWS.errors,
    () => (request, chain) => chain.next(request).pipe(retry({ delay: 5 })),
    { timeout: 50 },
  ),
  'changes the answer of a call only': fault(LAWS.sameAnswer, () => {
    return (request, chain) =>
      chain
        .next(request)
        .pipe(
          map((event) =>
            event.type === 'response' && request.mode === 'call'
              ? { ...event, response: shout(event.response) }
              : event,
          ),
        );
  }),
  'has an effect only in a call': withEffect(),
  'changes the request only in a call': functions(LAWS.sameRequest, {
    before: (request) =>
      request.mode === 'stream' ? undefined : request.withOptions({ temperature: 0 }),
  }),
  'sends a stream as a call': fault(LAWS.sameRequest, () => (request, chain) => {
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
  'drops the fields of a tool result besides its content': functions(LAWS.toolResults, {
    aroundTool: async (call, next) => ({ content: (await next(call)).content }),
  }),
  'returns no tool result': functions(LAWS.toolResults, {
    aroundTool: () => Promise.resolve(undefined as never),
  }),
  'wraps errors of tools': functions(LAWS.toolErrors, {
    aroundTool: (call, next) =>
      next(call).catch((error: unknown) => Promise.reject(new Error('failed', { cause: error }))),
  }),
  'mixes concurrent tool calls': mixesToolCalls(),
};

function forward(subscriber: {
  next(event: ChatEvent): void;
  error(error: unknown): void;
  complete(): void;
}) {
  return {
    next: (event: ChatEvent) => subscriber.next(event),
    error: (error: unknown) => subscriber.error(error),
    complete: () => subscriber.complete(),
  };
}

function withEffect(): Fault {
  let log: string[] = [];
  return {
    breaks: LAWS.sameAnswer,
    create: () => {
      log = [];
      return defineAdvisor({
        name: 'faulty',
        order: 1,
        before: ({ mode }) => void (mode === 'call' && log.push('called')),
      });
    },
    contract: { observe: () => [...log] },
  };
}

function mixesToolCalls(): Fault {
  return {
    breaks: LAWS.concurrentTools,
    create: () => {
      let last = '';
      return defineAdvisor({
        name: 'faulty',
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

/** The titles of the laws that an advisor breaks. */
async function brokenLaws(contract: AdvisorContract): Promise<string[]> {
  const titles: string[] = [];
  for (const [title, check] of Object.entries(lawsOf(contract))) {
    await check(contract).catch(() => titles.push(title));
  }
  return titles;
}

describe('itBehavesLikeAnAdvisor', () => {
  for (const [name, { breaks, create, contract }] of Object.entries(FAULTS)) {
    it(`rejects an advisor that ${name}: "${breaks}"`, async () => {
      expect(await brokenLaws({ create, ...contract })).to.include(breaks);
    });
  }

  it('has a faulty advisor for every law', () => {
    const broken = new Set<string>(Object.values(FAULTS).map(({ breaks }) => breaks));
    const laws = lawsOf({
      create: () =>
        defineAdvisor({
          name: 'all',
          order: 1,
          before: () => undefined,
          aroundTool: (call, next) => next(call),
        }),
    });

    expect([...broken]).to.have.members(Object.keys(laws));
  });

  it('names mode, scenario and event in its error', async () => {
    const contract = {
      create: FAULTS['does not unsubscribe from the rest of the chain']?.create as () => Advisor,
    };
    const law = lawsOf(contract)[LAWS.unsubscribe];

    const message = await law?.(contract).catch((error: Error) => error.message);

    expect(message).to.match(
      /^call, an answer, at event 1 \("advisor-chain.contract"\), after the advisor was unsubscribed: the rest of the chain continues/,
    );
  });

  it('accepts context values that differ between runs, such as times', async () => {
    const STARTED = new ContextKey<unknown>('test.started');
    let runs = 0;
    const create = (): Advisor =>
      defineAdvisor({
        name: 'timing',
        order: 1,
        before: (request) => request.withContext(STARTED, { run: runs++ }),
      });

    expect(await brokenLaws({ create })).to.deep.equal([]);
  });

  it('tests an advisor without advise against the laws of tool calls only', () => {
    const laws = lawsOf({
      create: () => defineAdvisor({ name: 'a', order: 1, aroundTool: (call, next) => next(call) }),
    });

    expect(Object.keys(laws)).to.deep.equal([
      LAWS.toolResults,
      LAWS.toolErrors,
      LAWS.concurrentTools,
    ]);
  });

  it('requires answersItself of an advisor that does not call the rest of the chain', async () => {
    const create = (): Advisor =>
      defineAdvisor({ name: 'a', order: 1, around: () => ChatResponse.ofText('no') });

    expect(await brokenLaws({ create })).to.include(LAWS.context);
    expect(await brokenLaws({ create, answersItself: true })).to.deep.equal([]);
  });

  describe('with a test runner', () => {
    const runner = globalThis as { describe?: unknown; it?: unknown };
    const real = { describe: runner.describe, it: runner.it };
    afterEach(() => Object.assign(runner, real));

    it('defines a test for each law', () => {
      const titles: string[] = [];
      runner.describe = (title: string, body: () => void) => {
        titles.push(title);
        body();
      };
      runner.it = (title: string) => titles.push(title);

      itBehavesLikeAnAdvisor({
        create: () => defineAdvisor({ name: 'mine', order: 1, before: () => undefined }),
      });

      expect(titles[0]).to.equal('mine behaves like an advisor');
      expect(titles.slice(1)).to.deep.equal(
        Object.values(LAWS).filter((title) => !title.endsWith('[tool calls]')),
      );
    });

    it('throws without global describe and it', () => {
      delete runner.it;

      expect(() =>
        itBehavesLikeAnAdvisor({
          create: () => defineAdvisor({ name: 'mine', order: 1, before: () => undefined }),
        }),
      ).to.throw(InvalidArgumentError, 'itBehavesLikeAnAdvisor(contract, { describe, it })');
    });
  });
});
