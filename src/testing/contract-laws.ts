import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import type { ChatClientRequest } from '../advisor/chat-client-request.js';
import {
  addsUp,
  answersAlike,
  asksAlike,
  endsWithResponse,
  everyRun,
  MODES,
  passesContext,
  passesErrors,
  passesEvents,
  passesMetadata,
} from './contract-answers.js';
import { aborting, unsubscribing } from './contract-cancellation.js';
import { advise, eventData, Recording, requestData, settle, type Outcome } from './contract-run.js';
import { ASKED_BY, PLAIN_SCENE, Stage, STEP_BY_STEP } from './contract-scene.js';
import { toolCallLaws } from './contract-tool-calls.js';
import type { AdvisorContract, Trial } from './contract-trial.js';

/** A sentence that holds for every advisor, and how to check it. */
export interface Law {
  readonly title: string;
  readonly check: (trial: Trial) => Promise<void>;
}

/** The laws that hold for an advisor: those of `advise` and those of `adviseToolCall`, where it has them. */
export function lawsOf(contract: AdvisorContract): readonly Law[] {
  const advisor = contract.create();
  return [...(advisor.advise ? ADVISE_LAWS : []), ...(advisor.adviseToolCall ? toolCallLaws : [])];
}

const ADVISE_LAWS: readonly Law[] = [
  { title: 'is cold: nothing happens before subscribe [law 1]', check: isCold },
  { title: 'keeps nothing of a run in its fields [law 1]', check: worksFrozen },
  { title: 'makes each subscription a run of its own [law 2]', check: runsAnew },
  { title: 'shares nothing between two runs at the same time [law 2]', check: sharesNothing },
  { title: 'ends what is under way when it is unsubscribed, at every event [law 3]', check: unsubscribing },
  { title: 'ends with the error of the cancellation when the signal aborts, at every event [law 3]', check: aborting },
  { title: 'gives exactly one response, last, and completes [law 4]', check: everyRun(endsWithResponse) },
  { title: 'gives deltas that add up to the text of their iteration [law 4]', check: everyRun(addsUp) },
  { title: 'passes on events that it does not know [law 5]', check: passesEvents },
  { title: 'passes the context on, to the model and back [law 5]', check: passesContext },
  { title: 'passes on metadata and options that it does not know [law 5]', check: passesMetadata },
  { title: 'passes errors on as they are [law 6]', check: passesErrors },
  { title: 'gives the same answer for call and stream [law 7]', check: answersAlike },
  { title: 'asks the same in both modes [law 8]', check: asksAlike },
];

async function isCold(trial: Trial): Promise<void> {
  for (const mode of MODES) {
    const advisor = trial.contract.create();
    const stage = new Stage([advisor], PLAIN_SCENE);
    advise(advisor, trial.request(mode), stage);
    await settle();
    assert.equal(stage.visits.length, 0, `${mode}: the rest of the chain was subscribed before the advisor was`);
  }
}

async function worksFrozen(trial: Trial): Promise<void> {
  if (trial.contract.writesFields) return;
  for (const mode of MODES) {
    const advisor = Object.freeze(trial.contract.create());
    const { outcome } = await trial.run(PLAIN_SCENE, trial.request(mode), STEP_BY_STEP, advisor);
    const reason = outcome.failure instanceof Error ? outcome.failure.message : String(outcome.failure);
    assert.notEqual(outcome.end, 'error', `${mode}: it fails when it is frozen, so it writes into itself: ${reason}`);
  }
}

async function runsAnew(trial: Trial): Promise<void> {
  for (const mode of MODES) {
    const advisor = trial.contract.create();
    const stage = new Stage([advisor], PLAIN_SCENE);
    const events = advise(advisor, trial.request(mode), stage);
    const first = await new Recording(events).outcome(trial.timeout);
    const visits = stage.visits.length;
    const second = await new Recording(events).outcome(trial.timeout);
    assert.deepEqual(second.events.map(eventData), first.events.map(eventData), `${mode}: the second subscription gave other events`);
    if (!trial.contract.answersItself)
      assert.equal(stage.visits.length, visits * 2, `${mode}: the second subscription did not ask the rest of the chain again`);
  }
}

/** Anna begins, Bert comes and goes, Anna ends: each must get what they would get alone. */
async function sharesNothing(trial: Trial): Promise<void> {
  for (const mode of MODES) {
    const advisor = trial.contract.create();
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const requests = { anna: trial.request(mode, 'anna'), bert: trial.request(mode, 'bert') };
    const annasStage = new Stage([advisor], PLAIN_SCENE, (goOn) => void gate.then(goOn));
    const anna = new Recording(advise(advisor, requests.anna, annasStage));
    await settle();
    const bert = await trial.run(PLAIN_SCENE, requests.bert, STEP_BY_STEP, advisor);
    open();
    const outcome = await anna.outcome(trial.timeout);
    await isAsAlone(trial, requests.anna, outcome, annasStage);
    await isAsAlone(trial, requests.bert, bert.outcome, bert.stage);
  }
}

async function isAsAlone(trial: Trial, request: ChatClientRequest, outcome: Outcome, stage: Stage): Promise<void> {
  const who = request.context.get(ASKED_BY);
  const alone = await trial.run(PLAIN_SCENE, request);
  const asked = (of: Stage): unknown[] => of.visits.map((visit) => requestData(visit.request));
  const where = `${request.mode}, ${who} beside somebody else`;
  hasNothingOf(who === 'anna' ? 'bert' : 'anna', [outcome.events, stage.visits.map((visit) => visit.request)], where);
  assert.deepEqual(asked(stage), asked(alone.stage), `${where}: the request that went on is another than alone`);
  assert.deepEqual(outcome.events.map(eventData), alone.outcome.events.map(eventData), `${where}: the events are others than alone`);
}

function hasNothingOf(other: string, values: unknown, where: string): void {
  assert.ok(!inspect(values, { depth: 12, maxArrayLength: null }).includes(other), `${where}: there is something of ${other}`);
}
