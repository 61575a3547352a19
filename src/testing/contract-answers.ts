import assert from 'node:assert/strict';
import type { ChatEvent } from '../chat/chat-event.js';
import type { ChatClientRequest } from '../advisor/chat-client-request.js';
import { answerData, requestData, responseOf, type Outcome } from './contract-run.js';
import {
  ANSWERED_TO,
  ASKED_BY,
  AT_ONCE,
  CANARY,
  failures,
  isDelta,
  PLAIN_SCENE,
  SCENES,
  STEP_BY_STEP,
  UNKNOWN_EVENT,
  type Pace,
  type Scene,
} from './contract-scene.js';
import type { Trial } from './contract-trial.js';

/** The ways to run. */
export const MODES = ['call', 'stream'] as const;

const PACES: readonly Pace[] = [AT_ONCE, STEP_BY_STEP];

/** Checks the outcome of every scene, in both modes, with a rest of the chain that is synchronous and one that is not. */
export function everyRun(check: (outcome: Outcome, mode: ChatClientRequest['mode']) => void): (trial: Trial) => Promise<void> {
  return async (trial) => {
    for (const scene of SCENES)
      for (const mode of MODES)
        for (const pace of PACES) {
          const { outcome } = await trial.run(scene, trial.request(mode), pace);
          within(scene, mode, () => check(outcome, mode));
        }
  };
}

/** Says in which scene something went wrong. */
function within(scene: Scene, mode: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (error instanceof assert.AssertionError) error.message = `${mode}, ${scene.name}: ${error.message}`;
    throw error;
  }
}

/** Law 4, of the response. */
export function endsWithResponse(outcome: Outcome, mode: ChatClientRequest['mode']): void {
  const types = outcome.events.map((event) => event.type);
  responseOf(outcome);
  assert.equal(outcome.end, 'complete', 'it does not complete after the response');
  assert.equal(types.filter((type) => type === 'response').length, 1, `there is more than one response: ${types.join(', ')}`);
  if (mode === 'call') assert.deepEqual(outcome.events.filter(isDelta), [], 'a call has no deltas');
}

/** Law 4, of the deltas. */
export function addsUp({ events }: Outcome, mode: ChatClientRequest['mode']): void {
  if (mode === 'call') return;
  let said = '';
  for (const event of events) {
    if (event.type === 'text-delta') said += event.text;
    else if (event.type === 'retract') said = '';
    else if (event.type === 'iteration' || event.type === 'response') {
      const what = event.type === 'iteration' ? `of iteration ${event.index}` : 'of the answer';
      assert.equal(said, event.response.text ?? '', `the deltas do not add up to the text ${what}; void ones need a "retract" event`);
      said = '';
    }
  }
}

/** Law 5, of events. */
export async function passesEvents(trial: Trial): Promise<void> {
  for (const mode of MODES) {
    const { outcome, stage } = await ask(trial, mode);
    if (stage.visits.length === 0) continue;
    const isKnown = (event: ChatEvent): boolean => JSON.stringify(event) === JSON.stringify(UNKNOWN_EVENT);
    assert.ok(outcome.events.some(isKnown), `${mode}: an event of a type that the advisor does not know got lost`);
  }
}

/** Law 5, of the context. */
export async function passesContext(trial: Trial): Promise<void> {
  for (const mode of MODES) {
    const { outcome, stage } = await ask(trial, mode);
    const { context } = responseOf(outcome);
    for (const { request } of stage.visits)
      assert.equal(request.context.get(ASKED_BY), 'anna', `${mode}: a value of the request's context did not reach the rest of the chain`);
    assert.equal(context.get(ASKED_BY), 'anna', `${mode}: a value of the request's context did not come back`);
    if (stage.visits.length > 0)
      assert.equal(context.get(ANSWERED_TO), 'anna', `${mode}: what the rest of the chain put into the context did not come back`);
  }
}

/** Law 5, of metadata and options. */
export async function passesMetadata(trial: Trial): Promise<void> {
  for (const mode of MODES) {
    const { outcome, stage } = await ask(trial, mode);
    for (const { request } of stage.visits) {
      const { messages, options } = request.prompt;
      const isFromUser = messages.some((message) => message.role === 'user' && hasCanary(message.metadata));
      assert.ok(isFromUser, `${mode}: the metadata of the user message got lost`);
      assert.ok(hasCanary(options.extraBody), `${mode}: an option got lost`);
      assert.ok(hasCanary(request.toolContext), `${mode}: the tool context got lost`);
    }
    if (stage.visits.length === 0 || trial.contract.changesAnswer) continue;
    const { response } = responseOf(outcome);
    for (const [what, metadata] of Object.entries({ response: response.metadata, message: response.message.metadata }))
      assert.ok(hasCanary(metadata), `${mode}: the metadata of the ${what} got lost`);
  }
}

function hasCanary(values: Readonly<Record<string, unknown>> | undefined): boolean {
  return Object.entries(CANARY).every(([name, value]) => values?.[name] === value);
}

/** The plain scene; an advisor that does not ask the rest of the chain must be known to do so. */
async function ask(trial: Trial, mode: ChatClientRequest['mode']): ReturnType<Trial['run']> {
  const run = await trial.run(PLAIN_SCENE, trial.request(mode));
  if (!trial.contract.answersItself)
    assert.ok(run.stage.visits.length > 0, `${mode}: it never asked the rest of the chain; set answersItself if it need not`);
  return run;
}

/** Law 6. */
export async function passesErrors(trial: Trial): Promise<void> {
  const error = Object.freeze(new Error('the rest of the chain failed'));
  for (const scene of failures(error))
    for (const mode of MODES)
      for (const pace of PACES) {
        const { outcome, stage } = await trial.run(scene, trial.request(mode), pace);
        if (trial.contract.handlesErrors || stage.visits.length === 0) continue;
        within(scene, mode, () => {
          assert.equal(outcome.end, 'error', 'the error of the rest of the chain got lost');
          assert.ok(outcome.failure === error, `the error of the rest of the chain became another one: ${String(outcome.failure)}`);
        });
      }
}

/** Law 7. */
export async function answersAlike(trial: Trial): Promise<void> {
  for (const scene of SCENES) {
    const left: unknown[] = [];
    const answers: unknown[] = [];
    for (const mode of MODES) {
      const { outcome } = await trial.run(scene, trial.request(mode));
      answers.push(answerData(responseOf(outcome)));
      left.push(await trial.contract.observe?.());
    }
    assert.deepEqual(answers[1], answers[0], `${scene.name}: the answer of a stream is not that of a call`);
    assert.deepEqual(left[1], left[0], `${scene.name}: a stream leaves something else behind than a call`);
  }
}

/** Law 8. */
export async function asksAlike(trial: Trial): Promise<void> {
  for (const scene of SCENES) {
    const asked: unknown[] = [];
    for (const mode of MODES) {
      const { stage } = await trial.run(scene, trial.request(mode));
      const modes = stage.visits.map((visit) => visit.request.mode);
      assert.ok(
        modes.every((other) => other === mode),
        `${scene.name}: a request of mode "${mode}" went on as ${modes.join(', ')}`,
      );
      asked.push(stage.visits.map((visit) => requestData(visit.request)));
    }
    assert.deepEqual(asked[1], asked[0], `${scene.name}: a stream asks the rest of the chain something else than a call`);
  }
}
