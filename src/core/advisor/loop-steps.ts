import type { ChatEvent } from '../chat/chat-event.js';
import type { LoopRecord } from '../chat/loop-record.js';
import type { RunRecord } from '../chat/run-record.js';
import { jsonStep } from '../chat/run-recorder.js';
import { frozenStep, type Step } from '../chat/run-report.js';
import { reportUnhandledError } from '../internal/notify.js';
import type { Subscriber } from '../internal/rxjs.js';
import type { ChatClientRequest } from './chat-client-request.js';
import { STOP_WHEN, type StopCondition } from './stop-condition.js';

/** Hooks of a tool loop; see the options of `ToolCallingAdvisor`. */
export interface StepHooks {
  readonly stopWhen: StopCondition | undefined;
  readonly onStep: ((step: Step, isReplayed: boolean) => unknown) | undefined;
}

type StepEvent = Extract<ChatEvent, { readonly type: 'step' }>;

/** The event of an iteration that has ended; marked if nothing of it has happened in this run. */
export function stepEvent(ended: Step, { isReplayed }: RunRecord): StepEvent {
  return { type: 'step', step: frozenStep(ended), ...(isReplayed && { isReplayed }) };
}

/**
 * Reports an iteration that has ended. Errors of the listener end nothing.
 * @param subscriber undefined for the last answer, which is the `response` of the stream
 */
export function endStep(
  { onStep }: StepHooks,
  ended: Step,
  run: RunRecord,
  subscriber?: Subscriber<ChatEvent>,
): void {
  if (!onStep && !subscriber) return;
  const event = stepEvent(ended, run);
  const { step, isReplayed } = event;
  if (onStep) (async () => onStep(step, isReplayed === true))().catch(reportUnhandledError);
  subscriber?.next(event);
}

/**
 * Asks the conditions if a turn ends with its last step; recorded, so that a replay ends at the same
 * one. False, without waiting, if there are none.
 */
export function isLastStep(
  { stopWhen }: StepHooks,
  { run, context }: ChatClientRequest,
  { steps }: LoopRecord,
): Promise<boolean> | false {
  const conditions = [...(stopWhen ? [stopWhen] : []), ...context.get(STOP_WHEN)];
  if (conditions.length === 0) return false;
  const ask = async (): Promise<boolean> => {
    for (const condition of conditions) if (await condition(steps.slice())) return true;
    return false;
  };
  return run.recorder.step(`stop ${steps.at(-1)?.index}`, ask, jsonStep<boolean>());
}
