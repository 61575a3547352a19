import { InvalidArgumentError } from '../errors.js';
import { checkOptions, mergeOptions, type ChatOptions } from './chat-options.js';
import { MessageLog, type MessageFold } from './message-log.js';
import { checkMessage, describe, textOf, type ContentPart, type Message, type SystemMessage, type UserMessage } from './message.js';

/** What a model is asked: messages and options. Immutable. */
export class Prompt {
  readonly options: ChatOptions;
  private readonly log: MessageLog;

  /**
   * @param messages the messages, or the text of one user message
   * @throws {@link InvalidArgumentError} if a message or an option is malformed
   */
  constructor(messages: string | readonly Message[] | MessageLog, options: ChatOptions = {}) {
    this.log = messages instanceof MessageLog ? messages : checkedLog(messages);
    this.options = messages instanceof MessageLog ? options : checkedOptions(options);
  }

  get messages(): readonly Message[] {
    return this.log.toArray();
  }

  /**
   * A value of all messages, for models: prompts that grow from one another by {@link append} look at each message once. The
   * function is the key of the value, so it must be the same one each time.
   */
  fold<T>(fold: MessageFold<T>): T {
    return this.log.fold(fold);
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

  /** A copy with more messages at the end; costs nothing that grows with the history. */
  append(...messages: readonly Message[]): Prompt {
    return new Prompt(this.log.append(messages), this.options);
  }

  /** A copy with other messages. */
  withMessages(messages: readonly Message[]): Prompt {
    return new Prompt(checkedLog(messages), this.options);
  }

  /** A copy whose options are these on top of the present ones. */
  withOptions(options: ChatOptions): Prompt {
    return new Prompt(this.log, mergeOptions(this.options, options));
  }

  /** A copy with exactly these options. */
  replaceOptions(options: ChatOptions): Prompt {
    return new Prompt(this.log, options);
  }

  /** A copy whose first system message has another text; without one, a system message is put first. */
  augmentSystemMessage(change: (text: string) => string): Prompt {
    const at = this.messages.findIndex((message) => message.role === 'system');
    if (at < 0) return this.withMessages([{ role: 'system', text: change('') }, ...this.messages]);
    const message = this.messages[at] as SystemMessage;
    return this.withMessages(this.messages.with(at, { ...message, text: change(message.text) }));
  }

  /** A copy whose last user message has another text (its media stay); without one, a user message is appended. */
  augmentUserMessage(change: (text: string) => string): Prompt {
    const at = this.messages.findLastIndex((message) => message.role === 'user');
    if (at < 0) return this.append({ role: 'user', content: change('') });
    const message = this.messages[at] as UserMessage;
    return this.withMessages(this.messages.with(at, { ...message, content: changeText(message.content, change) }));
  }
}

/** What is put before or after the text leaves the parts in their order; a text that is replaced goes before all media. */
function changeText(content: UserMessage['content'], change: (text: string) => string): UserMessage['content'] {
  if (typeof content === 'string') return change(content);
  const text = textOf(content);
  const changed = change(text);
  const at = changed.indexOf(text);
  if (at < 0) return [...textPart(changed), ...content.filter((part) => part.type !== 'text')];
  return [...textPart(changed.slice(0, at)), ...content, ...textPart(changed.slice(at + text.length))];
}

function textPart(text: string): readonly ContentPart[] {
  return text === '' ? [] : [{ type: 'text', text }];
}

function checkedOptions(options: ChatOptions): ChatOptions {
  checkOptions(options, 'new Prompt(…)');
  return { ...options };
}

function checkedLog(messages: string | readonly Message[]): MessageLog {
  if (typeof messages === 'string') return MessageLog.of([{ role: 'user', content: messages }]);
  const list: unknown = messages;
  if (!Array.isArray(list)) throw new InvalidArgumentError(`new Prompt(…): messages are a text or an array, not ${describe(list)}`);
  messages.forEach((message, at) => checkMessage(message, `new Prompt(…): messages[${at}]`));
  return MessageLog.of([...messages]);
}
