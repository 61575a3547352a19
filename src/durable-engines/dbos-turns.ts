import { randomUUID } from 'node:crypto';
import type { ChatResponse } from '../chat/chat-response.js';
import { CONVERSATION_ID } from '../chat/context.js';
import type { PromptSpec } from '../client/chat-client.js';
import { InvalidArgumentError } from '../errors.js';
import { parseJson, type JsonValue } from '../internal/json.js';
import { checkOption, checkOptions, TEXT } from '../internal/options.js';
import { watchForCancel } from './cancelled-turns.js';
import { DbosEngine } from './dbos-engine.js';
import { DbosQueue } from './dbos-queue.js';
import { DBOS } from './dbos-sdk.js';
import { checkTurnsOptions, type DbosTurn, type DbosTurnsOptions } from './dbos-turns-options.js';
import { checkNotDraining, drain, type Drained, type DrainOptions } from './drain.js';
import { requeue } from './requeue.js';
import { TurnExecution } from './turn-execution.js';
import { encodeMessage } from './turn-message.js';
import { TurnOrder } from './turn-order.js';
import { decodeAnswer, encodeAnswer, storedError, TurnFailure } from './turn-outcome.js';

/** Options of {@link DbosTurns.start}. */
export interface StartOptions {
  /** Identifier of the turn. A second start with it does not start a second turn. @default random */
  readonly turnId?: string | undefined;
  /** Conversation of the turn. */
  readonly conversationId?: string | undefined;
}

/** Argument of the workflow of a turn. */
interface Started<Input> {
  readonly input: Input;
  readonly conversationId?: string;
}

const WHERE = 'DbosTurns';

/**
 * Turns of a client as workflows of DBOS: a turn whose process dies goes on in another one, or when
 * its process starts again. Create it before `DBOS.launch()`; its client needs
 * `new DurableAdvisor({ engine: dbosEngine })`.
 */
export class DbosTurns<Input extends JsonValue = JsonValue> {
  private readonly workflow: (started: string) => Promise<string>;
  private readonly queue: DbosQueue | undefined;
  private readonly order = new TurnOrder();

  /** @throws {@link InvalidArgumentError} if an option breaks its rule, or DBOS was launched before */
  constructor(private readonly options: DbosTurnsOptions<Input>) {
    checkTurnsOptions(options);
    const { name, queue, maxRecoveries } = options;
    if (DBOS.isInitialized())
      throw new InvalidArgumentError(
        `${WHERE}: create the turns '${name}' before DBOS.launch(), which continues those that were under way`,
      );
    this.workflow = DBOS.registerWorkflow((started: string) => this.execute(started), {
      name,
      ...(maxRecoveries !== undefined && { maxRecoveryAttempts: maxRecoveries }),
    });
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
   * Lets the turns of a process that has died for good go on in others; returns their ids. A process
   * that starts again with the same `executorID` needs no such call.
   */
  static async recover(executorID: string): Promise<readonly string[]> {
    checkOption(`${WHERE}.recover`, 'executorID', executorID, TEXT);
    return requeue({ executorId: executorID });
  }

  /**
   * Starts a turn, or puts it on the queue; resolves to its id once it is stored.
   * @throws {@link InvalidArgumentError} if an option breaks its rule
   * @throws {@link DurableTurnError} if the process is drained and there is no queue
   */
  async start(input: Input, options: StartOptions = {}): Promise<string> {
    checkOptions(`${WHERE}.start`, options, { turnId: TEXT, conversationId: TEXT });
    const { turnId = randomUUID(), conversationId } = options;
    const started = JSON.stringify({ input, conversationId });
    const place = this.queue?.placeOf(turnId, conversationId);
    if (!place) checkNotDraining();
    await this.order.inOrder(conversationId, () =>
      DBOS.startWorkflow(this.workflow, { workflowID: turnId, ...place })(started),
    );
    return turnId;
  }

  /** The answer of a turn, also of one that runs elsewhere; rejects with the error of the turn. */
  async result(turnId: string): Promise<ChatResponse> {
    checkOption(`${WHERE}.result`, 'turnId', turnId, TEXT);
    try {
      return decodeAnswer(await DBOS.retrieveWorkflow<string>(turnId).getResult());
    } catch (error) {
      throw storedError(error) ?? error;
    }
  }

  /**
   * Sends what a turn waits for, or will wait for, under a name; the first value that was sent
   * under a name counts.
   */
  async decide(turnId: string, requestId: string, decision: JsonValue): Promise<void> {
    const message = encodeMessage({ name: requestId, value: decision });
    await DBOS.send(turnId, message, requestId, requestId);
  }

  private async execute(started: string): Promise<string> {
    const turnId = DBOS.workflowID as string;
    const execution = new TurnExecution(turnId);
    const release = watchForCancel(execution);
    try {
      const engine = await DbosEngine.open(turnId, execution.signal, execution.stop);
      return encodeAnswer(
        await execution.run(engine, () => this.answer(started, execution, engine)),
      );
    } catch (error) {
      throw execution.signal.aborted ? execution.signal.reason : new TurnFailure(error);
    } finally {
      release();
    }
  }

  private async answer(
    started: string,
    { turnId, signal }: TurnExecution,
    engine: DbosEngine,
  ): Promise<ChatResponse> {
    const { input, conversationId } = parseJson(started) as unknown as Started<Input>;
    const turn: DbosTurn = { turnId, conversationId, signal, engine };
    const spec = (await this.options.run(input, turn)).turnId(turnId).signal(signal);
    return this.ask(
      conversationId === undefined
        ? spec
        : spec.advisors((advisors) => advisors.param(CONVERSATION_ID, conversationId)),
      turn,
    );
  }

  private async ask(spec: PromptSpec, turn: DbosTurn): Promise<ChatResponse> {
    const { onEvent } = this.options;
    if (!onEvent) return spec.call().chatResponse();
    const result = spec.stream();
    for await (const event of result.events()) onEvent(event, turn);
    return (await result.finalResponse()).chatResponse;
  }
}
