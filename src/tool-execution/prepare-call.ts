import { checkCustomEvent } from '../chat/chat-event.js';
import { untilCancelled } from '../internal/cancellation.js';
import { frozenCopy } from '../internal/frozen-copy.js';
import type { ToolCallPreparer, ToolInvocation } from '../tool/tool.js';
import type { CheckedCall } from './check-call.js';
import type { FinishedCall } from './execution-result.js';
import { keptResult } from './kept-results.js';
import { runCall } from './run-call.js';
import { CallContext, type ToolEmitter } from './tool-context.js';
import type { Batch } from './tool-run.js';

/** A call that runs when it is ready. */
export interface PreparedCall {
  readonly ready?: Promise<void> | undefined;
  readonly run: () => FinishedCall | Promise<FinishedCall>;
}

/** Lets the advisors prepare a checked call. Never throws; the promise never rejects. */
export function prepareCall(checked: CheckedCall, batch: Batch): PreparedCall {
  const { call, tool, outcome } = checked;
  const { prepare } = batch.run;
  const isReady = !prepare || !tool || outcome !== 'success' || batch.cancellation.cancelled;
  if (isReady || keptResult(call, batch)) return { run: () => runCall(checked, batch) };
  const context = new CallContext(call, batch, batch.cancellation, emitterOf(checked, batch));
  const args = frozenCopy(checked.arguments);
  let failure: { readonly error: unknown } | undefined;
  const fail = (error: unknown): void => void (failure = { error });
  const invocation = Object.freeze({ call, tool, arguments: args, context });
  const prepared = start(prepare, invocation, fail);
  const ready = prepared && untilCancelled(prepared, batch.cancellation).catch(fail);
  return { ready, run: () => runCall(failure ? { ...checked, failure } : checked, batch) };
}

function start(
  prepare: ToolCallPreparer,
  invocation: ToolInvocation,
  fail: (error: unknown) => void,
): Promise<void> | undefined {
  try {
    return prepare(invocation);
  } catch (error) {
    fail(error);
    return undefined;
  }
}

/** Emits events of advisors before the call begins; a tool does not run yet. */
function emitterOf({ call }: CheckedCall, batch: Batch): ToolEmitter {
  return {
    progress: () => undefined,
    emit: (event) => {
      checkCustomEvent(event, `tool "${call.name}": emit(…)`);
      batch.emit(event);
    },
  };
}
