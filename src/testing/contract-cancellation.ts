import assert from 'node:assert/strict';
import { AdvisorChainError } from '../errors.js';
import type { ChatClientRequest } from '../advisor/chat-client-request.js';
import type { Tool } from '../tool/tool.js';
import { advise, Recording, settle } from './contract-run.js';
import { AT_ONCE, SCENES, Stage, STEP_BY_STEP, type Pace, type Scene, type Visit } from './contract-scene.js';
import type { Trial } from './contract-trial.js';

interface Situation {
  readonly scene: Scene;
  readonly mode: ChatClientRequest['mode'];
  readonly pace: Pace;
  /** Number of the event at which the run is ended. */
  readonly at: number;
  readonly text: string;
}

/** Every event of every scene; event 0 is the subscription itself. */
async function* situations(trial: Trial): AsyncGenerator<Situation> {
  for (const scene of SCENES)
    for (const mode of ['call', 'stream'] as const)
      for (const pace of [AT_ONCE, STEP_BY_STEP]) {
        const { events } = (await trial.run(scene, trial.request(mode), pace)).outcome;
        for (let at = 0; at < events.length; at++)
          yield {
            scene,
            mode,
            pace,
            at,
            text: `${mode}, ${scene.name}, at ${at === 0 ? 'the start' : `event ${at} ("${events[at - 1]?.type}")`}`,
          };
      }
}

/** What was under way when a run was ended, and what became of it. */
interface Cut {
  readonly recording: Recording;
  readonly isUnderWay: boolean;
  /** Whether a subscription of the rest was left alone. */
  readonly runsOn: boolean;
  /** Whether a tool was not told. */
  readonly toolRunsOn: boolean;
  /** Whether the rest was asked after the end. */
  readonly asksAgain: boolean;
}

/** Runs up to an event, does something there, and waits until nothing more happens. */
async function cut(
  { scene, mode, pace, at }: Situation,
  trial: Trial,
  act: (recording: Recording) => void,
  signal?: AbortSignal,
): Promise<Cut> {
  const advisor = trial.contract.create();
  const stage = new Stage([advisor], scene, pace);
  const toolRuns: ToolRun[] = [];
  const request = withNotes(trial.request(mode), toolRuns);
  let visits = 0;
  let open: readonly Visit[] = [];
  let running: readonly ToolRun[] = [];
  let recording!: Recording;
  const reached = new Promise<void>((resolve) => {
    const stop = (reached: Recording): void => {
      visits = stage.visits.length;
      open = stage.visits.filter((visit) => visit.isOpen);
      running = toolRuns.filter((run) => !run.ended);
      act(reached);
      resolve();
    };
    recording = new Recording(advise(advisor, signal ? request.withSignal(signal) : request, stage), (reached) => {
      if (reached.events.length === at) stop(reached);
    });
    if (at === 0) stop(recording);
  });
  await Promise.race([reached, recording.outcome(trial.timeout)]);
  await settle();
  return {
    recording,
    isUnderWay: open.length > 0,
    runsOn: stage.visits.some((visit) => visit.isOpen) || open.some((visit) => visit.isPlayed),
    toolRunsOn: running.some((run) => !run.signal.aborted),
    asksAgain: stage.visits.length > visits,
  };
}

interface ToolRun {
  readonly signal: AbortSignal;
  ended: boolean;
}

/** The request with tools that note their runs. */
function withNotes(request: ChatClientRequest, runs: ToolRun[]): ChatClientRequest {
  const noting =
    (tool: Tool): Tool['call'] =>
    async (args, context) => {
      const run: ToolRun = { signal: context.signal, ended: false };
      runs.push(run);
      const result: unknown = await tool.call(args, context);
      run.ended = true;
      return result;
    };
  return request.withTools(request.tools.map((tool) => ({ ...tool, call: noting(tool) })));
}

/** Law 3, by unsubscribing. */
export async function unsubscribing(trial: Trial): Promise<void> {
  for await (const situation of situations(trial)) {
    const { runsOn, toolRunsOn, asksAgain } = await cut(situation, trial, (recording) => recording.unsubscribe());
    const where = `${situation.text}, after the advisor was unsubscribed`;
    assert.ok(!runsOn, `${where}: the rest of the chain runs on`);
    assert.ok(!toolRunsOn, `${where}: a tool runs on and is not told`);
    // a source without pauses is through before it can be unsubscribed at the start
    if (situation.at > 0 || situation.pace === STEP_BY_STEP) assert.ok(!asksAgain, `${where}: the rest of the chain is asked again`);
  }
}

/** Law 3, by the signal of the request. */
export async function aborting(trial: Trial): Promise<void> {
  for await (const situation of situations(trial)) {
    const controller = new AbortController();
    const abort = (): void => controller.abort(new Error('enough'));
    const { recording, isUnderWay, runsOn, toolRunsOn } = await cut(situation, trial, abort, controller.signal);
    const { end, failure } = await recording.outcome(trial.timeout);
    const where = `${situation.text}, after the signal aborted`;
    assert.ok(!runsOn, `${where}: the rest of the chain runs on; another signal must include that of the request`);
    assert.ok(!toolRunsOn, `${where}: a tool runs on and is not told`);
    if (trial.contract.handlesErrors || !isUnderWay) continue;
    assert.equal(end, 'error', `${where}: the run ends as if nothing had happened`);
    const isCancellation = AdvisorChainError.isInstance(failure) && failure.code === 'cancelled';
    assert.ok(isCancellation, `${where}: the run ends with ${String(failure)}`);
  }
}
