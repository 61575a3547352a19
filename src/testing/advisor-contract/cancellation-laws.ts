import assert from 'node:assert/strict';
import { AdvisorChainError } from '../../errors.js';
import {
  ASYNCHRONOUS,
  inEveryCase,
  Recording,
  settle,
  type ChainRun,
  type Law,
  type Laws,
  type Trial,
} from './trial.js';

/** Law 3: cancellation, at every event. */
export const CANCELLATION_LAWS: Laws = {
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

interface CancelledRun {
  readonly trial: Trial;
  readonly recording: Recording;
  /** The subscriptions of the rest of the chain when the run was cancelled. */
  readonly before: readonly ChainRun[];
  /** Those of them that were open. */
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
