import { CHECKED_APART, numberBetween, type OptionRules } from '../core/internal/options.js';
import type { JsonValue } from '../core/internal/json.js';

/**
 * The steps of one turn, recorded so that another process can replay the turn: a step that has
 * finished is not run again. Each turn has an engine of its own, or one that knows the turn it is
 * called in.
 *
 * Names of steps are unique within a turn, and the same in a replay. Engines record by name:
 * steps that run at the same time may begin in another order.
 */
export interface DurableEngine {
  /**
   * The value of the step: the recorded one, or else the value of `run`, which is recorded before
   * it is returned. If `run` rejects, nothing is recorded, and the step fails with the error.
   * @param run receives the number of this attempt of the step, from 1, as far as the engine counts
   * them: one that records ends alone begins again in each execution
   */
  step<T extends JsonValue>(name: string, run: (attempt?: number) => Promise<T>): Promise<T>;
  /** Resolves after a number of milliseconds, counted from the first time that it was called. */
  sleep(name: string, milliseconds: number): Promise<void>;
  /**
   * The value that was sent to the turn under a name, also before it waits; recorded like a step.
   * Undefined if none came within `timeout` milliseconds.
   */
  waitFor(name: string, options?: WaitOptions): Promise<JsonValue | undefined>;
  /** True while the turn is replayed: it has recorded steps left. */
  readonly isReplaying: boolean;
  /**
   * True if recorded answers of models stand although the request has changed since, as for a turn
   * that a newer deployment continues. @default false: the turn fails with a `NonDeterminismError`
   */
  readonly keepsAnswers?: boolean | undefined;
}

/** Options of {@link DurableEngine.waitFor}. */
export interface WaitOptions {
  /** Maximum wait in milliseconds, counted from the first time that it was called. @default Infinity */
  readonly timeout?: number | undefined;
  /** Data of the question, for the sender of the value; recorded with the wait. */
  readonly request?: JsonValue | undefined;
}

/** Rules of {@link WaitOptions}. */
export const WAIT_RULES: OptionRules<WaitOptions> = {
  timeout: numberBetween(0, Infinity),
  request: CHECKED_APART,
};
