import type { ToolResult } from '../chat/chat-event.js';
import { ToolError, ToolOutcomeUnknownError } from '../errors/errors.js';
import { inTime } from '../internal/in-time.js';
import { checkOption, rule } from '../internal/options.js';
import { CONTENT } from '../tool/tool-result.js';
import type { ToolInvocation } from '../tool/tool.js';
import { exceededError } from './call-limits.js';
import { CallContext } from './tool-context.js';

/**
 * The answer of a service about a call: the result, which is recorded as the call's own; `not-run`, so
 * that the call is made; or `unknown`.
 */
export type Reconciled = ToolResult | 'not-run' | 'unknown';

/**
 * Asks the service with the effect what became of a call, such as by its `idempotencyKey`. The signal
 * of its context aborts when the time is up, too.
 */
export type Reconcile = (call: ToolInvocation) => Reconciled | Promise<Reconciled>;

/** Option of advisors that record calls with an effect. */
export interface ReconcileOption {
  /**
   * Asks the service about a call with an effect that was begun, and whose end was not recorded: as its
   * process ended. It has the `timeout` of the tool, or 30 seconds. If it fails, or has no answer
   * in time, the outcome is `unknown`, and the event `tool-reconcile` has the error.
   * @default none: the outcome is unknown
   */
  readonly reconcile?: Reconcile | undefined;
}

/** Handling of calls whose outcome is unknown. */
export interface UnknownOutcomes extends ReconcileOption {
  /** Decides if the service does not know. */
  readonly onUnknown: 'ask' | 'refuse' | 'run';
}

/** Data of the event `tool-reconcile`. */
export interface ToolReconcileEvent {
  readonly toolName: string;
  readonly callId: string;
  readonly outcome: 'result' | 'not-run' | 'unknown';
  /** Why the service could not be asked. */
  readonly error?: unknown;
}

declare module '../chat/chat-event.js' {
  interface CustomEvents {
    'tool-reconcile': ToolReconcileEvent;
  }
}

/** The answer of the service, and why there is none. */
interface Reconciliation {
  readonly outcome: Reconciled;
  readonly error?: unknown;
}

const TIMEOUT = 30_000;
const RECONCILED = rule(
  "the result of the call, 'not-run' or 'unknown'",
  (value) =>
    value === 'not-run' ||
    value === 'unknown' ||
    CONTENT.accepts((value as Partial<ToolResult> | null | undefined)?.content),
);

/**
 * Asks the service about a call, and reports its answer as an event. A function that fails leaves the
 * outcome unknown.
 * @throws {@link CancelledError} if the call is cancelled
 */
export async function reconcileCall(
  call: ToolInvocation,
  reconcile: Reconcile | undefined,
): Promise<Reconciliation> {
  if (!reconcile) return { outcome: 'unknown' };
  const asked = await askService(call, reconcile);
  const { outcome } = asked;
  const data = {
    toolName: call.call.name,
    callId: call.call.id,
    ...asked,
    outcome: typeof outcome === 'string' ? outcome : ('result' as const),
  };
  call.context.emit({ type: 'custom', name: 'tool-reconcile', data });
  return asked;
}

async function askService(call: ToolInvocation, reconcile: Reconcile): Promise<Reconciliation> {
  const { context, tool } = call;
  const { timeout = TIMEOUT } = tool.metadata;
  const limit = timeout === Infinity ? TIMEOUT : timeout;
  const ask = async (signal: AbortSignal): Promise<Reconciled> =>
    reconcile({ ...call, context: { ...context, signal } });
  try {
    const outcome = await inTime(ask, limit, timedOut(call.call.name, limit), context.signal);
    checkOption('reconcile', 'its result', outcome, RECONCILED);
    return { outcome };
  } catch (error) {
    if (CallContext.cancellationOf(context).cancelled) throw error;
    return { outcome: 'unknown', error };
  }
}

function timedOut(name: string, value: number): ToolError {
  const problem = `reconcile did not answer about a call of "${name}" within ${value} ms`;
  return exceededError(problem, name, {
    limit: 'duration',
    value,
    spent: value,
    option: 'timeout',
  });
}

/**
 * The error of a call that is not run again.
 * @param cause why the service could not be asked
 */
export function unknownOutcome(call: ToolInvocation, cause?: unknown): ToolError {
  const { name } = call.call;
  const problem = `An earlier attempt of this call of "${name}" was interrupted, and may have had its effect`;
  const todo = 'find out with the idempotency key, or by the option reconcile of the advisor';
  const message = `${problem}; ${todo}.`;
  const options = cause === undefined ? {} : { cause };
  const error = new ToolOutcomeUnknownError(message, name, call.context.idempotencyKey, options);
  return new ToolError(`Not run: ${problem}. Do not repeat it; report this.`, { cause: error });
}
