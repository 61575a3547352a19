import type { LockedTurn } from './locked-turn.js';

/** A turn, and the function that starts it as the first of its queue. */
interface Waiting {
  readonly turn: LockedTurn;
  readonly start: () => void;
}

/** The turns of this process by conversation, in order of arrival: the first has the lock, or asks for it. */
export class TurnQueue {
  private readonly queues = new Map<string, Waiting[]>();

  /** Turns before a new one of a conversation that are not ending. */
  running(conversationId: string): readonly LockedTurn[] {
    const queue = this.queues.get(conversationId) ?? [];
    return queue.map(({ turn }) => turn).filter(({ isEnding }) => !isEnding);
  }

  /** Adds a turn; resolves when it is the first, undefined if it is now. */
  add(turn: LockedTurn): Promise<void> | undefined {
    const queue = this.queues.get(turn.conversationId);
    if (queue) return new Promise((resolve) => queue.push({ turn, start: resolve }));
    this.queues.set(turn.conversationId, [{ turn, start: () => undefined }]);
    return undefined;
  }

  /** Removes a turn; after the first, the next one starts. */
  remove(turn: LockedTurn): void {
    const queue = this.queues.get(turn.conversationId) ?? [];
    const at = queue.findIndex((each) => each.turn === turn);
    if (at < 0) return;
    queue.splice(at, 1);
    if (queue.length === 0) this.queues.delete(turn.conversationId);
    else if (at === 0) queue[0]?.start();
  }
}
