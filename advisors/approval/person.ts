import { isDecision } from '../../src/core/chat/decisions.js';
import type { Decision, PendingRequest } from '../../src/core/chat/paused-turn.js';
import type { RunRecord } from '../../src/core/chat/run-record.js';
import { addWaiting } from '../../src/core/chat/waiting-requests.js';
import { jsonStep, LIVE, type RunRecorder } from '../../src/core/chat/run-recorder.js';
import { PausingRecorder } from './pausing-recorder.js';
import { toolStepOf } from '../../src/engines/recorder/tool-step.js';
import { TURN_OBSERVATION } from '../../src/core/observation/ask-model.js';
import type { Observation } from '../../src/core/observation/observation.js';
import { observeWait } from '../../src/core/observation/observe-wait.js';
import { ApprovalError } from '../../src/core/errors/errors.js';
import {
  Cancellation,
  untilCancelled,
  type Cancellable,
} from '../../src/core/internal/cancellation.js';
import { hasMethods } from '../../src/core/internal/options.js';
import { Subscriber, type Observable } from '../../src/core/internal/rxjs.js';
import { reasonOf } from '../../src/core/errors/describe.js';
import { CallContext, runOf } from '../../src/core/tool-execution/tool-context.js';
import type { ToolContext } from '../../src/core/tool/tool.js';

/** The call that a person is asked about. */
export type DecisionContext = Pick<ToolContext, 'signal' | 'values' | 'get' | 'advisorContext'>;

/** Returns the owner of what happens in a context, of a tool call or of a request. */
export type ScopeOfOwner = (of: { readonly context: DecisionContext }) => string | undefined;

/** Asks a person while the turn waits. Of an Observable the first decision counts. */
export type Decide = (
  request: PendingRequest,
  context: DecisionContext,
) => Decision | Promise<Decision> | Observable<Decision>;

/** The ways in which the people of an advisor are asked. */
export interface PersonSettings {
  readonly where: string;
  /** Name of the advisor, if it is not the default one: its requests are its own. */
  readonly owner?: string | undefined;
  readonly decide: Decide | undefined;
  /** Time in milliseconds in which a durable turn waits for a decision. */
  readonly timeout: number;
}

/**
 * The decision of a person: by the function of the application, or else by the paused turn, or
 * else by the durable engine. Undefined without a decision in time.
 * @throws {@link TurnPausedError} if the turn has to pause for it
 * @throws {@link ApprovalError} if the function fails, or no person can be asked
 */
export async function askPerson(
  request: PendingRequest,
  context: ToolContext,
  settings: PersonSettings,
): Promise<Decision | undefined> {
  const run = runOf(context);
  const recorder = run?.recorder ?? LIVE;
  if (settings.decide) {
    const ask = (): Promise<Decision> => {
      run?.beginOperation();
      return observeWait(observationOf(context), 'decision', (onWait) => {
        onWait();
        return decideInline(request, context, settings);
      });
    };
    return recorder.step(`decision ${request.id}`, ask, jsonStep());
  }
  if (recorder.isRecording) return waitFor(recorder, request, context, settings);
  const problem = `${settings.where} has no person to ask: give it decide or pause, or add a DurableAdvisor`;
  throw new ApprovalError(problem, request.toolName, request.callId);
}

/** True if a tool can wait for the answer: it need not run again. */
export function isInline({ decide }: PersonSettings, run: RunRecord): boolean {
  return decide !== undefined && !run.recorder.isRecording;
}

/** Calls of a batch are asked about before their observations begin. */
function observationOf(context: ToolContext): Observation | undefined {
  const run = runOf(context);
  return run && TURN_OBSERVATION.get(run);
}

async function waitFor(
  recorder: RunRecorder,
  request: PendingRequest,
  context: ToolContext,
  { timeout }: PersonSettings,
): Promise<Decision | undefined> {
  const place = toolStepOf(request.toolName, context);
  const cancellation = CallContext.cancellationOf(context);
  const onNew = (): void => runOf(context)?.beginOperation();
  const value = await observeWait(observationOf(context), 'decision', (onWait) => {
    // a turn that pauses ends here
    if (!(recorder instanceof PausingRecorder)) onWait();
    return recorder.waitFor(request, { place, timeout, cancellation, onNew });
  });
  return value === undefined ? undefined : checked(value, request, 'the decision that was sent');
}

async function decideInline(
  request: PendingRequest,
  context: ToolContext,
  { where, decide }: PersonSettings,
): Promise<Decision> {
  const cancellation = CallContext.cancellationOf(context);
  let decided: unknown;
  try {
    decided = await firstDecision(request, context, cancellation, decide);
  } catch (cause) {
    if (cancellation.cancelled) throw cause;
    const problem = `${where}: decide failed for "${request.toolName}": ${reasonOf(cause)}`;
    throw new ApprovalError(problem, request.toolName, request.callId, { cause });
  }
  return checked(decided, request, 'the result of decide');
}

/** The decision of the function, or of an inspector, which ends the context of the function. */
async function firstDecision(
  request: PendingRequest,
  context: ToolContext,
  outer: Cancellable,
  decide: Decide | undefined,
): Promise<unknown> {
  const own = new Cancellation(outer.ready, outer.owner);
  const release = outer.onCancel((reason) => own.cancel(reason));
  let remove: (() => void) | undefined;
  try {
    const first = new Promise((resolve, reject) => {
      remove = addWaiting(runOf(context), request, (decision) => {
        resolve(decision);
        own.cancel();
      });
      const asked: unknown = decide?.(request, CallContext.withLimit(context, own, context));
      const given = isObservable(asked) ? firstOf(asked, own) : asked;
      Promise.resolve(given).then(resolve, reject);
    });
    return await untilCancelled(first, outer);
  } finally {
    remove?.();
    release();
  }
}

/** @throws {@link ApprovalError} if it is not a decision */
function checked(value: unknown, request: PendingRequest, what: string): Decision {
  if (isDecision(value)) return value;
  const problem = `${what} on "${request.toolName}" must be a decision, such as { type: 'allow' }`;
  throw new ApprovalError(problem, request.toolName, request.callId);
}

/** Like `isObservable` of RxJS: accepts observables of a second copy, too. */
function isObservable(value: unknown): value is Observable<unknown> {
  return hasMethods(value, ['lift', 'subscribe']);
}

function firstOf(source: Observable<unknown>, cancellation: Cancellable): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const subscriber = new Subscriber<unknown>({
      next: (value) => {
        resolve(value);
        subscriber.unsubscribe();
      },
      error: reject,
      complete: () => reject(new Error('the Observable ended without a decision')),
    });
    subscriber.add(cancellation.onCancel(() => subscriber.unsubscribe()));
    source.subscribe(subscriber);
  });
}
