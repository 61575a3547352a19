import { describe } from '../chat/message.js';
import { InvalidArgumentError } from '../errors.js';

/** Decides which sessions of a tool search are forgotten. Asked when a turn begins, never in the background. */
export interface EvictionStrategy {
  /** A session is used; gives the sessions that are to go now, itself included where it is to begin anew. */
  onAccess(session: string): readonly string[];
  /** A session has gone, for whatever reason. */
  onRemoved(session: string): void;
}

/** Keeps the sessions that were used last. */
export class LruEviction implements EvictionStrategy {
  /** The one that was used last is last. */
  private readonly sessions = new Set<string>();

  /**
   * @param maxSessions 1 or more
   * @throws {@link InvalidArgumentError} if it is not
   */
  constructor(private readonly maxSessions = 1_000) {
    if (!Number.isInteger(maxSessions) || maxSessions < 1)
      throw new InvalidArgumentError(`LruEviction: maxSessions must be a whole number of 1 or more, not ${describe(maxSessions)}`);
  }

  onAccess(session: string): readonly string[] {
    this.sessions.delete(session);
    this.sessions.add(session);
    const [oldest] = this.sessions;
    return oldest !== undefined && this.sessions.size > this.maxSessions ? [oldest] : [];
  }

  onRemoved(session: string): void {
    this.sessions.delete(session);
  }
}

/** Forgets sessions that were not used for a while. */
export class TtlEviction implements EvictionStrategy {
  /** When each session was used; the one that was used last is last. */
  private readonly usedAt = new Map<string, number>();

  /**
   * @param milliseconds above 0
   * @param now a clock that does not go back, in milliseconds
   * @throws {@link InvalidArgumentError} if the time is out of range
   */
  constructor(
    private readonly milliseconds: number,
    private readonly now: () => number = () => performance.now(),
  ) {
    if (!(milliseconds > 0))
      throw new InvalidArgumentError(`TtlEviction: milliseconds must be a number above 0, not ${describe(milliseconds)}`);
  }

  onAccess(session: string): readonly string[] {
    const now = this.now();
    this.usedAt.delete(session);
    this.usedAt.set(session, now);
    const idle: string[] = [];
    for (const [other, usedAt] of this.usedAt) {
      if (now - usedAt < this.milliseconds) break;
      idle.push(other);
    }
    return idle;
  }

  onRemoved(session: string): void {
    this.usedAt.delete(session);
  }
}

/** Forgets a session only when it is told to. */
export class NeverEviction implements EvictionStrategy {
  onAccess(): readonly string[] {
    return [];
  }

  onRemoved(): void {}
}

/** Begins anew with every turn: nothing is remembered from one to the next. */
export class AlwaysEviction implements EvictionStrategy {
  onAccess(session: string): readonly string[] {
    return [session];
  }

  onRemoved(): void {}
}

/** Forgets what any of several strategies would forget. */
export class CompositeEviction implements EvictionStrategy {
  private readonly strategies: readonly EvictionStrategy[];

  /** @throws {@link InvalidArgumentError} if there is none */
  constructor(...strategies: readonly EvictionStrategy[]) {
    if (strategies.length === 0) throw new InvalidArgumentError('CompositeEviction: give one strategy or more');
    this.strategies = strategies;
  }

  onAccess(session: string): readonly string[] {
    return [...new Set(this.strategies.flatMap((strategy) => strategy.onAccess(session)))];
  }

  onRemoved(session: string): void {
    for (const strategy of this.strategies) strategy.onRemoved(session);
  }
}
