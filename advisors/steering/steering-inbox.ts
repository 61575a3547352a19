import {
  checkMessage,
  frozenMessage,
  textOf,
  hasMedia,
  type UserMessage,
} from '../../src/core/chat/message.js';
import { InvalidArgumentError } from '../../src/core/errors/errors.js';
import { checkOptions, oneOf } from '../../src/core/internal/options.js';
import { SentMessage, type SteeredTurn } from './steered-turn.js';

/**
 * - `steer`: after the results of the current iteration, before the next model call;
 * - `interrupt`: now; the model call or the tool calls that run are cancelled;
 * - `queue`: after the end of the turn.
 */
export type SteeringMode = 'steer' | 'interrupt' | 'queue';

/** The end of a message that was sent to an inbox. */
export type SteeringOutcome =
  /**
   * A model has answered to it in this iteration of the turn, or the turn has recorded it, and has it when
   * it runs again.
   */
  | { readonly status: 'delivered'; readonly iteration: number }
  /** It was queued, or came after the answer, and waits in the inbox: see {@link SteeringInbox.takeDeferred}. */
  | { readonly status: 'deferred' }
  /** The turn failed, or was cancelled, before a model had answered to it, and has not recorded it. */
  | { readonly status: 'rejected' };

/** Options of {@link SteeringInbox.send}. */
export interface SendOptions {
  /** @default 'steer' */
  readonly mode?: SteeringMode | undefined;
}

const WHERE = 'SteeringInbox.send(…)';
const RULES = { mode: oneOf('steer', 'interrupt', 'queue') };

/** Takes messages for the turn that runs. Belongs to one conversation, whose turns run in sequence. */
export class SteeringInbox {
  private turn: SteeredTurn | undefined;
  private deferred: readonly UserMessage[] = [];

  /**
   * Sends a message to the turn that runs; without one it is deferred at once.
   * @param message a user message, which may have media, or its text
   * @returns the outcome, at the end of the turn at the latest; never rejects
   * @throws {@link InvalidArgumentError} if the message is blank or no user message
   */
  send(message: string | UserMessage, options: SendOptions = {}): Promise<SteeringOutcome> {
    checkOptions(WHERE, options, RULES);
    const sent = new SentMessage(ownMessage(message), options.mode ?? 'steer');
    if (this.turn) this.turn.add(sent);
    else this.defer(sent);
    return sent.outcome;
  }

  /** Takes the deferred messages out of the inbox, for the next turn. */
  takeDeferred(): readonly UserMessage[] {
    const { deferred } = this;
    this.deferred = [];
    return deferred;
  }

  /** The messages that {@link takeDeferred} would take; they stay. */
  get deferredMessages(): readonly UserMessage[] {
    return this.deferred;
  }

  /** Keeps a message for {@link takeDeferred}. */
  defer(sent: SentMessage): void {
    this.deferred = [...this.deferred, sent.message];
    sent.settle({ status: 'deferred' });
  }

  /**
   * Connects a turn; for the advisor, like {@link defer} and {@link close}.
   * @throws {@link InvalidArgumentError} if another turn runs: a message belongs to one of them
   */
  open(turn: SteeredTurn): void {
    if (this.turn && this.turn !== turn)
      throw new InvalidArgumentError(
        'SteeringAdvisor: the inbox belongs to a turn that runs; give each conversation an inbox of its own, and run its turns one after another',
      );
    this.turn = turn;
  }

  /** Disconnects the turn, which has ended. */
  close(turn: SteeredTurn): void {
    if (this.turn === turn) this.turn = undefined;
  }
}

/** @throws {@link InvalidArgumentError} if it is blank or no user message */
function ownMessage(given: string | UserMessage): UserMessage {
  const message = typeof given === 'string' ? ({ role: 'user', content: given } as const) : given;
  checkMessage(message, WHERE);
  if (message.role !== 'user')
    throw new InvalidArgumentError(`${WHERE}: the message must be a user message`);
  if (textOf(message.content).trim() === '' && !hasMedia(message.content))
    throw new InvalidArgumentError(`${WHERE}: the message is blank; send a text or media`);
  return frozenMessage(message) as UserMessage;
}
