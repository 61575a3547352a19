import { expect } from 'chai';
import fc from 'fast-check';
import {
  catchError,
  concat,
  defer,
  EMPTY,
  filter,
  merge,
  mergeMap,
  of,
  race,
  repeat,
  retry,
  share,
  takeUntil,
  timeout,
  timer,
  type Observable,
} from 'rxjs';
import { AdvisorOrder, type Advisor } from '../../../src/core/advisor/advisor.js';
import type { ChatEvent } from '../../../src/core/chat/chat-event.js';
import { ChatClient, ChatResponse, defineAdvisor, defineTool } from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedParts } from '../../../src/testing/index.js';
import { collect, type Result } from '../../support/runs.js';
import { sweep } from '../../support/sweep.js';
import { isAnswer, SORRY, untilAnswer } from '../../support/rxjs-kit.js';

type Attempt = () => Observable<ChatEvent>;

const OPERATORS: Readonly<Record<string, (attempt: Attempt) => Observable<ChatEvent>>> = {
  retry: (attempt) => attempt().pipe(retry(2)),
  'retry later': (attempt) => attempt().pipe(retry({ count: 2, delay: 1 })),
  again: (attempt) => attempt().pipe(catchError(attempt)),
  sorry: (attempt) => attempt().pipe(catchError(() => of(SORRY))),
  timeout: (attempt) => attempt().pipe(timeout({ each: 3, with: attempt })),
  'timeout first': (attempt) => attempt().pipe(timeout({ first: 3 }), retry(1)),
  race: (attempt) => race(attempt(), attempt()),
  hedge: (attempt) => merge(attempt(), timer(2).pipe(mergeMap(attempt))).pipe(untilAnswer),
  'hedge without errors': (attempt) => {
    const quiet = (): Observable<ChatEvent> => attempt().pipe(catchError(() => EMPTY));
    const both = merge(quiet(), timer(2).pipe(mergeMap(quiet)));
    return concat(both, of(SORRY)).pipe(untilAnswer);
  },
  both: (attempt) => merge(attempt(), attempt()).pipe(untilAnswer),
  repeat: (attempt) =>
    defer(() => {
      let answers = 0;
      return attempt().pipe(
        repeat(2),
        filter((event) => !isAnswer(event) || ++answers === 2),
      );
    }),
  'last of two': (attempt) =>
    defer(() => {
      let answers = 0;
      return merge(attempt(), attempt()).pipe(
        filter((event) => !isAnswer(event) || ++answers === 2),
      );
    }),
  takeUntil: (attempt) => concat(attempt().pipe(takeUntil(timer(4))), of(SORRY)).pipe(untilAnswer),
  share: (attempt) => {
    const shared = attempt().pipe(share());
    return merge(shared.pipe(filter((event) => !isAnswer(event))), shared.pipe(filter(isAnswer)));
  },
};

const answers: fc.Arbitrary<ScriptedParts> = fc.record(
  {
    deltas: fc.array(fc.constantFrom('a', 'bc ', 'def', ' ', 'word '), { maxLength: 4 }),
    toolCalls: fc.oneof(
      { weight: 2, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.constant([{ name: 'echo' }]) },
    ),
    delay: fc.constantFrom(0, 0, 0, 1, 2),
    error: fc.constantFrom(undefined, undefined, new Error('cut')),
    reasoning: fc.constantFrom('', '', 'Hm.'),
  },
  { requiredKeys: ['deltas', 'toolCalls', 'delay'] },
);
const usage = { inputTokens: 100, outputTokens: 1, totalTokens: 101 };

const kits = fc.array(
  fc.record({
    operator: fc.constantFrom(...Object.keys(OPERATORS), 'after', 'guard', 'first of all'),
    order: fc.constantFrom(AdvisorOrder.GUARD, AdvisorOrder.RESILIENCE),
  }),
  { minLength: 1, maxLength: 3 },
);

function advisorOf({ operator, order }: { operator: string; order: number }, at: number): Advisor {
  const name = `${operator} ${at}`;
  if (operator === 'after' || operator === 'guard')
    return defineAdvisor({
      name,
      order,
      holdDeltas: operator === 'guard',
      after: (response) =>
        response.hasToolCalls() || !response.text?.includes('a')
          ? response
          : ChatResponse.ofText('Blocked.'),
    });
  if (operator === 'first of all')
    return defineAdvisor({
      name,
      order,
      around: async (request, next) => {
        const [first] = await Promise.all([next(request), next(request), next(request)]);
        return first;
      },
    });
  const use = OPERATORS[operator] as (attempt: Attempt) => Observable<ChatEvent>;
  return { name, order, advise: (request, chain) => use(() => chain.next(request)) };
}

/** The texts of the iterations, as a consumer shows them. */
function textsOf({ events }: Result): readonly string[] {
  const texts: string[] = [];
  let iteration = 0;
  for (const event of events) {
    if (event.type === 'text-delta') texts[iteration] = (texts[iteration] ?? '') + event.text;
    else if (event.type === 'iteration') iteration = event.index + 1;
    else if (event.type === 'retract') texts.length = iteration = event.iteration;
  }
  texts[iteration] ??= '';
  return Array.from(texts, (text) => text ?? '');
}

/** The texts of the responses that ended iterations and were not retracted. */
function expectedTexts({ events }: Result): readonly (string | undefined)[] {
  const texts: string[] = [];
  for (const event of events)
    if (event.type === 'iteration') texts[event.index] = event.response.text ?? '';
    else if (event.type === 'retract') texts.length = Math.min(texts.length, event.iteration);
  return texts;
}

describe('the RxJS kit, at random', () => {
  it('[D3] shows the text of the answer, whatever is combined', async () => {
    await fc.assert(
      fc.asyncProperty(
        kits,
        fc.array(answers, { minLength: 1, maxLength: 8 }),
        async (kit, script) => {
          const model = new ScriptedChatModel((_prompt, index) => ({
            ...(script[index % script.length] as ScriptedParts),
            ...(index > 20 && { toolCalls: [] }),
            usage,
          }));
          const client = ChatClient.create(model);
          const spec = client
            .prompt('Hi.')
            .tools(defineTool({ name: 'echo', execute: () => 'ok' }))
            .advisors(...kit.map(advisorOf));

          const result = await collect(spec.stream().events());

          if (result.errors.length > 0) {
            expect((result.errors[0] as Error).message).to.match(/^(cut|Timeout has occurred)$/);
            return;
          }
          const last = result.events.at(-1);
          if (last?.type !== 'response') throw new Error('no response');
          expect(result.events.filter(isAnswer)).to.have.lengthOf(1);
          const texts = textsOf(result);
          expect(texts.at(-1)).to.equal(last.response.text ?? '');
          const isHeld = kit.some(({ operator }) => operator === 'guard');
          for (const [index, text] of expectedTexts(result).entries())
            if (text !== undefined && !(isHeld && !texts[index]))
              expect(texts[index]).to.equal(text);
          const charged = last.run?.ledger.reduce(
            (sum, call) => sum + (call.usage?.totalTokens ?? 0),
            0,
          );
          expect(last.response.usage?.totalTokens ?? 0).to.equal(charged);
        },
      ),
      { numRuns: sweep(4_000) },
    );
  });
});
