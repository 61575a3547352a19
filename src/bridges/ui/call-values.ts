import type { ToolResult } from '../../core/chat/chat-event.js';
import { textOf, type CheckedCall } from '../../core/chat/message.js';
import { jsonData } from '../../core/internal/json-data.js';

/** The checked arguments; as the model wrote them where they hold dates or other instances. */
export function inputOf({ input, arguments: json }: CheckedCall): unknown {
  return jsonData(input) ?? (json.trim() === '' ? {} : parsed(json));
}

/** The text of a result that the model reads, as JSON where it is JSON. */
export function outputOf({ content, value }: ToolResult): unknown {
  const text = textOf(content);
  return typeof value === 'string' ? text : parsed(text);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text; // no JSON: the text itself
  }
}
