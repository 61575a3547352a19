import { isDelta, type ChatEvent } from '../../core/chat/chat-event.js';
import { TurnContent } from './turn-content.js';

/**
 * A durable turn that continues a log, which its dead process has left. What the turn repeats is not
 * logged again. Where the log has more than the turn, or something else, as of a model call that was
 * cut, a `retract` event voids it.
 */
export class ContinuedTurn {
  private readonly logged = new TurnContent();
  private readonly turn = new TurnContent();
  private isReplaying = true;

  constructor(logged: readonly ChatEvent[]) {
    for (const event of logged) this.logged.add(event);
  }

  /** True while events are held back, which {@link catchUp} returns. */
  get isHolding(): boolean {
    return this.isReplaying;
  }

  /** The events to log after an event of the turn. */
  next(event: ChatEvent): readonly ChatEvent[] {
    if (!this.isReplaying) return this.isLogged(event) ? [] : [event];
    this.turn.add(event);
    // an advisor left of the recorder does not know that the turn is replayed
    if (event.type === 'custom' || isRepeated(event)) return [];
    this.isReplaying = false;
    return this.catchUp();
  }

  /**
   * The events that the log does not have: at the end of the replay, and when the replay waits, as for
   * a person. Then the turn may still repeat what the log has more of.
   */
  catchUp(): readonly ChatEvent[] {
    const { logged, turn, isReplaying } = this;
    const missing = turn.indexes().flatMap((index) => this.missingOf(index));
    const after = (turn.indexes().at(-1) ?? -1) + 1;
    if (isReplaying || !logged.indexes().some((index) => index >= after)) return missing;
    logged.retract(after);
    return [{ type: 'retract', iteration: after }, ...missing];
  }

  private missingOf(index: number): readonly ChatEvent[] {
    const { logged, turn, isReplaying } = this;
    const content = turn.of(index);
    const known = logged.of(index);
    if (!content) return [];
    const isKnown = known?.isBeginOf(content) === true;
    const mayGrow = isReplaying && index === turn.current;
    if (known && !isKnown && mayGrow && content.isBeginOf(known)) return [];
    const events = known && isKnown ? content.restAfter(known) : [...content.events];
    const isVoid = known !== undefined && !isKnown && index >= 0;
    const voiding = isVoid ? [{ type: 'retract', iteration: index } as const] : [];
    logged.current = index;
    for (const event of [...voiding, ...events]) logged.add(event);
    return [...voiding, ...events];
  }

  /** True for what the turn repeats of its batch of calls, such as the recorded result of one. */
  private isLogged(event: ChatEvent): boolean {
    // a call that was cut starts again
    const isBegin = event.type === 'tool-call' || event.type === 'tool-start';
    const mayRepeat =
      isBegin || (isRepeated(event) && (event.type === 'custom' || 'call' in event));
    const known = this.logged.of(this.logged.current);
    const isKnown = mayRepeat && (known?.countOf(event) ?? 0) > 0;
    if (!isKnown && !isDelta(event)) this.logged.add(event);
    return isKnown;
  }
}

function isRepeated(event: ChatEvent): boolean {
  return event.type !== 'response' && event.isReplayed === true;
}
