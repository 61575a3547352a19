import type { Message } from './message.js';

/** Makes a value of messages, given the value of those before them. */
export type MessageFold<T> = (before: T | undefined, added: readonly Message[]) => T;

/**
 * An immutable list of messages that is cheap to append to: logs that grow from one another share one line of growth.
 *
 * A tool loop makes a new prompt for each iteration; copying its history each time, or writing it anew for the model, would cost
 * the square of its length.
 */
export class MessageLog {
  private constructor(
    private readonly growth: Growth,
    readonly length: number,
    private array: readonly Message[] | undefined,
  ) {}

  static of(messages: readonly Message[]): MessageLog {
    return new MessageLog(new Growth(messages), messages.length, messages);
  }

  /** A log with more messages; this one stays as it is. */
  append(messages: readonly Message[]): MessageLog {
    // only the longest log may grow in place, any other would write over its sibling's messages
    const growth = this.growth.length === this.length ? this.growth : new Growth(this.toArray());
    growth.add(messages);
    return new MessageLog(growth, growth.length, undefined);
  }

  toArray(): readonly Message[] {
    return (this.array ??= this.growth.slice(0, this.length));
  }

  /** A value of all messages; along one line of growth each message is looked at once. */
  fold<T>(fold: MessageFold<T>): T {
    const known = this.growth.folds.get(fold) as Folded<T> | undefined;
    if (known?.length === this.length) return known.value;
    if (known && known.length > this.length) return fold(undefined, this.toArray()); // what came later does not count here
    const added = known ? this.growth.slice(known.length, this.length) : this.toArray();
    const value = fold(known?.value, added);
    this.growth.folds.set(fold, { length: this.length, value });
    return value;
  }
}

interface Folded<T> {
  readonly length: number;
  readonly value: T;
}

class Growth {
  /** The latest value of each fold, and the number of messages that are in it. */
  readonly folds = new Map<unknown, Folded<unknown>>();
  /** A copy: the given array belongs to the caller. Made when there is something to add. */
  private own: Message[] | undefined;

  constructor(private readonly given: readonly Message[]) {}

  get length(): number {
    return (this.own ?? this.given).length;
  }

  add(messages: readonly Message[]): void {
    this.own ??= this.given.slice();
    for (const message of messages) this.own.push(message);
  }

  slice(start: number, end: number): readonly Message[] {
    return (this.own ?? this.given).slice(start, end);
  }
}
