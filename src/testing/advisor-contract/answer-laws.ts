import assert from 'node:assert/strict';
import type { ChatEvent, ResponseEvent } from '../../chat/chat-event.js';
import type { Metadata } from '../../chat/message.js';
import { comparable } from './comparable-data.js';
import {
  ANSWER,
  ANSWERED_USER,
  CANARY,
  failures,
  SCENARIOS,
  UNKNOWN_EVENT,
  USER,
} from './scenarios.js';
import {
  isDelta,
  MODES,
  trialCases,
  type Laws,
  type Mode,
  type Recording,
  type Trial,
  type TrialCase,
} from './trial.js';

/** Laws 4 to 8: requests, events and answers. */
export const ANSWER_LAWS: Laws = {
  'emits exactly one response, as the last event, and completes [law 4]': forEachCase(
    (outcome, { mode, title }) => {
      responseOf(outcome, title);
      assert.equal(outcome.end, 'complete', `${title}: no completion after the response`);
      const types = outcome.events.map(({ type }) => type);
      const responses = types.filter((type) => type === 'response');
      assert.equal(responses.length, 1, `${title}: several responses: ${types.join(', ')}`);
      if (mode === 'call')
        assert.deepEqual(outcome.events.filter(isDelta), [], `${title}: deltas in a call`);
    },
  ),
  'emits deltas that add up to the text of their iteration [law 4]': forEachCase(
    ({ events }, { mode, title }) => {
      if (mode === 'stream') checkDeltas(events, title);
    },
  ),
  'forwards unknown events [law 5]': forEachAnswer(({ mode, outcome, chain }) => {
    const unknown = JSON.stringify(UNKNOWN_EVENT);
    assert.ok(
      chain.runs.length === 0 || outcome.events.some((event) => JSON.stringify(event) === unknown),
      `${mode}: an event of an unknown type is missing`,
    );
  }),
  'passes the context to the model and back [law 5]': forEachAnswer(({ mode, outcome, chain }) => {
    const { context } = responseOf(outcome, mode);
    const users = chain.runs.map(({ request }) => request.context.get(USER));
    assert.ok(
      [...users, context.get(USER)].every((user) => user === 'anna'),
      `${mode}: a context value of the request is missing in the rest of the chain or the answer`,
    );
    assert.ok(
      chain.runs.length === 0 || context.get(ANSWERED_USER) === 'anna',
      `${mode}: a context value of the answer is missing`,
    );
  }),
  'passes unknown metadata and options [law 5]': forEachAnswer(
    ({ mode, outcome, chain }, { contract }) => {
      const checkCanary = (what: string, ...all: readonly (Metadata | undefined)[]): void =>
        assert.ok(all.some(hasCanary), `${mode}: ${what} is missing`);
      for (const { request } of chain.runs) {
        const { messages, options } = request.prompt;
        const fromUser = messages.filter(({ role }) => role === 'user');
        checkCanary('the metadata of the user message', ...fromUser.map((each) => each.metadata));
        checkCanary('an option', options.extraBody);
        checkCanary('the tool context', request.toolContext);
      }
      if (chain.runs.length === 0 || contract.changesAnswer) return;
      const { metadata, message } = responseOf(outcome, mode).response;
      checkCanary('the metadata of the response', metadata);
      checkCanary('the metadata of the message', message.metadata);
    },
  ),
  'passes errors unchanged [law 6]': async (trial) => {
    const error = Object.freeze(new Error('the rest of the chain failed'));
    for (const { scenario, mode, pace, title } of trialCases(failures(error))) {
      const { outcome, chain } = await trial.run(scenario, trial.request(mode), pace);
      if (trial.contract.handlesErrors || chain.runs.length === 0) continue;
      assert.equal(outcome.end, 'error', `${title}: the error is missing`);
      assert.ok(outcome.failure === error, `${title}: the error became ${String(outcome.failure)}`);
    }
  },
  'gives the same answer for call and stream [law 7]': async (trial) => {
    for (const scenario of SCENARIOS) {
      const answerOf = async (mode: Mode): Promise<unknown> => {
        const { outcome } = await trial.run(scenario, trial.request(mode));
        const answer = comparable(responseOf(outcome, `${mode}, ${scenario.name}`));
        return { answer, effects: await trial.contract.observe?.() };
      };
      const [call, stream] = [await answerOf('call'), await answerOf('stream')];
      const message = `${scenario.name}: call and stream have different answers or effects`;
      assert.deepEqual(stream, call, message);
    }
  },
  'sends the same requests in both modes [law 8]': async (trial) => {
    for (const scenario of SCENARIOS) {
      const requestsOf = async (mode: Mode): Promise<unknown> => {
        const { chain } = await trial.run(scenario, trial.request(mode));
        const requests = chain.runs.map(({ request }) => request);
        const other = requests.find((request) => request.mode !== mode);
        assert.ok(!other, `${scenario.name}: a ${mode} sent a request of mode "${other?.mode}"`);
        return comparable(requests);
      };
      const [call, stream] = [await requestsOf('call'), await requestsOf('stream')];
      assert.deepEqual(stream, call, `${scenario.name}: call and stream send different requests`);
    }
  },
};

function forEachCase(
  check: (outcome: Recording, trialCase: TrialCase) => void,
): (trial: Trial) => Promise<void> {
  return async (trial) => {
    for (const trialCase of trialCases()) {
      const { scenario, mode, pace } = trialCase;
      const { outcome } = await trial.run(scenario, trial.request(mode), pace);
      check(outcome, trialCase);
    }
  };
}

function checkDeltas(events: readonly ChatEvent[], title: string): void {
  let text = '';
  for (const event of events) {
    if (event.type === 'text-delta') text += event.text;
    else if (event.type === 'retract') text = '';
    else if (event.type === 'iteration' || event.type === 'response') {
      const where = event.type === 'iteration' ? `iteration ${event.index}` : 'the response';
      assert.equal(
        text,
        event.response.text ?? '',
        `${title}: the deltas do not add up to the text of ${where}; emit "retract" to void deltas`,
      );
      text = '';
    }
  }
}

type ModeRun = Awaited<ReturnType<Trial['run']>> & { readonly mode: Mode };

/** Checks an answer in both modes, of an advisor that calls the rest of the chain or need not. */
function forEachAnswer(
  check: (run: ModeRun, trial: Trial) => void,
): (trial: Trial) => Promise<void> {
  return async (trial) => {
    for (const mode of MODES) {
      const run = await trial.run(ANSWER, trial.request(mode));
      assert.ok(
        run.chain.runs.length > 0 || trial.contract.answersItself,
        `${mode}: the rest of the chain was not called; set answersItself if that is intended`,
      );
      check({ mode, ...run }, trial);
    }
  };
}

/** The final event of a run that succeeded. */
function responseOf({ events, end, failure }: Recording, title: string): ResponseEvent {
  if (end === 'error') throw failure;
  const last = events.at(-1);
  const found = last ? `"${last.type}"` : 'missing';
  assert.ok(last?.type === 'response', `${title}: the last event is ${found}, not the response`);
  return last;
}

function hasCanary(values: Metadata | undefined): boolean {
  return Object.entries(CANARY).every(([name, value]) => values?.[name] === value);
}
