import { randomUUID } from 'node:crypto';
import type { ChatResponse } from '../../core/chat/chat-response.js';
import type { Decision, PendingRequest } from '../../core/chat/paused-turn.js';
import { toJson } from '../../core/internal/json-data.js';
import { DurableTurnError, InvalidArgumentError } from '../../core/errors/errors.js';
import { canonicalJson, type JsonValue } from '../../core/internal/json.js';
import { checkOption, checkOptions, ID, POSITIVE, TEXT } from '../../core/internal/options.js';
import { cancelReason, stopExecutions } from './turn-executions.js';
import { DbosQueue, TurnOrder } from './dbos-queue.js';
import { outsideWorkflows, DBOS, DbosErrors } from './dbos-sdk.js';
import {
  checkTurnsOptions,
  type DbosTurnsOptions,
  type ForkOptions,
  type ResultOptions,
  type StartOptions,
} from './dbos-turns-options.js';
import { checkNotDraining, drain, type Drained, type DrainOptions, requeue } from './drain.js';
import { encodeMessage } from './recorded-step.js';
import { outcomeOf } from './turn-outcome.js';
import { checkSchedule, type TurnSchedule } from './turn-schedule.js';
import { numberOfStep, pendingRequests, stepsOf, type RecordedStep } from './turn-steps.js';
import { findTurn, type DbosTurnStatus } from './turn-status.js';
import { decodeStarted, encodeStarted, runTurn, type Started } from './turn-workflow.js';

const WHERE = 'DbosTurns';
const POLL_INTERVAL = 1000;

/**
 * Turns of a client as workflows of DBOS: a turn whose process ends continues in another one, or
 * when its process starts again. Create it before `DBOS.launch()`; its client needs
 * `new DurableAdvisor({ engine: dbosEngine })`.
 */
export class DbosTurns<Input extends JsonValue = JsonValue> {
  private readonly workflow: (started: string) => Promise<string>;
  private readonly scheduled: (time: Date, context: unknown) => Promise<void>;
  private readonly queue: DbosQueue | undefined;
  private readonly order = new TurnOrder();

  /** @throws {@link InvalidArgumentError} if an option breaks its rule, or DBOS was launched before */
  constructor(options: DbosTurnsOptions<Input>) {
    checkTurnsOptions(options);
    const { name, queue, maxRecoveries: maxRecoveryAttempts } = options;
    if (DBOS.isInitialized())
      throw new InvalidArgumentError(
        `${WHERE}: create the turns '${name}' before DBOS.launch(), which continues those that were under way`,
      );
    const config = { name, ...(maxRecoveryAttempts !== undefined && { maxRecoveryAttempts }) };
    this.workflow = DBOS.registerWorkflow((started: string) => runTurn(options, started), config);
    const atTime = (time: Date, context: unknown): Promise<void> => this.startAt(time, context);
    this.scheduled = DBOS.registerWorkflow(atTime, { name: `${name}.schedule` });
    this.queue = queue && new DbosQueue(name, queue);
  }

  /**
   * Ends DBOS in this process, before the process ends: it takes no more turns, lets running ones end
   * within a time limit, and then puts the others on their queue, from which other processes take
   * them. Two seconds more may pass then.
   * @throws {@link InvalidArgumentError} if the time limit breaks its rule
   */
  static async drain(options?: DrainOptions): Promise<Drained> {
    return drain(options);
  }

  /**
   * Moves the turns of a process that has died for good to others; returns their ids. A process
   * that starts again with the same `executorID` needs no such call.
   */
  static async recover(executorID: string): Promise<readonly string[]> {
    checkOption(`${WHERE}.recover`, 'executorID', executorID, TEXT);
    return requeue({ executorId: executorID });
  }

  /**
   * Starts a turn, or puts it on the queue; resolves to its id once it is stored. Turns of one
   * conversation that this process starts are stored in the order of the calls.
   * @throws {@link DurableTurnError} if a turn with this id and another input or conversation exists, the input is not
   *   JSON, or the process is drained and there is no queue
   */
  async start(input: Input, options: StartOptions = {}): Promise<string> {
    checkOptions(`${WHERE}.start`, options, { turnId: ID, conversationId: ID });
    const { turnId = randomUUID(), conversationId } = options;
    const started = { input: toJson(input, 'the input of the turn') as Input, conversationId };
    await this.order.inOrder(conversationId, () => this.store(turnId, started));
    return turnId;
  }

  /**
   * The answer of a turn, also of one that runs elsewhere. Rejects with the error of the turn, with a
   * {@link CancelledError} if it was cancelled, with a {@link DurableTurnError} if there is no such turn.
   */
  async result(turnId: string, options: ResultOptions = {}): Promise<ChatResponse> {
    checkOptions(`${WHERE}.result`, options, { pollInterval: POSITIVE });
    await findTurn('result', turnId);
    return outcomeOf(turnId, options.pollInterval ?? POLL_INTERVAL);
  }

  /** The state of a turn. @throws {@link DurableTurnError} if there is no such turn */
  async status(turnId: string): Promise<DbosTurnStatus> {
    return (await findTurn('status', turnId)).status;
  }

  /** The requests that wait for a decision. @throws {@link DurableTurnError} if there is no such turn */
  async pending(turnId: string): Promise<readonly PendingRequest[]> {
    const { hasEnded } = await findTurn('pending', turnId);
    return hasEnded ? [] : pendingRequests(turnId);
  }

  /**
   * Decides a request of a turn, also before the turn waits for it. The first decision counts.
   * @throws {@link DurableTurnError} if there is no such turn, or it has ended
   */
  decide(turnId: string, requestId: string, decision: Decision): Promise<void> {
    return this.send(turnId, requestId, toJson(decision, 'the decision'));
  }

  /**
   * Sends a value that a turn waits for by `engine.waitFor(name)`, or will wait for. The first value
   * counts.
   * @throws {@link DurableTurnError} if there is no such turn, or it has ended
   */
  async send(turnId: string, name: string, value: JsonValue): Promise<void> {
    checkOption(`${WHERE}.send`, 'name', name, TEXT);
    const { hasEnded, status } = await findTurn('send', turnId);
    if (hasEnded)
      throw new DurableTurnError(`The turn '${turnId}' is ${status}; it waits for nothing.`);
    const message = encodeMessage({ name, value });
    await outsideWorkflows(() => DBOS.send(turnId, message, name, name));
  }

  /**
   * Cancels a turn in whichever process it runs: its signal is aborted, within a second where it runs
   * elsewhere. A turn that has ended is unchanged.
   * @throws {@link DurableTurnError} if there is no such turn
   */
  async cancel(turnId: string): Promise<void> {
    if ((await findTurn('cancel', turnId)).hasEnded) return;
    await outsideWorkflows(() => DBOS.cancelWorkflow(turnId));
    stopExecutions(turnId, cancelReason(turnId));
  }

  /**
   * Starts a turn that begins with the recorded steps of another one before a step, such as
   * `model 2`, and runs that step and all later ones; resolves to its id.
   * @throws {@link DurableTurnError} if there is no such turn or step
   */
  async fork(turnId: string, stepName: string, options: ForkOptions = {}): Promise<string> {
    checkOptions(`${WHERE}.fork`, options, { turnId: ID });
    const { turnId: newWorkflowID = randomUUID() } = options;
    const { started } = await findTurn<Input>('fork', turnId);
    const params = {
      newWorkflowID,
      applicationVersion: DBOS.applicationVersion,
      ...this.queue?.forkPlaceOf(newWorkflowID, started.conversationId),
    };
    const from = await numberOfStep(turnId, stepName);
    await outsideWorkflows(() => DBOS.forkWorkflow(turnId, from, params));
    return newWorkflowID;
  }

  /** The recorded steps of a turn, to show it or to fork it. @throws {@link DurableTurnError} if there is no such turn */
  async steps(turnId: string): Promise<readonly RecordedStep[]> {
    await findTurn('steps', turnId);
    return stepsOf(turnId);
  }

  /**
   * Starts a turn at the times of a cron expression, once for all processes; a schedule with the name
   * of an earlier one replaces it. After `DBOS.launch()`.
   * @throws {@link InvalidArgumentError} if a field breaks its rule, and an error of DBOS for an invalid expression
   */
  async schedule(schedule: TurnSchedule<Input>): Promise<void> {
    checkSchedule(schedule);
    const { name, cron, timezone, conversationId } = schedule;
    const input = toJson(schedule.input, 'the input of the schedule') as Input;
    await DBOS.applySchedules([
      {
        scheduleName: name,
        workflowFn: this.scheduled,
        schedule: cron,
        context: encodeStarted({ input, conversationId, schedule: name }),
        ...(timezone !== undefined && { cronTimezone: timezone }),
      },
    ]);
  }

  /** Ends a schedule; turns that it has started continue. */
  async unschedule(name: string): Promise<void> {
    checkOption(`${WHERE}.unschedule`, 'name', name, TEXT);
    await DBOS.deleteSchedule(name);
  }

  private async startAt(time: Date, context: unknown): Promise<void> {
    const { input, conversationId, schedule } = decodeStarted<Input>(context);
    const turnId = `${schedule} ${time.toISOString()}`;
    await this.start(input, conversationId === undefined ? { turnId } : { turnId, conversationId });
  }

  private async store(turnId: string, started: Started<Input>): Promise<void> {
    const place = this.queue?.placeOf(turnId, started.conversationId);
    if (!place) checkNotDraining();
    const workflowIDReusePolicy = 'reject';
    try {
      const params = { workflowID: turnId, workflowIDReusePolicy, ...place } as const;
      await outsideWorkflows(() =>
        DBOS.startWorkflow(this.workflow, params)(encodeStarted(started)),
      );
    } catch (error) {
      if (!DbosErrors.isWorkflowIDInUseError(error)) throw error;
      const { started: earlier } = await findTurn<Input>('start', turnId);
      if (canonicalJson(startKey(earlier)) === canonicalJson(startKey(started))) return;
      const text = `A turn with the id '${turnId}' was started with another input, or in another conversation; give each turn an id of its own.`;
      throw new DurableTurnError(text, { cause: error });
    }
  }
}

/** Input and conversation, which a second start with the id of a turn repeats. */
function startKey({ input, conversationId }: Started<JsonValue>): JsonValue {
  return [input, conversationId ?? null];
}
