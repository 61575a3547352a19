import { InvalidArgumentError } from '../../src/core/errors/errors.js';
import { checkOption, integer, POSITIVE } from '../../src/core/internal/options.js';

/** Selects the sessions that a tool search removes. Called when a turn starts, not in the background. */
export interface EvictionStrategy {
  /** Records the use of a session and returns the sessions to remove now; it may be among them. */
  onAccess(session: string): readonly string[];
  /** Records that a session was removed, for any reason. */
  onRemoved(session: string): void;
}

/** Keeps the most recently used sessions. */
export class LruEviction implements EvictionStrategy {
  /** In the order of their last use. */
  private readonly sessions = new Set<string>();

  /**
   * @param maxSessions an integer >= 1
   * @throws {@link InvalidArgumentError} if it is not
   */
  constructor(private readonly maxSessions = 1_000) {
    checkOption('LruEviction', 'maxSessions', maxSessions, integer(1));
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

/** Removes sessions that were idle for too long. */
export class TtlEviction implements EvictionStrategy {
  /** Time of the last use by session, in that order. */
  private readonly usedAt = new Map<string, number>();

  /**
   * @param milliseconds idle time, > 0
   * @param now a monotonic clock, in milliseconds
   * @throws {@link InvalidArgumentError} if the time is out of range
   */
  constructor(
    private readonly milliseconds: number,
    private readonly now: () => number = () => performance.now(),
  ) {
    checkOption('TtlEviction', 'milliseconds', milliseconds, POSITIVE);
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

/** Keeps every session until it is evicted explicitly. */
export class NeverEviction implements EvictionStrategy {
  onAccess(_session?: string): readonly string[] {
    return [];
  }

  onRemoved(_session?: string): void {}
}

/** Removes every session at the start of its next turn: nothing is kept between turns. */
export class AlwaysEviction implements EvictionStrategy {
  onAccess(session: string): readonly string[] {
    return [session];
  }

  onRemoved(_session?: string): void {}
}

/** Removes the sessions that any of several strategies selects. */
export class CompositeEviction implements EvictionStrategy {
  private readonly strategies: readonly EvictionStrategy[];

  /** @throws {@link InvalidArgumentError} without a strategy */
  constructor(...strategies: readonly EvictionStrategy[]) {
    if (strategies.length === 0)
      throw new InvalidArgumentError('CompositeEviction: give at least one strategy');
    this.strategies = strategies;
  }

  onAccess(session: string): readonly string[] {
    return [...new Set(this.strategies.flatMap((strategy) => strategy.onAccess(session)))];
  }

  onRemoved(session: string): void {
    for (const strategy of this.strategies) strategy.onRemoved(session);
  }
}
