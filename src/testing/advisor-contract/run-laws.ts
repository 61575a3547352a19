import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { AdvisorChainError } from '../../core/errors/errors.js';
import { gate, Recording, settle } from './recording.js';
import {
  ASYNCHRONOUS,
  comparable,
  inBothModes,
  inEveryCase,
  Trial,
  type ChainRun,
  type Law,
  type Laws,
} from './trial.js';

/** Laws 1 to 3: runs are cold, repeatable and independent, and can be cancelled at every event. */
export const RUN_LAWS: Laws = {
  'is cold: nothing happens before subscribe [law 1]': inBothModes(async (trial) => {
    trial.events();
    await settle();
    assert.equal(trial.runs.length, 0, `${trial.mode}: subscribed the rest of the chain too early`);
  }),
  'keeps no state of a run in its fields [law 1]': inBothModes(async (trial) => {
    if (trial.contract.writesFields) return;
    const { end, failure } = await trial.again(Object.freeze(trial.contract.create())).run();
    assert.notEqual(end, 'error', `${trial.mode}: fails when frozen: ${String(failure)}`);
  }),
  'makes each subscription a run of its own [law 2]': inBothModes(async (trial) => {
    const { mode, runs, contract } = trial;
    const events = trial.events();
    const first = await trial.run(events);
    const { length } = runs;
    const second = await trial.run(events);
    const message = `${mode}: the second run has other events`;
    assert.deepEqual(repeatedParts(trial, second), repeatedParts(trial, first), message);
    const isCalledAgain = contract.answersItself || runs.length === length * 2;
    assert.ok(isCalledAgain, `${mode}: the second run did not call the rest of the chain`);
  }),
  'shares nothing between concurrent runs [law 2]': inBothModes(async (trial) => {
    const advisor = trial.contract.create();
    const { opened, open } = gate();
    const anna = trial.again(advisor, (emitNext) => void opened.then(emitNext));
    const bert = trial.again(advisor);
    const pending = new Recording(anna.events(anna.request('anna')));
    await settle();
    // a whole run while the first one is pending
    const ended = await bert.run(bert.events(bert.request('bert')));
    open();
    await checkIndependent(anna, await pending.outcome(trial.timeout), 'anna', 'bert');
    await checkIndependent(bert, ended, 'bert', 'anna');
  }),
  'cancels pending work when it is unsubscribed, at every event [law 3]': atEveryEvent(
    'the advisor was unsubscribed',
    ({ trial, recording, before }, title) => {
      // a synchronous source ends before it can be unsubscribed at the start
      if (recording.events.length === 0 && trial.pace !== ASYNCHRONOUS) return;
      const isCalledAgain = trial.runs.length > before.length;
      assert.ok(!isCalledAgain, `${title}: the rest of the chain is called again`);
    },
  ),
  'fails with a CancelledError when the signal aborts, at every event [law 3]': atEveryEvent(
    'the signal aborted',
    ({ trial, recording: { end, failure }, pending }, title) => {
      if (trial.contract.handlesErrors || pending.length === 0) return;
      assert.equal(end, 'error', `${title}: the run does not fail`);
      const isCancelled = AdvisorChainError.isInstance(failure) && failure.code === 'cancelled';
      assert.ok(isCancelled, `${title}: the run fails with ${String(failure)}`);
    },
  ),
};

/** Compares the run of a user beside another one with the same run alone. */
async function checkIndependent(
  trial: Trial,
  outcome: Recording,
  user: string,
  other: string,
): Promise<void> {
  const title = `${trial.mode}, ${user} beside ${other}`;
  const data = [outcome.events, trial.runs.map(({ request }) => request)];
  const printed = inspect(data, { depth: 12, maxArrayLength: null });
  assert.ok(!printed.includes(other), `${title}: contains data of ${other}`);
  const alone = new Trial(trial.contract, trial.mode);
  const expected = repeatedParts(alone, await alone.run(alone.events(alone.request(user))));
  assert.deepEqual(repeatedParts(trial, outcome), expected, `${title}: differs from a run alone`);
}

/** The part that is the same in equal runs: a cache has another way to its answer, at no cost. */
function repeatedParts({ contract, runs }: Trial, { events }: Recording): unknown {
  if (contract.answersItself) {
    const last = events.at(-1);
    return comparable(last?.type === 'response' ? last.response.generations : last);
  }
  return comparable([events, runs.map(({ request }) => request)]);
}

interface CancelledRun {
  readonly trial: Trial;
  readonly recording: Recording;
  /** The subscriptions of the rest of the chain when the run was cancelled. */
  readonly before: readonly ChainRun[];
  /** The open ones among them. */
  readonly pending: readonly ChainRun[];
}

/** Cancels a run at each of its events, and checks that all pending work was cancelled. */
function atEveryEvent(
  after: 'the advisor was unsubscribed' | 'the signal aborted',
  check: (run: CancelledRun, title: string) => void,
): Law {
  return inEveryCase(async (trial) => {
    const { events } = await trial.run();
    for (const index of events.keys()) {
      const at = index === 0 ? 'the start' : `event ${index} ("${events[index - 1]?.type}")`;
      const title = `${trial.title}, at ${at}, after ${after}`;
      const controller = after === 'the signal aborted' ? new AbortController() : undefined;
      check(await runUntil(index, trial.again(), title, controller), title);
    }
  });
}

/** Runs an advisor to a number of events; 0 is the subscription itself. */
async function runUntil(
  events: number,
  trial: Trial,
  title: string,
  controller: AbortController | undefined,
): Promise<CancelledRun> {
  const request = controller ? trial.request().withSignal(controller.signal) : trial.request();
  let before: readonly ChainRun[] = [];
  let pending: readonly ChainRun[] = [];
  let running: readonly AbortSignal[] = [];
  const cancel = (recording: Recording): void => {
    before = [...trial.runs];
    pending = before.filter(({ isOpen }) => isOpen);
    running = [...trial.runningTools];
    if (controller) controller.abort(new Error('enough'));
    else recording.unsubscribe();
  };
  const recording = new Recording(trial.events(request), (recording) => {
    if (recording.events.length === events) cancel(recording);
  });
  if (events === 0) cancel(recording);
  await recording.outcome(trial.timeout);
  await settle();
  const isRunning = trial.runs.some((run) => run.isOpen) || pending.some((run) => run.isFinished);
  assert.ok(!isRunning, `${title}: the rest of the chain continues; pass on the signal`);
  const isAborted = running.every((signal) => signal.aborted);
  assert.ok(isAborted, `${title}: the signal of a running tool did not abort`);
  return { trial, recording, before, pending };
}
