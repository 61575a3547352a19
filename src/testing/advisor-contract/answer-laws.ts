import assert from 'node:assert/strict';
import type { ChatEvent, ResponseEvent } from '../../core/chat/chat-event.js';
import type { Metadata } from '../../core/chat/message.js';
import type { Recording } from './recording.js';
import { ANSWERED_USER, CANARY, failures, UNKNOWN_EVENT, USER } from './scenarios.js';
import {
  comparable,
  equalInBothModes,
  inBothModes,
  inEveryCase,
  isDelta,
  type Law,
  type Laws,
  type Trial,
} from './trial.js';

const ERROR = Object.freeze(new Error('the rest of the chain failed'));

/** Laws 4 to 8: requests, events and answers. */
export const ANSWER_LAWS: Laws = {
  'emits exactly one response, as the last event, and completes [law 4]': inEveryCase(
    async (trial) => {
      const { mode, title } = trial;
      const outcome = await trial.run();
      responseOf(outcome, title);
      assert.equal(outcome.end, 'complete', `${title}: no completion after the response`);
      const types = outcome.events.map(({ type }) => type);
      const responses = types.filter((type) => type === 'response');
      assert.equal(responses.length, 1, `${title}: several responses: ${types.join(', ')}`);
      if (mode === 'call')
        assert.deepEqual(outcome.events.filter(isDelta), [], `${title}: deltas in a call`);
    },
  ),
  'emits deltas that add up to the text of their iteration [law 4]': inEveryCase(async (trial) => {
    checkDeltas((await trial.run()).events, trial);
  }),
  'emits events that survive JSON.stringify [law 13]': inEveryCase(async (trial) => {
    for (const event of (await trial.run()).events)
      assert.doesNotThrow(() => JSON.stringify(event), `${trial.title}: ${event.type}`);
  }),
  'forwards unknown events [law 5]': forAnswer(({ mode, runs }, outcome) => {
    const unknown = JSON.stringify(UNKNOWN_EVENT);
    const isForwarded = outcome.events.some((event) => JSON.stringify(event) === unknown);
    assert.ok(isForwarded || runs.length === 0, `${mode}: an event of an unknown type is missing`);
  }),
  'passes the context to the model and back [law 5]': forAnswer(({ mode, runs }, outcome) => {
    const { context } = responseOf(outcome, mode);
    const contexts = [context, ...runs.map(({ request }) => request.context)];
    const isPassed = contexts.every((each) => each.get(USER) === 'anna');
    assert.ok(isPassed, `${mode}: a context value of the request is missing`);
    const isReturned = runs.length === 0 || context.get(ANSWERED_USER) === 'anna';
    assert.ok(isReturned, `${mode}: a context value of the answer is missing`);
  }),
  'passes unknown metadata and options [law 5]': forAnswer(({ mode, contract, runs }, outcome) => {
    const checkCanary = (what: string, ...all: readonly (Metadata | undefined)[]): void =>
      assert.ok(all.some(hasCanary), `${mode}: ${what} is missing`);
    for (const { request } of runs) {
      const { prompt, toolContext } = request;
      const fromUser = prompt.messages.filter(({ role }) => role === 'user');
      checkCanary('the metadata of the user message', ...fromUser.map((each) => each.metadata));
      checkCanary('an option', prompt.options.extraBody);
      checkCanary('the tool context', toolContext);
    }
    if (runs.length === 0 || contract.changesAnswer) return;
    const { metadata, message, citations } = responseOf(outcome, mode).response;
    checkCanary('the metadata of the response', metadata);
    checkCanary('the metadata of the message', message.metadata);
    checkCanary('a citation', ...citations.map(({ raw }) => raw));
  }),
  'passes errors unchanged [law 6]': inEveryCase(async (trial) => {
    const { end, failure } = await trial.run();
    if (trial.contract.handlesErrors || trial.runs.length === 0) return;
    assert.equal(end, 'error', `${trial.title}: the error is missing`);
    assert.ok(failure === ERROR, `${trial.title}: the error became ${String(failure)}`);
  }, failures(ERROR)),
  'gives the same answer for call and stream [law 7]': equalInBothModes(
    'have different answers or effects',
    async (trial) => {
      const answer = comparable(responseOf(await trial.run(), trial.title));
      return { answer, effects: await trial.contract.observe?.() };
    },
  ),
  'sends the same requests in both modes [law 8]': equalInBothModes(
    'send different requests',
    async (trial) => {
      await trial.run();
      const requests = trial.runs.map(({ request }) => request);
      const expected = trial.contract.callsInStreams ? 'call' : trial.mode;
      const other = requests.find(({ mode }) => mode !== expected);
      assert.ok(!other, `${trial.title}: sent a request of mode "${other?.mode}"`);
      return comparable(requests);
    },
  ),
};

/** A law of an answer in both modes, of an advisor that calls the rest of the chain or need not. */
function forAnswer(check: (trial: Trial, outcome: Recording) => void): Law {
  return inBothModes(async (trial) => {
    const outcome = await trial.run();
    assert.ok(
      trial.runs.length > 0 || trial.contract.answersItself,
      `${trial.mode}: the rest of the chain was not called; set answersItself if that is intended`,
    );
    check(trial, outcome);
  });
}

/**
 * Checks the deltas of a stream; a call has none. The chain itself streams an answer that an advisor
 * gives in place of the rest: then the deltas are missing, or belong to an attempt that has not
 * answered.
 */
export function checkDeltas(events: readonly ChatEvent[], trial: Trial): void {
  const { mode, title, runs, contract } = trial;
  if (mode === 'call')
    return assert.deepEqual(events.filter(isDelta), [], `${title}: deltas in a call`);
  const isOwn =
    contract.callsInStreams ||
    runs.every((run) => run.events.every(({ type }) => type !== 'response'));
  const unanswered = isOwn ? ['', ...runs.map((run) => shownText(run.events))] : [];
  let text = '';
  for (const event of events) {
    if (event.type === 'text-delta') text += event.text;
    else if (event.type === 'retract') text = '';
    else if (event.type === 'iteration' || event.type === 'response') {
      const answer = event.response.text ?? '';
      const message = `the deltas before "${event.type}" are not its text; emit "retract"`;
      // a guard that holds deltas back shows the final answer alone
      const isHeld = text === '' && event.type === 'iteration' && contract.changesAnswer;
      const isStreamed = text === answer || isHeld || unanswered.includes(text);
      assert.ok(isStreamed, `${title}: ${message}: "${text}", not "${answer}"`);
      text = '';
    }
  }
}

function shownText(events: readonly ChatEvent[]): string {
  return events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');
}

/** The final event of a run that succeeded. */
export function responseOf({ events, end, failure }: Recording, title: string): ResponseEvent {
  if (end === 'error') throw failure;
  const last = events.at(-1);
  const found = last ? `"${last.type}"` : 'missing';
  assert.ok(last?.type === 'response', `${title}: the last event is ${found}, not the response`);
  return last;
}

function hasCanary(values: Metadata | undefined): boolean {
  return Object.entries(CANARY).every(([name, value]) => values?.[name] === value);
}
