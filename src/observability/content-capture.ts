import { cut } from '../chat/cut.js';
import type { Generation } from '../chat/chat-response.js';
import type { Message } from '../chat/message.js';
import type { Prompt } from '../chat/prompt.js';
import type { ToolDefinition } from '../chat/tool-definition.js';
import { hookValue, isText } from './hook-value.js';
import { isJsonText, jsonEntries, partsWithin, SaidText, type Entry } from './json-entry.js';
import { messageContent } from './message-content.js';
import { saidIn } from './said.js';

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
  messages(prompt: Prompt): string | undefined {
    return this.newest(prompt.fold(saidIn).messages ?? [], (message) => this.message(message));
  }

  /** The answers of a model. */
  answers(answers: readonly Generation[]): string | undefined {
    return this.newest(answers.toReversed(), ({ message, finishReason }) => ({
      ...this.message(message),
      finish_reason: new SaidText(finishReason ?? 'unknown'),
    }));
  }

  /** The instructions of the application; undefined if there are none. */
  instructions(prompt: Prompt): string | undefined {
    const { instructions } = prompt.fold(saidIn);
    return (
      instructions &&
      this.newest(instructions, ({ text }) => ({ type: 'text', content: new SaidText(this.redacted(text, 'system-instructions')) }))
    );
  }

  /** What a model is told of its tools; what is too much is left out from the last on. */
  definitions(definitions: readonly ToolDefinition[]): string | undefined {
    return this.list(jsonEntries(definitions, (definition) => this.definition(definition), this.options.maxLength));
  }

  private message(message: Message): Entry {
    return messageContent(message, (text, saidAs) => this.redacted(text, saidAs), partsWithin(this.options.maxLength));
  }

  private definition({ name, description, inputSchema }: ToolDefinition): Entry {
    const parameters = new SaidText(this.redacted(JSON.stringify(inputSchema) ?? '', 'tool-definition'), true);
    const told = new SaidText(this.redacted(description, 'tool-definition'));
    return { type: 'function', name: new SaidText(name), description: told, parameters };
  }

  /** @param items the newest first */
  private newest<T>(items: Iterable<T>, toEntry: (item: T) => Entry): string | undefined {
    return this.list(jsonEntries(items, toEntry, this.options.maxLength).reverse());
  }

  /** Undefined where there is no room for any list. */
  private list(entries: readonly string[]): string | undefined {
    const json = `[${entries.join(',')}]`;
    return json.length <= this.options.maxLength ? json : undefined;
  }

  private redacted(text: string, saidAs: RecordedText): string {
    const { redact, report } = this.options;
    if (!redact) return text;
    try {
      return hookValue('redact', redact(isJson(saidAs, text) ? unescaped(text) : text, saidAs), 'a text', isText);
    } catch (error) {
      report(error);
    }
    return '[not recorded: redact failed]';
  }
}

function isJson(saidAs: RecordedText, text: string): boolean {
  return (saidAs === 'tool-arguments' || saidAs === 'tool-result') && text.includes(String.raw`\u`) && isJsonText(text);
}

/** A JSON text whose characters stand for themselves as far as they can: a model may write any of them as an escape. */
function unescaped(json: string): string {
  return json.replaceAll(/\\(?:u([0-9a-f]{4})|.)/gi, (escape, code: string | undefined) => {
    const char = code === undefined ? '' : String.fromCharCode(Number.parseInt(code, 16));
    return /^[^"\\\p{Cc}\p{Cs}]$/u.test(char) ? char : escape;
  });
}
