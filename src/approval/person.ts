import type { Decision, PendingRequest } from '../chat/paused-turn.js';
import { RunRecord } from '../chat/run-record.js';
import { DurableRun } from '../durable/durable-run.js';
import { toolStepOf } from '../durable/tool-step.js';
import { ApprovalError } from '../errors.js';
import { untilCancelled, type Cancellable } from '../internal/cancellation.js';
import type { JsonValue } from '../internal/json.js';
import { hasMethods } from '../internal/options.js';
import { Subscriber, type Observable } from '../internal/rxjs.js';
import { reasonOf } from '../internal/text.js';
import { CallContext } from '../tool-execution/tool-context.js';
import type { ToolContext } from '../tool/tool.js';
import { isDecision } from './check-decisions.js';
import { PausedRun } from './paused-run.js';

/** The call that a person is asked about. */
export type DecisionContext = Pick<ToolContext, 'signal' | 'values' | 'get' | 'advisorContext'>;

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
 * The decision of a person: by the function of the application, or else that of the paused turn, or
 * else by the durable engine. Undefined without a decision in time.
 * @throws {@link TurnPausedError} if the turn has to pause for it
 * @throws {@link ApprovalError} if the function fails, or no person can be asked
 */
export async function askPerson(
  request: PendingRequest,
  context: ToolContext,
  settings: PersonSettings,
): Promise<Decision | undefined> {
  const run = RunRecord.owning(CallContext.cancellationOf(context));
  const durable = run && DurableRun.of(run);
  if (settings.decide) {
    const ask = (): Promise<Decision> => decideInline(request, context, settings);
    return durable ? (durable.step(`decision ${request.id}`, ask as never) as never) : ask();
  }
  const paused = run && PausedRun.of(run);
  if (paused) {
    const kind = toolStepOf(request.toolName, context);
    const decision = paused.request(request, durable, kind);
    if (!decision) throw paused.error;
    return decision;
  }
  if (durable) return waitFor(durable, request, context, settings);
  const problem = `${settings.where} has no person to ask: give it decide or pause, or add a DurableAdvisor`;
  throw new ApprovalError(problem, request.toolName, request.callId);
}

/** True if a tool can wait for the answer: it need not run again. */
export function isInline({ decide }: PersonSettings, run: RunRecord): boolean {
  return decide !== undefined && !DurableRun.of(run);
}

async function waitFor(
  { engine }: DurableRun,
  request: PendingRequest,
  context: ToolContext,
  { timeout }: PersonSettings,
): Promise<Decision | undefined> {
  const shown = request as unknown as JsonValue;
  const waiting = engine.waitFor(request.id, { timeout, request: shown });
  const value = await untilCancelled(waiting, CallContext.cancellationOf(context));
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
    const asked: unknown = decide?.(request, context);
    const given = isObservable(asked) ? firstOf(asked, cancellation) : asked;
    decided = await untilCancelled(Promise.resolve(given), cancellation);
  } catch (cause) {
    if (cancellation.cancelled) throw cause;
    const problem = `${where}: decide failed for "${request.toolName}": ${reasonOf(cause)}`;
    throw new ApprovalError(problem, request.toolName, request.callId, { cause });
  }
  return checked(decided, request, 'the result of decide');
}

/** @throws {@link ApprovalError} if it is no decision */
function checked(value: unknown, request: PendingRequest, what: string): Decision {
  if (isDecision(value)) return value;
  const problem = `${what} on "${request.toolName}" must be a decision, such as { type: 'allow' }`;
  throw new ApprovalError(problem, request.toolName, request.callId);
}

/** Like `isObservable` of RxJS: accepts those of a second copy of it, too. */
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
