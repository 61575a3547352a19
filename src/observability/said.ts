import type { MessageFold } from '../chat/message-log.js';
import type { Message, SystemMessage } from '../chat/message.js';

/** A list whose newest member comes first; what was before it is shared. */
export class NewestFirst<T> implements Iterable<T> {
  constructor(
    private readonly newest: T,
    private readonly before: NewestFirst<T> | undefined,
  ) {}

  *[Symbol.iterator](): Generator<T> {
    yield this.newest;
    for (let each = this.before; each; each = each.before) yield each.newest;
  }
}

/** What was said to a model, and by whom. */
export interface Said {
  /** By the application. */
  readonly instructions: NewestFirst<SystemMessage> | undefined;
  /** By all others. */
  readonly messages: NewestFirst<Exclude<Message, SystemMessage>> | undefined;
}

/** What was said in a prompt. Each message is looked at once: a tool loop asks for every iteration, with an ever longer history. */
export const saidIn: MessageFold<Said> = (before, added) =>
  added.reduce<Said>(
    ({ instructions, messages }, message) =>
      message.role === 'system'
        ? { instructions: new NewestFirst(message, instructions), messages }
        : { instructions, messages: new NewestFirst(message, messages) },
    before ?? { instructions: undefined, messages: undefined },
  );
