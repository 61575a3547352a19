import { AdvisorOrder, type Advisor, type Next } from '../advisor/advisor.js';
import type { ChatClientRequest } from '../advisor/chat-client-request.js';
import type { ChatClientResponse } from '../advisor/chat-client-response.js';
import type { ToolResult } from '../chat/chat-event.js';
import { RunRecord } from '../chat/run-record.js';
import { DurableRun } from '../durable/durable-run.js';
import { recordToolCall } from '../durable/tool-step.js';
import { InvalidArgumentError } from '../errors.js';
import { CallContext } from '../tool-execution/tool-context.js';
import type { ToolCallHandler, ToolInvocation } from '../tool/tool.js';
import { decide } from './check-decisions.js';
import { checkPauseOptions, type PauseOptions } from './pause-options.js';
import { PausableTurn } from './pausable-turn.js';
import { PausedRun } from './paused-run.js';
import { ResumedTurn } from './resumed-turn.js';
import { SealedStates } from './sealed-states.js';
import { TurnJournal } from './turn-journal.js';
import type { TurnState } from './turn-state.js';

/**
 * Lets turns pause: records their steps, and makes a turn that waits for people a signed text, with
 * which it goes on in any process.
 */
export class PausedTurns implements Advisor {
  readonly order = AdvisorOrder.TURN;
  private readonly states: SealedStates;

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(
    options: PauseOptions,
    readonly name = 'pause',
  ) {
    checkPauseOptions(options);
    this.states = new SealedStates(options);
  }

  /**
   * The advisors of a chain whose turns can pause: this one, and one next to the tools. Without
   * options, a turn can pause only as a part of an outer turn that can, as that of an agent.
   * @param owner name of the advisor that has them as parts
   */
  static partsOf(options: PauseOptions | undefined, owner: string): readonly Advisor[] {
    const name = `${owner}-pause`;
    const order = AdvisorOrder.DURABLE;
    const turn = options
      ? new PausedTurns(options, name)
      : { name, order: AdvisorOrder.TURN, before: beginNested };
    return [turn, { name: `${name}-tools`, order, adviseToolCall: recordCall }];
  }

  /**
   * The turn of a state that is not used; of a used one, that in which the turn rests now.
   * @throws {@link PausedStateError}, the error of the store
   */
  openState(text: string): Promise<TurnState> {
    return this.states.open(text);
  }

  /** A turn that a durable engine records does not pause: it waits. */
  around(request: ChatClientRequest, next: Next): Promise<ChatClientResponse> {
    const { run, turnId } = request;
    const begun = PausableTurn.of(run);
    if (begun) return begun.run(request, next);
    if (PausedRun.of(run) || PausedRun.beginNested(run, turnId)) return next(request);
    const resumed = ResumedTurn.of(run);
    if (!DurableRun.of(run)) return this.runTurn(request, next, resumed);
    if (!resumed) return next(request);
    throw new InvalidArgumentError(
      'resume(…): the turn has a durable engine, by which it pauses and goes on; send the decisions to that engine',
    );
  }

  private async runTurn(
    request: ChatClientRequest,
    next: Next,
    resumed: ResumedTurn | undefined,
  ): Promise<ChatClientResponse> {
    const { states } = this;
    if (!resumed) return new PausableTurn(states, request, new TurnJournal()).run(request, next);
    const { state, decisions } = resumed;
    const decided = await decide(state, decisions, request.tools);
    const use = await states.use(state, decided);
    const journal = new TurnJournal(state.steps);
    return new PausableTurn(states, request, journal, decided, use).run(request, next);
  }
}

function beginNested({ run, turnId }: ChatClientRequest): void {
  if (run.parent && !PausedRun.of(run) && !DurableRun.of(run)) PausedRun.beginNested(run, turnId);
}

/** By default a call with an effect that a cancelled turn has begun is not run again. */
async function recordCall(call: ToolInvocation, next: ToolCallHandler): Promise<ToolResult> {
  const run = RunRecord.owning(CallContext.cancellationOf(call.context));
  return run && PausedRun.of(run)
    ? recordToolCall(run, call, next, () => Promise.resolve('refuse'))
    : next(call);
}
