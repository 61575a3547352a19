import assert from 'node:assert/strict';
import { runAdvisor } from '../../advisor/advisor-chain.js';
import type { ChatClientRequest } from '../../advisor/chat-client-request.js';
import { AdvisorChainError } from '../../errors.js';
import type { Tool } from '../../tool/tool.js';
import {
  ASYNCHRONOUS,
  gate,
  Recording,
  ScenarioChain,
  settle,
  trialCases,
  type ChainRun,
  type Laws,
  type Trial,
  type TrialCase,
} from './trial.js';

/** Law 3: cancellation, at every event. */
export const CANCELLATION_LAWS: Laws = {
  'cancels pending work when it is unsubscribed, at every event [law 3]': async (trial) => {
    for await (const point of cancellationPoints(trial)) {
      const title = `${point.title}, after the advisor was unsubscribed`;
      const run = await runUntil(point, trial, title, (recording) => recording.unsubscribe());
      // a synchronous source ends before it can be unsubscribed at the start
      if (point.events > 0 || point.pace === ASYNCHRONOUS)
        assert.ok(!run.callsChainAgain, `${title}: the rest of the chain is called again`);
    }
  },
  'fails with a CancelledError when the signal aborts, at every event [law 3]': async (trial) => {
    for await (const point of cancellationPoints(trial)) {
      const controller = new AbortController();
      const abort = (): void => controller.abort(new Error('enough'));
      const title = `${point.title}, after the signal aborted`;
      const run = await runUntil(point, trial, title, abort, controller.signal);
      const { end, failure } = await run.recording.outcome(trial.timeout);
      if (trial.contract.handlesErrors || !run.wasPending) continue;
      assert.equal(end, 'error', `${title}: the run does not fail`);
      const isCancelled = AdvisorChainError.isInstance(failure) && failure.code === 'cancelled';
      assert.ok(isCancelled, `${title}: the run fails with ${String(failure)}`);
    }
  },
};

interface CancellationPoint extends TrialCase {
  /** Number of events before the cancellation; 0 is the subscription itself. */
  readonly events: number;
}

async function* cancellationPoints(trial: Trial): AsyncGenerator<CancellationPoint> {
  for (const trialCase of trialCases()) {
    const { scenario, mode, pace, title } = trialCase;
    const { events } = (await trial.run(scenario, trial.request(mode), pace)).outcome;
    for (const index of events.keys()) {
      const at = index === 0 ? 'the start' : `event ${index} ("${events[index - 1]?.type}")`;
      yield { ...trialCase, events: index, title: `${title}, at ${at}` };
    }
  }
}

interface CancelledRun {
  readonly recording: Recording;
  /** True if the rest of the chain was running. */
  readonly wasPending: boolean;
  readonly callsChainAgain: boolean;
}

/** Runs an advisor to a point, cancels it there, and checks that all pending work was cancelled. */
async function runUntil(
  { scenario, mode, pace, events }: CancellationPoint,
  trial: Trial,
  title: string,
  cancel: (recording: Recording) => void,
  signal?: AbortSignal,
): Promise<CancelledRun> {
  const advisor = trial.contract.create();
  const chain = new ScenarioChain([advisor], scenario, pace);
  const toolRuns: ToolRun[] = [];
  const request = withRecordedTools(trial.request(mode), toolRuns);
  const { opened: reached, open: reach } = gate();
  let before = { runs: 0, open: [] as readonly ChainRun[], tools: [] as readonly ToolRun[] };
  const cancelNow = (recording: Recording): void => {
    const { length: runs } = chain.runs;
    const open = chain.runs.filter(({ isOpen }) => isOpen);
    before = { runs, open, tools: toolRuns.filter(({ hasEnded }) => !hasEnded) };
    cancel(recording);
    reach();
  };
  const source = runAdvisor(advisor, signal ? request.withSignal(signal) : request, chain);
  const recording = new Recording(source, (recording) => {
    if (recording.events.length === events) cancelNow(recording);
  });
  if (events === 0) cancelNow(recording);
  await Promise.race([reached, recording.outcome(trial.timeout)]);
  await settle();
  const { runs, open, tools } = before;
  const isPending = chain.runs.some((run) => run.isOpen) || open.some((run) => run.isFinished);
  assert.ok(!isPending, `${title}: the rest of the chain continues; pass on the signal`);
  const isAborted = tools.every((run) => run.signal.aborted);
  assert.ok(isAborted, `${title}: the signal of a running tool did not abort`);
  return { recording, wasPending: open.length > 0, callsChainAgain: chain.runs.length > runs };
}

interface ToolRun {
  readonly signal: AbortSignal;
  hasEnded: boolean;
}

function withRecordedTools(request: ChatClientRequest, runs: ToolRun[]): ChatClientRequest {
  const recorded = (tool: Tool): Tool => ({
    ...tool,
    call: async (args, context) => {
      const run: ToolRun = { signal: context.signal, hasEnded: false };
      runs.push(run);
      const result: unknown = await tool.call(args, context);
      run.hasEnded = true;
      return result;
    },
  });
  return request.withTools(request.tools.map(recorded));
}
