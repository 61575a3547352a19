import type { ToolResult } from '../chat/chat-event.js';
import { isContentPart, type ContentPart, type ToolMessage } from '../chat/message.js';
import { InvalidArgumentError } from '../errors.js';
import { resultText } from './result-text.js';
import type { Tool } from './tool.js';

/** What the model is told of a value: content parts (an image, or a list with one) as such, everything else as text. */
export function resultContent(value: unknown): ToolMessage['content'] {
  if (typeof value !== 'object' || value === null) return resultText(value);
  const parts: readonly unknown[] = Array.isArray(value) ? value : [value];
  return isContent(parts) ? parts : resultText(value);
}

/** Texts alone are no content, and neither is what has other fields too: data of a service may look like parts. */
function isContent(parts: readonly unknown[]): parts is readonly ContentPart[] {
  return parts.some((part) => isMedia(part)) && parts.every((part) => isMedia(part) || (isContentPart(part) && part.type === 'text'));
}

const MEDIA: ReadonlySet<string> = new Set(['image', 'audio', 'file']);
const MEDIA_FIELDS: ReadonlySet<string> = new Set(['type', 'url', 'data', 'mediaType', 'name']);

function isMedia(value: unknown): boolean {
  return isContentPart(value) && MEDIA.has(value.type) && Object.keys(value).every((field) => MEDIA_FIELDS.has(field));
}

/** A result as the tool itself shows it. Where that fails, the model is told that the tool has run: it must not ask again. */
export async function shownResult(tool: Tool, value: unknown): Promise<ToolResult> {
  try {
    const content = await tool.toContent?.(value);
    if (typeof content === 'string' || (Array.isArray(content) && content.every((part) => isContentPart(part)))) return { content, value };
    throw new InvalidArgumentError(`tool "${tool.definition.name}": its converter must give a text or content parts`);
  } catch (error) {
    return notShown(tool, value, error);
  }
}

/** The result of a tool that has run, whose result could not be shown, or not in time. */
export function notShown(tool: Tool, value: unknown, error: unknown): ToolResult {
  const content = `The tool "${tool.definition.name}" has run, but its result cannot be shown. Do not call it again for this.`;
  return { content, isError: true, value, error };
}
