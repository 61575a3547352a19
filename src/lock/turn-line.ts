import type { LockedTurn } from './locked-turn.js';

/** A turn, and the function that lets it go on as the first. */
interface Waiting {
  readonly turn: LockedTurn;
  readonly advance: () => void;
}

/** The turns of this process by conversation, in order of arrival: the first has the lock, or asks for it. */
export class TurnLines {
  private readonly lines = new Map<string, Waiting[]>();

  /** Those before a new turn of a conversation that are not at their end. */
  running(conversationId: string): readonly LockedTurn[] {
    const line = this.lines.get(conversationId) ?? [];
    return line.map(({ turn }) => turn).filter(({ isEnding }) => !isEnding);
  }

  /** Adds a turn; resolves when it is the first, undefined if it is now. */
  enter(turn: LockedTurn): Promise<void> | undefined {
    const line = this.lines.get(turn.conversationId);
    if (line) return new Promise((resolve) => line.push({ turn, advance: resolve }));
    this.lines.set(turn.conversationId, [{ turn, advance: () => undefined }]);
    return undefined;
  }

  /** Removes a turn; if it was the first, the next one goes on. */
  leave(turn: LockedTurn): void {
    const line = this.lines.get(turn.conversationId) ?? [];
    const at = line.findIndex((each) => each.turn === turn);
    if (at < 0) return;
    line.splice(at, 1);
    if (line.length === 0) this.lines.delete(turn.conversationId);
    else if (at === 0) line[0]?.advance();
  }
}
