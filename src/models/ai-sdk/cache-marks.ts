import type { PromptCache } from '../../core/chat/chat-options.js';
import { isPlainObject, type JsonObject } from '../../core/internal/options.js';

/** Providers whose caches need marks, and gateways to them; each reads the options of its own name. */
const MARKED = /anthropic|bedrock|gateway/;

/** The marks that a provider needs; undefined if it caches by itself. */
export function marksFor(
  provider: string,
  promptCache: PromptCache | undefined,
): PromptCache | undefined {
  return MARKED.test(provider) ? promptCache : undefined;
}

/** Messages with marks at the last of the system texts at the start, and at the end. */
export function markedPrompt(
  prompt: readonly JsonObject[],
  marks: PromptCache | undefined,
): readonly JsonObject[] {
  if (!marks) return prompt;
  const start = prompt.findIndex(({ role }) => role !== 'system');
  const lastSystem = (start < 0 ? prompt.length : start) - 1;
  return markAt(markAt(prompt, lastSystem, marks.system), prompt.length - 1, marks.messages);
}

/** Tools whose last one is marked; the provider refuses marks of those that its tool search hides. */
export function markedTools(
  tools: readonly JsonObject[],
  marks: PromptCache | undefined,
): readonly JsonObject[] {
  return markAt(
    tools,
    tools.findLastIndex((tool) => !isHidden(tool)),
    marks?.tools,
  );
}

/** The only option that a tool has. */
const isHidden = ({ providerOptions }: JsonObject): boolean => providerOptions !== undefined;

function markAt(
  items: readonly JsonObject[],
  index: number,
  ttl: PromptCache['tools'],
): readonly JsonObject[] {
  const item = items[index];
  if (!item || ttl === undefined) return items;
  return items.with(index, { ...item, providerOptions: withMark(item['providerOptions'], ttl) });
}

/** Options of the application stay. */
function withMark(options: unknown, ttl: '5m' | '1h'): JsonObject {
  const own = isPlainObject(options) ? options : {};
  const [anthropic, bedrock] = [own['anthropic'], own['bedrock']].map((each) =>
    isPlainObject(each) ? each : {},
  );
  return {
    ...own,
    anthropic: { cacheControl: { type: 'ephemeral', ttl }, ...anthropic },
    bedrock: { cachePoint: { type: 'default', ...(ttl === '1h' && { ttl }) }, ...bedrock },
  };
}
