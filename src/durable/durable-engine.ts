import type { JsonValue } from '../internal/json.js';

/**
 * The steps of one turn, recorded so that the turn can run again in another process: a step that has
 * finished is not run again. Each turn has an engine of its own, or one that knows the turn it is
 * called in.
 *
 * Names of steps are unique within a turn, and the same when it runs again. Engines record by name:
 * steps that run at the same time may begin in another order.
 */
export interface DurableEngine {
  /**
   * The value of the step: the recorded one, or else that of `run`, which is recorded before it is
   * returned. If `run` rejects, nothing is recorded, and the error is that of the step.
   */
  step<T extends JsonValue>(name: string, run: () => Promise<T>): Promise<T>;
  /** Resolves after a number of milliseconds, counted from the first time that it was called. */
  sleep(name: string, milliseconds: number): Promise<void>;
  /**
   * The value that was sent to the turn under a name, also before it waits; recorded like a step.
   * Undefined if none came within `timeout` milliseconds.
   */
  waitFor(name: string, options?: WaitOptions): Promise<JsonValue | undefined>;
  /** True while the turn runs again and has recorded steps left. */
  readonly isReplaying: boolean;
  /**
   * True if recorded answers of models stand although the request has changed since, as for a turn
   * that goes on with a newer deployment. @default false: the turn fails with a `NonDeterminismError`
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
