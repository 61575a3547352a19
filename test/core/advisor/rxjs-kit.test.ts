import { expect } from 'chai';
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
  takeWhile,
  throwError,
  timeout,
  timer,
  type Observable,
} from 'rxjs';
import { AdvisorOrder, type Advisor } from '../../../src/core/advisor/advisor.js';
import type { ChatEvent, ResponseEvent } from '../../../src/core/chat/chat-event.js';
import type { RunReport } from '../../../src/core/chat/run-report.js';
import { ChatClient, defineTool } from '../../../src/index.js';
import {
  ScriptedChatModel,
  type ScriptedAnswer,
  type ScriptedParts,
} from '../../../src/testing/index.js';
import { MODES, type Mode } from '../../support/modes.js';
import { collect, responseOf, shownText, type Result } from '../../support/runs.js';
import { isAnswer, SORRY, untilAnswer } from '../../support/rxjs-kit.js';

/** The rest of the chain, for the operators of one advisor. */
type Attempt = () => Observable<ChatEvent>;
type Operators = (attempt: Attempt) => Observable<ChatEvent>;

const TOKENS = 101;
const usage = { inputTokens: 100, outputTokens: 1, totalTokens: TOKENS };
const answer = (text: string, delay = 0): ScriptedParts => ({ text, usage, delay });
const broken: ScriptedParts = { deltas: ['half ', 'a '], error: new Error('cut') };
const asksTool: ScriptedParts = {
  text: 'One moment. ',
  toolCalls: [{ id: 'call_1', name: 'echo' }],
  usage,
};
const echo = defineTool({ name: 'echo', execute: () => 'hi' });
const isGood = (event: ChatEvent): boolean =>
  event.type === 'response' && (event.response.text === 'Good.' || event.response.hasToolCalls());

/** One use of operators: the answers of the model to it, and what must come out. */
interface Case {
  readonly operators: Operators;
  readonly answers: readonly ScriptedAnswer[];
  readonly text: string;
  /** Number of answers that the model charged for. */
  readonly charged: number;
}

const CASES: Readonly<Record<string, Case>> = {
  retry: {
    operators: (attempt) => attempt().pipe(retry(2)),
    answers: [broken, broken, answer('A whole answer.')],
    text: 'A whole answer.',
    charged: 1,
  },
  'retry with a delay': {
    operators: (attempt) => attempt().pipe(retry({ count: 2, delay: 1 })),
    answers: [broken, answer('A whole answer.')],
    text: 'A whole answer.',
    charged: 1,
  },
  'catchError to the rest again': {
    operators: (attempt) => attempt().pipe(catchError(() => attempt())),
    answers: [broken, answer('A whole answer.')],
    text: 'A whole answer.',
    charged: 1,
  },
  'catchError to an answer of its own': {
    operators: (attempt) => attempt().pipe(catchError(() => of(SORRY))),
    answers: [broken],
    text: 'Sorry.',
    charged: 0,
  },
  'timeout between deltas, with the rest again': {
    operators: (attempt) => attempt().pipe(timeout({ each: 30, with: attempt })),
    answers: [answer('half a slow answer', 100), answer('Quick.')],
    text: 'Quick.',
    charged: 1,
  },
  'timeout of the first event, with retry': {
    operators: (attempt) => attempt().pipe(timeout({ first: 30 }), retry(2)),
    answers: [broken, answer('overdue', 120), answer('Quick.')],
    text: 'Quick.',
    charged: 1,
  },
  'timeout of the whole attempt': {
    operators: (attempt) =>
      merge(
        attempt(),
        timer(40).pipe(mergeMap(() => throwError(() => new Error('too slow')))),
      ).pipe(untilAnswer, retry(1)),
    answers: [answer('half a slow answer', 15), answer('Quick.')],
    text: 'Quick.',
    charged: 1,
  },
  'race for the first event': {
    operators: (attempt) => race(attempt(), attempt()),
    answers: [answer('slow', 60), answer('Quick as that.', 2)],
    text: 'Quick as that.',
    charged: 1,
  },
  'race again after a failure': {
    operators: (attempt) => race(attempt(), attempt()).pipe(retry(1)),
    answers: [
      { ...broken, delay: 2 },
      answer('slow', 60),
      answer('slow', 60),
      answer('Quick as that.', 2),
    ],
    text: 'Quick as that.',
    charged: 1,
  },
  'repeat until the answer is good': {
    operators: (attempt) =>
      attempt().pipe(
        repeat(3),
        takeWhile((event) => !isGood(event), true),
        filter((event) => !isAnswer(event) || isGood(event)),
      ),
    answers: [answer('Bad.'), answer('Very bad.'), answer('Good.')],
    text: 'Good.',
    charged: 3,
  },
  'takeUntil, then the rest again': {
    operators: (attempt) =>
      concat(attempt().pipe(takeUntil(timer(40))), defer(attempt)).pipe(untilAnswer),
    answers: [answer('half a slow answer', 15), answer('Quick.')],
    text: 'Quick.',
    charged: 1,
  },
  'takeUntil, then an answer of its own': {
    operators: (attempt) =>
      concat(attempt().pipe(takeUntil(timer(40))), of(SORRY)).pipe(untilAnswer),
    answers: [answer('half a slow answer', 15)],
    text: 'Sorry.',
    charged: 0,
  },
  'share between deltas and answer': {
    operators: (attempt) => {
      const shared = attempt().pipe(share());
      return merge(shared.pipe(filter((event) => !isAnswer(event))), shared.pipe(filter(isAnswer)));
    },
    answers: [answer('A whole answer.', 1)],
    text: 'A whole answer.',
    charged: 1,
  },
  defer: {
    operators: (attempt) => defer(attempt).pipe(retry(1)),
    answers: [broken, answer('A whole answer.')],
    text: 'A whole answer.',
    charged: 1,
  },
  'merge: a second attempt beside a slow one answers first': {
    operators: (attempt) => merge(attempt(), timer(25).pipe(mergeMap(attempt))).pipe(untilAnswer),
    answers: [answer('half a very slow answer', 20), answer('Quick as that.', 1)],
    text: 'Quick as that.',
    charged: 1,
  },
  'merge: the first attempt fails while the second streams': {
    operators: (attempt) => {
      const ignored = attempt().pipe(catchError(() => EMPTY));
      return merge(ignored, timer(5).pipe(mergeMap(attempt))).pipe(untilAnswer);
    },
    answers: [{ ...broken, delay: 10 }, answer('Quick as that, or not.', 12)],
    text: 'Quick as that, or not.',
    charged: 1,
  },
  'merge: the first attempt fails before the second streams': {
    operators: (attempt) => {
      const ignored = attempt().pipe(catchError(() => EMPTY));
      return merge(ignored, timer(5).pipe(mergeMap(attempt))).pipe(untilAnswer);
    },
    answers: [{ ...broken, delay: 10 }, answer('Quick as that.', 80)],
    text: 'Quick as that.',
    charged: 1,
  },
};

const POSITIONS = {
  'left of the tool loop': AdvisorOrder.TOOL_CALLING - 1,
  'right of the tool loop': AdvisorOrder.TOOL_CALLING + 1,
};

/** A model that answers the last message, and asks for a tool first if there is one to call. */
function modelOf(
  answers: readonly ScriptedAnswer[],
  mode: Mode,
  hasTool: boolean,
): ScriptedChatModel {
  let next = 0;
  return new ScriptedChatModel((prompt) => {
    if (hasTool && prompt.messages.at(-1)?.role !== 'tool') return asksTool;
    const answer = answers[next++] ?? new Error('the model has no more answers');
    return mode === 'call' ? whole(answer) : answer;
  });
}

/** In a call the model is as slow as the whole stream. */
function whole(answer: ScriptedAnswer): ScriptedAnswer {
  if (typeof answer === 'string' || !('delay' in answer) || !answer.delay) return answer;
  const { text = '', deltas = text.split(' ') } = answer;
  return { ...answer, delay: answer.delay * (deltas.length + 1) };
}

async function eventsOf(
  { operators, answers }: Case,
  order: number,
  mode: Mode,
  hasTool = false,
): Promise<Result> {
  const advisor: Advisor = {
    name: 'kit',
    order,
    advise: (request, chain) => operators(() => chain.next(request)),
  };
  const client = ChatClient.create(modelOf(answers, mode, hasTool));
  const spec = client.prompt('Hi.').tools(echo).advisors(advisor);
  if (mode === 'stream') return collect(spec.stream().events());
  const answer = await spec.call().chatClientResponse();
  const event = { ...answer.toEvent(), run: { ledger: answer.ledger } as RunReport };
  return { events: [event], errors: [], completed: true };
}

/** One response, at the end, to which the deltas add up; returns it. */
function checkEvents(result: Result, mode: Mode): ResponseEvent {
  const event = responseOf(result);
  const { response } = event;
  expect(result.completed).to.equal(true);
  expect(result.events.filter(isAnswer)).to.have.lengthOf(1);
  if (mode === 'stream') expect(shownText(result.events)).to.equal(response.text);
  return event;
}

describe('the RxJS kit', () => {
  for (const [place, order] of Object.entries(POSITIONS))
    for (const mode of MODES)
      describe(`${place}, in a ${mode}`, () => {
        for (const [name, test] of Object.entries(CASES)) {
          it(`[D3] ${name}`, async () => {
            const { response } = checkEvents(await eventsOf(test, order, mode), mode);

            expect(response.text).to.equal(test.text);
            expect(response.usage?.totalTokens ?? 0).to.equal(test.charged * TOKENS);
          });

          it(`[D3] ${name}, in a turn with a tool`, async () => {
            const result = await eventsOf(test, order, mode, true);

            const { response, run } = checkEvents(result, mode);
            const answered = run?.ledger.filter(({ usage }) => usage).length ?? 0;
            expect(response.usage?.totalTokens ?? 0).to.equal(answered * TOKENS);
            if (order > AdvisorOrder.TOOL_CALLING) expect(response.text).to.equal(test.text);
          });
        }
      });
});
