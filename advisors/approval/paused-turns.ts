import { AdvisorOrder, type Advisor, type Next } from '../../src/core/advisor/advisor.js';
import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import type { ChatClientResponse } from '../../src/core/advisor/chat-client-response.js';
import type { ToolResult } from '../../src/core/chat/chat-event.js';
import { CONVERSATION_ID, RunSlot } from '../../src/core/chat/context.js';
import type {
  PendingRequest,
  PendingTurn,
  ResumeDecisions,
} from '../../src/core/chat/paused-turn.js';
import type { RunRecord } from '../../src/core/chat/run-record.js';
import type { RequestSettings } from '../../src/core/client/request-settings.js';
import { InvalidArgumentError } from '../../src/core/errors/errors.js';
import { cancelledError } from '../../src/core/internal/cancellation.js';
import { checkOption, isPlainObject, TEXT } from '../../src/core/internal/options.js';
import { runOf } from '../../src/core/tool-execution/tool-context.js';
import type { ToolCallHandler, ToolInvocation } from '../../src/core/tool/tool.js';
import { checkConversationId } from '../../src/stores/chat-memory/chat-memory-repository.js';
import { recordToolCall } from '../../src/engines/recorder/tool-step.js';
import { Audience } from './audience.js';
import { askedDecisions, decide } from './check-decisions.js';
import { PausableTurn } from './pausable-turn.js';
import { checkPauseOptions, type PauseOptions } from './pause-options.js';
import { PausingRecorder, TurnRequests } from './pausing-recorder.js';
import { SealedStates } from './sealed-states.js';
import type { DecidedRequest, TurnState } from './turn-state.js';

/** The state with which a run resumes a turn. */
interface Resumed {
  readonly state: TurnState;
  /** The open requests that the application knows: of a text, without requests of a later pause. */
  readonly known: readonly PendingRequest[];
  readonly decisions: ResumeDecisions;
}

/** Prepares a turn for the tools of the advisor that pauses it. */
type BeginTurn = (request: ChatClientRequest) => void;

/**
 * Lets turns pause: records their steps, and makes a turn that waits for people an encrypted text, with
 * which it is resumed in any process.
 */
export class PausedTurns implements Advisor {
  readonly order = AdvisorOrder.TURN;
  private readonly states: SealedStates;
  private readonly turns = new RunSlot<PausableTurn>();
  private readonly resumed = new RunSlot<Resumed>();

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(
    private readonly options: PauseOptions,
    readonly name = 'pause',
    private readonly begin: BeginTurn = () => undefined,
    private readonly audience = new Audience(name, name),
  ) {
    checkPauseOptions(options);
    this.states = new SealedStates(options);
  }

  /**
   * The advisor around the turns of a chain. Without options, they can pause only as a part of an
   * outer turn that can, as the turns of an agent.
   */
  static partOf(
    options: PauseOptions | undefined,
    name: string,
    begin: BeginTurn,
    audience?: Audience,
  ): Advisor {
    if (options) return new PausedTurns(options, name, begin, audience);
    const before = (request: ChatClientRequest): void => {
      if (!request.run.recorder.isRecording) beginNested(request);
      begin(request);
    };
    // right of another advisor that pauses turns
    return { name, order: AdvisorOrder.TURN + 1, before };
  }

  /**
   * The turn of a state that is not used, or else the latest state of that turn; `run` is to resume it.
   * @throws {@link PausedStateError}, the error of the store
   */
  async openState(text: string, decisions: ResumeDecisions, run: RunRecord): Promise<TurnState> {
    const opened = await this.states.open(text);
    this.resumed.set(run, { ...opened, decisions });
    return opened.state;
  }

  /**
   * The turns of a conversation, or the turn of an id, and of the owner of a request, that can be
   * resumed.
   * @throws {@link InvalidArgumentError}, the error of the store
   */
  async pendingTurns(
    wanted: string | Pick<PendingTurn, 'id'>,
    {
      toolContext,
      params: context,
      signal = new AbortController().signal,
    }: Pick<RequestSettings, 'toolContext' | 'params' | 'signal'>,
  ): Promise<readonly PendingTurn[]> {
    const { audience, states } = this;
    const request = { toolContext, context, signal };
    if (isPlainObject(wanted)) {
      checkOption('pending(…)', 'id', wanted.id, TEXT);
      const place = audience.placeOf(request, context.get(CONVERSATION_ID));
      return (await states.find(wanted.id, place)).map(toPendingTurn);
    }
    checkConversationId(wanted, 'pending(…)');
    return (await states.pending(audience.placeOf(request, wanted))).map(toPendingTurn);
  }

  /** A turn that a durable engine records does not pause: it waits. */
  async around(request: ChatClientRequest, next: Next): Promise<ChatClientResponse> {
    const { run } = request;
    this.begin(request);
    const begun = this.turns.get(run);
    if (begun) return begun.attempt(request, next);
    beginNested(request);
    const { recorder } = run;
    if (!recorder.isRecording) return (await this.beginTurn(request)).attempt(request, next);
    if (!this.resumed.get(run) || recorder instanceof PausingRecorder) return next(request);
    throw new InvalidArgumentError(
      'resume(…): the turn has a durable engine, by which it pauses and continues; send the decisions to that engine',
    );
  }

  private async beginTurn(request: ChatClientRequest): Promise<PausableTurn> {
    const { states, audience } = this;
    const resumed = this.resumed.get(request.run);
    const { state } = resumed ?? {};
    const decided = resumed && (await this.decide(resumed, request));
    const use = state && decided && (await states.use(state, decided));
    const onUnknown = state?.isInterrupted ? 'ask' : 'refuse';
    const unknownOutcomes = { onUnknown, reconcile: this.options.reconcile } as const;
    const requests = new TurnRequests(decided, unknownOutcomes, state?.decided);
    const turn = new PausableTurn(states, audience, request, requests, state, use);
    return this.turns.set(request.run, turn);
  }

  private async decide(
    { state, known, decisions }: Resumed,
    request: ChatClientRequest,
  ): Promise<readonly DecidedRequest[]> {
    this.audience.check(state, request);
    const asked = await askedDecisions(decisions, known);
    if (request.cancellation.cancelled) throw cancelledError();
    return decide(state, asked, request.tools);
  }
}

function toPendingTurn({
  id,
  keptAs = id,
  turnId,
  pausedAt = 0,
  ...state
}: TurnState): PendingTurn {
  const { requests, shown = [] } = state;
  return { id: keptAs, turnId, at: pausedAt, requests, messages: shown };
}

/** Makes a turn within a turn that can pause a part of it: its steps and requests belong to the outer turn. */
function beginNested({ run, turnId }: ChatClientRequest): void {
  const outer = run.parent?.recorder;
  if (outer instanceof PausingRecorder) run.recorder = outer.nestedTurn(turnId);
}

/**
 * Records a tool call of a turn that can pause. A call with an effect that a cancelled turn has begun is
 * not run again, unless its service knows better; a person is asked about one that ended with its process.
 */
export function recordPausableCall(
  call: ToolInvocation,
  next: ToolCallHandler,
): Promise<ToolResult> {
  const run = runOf(call.context);
  const { recorder } = run ?? {};
  return run && recorder instanceof PausingRecorder
    ? recordToolCall(run, call, next, recorder.unknownOutcomes)
    : next(call);
}
