import type { Message } from '../../src/core/chat/message.js';
import type { PausedTurn, PendingRequest } from '../../src/core/chat/paused-turn.js';
import { hasCode } from '../../src/core/errors/advisor-chain-error.js';
import { PausedStateError } from '../../src/core/errors/errors.js';
import { notify } from '../../src/core/internal/notify.js';
import { secretList } from '../../src/core/internal/secrets.js';
import { KeptStates, type KeptPlace, type KeptTurn } from './kept-states.js';
import type { PauseOptions } from './pause-options.js';
import { StateSeal } from './state-seal.js';
import { decodeState, encodeState, type DecidedRequest, type TurnState } from './turn-state.js';
import { UsedStates, type UsedState } from './used-states.js';

const WEEK = 7 * 24 * 3_600_000;
/** The form of the id of a kept turn; no state has it. */
const KEPT_ID = /^[0-9a-f]{32}$/;

/** A client, an owner and a conversation, or any conversation. */
type SearchedPlace = Pick<KeptPlace, 'client' | 'owner'> & {
  readonly conversationId: string | null | undefined;
};

/** A turn that can be resumed. */
interface OpenedState {
  readonly state: TurnState;
  /** Its open requests that the opened text has, too: all of them, if it was opened by its id. */
  readonly known: readonly PendingRequest[];
}

/** States as encrypted texts, of which each is used once; a store keeps the latest one of each turn. */
export class SealedStates {
  private readonly sealer: StateSeal;
  private readonly used: UsedStates;
  private readonly kept: KeptStates;
  private readonly maxSize: number;
  private readonly ttl: number;

  constructor(private readonly options: PauseOptions) {
    const { store, ttl = WEEK, maxSize = 1_000_000, lease = 30_000 } = options;
    this.sealer = new StateSeal(secretList(options.secrets));
    this.used = new UsedStates(store, lease);
    this.kept = new KeptStates(store);
    this.maxSize = maxSize;
    this.ttl = ttl;
  }

  /** The end of the lifetime of a state that is made now. */
  get expiresAt(): number {
    return Date.now() + this.ttl;
  }

  /**
   * Seals a state, and keeps it in the store. Without the store the turn has no id, and the state of
   * which it is the next one cannot be repeated.
   * @param shown the messages of the turn that its events have shown
   * @param use the state of which this is the next one; a text that is too large is kept in it, too,
   * so that the turn can continue with a greater `maxSize`
   * @throws {@link PausedStateError} `too-large`, {@link InvalidArgumentError} for a message that is not JSON
   */
  async seal(
    state: TurnState & KeptTurn,
    shown: readonly Message[],
    use?: UsedState,
  ): Promise<Pick<PausedTurn, 'id' | 'state'>> {
    const text = await this.sealer.seal(encodeState(state));
    const isOurs = use ? await this.orReport(use.replace(text)) : true;
    // the turn can be resumed from now on: a state that is kept after that leads to its next one
    await use?.release();
    this.checkSize(text, 'The turn cannot pause: its state');
    const isKept = isOurs && (await this.orReport(this.keep(state, shown)));
    return isKept ? { id: state.keptAs, state: text } : { state: text };
  }

  private async keep(state: TurnState & KeptTurn, shown: readonly Message[]): Promise<boolean> {
    await this.kept.keep(state, await this.sealer.seal(encodeState({ ...state, shown })));
    return true;
  }

  private orReport(write: Promise<boolean>): Promise<boolean> {
    return write.catch((error: unknown) => {
      notify(() => this.options.onStoreError?.(error));
      return false;
    });
  }

  /** Keeps a state from which the turn continues if this process ends; see {@link UsedState.checkpoint}. */
  async checkpoint(state: TurnState, use: UsedState): Promise<void> {
    await use.checkpoint(await this.sealer.seal(encodeState(state)));
  }

  /** Removes a turn that has ended from the store; its use stays recorded. */
  async remove(turn: KeptTurn): Promise<void> {
    await this.orReport(this.kept.remove(turn).then(() => true));
  }

  /**
   * The turn of a state that is not used; of a used one, or of an id, that in which the turn rests now.
   * @throws {@link PausedStateError}, the error of the store
   */
  async open(idOrState: string): Promise<OpenedState> {
    if (KEPT_ID.test(idOrState)) {
      const state = await this.openKept(idOrState);
      return { state, known: state.requests };
    }
    this.checkSize(idOrState, 'The state');
    const { requests, ...first } = await this.decode(idOrState);
    const state = await this.latestOf({ ...first, requests });
    const ids = new Set(requests.map(({ id }) => id));
    return { state, known: state.requests.filter(({ id }) => ids.has(id)) };
  }

  /** The turns of a place that can be resumed now, the latest pause last. */
  async pending(place: KeptPlace): Promise<readonly TurnState[]> {
    const found = (await this.kept.idsOf(place)).map((id) => this.find(id, place));
    return (await Promise.all(found)).flat();
  }

  /** The turn of an id, if it is of a place and can be resumed now. */
  async find(
    id: string,
    { client, owner, conversationId }: SearchedPlace,
  ): Promise<readonly TurnState[]> {
    if (!KEPT_ID.test(id)) return [];
    const state = await this.openKept(id).catch((error: unknown) => {
      // it runs, has ended, or was made with a secret that is not known here
      if (hasCode(error, 'paused_state')) return undefined;
      throw error;
    });
    const isFound =
      state?.client === client &&
      state?.owner === owner &&
      (conversationId === undefined || state?.conversationId === conversationId);
    return state && isFound ? [state] : [];
  }

  private async openKept(id: string): Promise<TurnState> {
    const text = (await this.kept.textOf(id)) ?? (await this.used.nextOf(id));
    if (text === undefined)
      throw new PausedStateError(
        'The store has no paused turn of this id: it never had one, or its time is long over; check the store and the id, or start the turn again.',
        'unknown',
      );
    const state = await this.decode(text);
    if (state.keptAs !== id)
      throw new PausedStateError('The store has the state of another turn for this id.', 'signature'); // prettier-ignore
    return this.latestOf(state);
  }

  private async decode(text: string): Promise<TurnState> {
    return decodeState(await this.sealer.open(text));
  }

  private async latestOf(state: TurnState): Promise<TurnState> {
    if (state.expiresAt <= Date.now()) {
      const end = new Date(state.expiresAt).toISOString();
      throw new PausedStateError(`The state expired at ${end}; start the turn again.`, 'expired');
    }
    const next = await this.used.nextOf(state.id);
    if (next === undefined) return state;
    const { state: latest } = await this.open(next);
    return { ...latest, shown: latest.shown ?? state.shown };
  }

  /**
   * Uses a state.
   * @throws {@link PausedStateError} `running` or `used` if another process was faster, the error of the store
   */
  async use({ id, expiresAt }: TurnState, decided: readonly DecidedRequest[]): Promise<UsedState> {
    const people = decided.flatMap(({ decision: { by } }) => by ?? []);
    const use = await this.used.claim(id, expiresAt, [...new Set(people)]);
    if (use) return use;
    await this.used.nextOf(id);
    throw new PausedStateError(
      'Another process has just resumed the turn; repeat the same resume.',
      'running',
    );
  }

  private checkSize(text: string, what: string): void {
    if (text.length <= this.maxSize) return;
    throw new PausedStateError(
      `${what} has ${text.length} characters, more than maxSize (${this.maxSize}); raise it, or keep large results out of the conversation.`,
      'too-large',
    );
  }
}
