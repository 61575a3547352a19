import { PausedStateError } from '../errors/paused-state-error.js';
import { secretsOf, type PauseOptions } from './pause-options.js';
import { StateSignature } from './state-signature.js';
import { decodeState, encodeState, type DecidedRequest, type TurnState } from './turn-state.js';
import { UsedStates, type UsedState } from './used-states.js';

const WEEK = 7 * 24 * 3_600_000;

/** States as signed texts, of which each is used once. */
export class SealedStates {
  private readonly signature: StateSignature;
  private readonly used: UsedStates;
  private readonly maxSize: number;
  private readonly ttl: number;

  constructor(options: PauseOptions) {
    const { store, ttl = WEEK, maxSize = 1_000_000 } = options;
    this.signature = new StateSignature(secretsOf(options));
    this.used = new UsedStates(store);
    this.maxSize = maxSize;
    this.ttl = ttl;
  }

  /** The end of the lifetime of a state that is made now. */
  get expiresAt(): number {
    return Date.now() + this.ttl;
  }

  /**
   * @param use the state of which this is the next one; a text that is too large is kept in it, too,
   * so that the turn can go on with a greater `maxSize`
   * @throws {@link PausedStateError} `too-large`, {@link InvalidArgumentError} for a message that is not JSON
   */
  async seal(state: TurnState, use?: UsedState): Promise<string> {
    const text = await this.signature.sign(encodeState(state));
    await use?.replace(text);
    this.checkSize(text, 'The turn cannot pause: its state');
    return text;
  }

  /**
   * The turn of a state that is not used; of a used one, that in which the turn rests now.
   * @throws {@link PausedStateError}, the error of the store
   */
  async open(text: string): Promise<TurnState> {
    this.checkSize(text, 'The state');
    const state = decodeState(await this.signature.verify(text));
    if (state.expiresAt <= Date.now()) {
      const end = new Date(state.expiresAt).toISOString();
      throw new PausedStateError(`The state expired at ${end}; start the turn again.`, 'expired');
    }
    const next = await this.used.nextOf(state.id);
    return next === undefined ? state : this.open(next);
  }

  /**
   * Uses a state.
   * @throws {@link PausedStateError} `used` if another process was faster, the error of the store
   */
  async use({ id, expiresAt }: TurnState, decided: readonly DecidedRequest[]): Promise<UsedState> {
    const people = decided.flatMap(({ decision: { by } }) => by ?? []);
    const use = await this.used.claim(id, expiresAt, [...new Set(people)]);
    if (use) return use;
    throw new PausedStateError('Another process has just used the state.', 'used');
  }

  private checkSize(text: string, what: string): void {
    if (text.length <= this.maxSize) return;
    throw new PausedStateError(
      `${what} has ${text.length} characters, more than maxSize (${this.maxSize}); raise it, or keep large results out of the conversation.`,
      'too-large',
    );
  }
}
