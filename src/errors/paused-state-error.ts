import { AdvisorChainError } from './advisor-chain-error.js';

/**
 * Reason for which a paused turn cannot go on:
 *
 * - `invalid`: the text is no state, or a part of one;
 * - `version`: it is the state of a newer version of this package;
 * - `signature`: it was changed, or signed with a secret that is unknown here;
 * - `expired`: its time, or that of a request, is over;
 * - `used`: the turn goes on already, or has ended;
 * - `conversation`: it belongs to another conversation;
 * - `decision`: a decision does not fit its request;
 * - `tool-changed`: a tool is another one than that which was asked for;
 * - `too-large`: the turn is larger than `maxSize`.
 */
export type PausedStateReason =
  | 'invalid'
  | 'version'
  | 'signature'
  | 'expired'
  | 'used'
  | 'conversation'
  | 'decision'
  | 'tool-changed'
  | 'too-large';

/** A paused turn cannot go on; nothing has run, and a state that was not used before is not used up. */
export class PausedStateError extends AdvisorChainError {
  override name = 'PausedStateError';
  readonly code = 'paused_state';

  constructor(
    message: string,
    readonly reason: PausedStateReason,
    /** The request that does not fit, if it is one. */
    readonly requestId?: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
