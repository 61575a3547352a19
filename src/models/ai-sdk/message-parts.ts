import { textOf, type ContentPart, type ToolMessage } from '../../core/chat/message.js';
import type { JsonObject } from '../../core/internal/options.js';
import type { Media } from './files.js';
import { DENIED, keptOf, withOptions, type KeptFields } from './kept-parts.js';

type ToFile = (part: Media) => JsonObject;

/** Content as parts, with the fields that were kept of each. */
export function toParts(
  content: readonly ContentPart[],
  { fields }: KeptFields,
  toFile: ToFile,
): readonly unknown[] {
  const kept = fields?.length === content.length ? fields : [];
  return content.map((part, at) => {
    if (part.type === 'raw') return part.value;
    const converted = part.type === 'text' ? { type: part.type, text: part.text } : toFile(part);
    return { ...converted, ...kept[at] };
  });
}

/** The result of a call, of the kind that it had. */
export function toResultPart(message: ToolMessage, toFile: ToFile): JsonObject {
  const { toolCallId, toolName, metadata } = message;
  const kept = keptOf(metadata);
  const output = withOptions(toOutput(message, kept, toFile), kept.outputOptions);
  return withOptions({ type: 'tool-result', toolCallId, toolName, output }, kept.options);
}

/** An error has no form with media: its text is sent alone. */
function toOutput({ content, isError }: ToolMessage, kept: KeptFields, toFile: ToFile): JsonObject {
  const { output: type } = kept;
  if (typeof content !== 'string')
    return isError
      ? { type: 'error-text', value: textOf(content) }
      : { type: 'content', value: toParts(content, kept, toFile) };
  if (isError && type === 'execution-denied')
    return { type, ...(content !== DENIED && { reason: content }) };
  if ((type === 'json' && !isError) || (type === 'error-json' && isError))
    try {
      return { type, value: JSON.parse(content) as unknown };
    } catch {
      // an advisor has changed it: a text
    }
  return { type: isError ? 'error-text' : 'text', value: content };
}

/** Messages of which the results of a batch are one. */
export function joinResults(messages: readonly JsonObject[]): readonly JsonObject[] {
  const joined: JsonObject[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    const isNext = last?.['role'] === 'tool' && message['role'] === 'tool';
    // options belong to a whole message
    if (!isNext || message['providerOptions'] !== undefined) joined.push(message);
    else
      joined[joined.length - 1] = { ...last, content: [...contentOf(last), ...contentOf(message)] };
  }
  return joined;
}

function contentOf({ content }: JsonObject): readonly unknown[] {
  return content as readonly unknown[];
}
