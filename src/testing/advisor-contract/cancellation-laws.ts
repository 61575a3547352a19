import assert from 'node:assert/strict';
import type { ChatClientRequest } from '../../advisor/chat-client-request.js';
import { AdvisorChainError } from '../../errors.js';
import type { Tool } from '../../tool/tool.js';
import { ASYNCHRONOUS, type ChainRun } from './scenarios.js';
import { inEveryCase, Recording, settle, type Law, type Laws, type Trial } from './trial.js';

/** Law 3: cancellation, at every event. */
export const CANCELLATION_LAWS: Laws = {
  'cancels pending work when it is unsubscribed, at every event [law 3]': atEveryEvent(
    'the advisor was unsubscribed',
    async (point) => {
      const run = await runUntil(point, (recording) => recording.unsubscribe());
      // a synchronous source ends before it can be unsubscribed at the start
      if (point.events > 0 || point.trial.pace === ASYNCHRONOUS)
        assert.ok(!run.callsChainAgain, `${point.title}: the rest of the chain is called again`);
    },
  ),
  'fails with a CancelledError when the signal aborts, at every event [law 3]': atEveryEvent(
    'the signal aborted',
    async (point) => {
      const { trial, title } = point;
      const controller = new AbortController();
      const abort = (): void => controller.abort(new Error('enough'));
      const run = await runUntil(point, abort, controller.signal);
      const { end, failure } = run.recording;
      if (trial.contract.handlesErrors || !run.wasPending) return;
      assert.equal(end, 'error', `${title}: the run does not fail`);
      const isCancelled = AdvisorChainError.isInstance(failure) && failure.code === 'cancelled';
      assert.ok(isCancelled, `${title}: the run fails with ${String(failure)}`);
    },
  ),
};

interface CancellationPoint {
  readonly trial: Trial;
  /** Number of events before the cancellation; 0 is the subscription itself. */
  readonly events: number;
  readonly title: string;
}

function atEveryEvent(after: string, check: (point: CancellationPoint) => Promise<void>): Law {
  return inEveryCase(async (trial) => {
    const { events } = (await trial.run()).outcome;
    for (const index of events.keys()) {
      const at = index === 0 ? 'the start' : `event ${index} ("${events[index - 1]?.type}")`;
      await check({ trial, events: index, title: `${trial.title}, at ${at}, after ${after}` });
    }
  });
}

interface CancelledRun {
  readonly recording: Recording;
  /** True if the rest of the chain was running. */
  readonly wasPending: boolean;
  readonly callsChainAgain: boolean;
}

/** Runs an advisor to a point, cancels it there, and checks that all pending work was cancelled. */
async function runUntil(
  { trial, events, title }: CancellationPoint,
  cancel: (recording: Recording) => void,
  signal?: AbortSignal,
): Promise<CancelledRun> {
  const running = new Set<{ readonly signal: AbortSignal }>();
  const request = withRecordedTools(
    signal ? trial.request().withSignal(signal) : trial.request(),
    running,
  );
  const { source, chain } = trial.events({ request });
  let before = { runs: 0, open: [] as readonly ChainRun[], tools: [...running] };
  const cancelNow = (recording: Recording): void => {
    const open = chain.runs.filter(({ isOpen }) => isOpen);
    before = { runs: chain.runs.length, open, tools: [...running] };
    cancel(recording);
  };
  const recording = new Recording(source, (recording) => {
    if (recording.events.length === events) cancelNow(recording);
  });
  if (events === 0) cancelNow(recording);
  await recording.outcome(trial.timeout);
  await settle();
  const { runs, open, tools } = before;
  const isPending = chain.runs.some((run) => run.isOpen) || open.some((run) => run.isFinished);
  assert.ok(!isPending, `${title}: the rest of the chain continues; pass on the signal`);
  const isAborted = tools.every((tool) => tool.signal.aborted);
  assert.ok(isAborted, `${title}: the signal of a running tool did not abort`);
  return { recording, wasPending: open.length > 0, callsChainAgain: chain.runs.length > runs };
}

/** Adds the context of each tool call to a set while the call runs. */
function withRecordedTools(
  request: ChatClientRequest,
  running: Set<{ readonly signal: AbortSignal }>,
): ChatClientRequest {
  const recorded = (tool: Tool): Tool => ({
    ...tool,
    call: async (args, context) => {
      const { signal } = context;
      const run = { signal };
      running.add(run);
      const result: unknown = await tool.call(args, context);
      running.delete(run);
      return result;
    },
  });
  return request.withTools(request.tools.map(recorded));
}
