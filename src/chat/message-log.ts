import type { Message } from './message.js';

/**
 * An immutable list of messages that is cheap to append to: logs that grow from one another share one array.
 *
 * A tool loop makes a new prompt for each iteration; copying the history each time would cost the square of its length.
 */
export class MessageLog {
  private constructor(
    private readonly shared: Message[] | undefined,
    readonly length: number,
    private array: readonly Message[] | undefined,
  ) {}

  static of(messages: readonly Message[]): MessageLog {
    return new MessageLog(undefined, messages.length, messages);
  }

  /** A log with more messages; this one stays as it is. */
  append(messages: readonly Message[]): MessageLog {
    // only the longest log may grow in place, any other would write over its sibling's messages
    const shared = this.shared?.length === this.length ? this.shared : this.toArray().slice();
    for (const message of messages) shared.push(message);
    return new MessageLog(shared, shared.length, undefined);
  }

  toArray(): readonly Message[] {
    return (this.array ??= (this.shared as Message[]).slice(0, this.length));
  }
}
