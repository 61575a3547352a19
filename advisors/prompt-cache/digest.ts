import { tokensOfLength } from '../../src/core/chat/estimate-tokens.js';
import { type ContentPart, type Message, textOf } from '../../src/core/chat/message.js';
import type { ToolDefinition } from '../../src/core/chat/tool-definition.js';
import { memoize } from '../../src/core/internal/memoize.js';
import type { JsonObject } from '../../src/core/internal/options.js';
import { seededHash } from '../../src/core/internal/text.js';

const SEED = 0x811c9dc5;

/** The compared fields of a tool or a message: hashes, so that no text is kept. */
export interface Digest {
  /** Name of the tool, or role of the message. */
  readonly name: string;
  readonly hashes: Readonly<Record<string, number>>;
  /** Estimated tokens of its texts. */
  readonly tokens: number;
}

/** A message is hashed once, however often it is sent. */
export const digestOfMessage = memoize((message: Message): Digest => {
  switch (message.role) {
    case 'system':
      return digest('system', { text: textOf(message) });
    case 'user':
      return digest('user', { content: textOfContent(message.content) });
    case 'assistant': {
      const { toolCalls = [], reasoning } = message;
      const text = textOf(message);
      const calls = toolCalls.map(({ id, name, arguments: json }) => `${id} ${name} ${json}`);
      return digest('assistant', { text, toolCalls: calls.join('\n'), reasoning });
    }
    case 'tool': {
      const { toolCallId, content } = message;
      return digest('tool', { toolCallId, content: textOfContent(content) });
    }
  }
});

export const digestOfTool = memoize(
  ({ name, description, inputSchema, strict }: ToolDefinition): Digest =>
    digest(name, {
      name,
      description,
      inputSchema: JSON.stringify(inputSchema),
      strict: strict?.toString(),
    }),
);

/** A tool in the format of its provider. */
export const digestOfProviderTool = memoize((tool: JsonObject): Digest => {
  const { name, type, id } = tool;
  return digest(String(name ?? type ?? id), { definition: JSON.stringify(tool) });
});

/** True if both are the same for a provider. */
export function isSameDigest(a: Digest | undefined, b: Digest | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && changedField(a, b) === undefined);
}

/** The first field that differs; `replaced` if the two do not belong together. */
export function changedField(a: Digest, b: Digest): string | undefined {
  if (a.name !== b.name) return 'replaced';
  return Object.keys(a.hashes).find((field) => a.hashes[field] !== b.hashes[field]);
}

function digest(name: string, fields: Readonly<Record<string, string | null | undefined>>): Digest {
  const hashes: Record<string, number> = {};
  let length = 0;
  for (const [field, value] of Object.entries(fields)) {
    const text = value ?? '';
    hashes[field] = seededHash(text, SEED);
    length += text.length;
  }
  return { name, hashes, tokens: tokensOfLength(length) };
}

function textOfContent(content: string | readonly ContentPart[]): string {
  return typeof content === 'string' ? content : content.map(textOfPart).join('\n');
}

function textOfPart(part: ContentPart): string {
  if (part.type === 'text') return part.text;
  if (part.type === 'raw') return JSON.stringify(part.value) ?? '';
  const { type, url = '', data, mediaType } = part;
  const content = data ?? (url.startsWith('data:') ? url : undefined);
  return [type, mediaType, content === undefined ? url : sampleOf(content)].join(' ');
}

/** Size, beginning and end of media: to hash megabytes would take milliseconds. */
function sampleOf(content: string | Uint8Array): string {
  return [content.length, content.slice(0, 64), content.slice(-64)].join(' ');
}
