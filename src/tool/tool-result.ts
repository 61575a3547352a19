import type { ToolResult } from '../chat/chat-event.js';
import { type ToolMessage, isContentPart } from '../chat/message.js';
import type { JsonValue } from '../internal/json.js';
import { checkOption, rule, withMethods } from '../internal/options.js';
import { truncate } from '../internal/text.js';

const RESULT = Symbol.for('advisor-chain.tool-result');

/**
 * Makes a result with more than a value: content for the model (by default the text of the value),
 * deferred tools to unlock or lock, values for the advisors. A tool returns it.
 *
 * `content` is the way to show media to the model. Parts in a value are text: data of a service may
 * look like them, and some providers get the media of results in a message of the user.
 */
export function toolResult<Value>(result: Partial<ToolResult<Value>>): ToolResult<Value> {
  const { content, value } = result;
  const isContent = typeof content === 'string' || Array.isArray(content);
  return Object.defineProperty(
    { ...result, content: isContent ? content : resultText(content ?? value) },
    RESULT,
    { value: true },
  );
}

export function isToolResult(value: unknown): value is ToolResult {
  return typeof value === 'object' && value !== null && RESULT in value;
}

/** @throws {@link InvalidArgumentError} if a result has content or context of another type */
export function checkToolResult({ content, context }: ToolResult): void {
  checkOption('tool result', 'content', content, CONTENT);
  if (context !== undefined) checkOption('tool result', 'context', context, CONTEXT);
}

const CONTEXT = withMethods('an AdvisorContext', 'changesSince');
export const CONTENT = rule(
  'a string or content parts',
  (value) => typeof value === 'string' || (Array.isArray(value) && value.every(isContentPart)),
);

/**
 * The result of a tool as text: a string unchanged, undefined as "Done", everything else as JSON.
 * Never throws: what JSON cannot express (cycles, big integers, functions, getters that throw) is
 * replaced by a short text.
 */
export function resultText(value: unknown): string {
  return typeof value === 'string' ? value : (jsonText(value) ?? 'Done');
}

/** A result as the model reads it; null for undefined. */
export function jsonOf(value: unknown): JsonValue {
  return JSON.parse(jsonText(value) ?? 'null') as JsonValue;
}

/** Undefined for undefined. */
function jsonText(value: unknown): string | undefined {
  try {
    if (new JsonCheck().accepts(value, 0)) return JSON.stringify(value);
  } catch {
    // a getter or a proxy threw; the copy replaces that value alone
  }
  return JSON.stringify(new JsonCopy().of({ value }, 'value'));
}

/** Maximum number of values in one text; the rest is left out. */
const MAX_VALUES = 200_000;
const MAX_DEPTH = 100;
const WRAPPERS = [String, Number, Boolean, BigInt] as const;

/** Accepts plain data, which needs no copy: several times faster than the copy. */
class JsonCheck {
  private values = 0;

  accepts(value: unknown, depth: number): boolean {
    if (++this.values > MAX_VALUES) return false;
    if (typeof value !== 'object')
      return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
    if (value === null || value instanceof Date) return true;
    if (depth >= MAX_DEPTH || 'toJSON' in value) return false;
    if (Array.isArray(value)) return value.every((item) => this.accepts(item ?? null, depth + 1));
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) return false;
    const fields = value as Readonly<Record<string, unknown>>;
    return Object.keys(value).every((key) => this.accepts(fields[key] ?? null, depth + 1));
  }
}

/** Copies a value as data that `JSON.stringify` writes without running foreign code. */
class JsonCopy {
  private values = 0;
  /** The objects that are being copied, each inside the one before. */
  private readonly parents = new Set<object>();

  of(holder: object, key: string | number): unknown {
    if (++this.values > MAX_VALUES) return '[too large]';
    try {
      return this.convert((holder as Readonly<Record<string | number, unknown>>)[key]);
    } catch {
      return '[unreadable]'; // a getter, toJSON or a proxy threw; the rest is still useful
    }
  }

  private convert(value: unknown): unknown {
    switch (typeof value) {
      case 'bigint':
      case 'symbol':
        return String(value);
      case 'function':
        return `[function ${value.name || 'anonymous'}]`;
      case 'number':
        return Number.isFinite(value) ? value : String(value);
      case 'object':
        return value === null ? null : this.object(value);
      default:
        return value;
    }
  }

  private object(value: object): unknown {
    if (this.parents.has(value)) return '[circular]';
    if (this.parents.size >= MAX_DEPTH) return '[too deep]';
    this.parents.add(value);
    try {
      const json = toJson(value);
      if (json !== value) return this.of({ json }, 'json');
      return Array.isArray(value) ? this.items(value) : this.fields(value);
    } finally {
      this.parents.delete(value);
    }
  }

  private items(value: readonly unknown[]): unknown {
    const length = Math.min(value.length, MAX_VALUES);
    return Array.from({ length }, (_, at) => this.of(value, at));
  }

  private fields(value: object): unknown {
    // without a prototype, a key "__proto__" of the value stays a key
    const copy = Object.create(null) as Record<string, unknown>;
    for (const key of Object.keys(value)) copy[key] = this.of(value, key);
    return copy;
  }
}

function toJson(value: object): unknown {
  if (value instanceof Error) return { name: value.name, message: value.message };
  if (value instanceof Map || value instanceof Set) return Array.from(value as Iterable<unknown>);
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value))
    return `[${value.byteLength} bytes]`;
  if (WRAPPERS.some((type) => value instanceof type)) return value.valueOf();
  const { toJSON } = value as { readonly toJSON?: unknown };
  return typeof toJSON === 'function' ? (toJSON.call(value, '') as unknown) : value;
}

/**
 * The beginning and the end of a text, two thirds and one third of what is kept, with a note about
 * the cut between them: errors and exit codes stand at the end. Surrogate pairs stay whole.
 */
export function truncateText(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : cutMiddle(text, 0, text.length, maxLength);
}

/** Content with a maximum number of characters of text, cut like one text; media are kept. */
export function truncateContent(
  content: ToolMessage['content'],
  maxLength: number,
): ToolMessage['content'] {
  if (typeof content === 'string') return truncateText(content, maxLength);
  const lengths = content.map((part) => (part.type === 'text' ? part.text.length : 0));
  const total = lengths.reduce((sum, length) => sum + length, 0);
  if (total <= maxLength) return content;
  let start = 0;
  return content.map((part, at) => {
    const before = start;
    start += lengths[at] as number;
    if (part.type !== 'text') return part;
    const text = cutMiddle(part.text, before, total, maxLength);
    return text === part.text ? part : { ...part, text };
  });
}

/** Cuts a part, which begins at `start`, of a text of `total` characters. */
function cutMiddle(part: string, start: number, total: number, maxLength: number): string {
  const kept = Math.ceil((maxLength * 2) / 3);
  const from = Math.min(Math.max(kept - start, 0), part.length);
  const to = Math.min(Math.max(total - (maxLength - kept) - start, from), part.length);
  if (from === to) return part;
  const beginning = truncate(part, from);
  const code = part.charCodeAt(to);
  const end = part.slice(code >= 0xdc00 && code <= 0xdfff ? to + 1 : to);
  const note = `[${part.length - beginning.length - end.length} of ${total} characters cut]`;
  return [beginning, note, end].filter((piece) => piece !== '').join('\n');
}
