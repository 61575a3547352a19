import { cut } from '../chat/cut.js';
import type { Generation } from '../chat/chat-response.js';
import { describe, type Message } from '../chat/message.js';
import type { ToolDefinition } from '../chat/tool-definition.js';
import { jsonOf, messageContent } from './message-content.js';

/** What a text that is to be recorded was said as. */
export type RecordedText = 'message' | 'system-instructions' | 'tool-definition' | 'tool-arguments' | 'tool-result' | 'exception';

/** Makes a text fit to be recorded, or leaves it out by giving an empty one. */
export type Redact = (text: string, saidAs: RecordedText) => string;

/** Options of a {@link ContentCapture}. */
export interface ContentOptions {
  readonly redact: Redact | undefined;
  /** Most characters of one recorded value. */
  readonly maxLength: number;
  /** Told when `redact` fails; what it failed on is not recorded. */
  readonly report: (error: unknown) => void;
}

/** Makes the recorded form of what was said, by the JSON schemas of the GenAI conventions. Lists are cut so that they stay JSON. */
export class ContentCapture {
  constructor(private readonly options: ContentOptions) {}

  /** A text, redacted and cut. */
  text(text: string, saidAs: RecordedText): string {
    return cut(this.redacted(text, saidAs), this.options.maxLength);
  }

  /** The messages that a model is given, without its instructions. What is too much is left out from the oldest on. */
  messages(messages: readonly Message[]): string {
    return this.newest(messages, (message) => (message.role === 'system' ? undefined : this.message(message)));
  }

  /** The answers of a model. */
  answers(answers: readonly Generation[]): string {
    return this.newest(answers, ({ message, finishReason }) => ({ ...this.message(message), finish_reason: finishReason ?? 'unknown' }));
  }

  /** The instructions of the application; undefined if there are none. */
  instructions(messages: readonly Message[]): string | undefined {
    if (!messages.some(({ role }) => role === 'system')) return undefined;
    return this.newest(messages, (message) =>
      message.role === 'system' ? { type: 'text', content: this.redacted(message.text, 'system-instructions') } : undefined,
    );
  }

  /** What a model is told of its tools; what is too much is left out from the last on. */
  definitions(definitions: readonly ToolDefinition[]): string {
    return `[${jsonEntries(definitions, (definition) => this.definition(definition), this.options.maxLength).join(',')}]`;
  }

  private message(message: Message): object {
    return messageContent(message, (text, saidAs) => this.redacted(text, saidAs), this.options.maxLength);
  }

  private definition({ name, description, inputSchema }: ToolDefinition): object {
    const parameters = this.redacted(JSON.stringify(inputSchema) ?? '', 'tool-definition');
    const told = this.redacted(description, 'tool-definition');
    return { type: 'function', name, description: told, parameters: jsonOf(parameters, this.options.maxLength) };
  }

  private newest<T>(items: readonly T[], toEntry: (item: T) => object | undefined): string {
    return `[${jsonEntries([...items].reverse(), toEntry, this.options.maxLength)
      .reverse()
      .join(',')}]`;
  }

  private redacted(text: string, saidAs: RecordedText): string {
    const { redact, report } = this.options;
    if (!redact) return text;
    try {
      const redacted: unknown = redact(text, saidAs);
      if (typeof redacted === 'string') return redacted;
      report(new TypeError(`redact must return a string, not ${describe(redacted)}`));
    } catch (error) {
      report(error);
    }
    return '[not recorded: redact failed]';
  }
}

/** The entries of a JSON list of limited length. Of the first that does not fit the texts are cut, and those after it are left out. */
function jsonEntries<T>(items: readonly T[], toEntry: (item: T) => object | undefined, maxLength: number): string[] {
  const entries: string[] = [];
  let room = maxLength - '[]'.length;
  for (const item of items) {
    const entry = toEntry(item);
    if (!entry) continue;
    const whole = withTextsOf(entry, room);
    const json = whole.length <= room ? whole : shortened(entry, room);
    if (json !== undefined) entries.push(json);
    if (json !== whole) break;
    room -= json.length + ','.length;
  }
  return entries;
}

function shortened(entry: object, room: number): string | undefined {
  for (let longest = room >> 1; longest > 0; longest >>= 1) {
    const json = withTextsOf(entry, longest);
    if (json.length <= room) return json;
  }
  return undefined;
}

/** @param longest characters of a text within the entry */
function withTextsOf(entry: object, longest: number): string {
  return JSON.stringify(entry, (_name, value: unknown) => (typeof value === 'string' ? cut(value, Math.max(longest, 0)) : value));
}
