import { expect } from 'chai';
import { filter, map, merge, Observable, retry } from 'rxjs';
import type { Advisor, AdvisorChain } from '../../src/core/advisor/advisor.js';
import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import { defineAdvisor } from '../../src/core/advisor/define-advisor.js';
import type { ChatEvent } from '../../src/core/chat/chat-event.js';
import { ChatResponse } from '../../src/core/chat/chat-response.js';
import { AdvisorContext } from '../../src/core/chat/context.js';
import { lawsOf } from '../../src/testing/advisor-contract/it-behaves-like-an-advisor.js';
import { itBehavesLikeAnAdvisor, type AdvisorContract } from '../../src/testing/index.js';

/** A wrong advisor, the laws that it breaks, and the mode in which the suite finds it. */
interface Wrong {
  readonly contract: AdvisorContract;
  readonly law: string;
  readonly message: RegExp;
}

const wrong = (advise: Advisor['advise'], settings: Partial<AdvisorContract> = {}) => ({
  create: (): Advisor => ({ name: 'wrong', order: 1, ...(advise && { advise }) }),
  ...settings,
});

class KeepsTheUser implements Advisor {
  readonly name = 'wrong';
  readonly order = 1;
  private context = AdvisorContext.empty;

  advise(request: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent> {
    this.context = request.context;
    const answer = (event: ChatEvent): ChatEvent =>
      event.type === 'response' ? { ...event, context: this.context } : event;
    return chain.next(request).pipe(map(answer));
  }
}

const WRONG: Readonly<Record<string, Wrong>> = {
  'a guard that shows the bad text first': {
    contract: {
      create: () =>
        defineAdvisor({
          name: 'wrong',
          order: 1,
          after: ({ text }) =>
            text?.includes('anna') ? ChatResponse.ofText('[blocked]') : undefined,
        }),
      changesAnswer: true,
    },
    law: 'shows no text that it takes back, unless an attempt failed [law 9]',
    message: /^stream, an answer: shows "Hello anna\." and takes it back; set holdDeltas/,
  },
  'a guard that shows a rare bad word first': {
    contract: {
      create: () =>
        defineAdvisor({
          name: 'wrong',
          order: 1,
          after: ({ text }) =>
            /rude/.test(text ?? '') ? ChatResponse.ofText('[blocked]') : undefined,
        }),
      answer: ' Something rude.',
      changesAnswer: true,
    },
    law: 'shows no text that it takes back, unless an attempt failed [law 9]',
    message: /^stream, an answer: shows "Hello anna\. Something rude\." and takes it back/,
  },
  'state of a run in a field': {
    contract: { create: () => new KeepsTheUser(), writesFields: true },
    law: 'shares nothing between concurrent runs [law 2]',
    message: /^call, anna beside bert: contains data of bert/,
  },
  'a dropped response': {
    contract: wrong((request, chain) =>
      chain.next(request).pipe(filter(({ type }) => type !== 'response')),
    ),
    law: 'emits exactly one response, as the last event, and completes [law 4]',
    message: /^call, an answer: the last event is "advisor-chain.contract", not the response/,
  },
  'a swallowed retract': {
    contract: wrong(
      (request, chain) =>
        chain.next(request).pipe(
          retry(1),
          filter(({ type }) => type !== 'retract'),
        ),
      { handlesErrors: true },
    ),
    law: 'emits deltas that add up, whatever was tried again, replaced or raced [law 9]',
    message: /^stream, deltas, an error and another attempt: .*"Helo annaAnswer 1 is for anna\."/,
  },
  'a skipped unsubscribe': {
    contract: wrong(
      (request, chain) =>
        new Observable((subscriber) => {
          chain.next(request).subscribe({
            next: (event) => subscriber.next(event),
            error: (error: unknown) => subscriber.error(error),
            complete: () => subscriber.complete(),
          });
        }),
    ),
    law: 'cancels pending work when it is unsubscribed, at every event [law 3]',
    message: /^call, an answer, at .*: the rest of the chain continues; pass on the signal/,
  },
  'a broken tool pair': {
    contract: wrong((request, chain) =>
      chain.next(request.withMessages(request.prompt.messages.slice(-4))),
    ),
    law: 'sends each tool call with its results [law 9]',
    message: /^call, \d+ messages: .*keep a call and its results together/,
  },
  'a lost context': {
    contract: wrong((request, chain) =>
      chain.next(request.with({ context: AdvisorContext.empty })),
    ),
    law: 'passes the context to the model and back [law 5]',
    message: /^call: a context value of the request is missing/,
  },
  'two answers': {
    contract: wrong((request, chain) => merge(chain.next(request), chain.next(request))),
    law: 'emits exactly one response, as the last event, and completes [law 4]',
    message: /^call, an answer: several responses/,
  },
};

/** Advisors of the same kinds that are right. */
const RIGHT: readonly AdvisorContract[] = [
  {
    name: '[D10] a guard that holds deltas',
    create: () =>
      defineAdvisor({
        name: 'guard',
        order: 1,
        holdDeltas: true,
        after: ({ text }) =>
          text?.includes('anna') ? ChatResponse.ofText('[blocked]') : undefined,
      }),
    changesAnswer: true,
  },
  {
    name: '[D3] retry of RxJS',
    ...wrong((request, chain) => chain.next(request).pipe(retry(2)), { handlesErrors: true }),
  },
];

describe('wrong advisors', () => {
  for (const [name, { contract, law, message }] of Object.entries(WRONG))
    it(`[D4] finds ${name} by "${law}"`, async () => {
      const failure: unknown = await lawsOf(contract)
        [law]?.(contract)
        .catch((error: unknown) => error);

      expect((failure as Error | undefined)?.message).to.match(message);
    });
});

for (const contract of RIGHT) itBehavesLikeAnAdvisor(contract);
