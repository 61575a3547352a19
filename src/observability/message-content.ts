import {
  textOf,
  type ContentPart,
  type Message,
  type SystemMessage,
  type ToolCall,
} from '../chat/message.js';
import type { Redact } from './telemetry-options.js';
import { TruncatableText, type JsonEntry } from './truncated-json.js';

type ConversationMessage = Exclude<Message, SystemMessage>;

/** Converts messages to the form of the GenAI conventions: a role and parts. */
export class MessageConverter {
  /** @param maxParts maximum number of parts that a recorded message has room for */
  constructor(
    private readonly redact: Redact,
    private readonly maxParts: number,
  ) {}

  toEntry(message: ConversationMessage): JsonEntry {
    return { role: message.role, parts: this.partsOf(message) };
  }

  private partsOf(message: ConversationMessage): readonly JsonEntry[] {
    switch (message.role) {
      case 'user':
        return typeof message.content === 'string'
          ? [this.textPart(message.content)]
          : message.content.slice(0, this.maxParts).map((part) => this.contentPart(part));
      case 'assistant': {
        const { reasoning, text, refusal, toolCalls } = message;
        return [
          ...(reasoning ? [this.textPart(reasoning, 'reasoning')] : []),
          ...[text, refusal].flatMap((each) => (each ? [this.textPart(each)] : [])),
          ...toolCalls.slice(0, this.maxParts).map((call) => this.callPart(call)),
        ];
      }
      case 'tool': {
        const result = this.redact(textOf(message.content), 'tool-result');
        const response = new TruncatableText(result, true);
        const id = new TruncatableText(message.toolCallId);
        return [{ type: 'tool_call_response', id, response }];
      }
    }
  }

  private textPart(text: string, type: 'text' | 'reasoning' = 'text'): JsonEntry {
    return { type, content: this.content(text) };
  }

  private content(text: string): TruncatableText {
    return new TruncatableText(this.redact(text, 'message'));
  }

  /** The name is chosen by the model: there may be no such tool. */
  private callPart(call: ToolCall): JsonEntry {
    return {
      type: 'tool_call',
      id: new TruncatableText(call.id),
      name: new TruncatableText(this.redact(call.name, 'tool-arguments')),
      arguments: new TruncatableText(this.redact(call.arguments, 'tool-arguments'), true),
    };
  }

  /** Media are recorded by kind and size, not by content. */
  private contentPart(part: ContentPart): JsonEntry {
    if (part.type === 'text') return this.textPart(part.text);
    if (part.type === 'raw') return { type: 'raw' };
    const { type: modality, url, data, mediaType } = part;
    const mime_type = mediaType === undefined ? undefined : new TruncatableText(mediaType);
    return data === undefined && url !== undefined && !url.startsWith('data:')
      ? { type: 'uri', modality, mime_type, uri: this.content(url) }
      : { type: 'media', modality, mime_type, size: (data ?? url ?? '').length };
  }
}
