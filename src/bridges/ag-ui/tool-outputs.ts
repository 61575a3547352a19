import type { ClientToolRequest } from '../../core/chat/paused-turn.js';
import { isPlainObject, type JsonObject } from '../../core/internal/options.js';
import { invalidInput } from '../http/request-input.js';
import type { SentOutput } from '../http/tool-output.js';

/** Messages of tools after the last one of the user, by the ids of their calls. */
export function toolMessages(messages: readonly unknown[]): ReadonlyMap<string, JsonObject> {
  const found = new Map<string, JsonObject>();
  for (const message of messages) {
    if (!isPlainObject(message)) continue;
    const { role, toolCallId } = message;
    if (role === 'user') found.clear();
    else if (role === 'tool' && typeof toolCallId === 'string') found.set(toolCallId, message);
  }
  return found;
}

/**
 * The output in a message: the protocol has results as text, in which a value is JSON.
 * @throws InvalidArgumentError if it has media
 */
export function outputOf(
  { content, error }: JsonObject,
  { schema }: ClientToolRequest,
): SentOutput {
  if (typeof error === 'string') return { error };
  const text = typeof content === 'string' ? content : textOfParts(content);
  return { value: isPlainObject(schema) && schema['type'] === 'string' ? text : parsed(text) };
}

function textOfParts(content: unknown): string {
  const parts: readonly unknown[] = Array.isArray(content) ? content : [undefined];
  return parts
    .map((part) => {
      const text = isPlainObject(part) && part['type'] === 'text' ? part['text'] : undefined;
      if (typeof text === 'string') return text;
      throw invalidInput('The output of a tool must be text.');
    })
    .join('');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text; // no JSON: the text itself
  }
}
