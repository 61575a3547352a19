import { AsyncResource } from 'node:async_hooks';
import { WAIT_RULES, type DurableEngine, type WaitOptions } from '../durable-engine.js';
import type { JsonValue } from '../../core/internal/json.js';
import { checkOptions } from '../../core/internal/options.js';
import { openJournal, type Journal } from './dbos-journal.js';
import { DBOS } from './dbos-sdk.js';
import { decodeStep, encodeStep, decodeMessage } from './recorded-step.js';
import { sleepUntil, untilAborted } from './until-aborted.js';
import { askedStep, waitStep, type Received, type Wait } from './waits.js';

/** Longest wait that DBOS can store, for one without a limit: 100 years, in seconds. */
const FOREVER = 3_153_600_000;

/**
 * The steps of one execution of a turn, in the workflow of DBOS that it was opened in. It records by
 * name, whatever the order in which steps begin.
 */
export class DbosEngine implements DurableEngine {
  /** Names of recorded steps that this execution has not reached. */
  private readonly ahead: Set<string>;
  /** Number of attempts of steps in this execution, by name. */
  private readonly attempts = new Map<string, number>();
  /** The asynchronous context of the workflow, for steps that begin elsewhere. */
  private readonly workflow = new AsyncResource('advisor-chain.turn');

  private constructor(
    private readonly turnId: string,
    private readonly journal: Journal,
    private readonly signal: AbortSignal,
    private readonly stop: (error: unknown) => void,
    readonly keepsAnswers: boolean,
  ) {
    this.ahead = new Set(journal.values.keys());
  }

  /**
   * Reads what earlier executions recorded; only inside of a workflow, before any other step of it.
   * @param signal ends sleeps and waits
   * @param stop called if DBOS fails, or has given the turn to another process
   */
  static async open(
    turnId: string,
    signal: AbortSignal,
    stop: (error: unknown) => void,
    keepsAnswers = false,
  ): Promise<DbosEngine> {
    return new DbosEngine(turnId, await openJournal(turnId), signal, stop, keepsAnswers);
  }

  get isReplaying(): boolean {
    return this.ahead.size > 0;
  }

  async step<T extends JsonValue>(name: string, run: (attempt?: number) => Promise<T>): Promise<T> {
    this.ahead.delete(name);
    const { values } = this.journal;
    if (values.has(name)) return values.get(name) as T;
    const attempt = (this.attempts.get(name) ?? 0) + 1;
    this.attempts.set(name, attempt);
    values.set(name, await this.record(name, () => run(attempt)));
    return values.get(name) as T;
  }

  async sleep(name: string, milliseconds: number): Promise<void> {
    const end = await this.step(name, () => Promise.resolve(Date.now() + milliseconds));
    await sleepUntil(end, this.signal);
  }

  async waitFor(name: string, options: WaitOptions = {}): Promise<JsonValue | undefined> {
    checkOptions('waitFor', options, WAIT_RULES);
    const { timeout = Infinity, request } = options;
    const limit = timeout === Infinity ? null : Date.now() + timeout;
    const asked: Wait = request === undefined ? { end: limit } : { end: limit, request };
    const wait = await this.step(askedStep(name), () => Promise.resolve(asked));
    const end = waitStep(name);
    // DBOS cannot receive within a step
    const received = this.journal.values.has(end) ? {} : await this.receive(name, wait);
    return (await this.step<Received>(end, () => Promise.resolve(received))).value;
  }

  private async receive(name: string, { end }: Wait): Promise<Received> {
    const earlier = this.journal.messages.get(name);
    if (earlier !== undefined) return { value: earlier };
    const limit = end === null ? { timeoutSeconds: FOREVER } : { deadlineEpochMS: end };
    const text = await this.inWorkflow(() =>
      untilAborted(DBOS.recv<string>(name, limit), this.signal),
    );
    return text === null ? {} : { value: decodeMessage(text).value };
  }

  private async record(name: string, run: () => Promise<JsonValue>): Promise<JsonValue> {
    let rejection: { readonly error: unknown } | undefined;
    const body = async (): Promise<string> => {
      try {
        return encodeStep({ value: await run() });
      } catch (error) {
        rejection = { error };
        return encodeStep({ rejected: String(error) });
      }
    };
    const text = await this.inWorkflow(() => DBOS.runStep(body, { name }));
    if (rejection) throw rejection.error;
    return (decodeStep(name, text) as { readonly value: JsonValue }).value;
  }

  /** Calls DBOS in the context of the workflow; a failure there ends this execution. */
  private async inWorkflow<T>(call: () => Promise<T>): Promise<T> {
    const isHere = DBOS.workflowID === this.turnId && DBOS.isInWorkflow();
    try {
      return await (isHere ? call() : this.workflow.runInAsyncScope(call));
    } catch (error) {
      this.stop(error);
      throw error;
    }
  }
}
