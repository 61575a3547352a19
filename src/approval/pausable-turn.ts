import type { Next } from '../advisor/advisor.js';
import type { ChatClientRequest } from '../advisor/chat-client-request.js';
import type { ChatClientResponse } from '../advisor/chat-client-response.js';
import { CONVERSATION_ID, randomId } from '../chat/context.js';
import { addPaused, type PausedTurn } from '../chat/paused-turn.js';
import type { RunRecord } from '../chat/run-record.js';
import { RunSlot } from '../chat/run-slot.js';
import { DurableRun } from '../durable/durable-run.js';
import type { DurableEntries } from '../durable/in-memory-engine.js';
import { PausedRun } from './paused-run.js';
import type { SealedStates } from './sealed-states.js';
import type { TurnJournal } from './turn-journal.js';
import type { DecidedRequest, TurnState } from './turn-state.js';
import type { UsedState } from './used-states.js';

const SLOT = new RunSlot<PausableTurn>();

/** A run of a turn that can pause. */
export class PausableTurn {
  private readonly paused: PausedRun;
  private isRunning = false;
  /** The state in which an attempt has left the turn. */
  private rested: TurnState | undefined;

  /**
   * @param decided requests of the turn so far, with the decisions of people
   * @param use the state that the turn goes on with; undefined for a new turn
   */
  constructor(
    private readonly states: SealedStates,
    private readonly request: ChatClientRequest,
    private readonly journal: TurnJournal,
    private readonly decided: readonly DecidedRequest[] = [],
    private use?: UsedState,
  ) {
    this.paused = PausedRun.begin(request.run, new PausedRun(journal, decided));
    DurableRun.begin(request.run, journal);
    SLOT.set(request.run, this);
  }

  /** Undefined if no turn that can pause has begun in the run. */
  static of(run: RunRecord): PausableTurn | undefined {
    return SLOT.get(run);
  }

  /**
   * Runs the turn, also again: then it goes on with the steps of the attempt before.
   * @throws the error of the turn, with the turn as `paused` if it can go on
   */
  async run(request: ChatClientRequest, next: Next): Promise<ChatClientResponse> {
    if (this.isRunning) return next(request); // a second advisor of the chain that pauses turns
    this.isRunning = true;
    try {
      return await this.attempt(request, next);
    } finally {
      this.isRunning = false;
    }
  }

  private async attempt(request: ChatClientRequest, next: Next): Promise<ChatClientResponse> {
    // no other process may go on from the state in which the attempt before has ended
    if (this.rested) this.use = await this.states.use(this.rested, this.decided);
    this.rested = undefined;
    this.paused.restart();
    try {
      return await next(request);
    } catch (error) {
      if (error === this.paused.error) addPaused(error, await this.rest(this.journal.entries()));
      // a resumed turn that fails goes on where it was, with the decisions that it has
      else if (this.use) await this.addRest(error);
      throw error;
    }
  }

  private async addRest(error: unknown): Promise<void> {
    let rest: PausedTurn;
    try {
      rest = await this.rest(this.journal.entriesBeforeFailure());
    } catch {
      return; // the error of the turn must reach its caller; without `paused`, the turn is over
    }
    addPaused(error, rest);
  }

  /** @throws {@link PausedStateError} if the turn is too large */
  private async rest(steps: DurableEntries): Promise<PausedTurn> {
    const { states, request, decided, use } = this;
    const { expiresAt } = states;
    const requests = this.paused.requests.map((pending) => ({
      ...pending,
      expiresAt: Math.min(pending.expiresAt ?? Infinity, expiresAt),
    }));
    const turn: TurnState = {
      id: randomId(),
      turnId: request.turnId,
      conversationId: request.context.get(CONVERSATION_ID) ?? null,
      expiresAt,
      messages: request.prompt.messages,
      steps,
      requests,
      decided,
    };
    this.rested = turn;
    return { state: await states.seal(turn, use), requests };
  }
}
