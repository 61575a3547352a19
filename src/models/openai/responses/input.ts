import type { ContentPart, Message, ToolMessage, UserMessage } from '../../../core/chat/message.js';
import { isPlainObject, type JsonObject } from '../../../core/internal/options.js';
import { addressOf, subtypeOf } from '../../http/media.js';
import { base64Of } from '../../../core/chat/media-content.js';
import { audioFormat } from '../content.js';
import { toAssistantItems, toCallId } from './kept-items.js';

/** Name of the class that begins the messages of errors. */
const NAME = 'OpenAIResponsesModel';

/** Messages as items of the API. */
export function toInput(messages: readonly Message[]): JsonObject[] {
  return messages.flatMap<JsonObject>(toItems);
}

function toItems(message: Message): readonly JsonObject[] {
  switch (message.role) {
    case 'system':
      return [{ type: 'message', role: 'system', content: message.content }];
    case 'user':
      return toUserItems(message.content);
    case 'tool':
      return [
        {
          type: 'function_call_output',
          call_id: toCallId(message.toolCallId),
          output: toOutput(message.content),
        },
      ];
    case 'assistant':
      return toAssistantItems(message);
  }
}

/** A `raw` part may be an item of its own, such as `mcp_approval_response`. */
function toUserItems(content: UserMessage['content']): readonly JsonObject[] {
  if (typeof content === 'string') return [{ type: 'message', role: 'user', content }];
  const items: JsonObject[] = [];
  let parts: unknown[] = [];
  const endMessage = (): void => {
    if (parts.length > 0) items.push({ type: 'message', role: 'user', content: parts });
    parts = [];
  };
  for (const part of content) {
    if (part.type === 'raw' && isItem(part.value)) {
      endMessage();
      items.push(part.value);
    } else parts.push(toPart(part));
  }
  endMessage();
  return items;
}

/** The types of the parts of a user message begin with `input_`. */
function isItem(value: unknown): value is JsonObject {
  if (!isPlainObject(value)) return false;
  const { type } = value;
  return typeof type === 'string' && !type.startsWith('input_');
}

/** The result of a call: one text, or parts. */
function toOutput(content: ToolMessage['content']): unknown {
  if (typeof content === 'string') return content;
  const [first = { type: 'text', text: '' }, ...others] = content;
  return first.type === 'text' && others.length === 0 ? first.text : content.map(toPart);
}

function toPart(part: ContentPart): unknown {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text };
    case 'image':
      return { type: 'input_image', image_url: addressOf(part, NAME), detail: 'auto' };
    case 'audio':
      return {
        type: 'input_audio',
        input_audio: { data: base64Of(part, NAME), format: audioFormat(part) },
      };
    case 'file':
      if (part.data === undefined) return { type: 'input_file', file_url: part.url };
      return {
        type: 'input_file',
        filename: part.name ?? `file.${subtypeOf(part)}`,
        file_data: addressOf(part, NAME),
      };
    case 'raw':
      return part.value;
  }
}
