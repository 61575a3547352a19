import type { Generation } from '../../src/core/chat/chat-response.js';
import {
  textOf,
  type ContentPart,
  type Message,
  type SystemMessage,
  type ToolCall,
} from '../../src/core/chat/message.js';
import type { Prompt } from '../../src/core/chat/prompt.js';
import type { OfferedTool } from '../../src/core/chat/tool-definition.js';
import { isJsonText } from '../../src/core/internal/json.js';
import { rule } from '../../src/core/internal/options.js';
import { truncate } from '../../src/core/internal/text.js';
import { Attribute } from '../../src/core/observation/names.js';
import { checkHookResult, runSafely, type OpenTelemetry } from './open-telemetry.js';
import type { AddAttribute } from './part-span.js';
import type { RecordedText, Redact } from './telemetry-options.js';
import { truncatedList, type JsonEntry } from './truncated-json.js';

const STRING = rule('a string', (value) => typeof value === 'string');

/** Converts content to its recorded form, by the JSON schemas of the GenAI conventions. */
export class ContentCapture {
  /** Maximum number of parts for which a recorded message has room. */
  private readonly maxParts: number;

  /** @param maxLength maximum characters of a recorded value */
  constructor(
    private readonly api: OpenTelemetry,
    private readonly redactText: Redact | undefined,
    private readonly maxLength: number,
  ) {
    this.maxParts = Math.ceil(maxLength / '{"type":"raw"},'.length);
  }

  text(text: string | undefined, kind: RecordedText): string | undefined {
    return text === undefined ? undefined : truncate(this.redact(text, kind), this.maxLength);
  }

  /** Adds instructions and messages of a prompt; the oldest are omitted first. */
  addPrompt(add: AddAttribute, { messages }: Prompt): void {
    const instructions = messages.filter((message) => message.role === 'system');
    const others = messages.filter((message) => message.role !== 'system');
    const toPart = (message: SystemMessage): JsonEntry =>
      this.textPart(textOf(message), 'text', 'system-instructions');
    if (instructions.length > 0)
      add(Attribute.SYSTEM_INSTRUCTIONS, this.newestEntries(instructions, toPart));
    add(
      Attribute.INPUT_MESSAGES,
      this.newestEntries(others, (message) => this.toEntry(message)),
    );
  }

  outputMessages(generations: readonly Generation[]): string | undefined {
    return this.newestEntries(generations, ({ message, finishReason }) => ({
      ...this.toEntry(message),
      finish_reason: finishReason ?? 'unknown',
    }));
  }

  /** Definitions of offered tools; the last are omitted first. */
  toolDefinitions(tools: readonly OfferedTool[] = []): string | undefined {
    if (tools.length === 0) return undefined;
    const toEntry = ({ definition }: OfferedTool): JsonEntry => ({
      type: 'function',
      name: definition.name,
      description: this.redact(definition.description, 'tool-definition'),
      parameters: this.redact(JSON.stringify(definition.inputSchema) ?? '', 'tool-definition'),
    });
    return truncatedList(tools, toEntry, this.maxLength);
  }

  private newestEntries<T>(items: readonly T[], toEntry: (item: T) => JsonEntry) {
    return truncatedList(items, toEntry, this.maxLength, true);
  }

  private toEntry(message: Exclude<Message, SystemMessage>): JsonEntry {
    const { role } = message;
    switch (role) {
      case 'user': {
        const { content } = message;
        const parts: readonly ContentPart[] =
          typeof content === 'string' ? [{ type: 'text', text: content }] : content;
        return { role, parts: parts.slice(0, this.maxParts).map((part) => this.contentPart(part)) };
      }
      case 'assistant': {
        const { reasoning, content, refusal, toolCalls = [] } = message;
        const parts = [
          ...(reasoning ? [this.textPart(reasoning, 'reasoning')] : []),
          ...[textOf(content), refusal].flatMap((each) => (each ? [this.textPart(each)] : [])),
          ...toolCalls.slice(0, this.maxParts).map((call) => this.callPart(call)),
        ];
        return { role, parts };
      }
      case 'tool': {
        const response = this.redact(textOf(message.content), 'tool-result');
        return { role, parts: [{ type: 'tool_call_response', id: message.toolCallId, response }] };
      }
    }
  }

  private textPart(text: string, type = 'text', kind: RecordedText = 'message'): JsonEntry {
    return { type, content: this.redact(text, kind) };
  }

  /** The name is chosen by the model: there may be no such tool. */
  private callPart({ id, name, arguments: text }: ToolCall): JsonEntry {
    return {
      type: 'tool_call',
      id,
      name: this.redact(name, 'tool-arguments'),
      arguments: this.redact(text, 'tool-arguments'),
    };
  }

  /** Media are recorded by kind and size, not by content. */
  private contentPart(part: ContentPart): JsonEntry {
    if (part.type === 'text') return this.textPart(part.text);
    if (part.type === 'raw') return { type: 'raw' };
    const { type: modality, url, data, mediaType: mime_type } = part;
    return data === undefined && url !== undefined && !url.startsWith('data:')
      ? { type: 'uri', modality, mime_type, uri: this.redact(url, 'message') }
      : { type: 'media', modality, mime_type, size: (data ?? url ?? '').length };
  }

  private redact(text: string, kind: RecordedText): string {
    const { redactText } = this;
    if (!redactText) return text;
    const redacted = runSafely(this.api, () => {
      const result = redactText(isEscapedJson(text, kind) ? unescapeJson(text) : text, kind);
      checkHookResult('redact', result, STRING);
      return result;
    });
    return redacted ?? '[not recorded: redact failed]';
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
