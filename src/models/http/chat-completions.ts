import type { AssistantMessage, ContentPart, Message, ToolCall } from '../../core/chat/message.js';
import type { ToolDefinition } from '../../core/chat/tool-definition.js';
import type { JsonObject } from '../../core/internal/options.js';
import { mediaAfterResults } from './media.js';

/** Parts of messages that each wire of this dialect writes in its own form. */
interface MessageDialect {
  readonly toContent: (content: string | readonly ContentPart[]) => unknown;
  readonly toAssistantMessage: (message: AssistantMessage) => JsonObject;
}

/** Messages in the form of chat completions; media of results follow the batch in a user message. */
export function toChatMessages(
  messages: readonly Message[],
  dialect: MessageDialect,
): JsonObject[] {
  const { toContent, toAssistantMessage } = dialect;
  return mediaAfterResults(messages).map((message) => {
    const { role } = message;
    switch (role) {
      case 'system':
        return { role, content: message.content };
      case 'user':
        return { role, content: toContent(message.content) };
      case 'tool':
        return { role, tool_call_id: message.toolCallId, content: toContent(message.content) };
      case 'assistant':
        return toAssistantMessage(message);
    }
  });
}

/** A tool as a function, with fields of the wire beside its schema. */
export function toFunctionTool(
  { name, description, inputSchema }: Pick<ToolDefinition, 'name' | 'description' | 'inputSchema'>,
  fields?: JsonObject,
): JsonObject {
  return { type: 'function', function: { name, description, parameters: inputSchema, ...fields } };
}

/** A tool call with its arguments as JSON text. */
export function toFunctionCall({ id, name, arguments: text }: ToolCall): JsonObject {
  return { id, type: 'function', function: { name, arguments: text === '' ? '{}' : text } };
}
