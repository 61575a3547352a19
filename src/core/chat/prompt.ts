import { checkOption, rule } from '../internal/options.js';
import { checkChatOptions, frozenOptions, mergeOptions, type ChatOptions } from './chat-options.js';
import {
  checkMessage,
  frozenMessage,
  textOf,
  type ContentPart,
  type Message,
  type SystemMessage,
  type UserMessage,
} from './message.js';

const MESSAGES = rule('a string or an array of messages', Array.isArray);

const INSPECT = Symbol.for('nodejs.util.inspect.custom');

/** The input of a model: messages and options, as frozen copies. Immutable. */
export class Prompt {
  readonly options: ChatOptions;
  private readonly log: MessageLog;

  /**
   * @param messages the messages, or the text of one user message
   * @throws {@link InvalidArgumentError} if a message or an option is invalid
   */
  constructor(messages: string | readonly Message[] | MessageLog, options: ChatOptions = {}) {
    if (messages instanceof MessageLog) {
      this.log = messages;
      this.options = options;
    } else {
      this.log = checkedLog(messages);
      checkChatOptions(options, 'new Prompt(…)');
      this.options = frozenOptions(options);
    }
  }

  get messages(): readonly Message[] {
    return this.log.toArray();
  }

  /**
   * Folds all messages to a value, for models: prompts that grow from one another by {@link append}
   * visit each message once. The value is cached by the function, so pass the same one each time.
   */
  fold<T>(fold: MessageFold<T>): T {
    return this.log.fold(fold);
  }

  /**
   * The same prompt with its messages as a view shows them.
   * @internal
   */
  through(view: MessageView): Prompt {
    return new Prompt(this.log.through(view), this.options);
  }

  /** Number of messages. */
  get length(): number {
    return this.log.length;
  }

  /** The first system message. */
  get systemMessage(): SystemMessage | undefined {
    return this.messages.find((message) => message.role === 'system');
  }

  /** The last user message. */
  get userMessage(): UserMessage | undefined {
    return this.messages.findLast((message) => message.role === 'user');
  }

  /** The messages and options alone, for `JSON.stringify`. */
  toJSON(): { readonly messages: readonly Message[]; readonly options: ChatOptions } {
    return { messages: this.messages, options: this.options };
  }

  /** The same for `console.log`. */
  protected [INSPECT](): unknown {
    return this.toJSON();
  }

  /** A copy with more messages at the end, at a cost independent of the length. */
  append(...messages: readonly Message[]): Prompt {
    return new Prompt(this.log.append(messages.map(frozenMessage)), this.options);
  }

  /** A copy with other messages. */
  withMessages(messages: readonly Message[]): Prompt {
    return new Prompt(checkedLog(messages), this.options);
  }

  /** A copy with these options on top of its own. */
  withOptions(options: ChatOptions): Prompt {
    return new Prompt(this.log, frozenOptions(mergeOptions(this.options, options)));
  }

  /** A copy with exactly these options. */
  replaceOptions(options: ChatOptions): Prompt {
    return new Prompt(this.log, frozenOptions(options));
  }

  /** A copy with another text of its first system message, which is added if there is none. */
  augmentSystemMessage(change: (text: string) => string): Prompt {
    const { messages, systemMessage } = this;
    if (!systemMessage)
      return this.withMessages([{ role: 'system', content: change('') }, ...messages]);
    const changed = { ...systemMessage, content: change(textOf(systemMessage)) };
    return this.withMessages(messages.with(messages.indexOf(systemMessage), changed));
  }

  /** A copy with another text of its last user message, which is added if there is none. */
  augmentUserMessage(change: (text: string) => string): Prompt {
    const { messages, userMessage } = this;
    if (!userMessage) return this.append({ role: 'user', content: change('') });
    const changed = { ...userMessage, content: changeText(userMessage.content, change) };
    return this.withMessages(messages.with(messages.lastIndexOf(userMessage), changed));
  }
}

/** Text added before or after keeps the parts in order; a replaced text precedes all media. */
function changeText(
  content: UserMessage['content'],
  change: (text: string) => string,
): UserMessage['content'] {
  if (typeof content === 'string') return change(content);
  const text = textOf(content);
  const changed = change(text);
  const at = changed.indexOf(text);
  if (at < 0) return [...toTextPart(changed), ...content.filter((part) => part.type !== 'text')];
  const [before, after] = [changed.slice(0, at), changed.slice(at + text.length)];
  return [...toTextPart(before), ...content, ...toTextPart(after)];
}

function toTextPart(text: string): readonly ContentPart[] {
  return text === '' ? [] : [{ type: 'text', text }];
}

function checkedLog(messages: string | readonly Message[]): MessageLog {
  if (typeof messages === 'string')
    return MessageLog.of([frozenMessage({ role: 'user', content: messages })]);
  checkOption('new Prompt(…)', 'messages', messages, MESSAGES);
  messages.forEach((message, at) => checkMessage(message, `new Prompt(…): messages[${at}]`));
  return MessageLog.of(messages.map(frozenMessage));
}

/** Computes a value of messages from the value of those before them. */
export type MessageFold<T> = (before: T | undefined, added: readonly Message[]) => T;

/**
 * An immutable list of messages that is cheap to append to: logs that grow from one another share
 * one buffer. Copying or converting the history in each iteration of a loop would be quadratic.
 */
export class MessageLog {
  private array: readonly Message[] | undefined;

  private constructor(
    private readonly buffer: SharedBuffer,
    readonly length = buffer.messages.length,
    private readonly view?: MessageView,
  ) {}

  static of(messages: readonly Message[]): MessageLog {
    return new MessageLog({ messages: messages.slice(), folds: new Map() });
  }

  /** A log with more messages; this one is unchanged. */
  append(messages: readonly Message[]): MessageLog {
    // only the longest log may grow in place, any other would overwrite messages of its sibling
    const isLongest = this.buffer.messages.length === this.length;
    const { buffer } = isLongest && !this.view ? this : MessageLog.of(this.toArray());
    for (const message of messages) buffer.messages.push(message);
    return new MessageLog(buffer);
  }

  toArray(): readonly Message[] {
    return (this.array ??= Object.freeze(this.messagesFrom(0)));
  }

  /** Folds all messages to a value; logs of one buffer visit each message once. */
  fold<T>(fold: MessageFold<T>): T {
    const { folds } = this.view ?? this.buffer;
    const known = folds.get(fold) as Folded<T> | undefined;
    if (known?.length === this.length) return known.value;
    if (known && known.length > this.length) return fold(undefined, this.toArray());
    const added = known ? this.messagesFrom(known.length) : this.toArray();
    const value = fold(known?.value, added);
    folds.set(fold, { length: this.length, value });
    return value;
  }

  /** The log with its messages as a view shows them; what it shows is not kept. */
  through(view: MessageView): MessageLog {
    return new MessageLog(this.buffer, this.length, view);
  }

  private messagesFrom(start: number): Message[] {
    const messages = this.buffer.messages.slice(start, this.length);
    return this.view ? messages.map(this.view.show) : messages;
  }
}

/** The messages of the longest log, and the latest value of each fold. */
interface SharedBuffer {
  readonly messages: Message[];
  readonly folds: Map<unknown, Folded<unknown>>;
}

/** Shows each message of a log, and of logs that grow from it, in another form. Pass the same one each time. */
export class MessageView {
  readonly folds = new Map<unknown, Folded<unknown>>();

  constructor(readonly show: (message: Message) => Message) {}
}

interface Folded<T> {
  /** Number of messages in the value. */
  readonly length: number;
  readonly value: T;
}
