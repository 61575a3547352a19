import type { Next } from '../../src/core/advisor/advisor.js';
import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import type { ChatClientResponse } from '../../src/core/advisor/chat-client-response.js';
import { CONVERSATION_ID, randomId } from '../../src/core/chat/context.js';
import {
  addPaused,
  type PausedTurn,
  type PendingRequest,
} from '../../src/core/chat/paused-turn.js';
import { ShownTurn } from '../../src/core/chat/shown-turn.js';
import { cancelledError } from '../../src/core/internal/cancellation.js';
import type { DurableEntries } from '../../src/engines/in-memory-engine.js';
import type { Audience } from './audience.js';
import type { KeptTurn } from './kept-states.js';
import { PausingRecorder, type TurnRequests } from './pausing-recorder.js';
import type { SealedStates } from './sealed-states.js';
import { TurnJournal } from './turn-journal.js';
import type { TurnState } from './turn-state.js';
import type { UsedState } from './used-states.js';

/** A run of a turn that can pause. */
export class PausableTurn {
  /** The state in which an attempt has left the turn. */
  private rested: TurnState | undefined;
  private readonly journal: TurnJournal;
  private readonly shown: ShownTurn;
  /** The id of the turn in the store, and of its first state: its use is known by it, too. */
  private readonly keptAs: string;
  /** The last state of the turn that the store may have. */
  private last: KeptTurn | undefined;
  /** The checkpoint that is written, and the next one, of all that was recorded meanwhile. */
  private written: Promise<void> = Promise.resolve();
  private queued: Promise<void> | undefined;

  /** @param use the state with which the turn is resumed; undefined for a new turn */
  constructor(
    private readonly states: SealedStates,
    private readonly audience: Audience,
    private readonly request: ChatClientRequest,
    private readonly requests: TurnRequests,
    private readonly resumed: TurnState | undefined,
    private use: UsedState | undefined,
  ) {
    this.journal = new TurnJournal(resumed?.steps);
    this.shown = new ShownTurn(request.prompt.messages);
    this.keptAs = resumed?.keptAs ?? randomId();
    if (resumed?.keptAs !== undefined) this.last = { ...resumed, keptAs: resumed.keptAs };
    request.run.recorder = new PausingRecorder(this.journal, requests);
  }

  /**
   * Runs the turn, also again: then with the recorded steps of the attempt before.
   * @throws the error of the turn, with the turn as `paused` if it can be resumed
   */
  async attempt(request: ChatClientRequest, next: Next): Promise<ChatClientResponse> {
    const { journal, requests, states } = this;
    // no other process may resume the state in which the attempt before has ended
    if (this.rested) this.use = await states.use(this.rested, requests.decided);
    this.rested = undefined;
    const { use } = this;
    requests.isResumable = use !== undefined;
    requests.checkpoint = use && (() => this.checkpoint(use));
    requests.restart();
    this.shown.restart();
    try {
      const response = await next(request, this.shown.record);
      await use?.end();
      await use?.release();
      // cancelled while that was written: its caller has no answer
      if (use && request.cancellation.cancelled) throw cancelledError();
      const { last } = this;
      // after the answer, which can still be cancelled
      if (last) request.run.trackLast(() => states.remove(last));
      return response;
    } catch (error) {
      if (error === requests.error) addPaused(error, await this.rest(journal.entries()));
      // a resumed turn that fails can be resumed again, with the decisions that it has
      else if (use) await this.addRest(error);
      throw error;
    } finally {
      await use?.release();
    }
  }

  private async addRest(error: unknown): Promise<void> {
    let rest: PausedTurn;
    try {
      const { decided } = this.requests;
      rest = await this.rest(this.journal.entriesBeforeFailure(error, decided));
    } catch {
      return; // the error of the turn must reach its caller; without `paused`, the turn is over
    }
    addPaused(error, rest);
  }

  /** @throws {@link PausedStateError} if the turn is too large */
  private async rest(steps: DurableEntries): Promise<PausedTurn> {
    const { states, use } = this;
    const turn = this.stateOf(steps, this.requests.open);
    this.rested = turn;
    return { ...(await states.seal(turn, this.shown.messages, use)), requests: turn.requests };
  }

  /** One checkpoint has all steps that were recorded while the one before was written. */
  private checkpoint(use: UsedState): Promise<void> {
    this.queued ??= this.written.then(() => {
      this.queued = undefined;
      const { open, beginning } = this.requests;
      const known = new Set(
        [...open, ...this.requests.decided.map(({ request }) => request)].map(({ id }) => id),
      );
      const later = this.resumed?.requests.filter(({ id }) => !known.has(id)) ?? [];
      const steps = [...this.journal.entries(), ...beginning];
      const turn = { ...this.stateOf(steps, [...open, ...later]), isInterrupted: true };
      return this.states.checkpoint(turn, use);
    });
    this.written = this.queued.catch(() => undefined);
    return this.queued;
  }

  private stateOf(steps: DurableEntries, open: readonly PendingRequest[]): TurnState & KeptTurn {
    const { request, states, resumed } = this;
    const { expiresAt } = states;
    const decided = this.requests.decided.map((each) => each.request);
    const requests = open.map((pending) => ({
      ...pending,
      expiresAt: Math.min(pending.expiresAt ?? Infinity, expiresAt),
    }));
    const state = {
      id: this.last ? randomId() : this.keptAs,
      keptAs: this.keptAs,
      pausedAt: Date.now(),
      turnId: request.turnId,
      conversationId: request.context.get(CONVERSATION_ID) ?? null,
      expiresAt,
      messages: request.prompt.messages,
      steps,
      requests,
      decided: this.requests.decided,
      ...this.audience.of(request, steps, [...open, ...decided]),
      isInterrupted: resumed?.isInterrupted,
    };
    this.last = state;
    return state;
  }
}
