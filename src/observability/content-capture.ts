import type { Generation } from '../chat/chat-response.js';
import type { Prompt } from '../chat/prompt.js';
import type { OfferedTool } from '../chat/tool-definition.js';
import { rule } from '../internal/options.js';
import { truncate } from '../internal/text.js';
import type { AttributeSet } from './attributes.js';
import { checkHookResult } from './hook-result.js';
import { MessageConverter } from './message-content.js';
import { Attribute } from './names.js';
import type { RecordedText, Redact } from './telemetry-options.js';
import {
  isJsonText,
  maxPartsIn,
  truncatedList,
  TruncatableText,
  type JsonEntry,
} from './truncated-json.js';

const STRING = rule('a string', (value) => typeof value === 'string');

/** Converts content to its recorded form, by the JSON schemas of the GenAI conventions. */
export class ContentCapture {
  private readonly converter: MessageConverter;

  /**
   * @param maxLength maximum characters of a recorded value
   * @param report receives the errors of `redact`; a text on which it fails is not recorded
   */
  constructor(
    private readonly redactText: Redact | undefined,
    private readonly maxLength: number,
    private readonly report: (error: unknown) => void,
  ) {
    this.converter = new MessageConverter(this.redact.bind(this), maxPartsIn(maxLength));
  }

  text(text: string | undefined, kind: RecordedText): string | undefined {
    return text === undefined ? undefined : truncate(this.redact(text, kind), this.maxLength);
  }

  /** Adds instructions and messages of a prompt; the oldest are omitted first. */
  addPrompt(to: AttributeSet, { messages }: Prompt): void {
    const instructions = messages.filter((message) => message.role === 'system');
    const others = messages.filter((message) => message.role !== 'system');
    if (instructions.length > 0)
      to.add(
        Attribute.SYSTEM_INSTRUCTIONS,
        this.newestEntries(instructions, ({ text }) => ({
          type: 'text',
          content: new TruncatableText(this.redact(text, 'system-instructions')),
        })),
      );
    to.add(
      Attribute.INPUT_MESSAGES,
      this.newestEntries(others, (message) => this.converter.toEntry(message)),
    );
  }

  outputMessages(generations: readonly Generation[]): string | undefined {
    return this.newestEntries(generations, ({ message, finishReason }) => ({
      ...this.converter.toEntry(message),
      finish_reason: new TruncatableText(finishReason ?? 'unknown'),
    }));
  }

  /** Definitions of offered tools; the last are omitted first. */
  toolDefinitions(tools: readonly OfferedTool[] = []): string | undefined {
    if (tools.length === 0) return undefined;
    return truncatedList(tools, (tool) => this.definitionEntry(tool), this.maxLength);
  }

  private definitionEntry({ definition }: OfferedTool): JsonEntry {
    const { name, description, inputSchema } = definition;
    const schema = JSON.stringify(inputSchema) ?? '';
    return {
      type: 'function',
      name: new TruncatableText(name),
      description: new TruncatableText(this.redact(description, 'tool-definition')),
      parameters: new TruncatableText(this.redact(schema, 'tool-definition'), true),
    };
  }

  private newestEntries<T>(items: readonly T[], toEntry: (item: T) => JsonEntry) {
    return truncatedList(items, toEntry, this.maxLength, true);
  }

  private redact(text: string, kind: RecordedText): string {
    if (!this.redactText) return text;
    try {
      const readable = isEscapedJson(text, kind) ? unescapeJson(text) : text;
      const redacted = this.redactText(readable, kind);
      checkHookResult('redact', redacted, STRING);
      return redacted;
    } catch (error) {
      this.report(error);
      return '[not recorded: redact failed]';
    }
  }
}

function isEscapedJson(text: string, kind: RecordedText): boolean {
  const mayBeJson = kind === 'tool-arguments' || kind === 'tool-result';
  return mayBeJson && text.includes(String.raw`\u`) && isJsonText(text);
}

/** Decodes the escapes of a JSON text, so that `redact` matches text that a model has escaped. */
function unescapeJson(json: string): string {
  return json.replaceAll(/\\(?:u([0-9a-f]{4})|.)/gi, (escape, code: string | undefined) => {
    const char = code === undefined ? '' : String.fromCharCode(Number.parseInt(code, 16));
    return /^[^"\\\p{Cc}\p{Cs}]$/u.test(char) ? char : escape;
  });
}
