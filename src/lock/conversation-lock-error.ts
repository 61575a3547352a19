import { AdvisorChainError } from '../errors.js';

/**
 * Why a turn may not go on: another turn of the conversation is running (`busy`), a newer one has
 * taken its place (`interrupted`), or its lock was lost (`lost`).
 */
export type ConversationLockReason = 'busy' | 'interrupted' | 'lost';

const NEXT_STEPS: Readonly<Record<ConversationLockReason, string>> = {
  busy: 'Ask again when its answer is there, or use another onBusy.',
  interrupted: 'The newer turn has the answer.',
  lost: 'Nothing of this turn was stored; ask again. If it happens often, raise lease, or find what blocks the event loop.',
};

/** A turn did not run, or did not go on: a conversation has one turn at a time. See {@link reason}. */
export class ConversationLockError extends AdvisorChainError {
  override name = 'ConversationLockError';
  readonly code = 'conversation_lock';

  /** @param problem what has happened, without the next step */
  constructor(
    problem: string,
    readonly conversationId: string,
    readonly reason: ConversationLockReason,
    options?: ErrorOptions,
  ) {
    super(`${problem}. ${NEXT_STEPS[reason]}`, options);
  }
}
