import { cut } from '../chat/cut.js';
import type { ToolMessage } from '../chat/message.js';

/** Values that one text has room for; what comes after them is left out. */
const MAX_VALUES = 200_000;
const MAX_DEPTH = 100;

/**
 * What a tool returned, as text for a model: text as it is, nothing as "Done", everything else as JSON. Never throws: what JSON
 * cannot express (cycles, big integers, functions, getters that throw) is written as a short text in its place.
 */
export function resultText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(new PlainCopy().of(value)) ?? 'Done');
}

/** Makes data that `JSON.stringify` takes without running foreign code. */
class PlainCopy {
  private values = 0;
  /** The objects that are being read, each inside the one before. */
  private readonly above = new Set<object>();

  of(value: unknown): unknown {
    if (++this.values > MAX_VALUES) return '[too large]';
    return read(() => this.convert(value));
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
    if (this.above.has(value)) return '[circular]';
    if (this.above.size >= MAX_DEPTH) return '[too deep]';
    this.above.add(value);
    try {
      return this.inside(value);
    } finally {
      this.above.delete(value);
    }
  }

  private inside(value: object): unknown {
    const json = toJson(value);
    if (json !== value) return this.of(json);
    if (Array.isArray(value)) return Array.from(value.slice(0, MAX_VALUES) as unknown[], (item) => this.of(item ?? null));
    return this.fields(value as Record<string, unknown>);
  }

  private fields(value: Record<string, unknown>): unknown {
    // a null prototype: a key "__proto__" of the value stays a key
    const copy = Object.create(null) as Record<string, unknown>;
    for (const key of Object.keys(value)) {
      const field = read(() => value[key]);
      if (field !== undefined) copy[key] = this.of(field);
      if (this.values > MAX_VALUES) break;
    }
    return copy;
  }
}

const WRAPPED = [String, Number, Boolean, BigInt] as const;

function toJson(value: object): unknown {
  if (value instanceof Error) return { name: value.name, message: value.message };
  if (value instanceof Map || value instanceof Set) return Array.from(value as Iterable<unknown>);
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (WRAPPED.some((type) => value instanceof type)) return value.valueOf();
  const convert = (value as { toJSON?: unknown }).toJSON;
  return typeof convert === 'function' ? (convert.call(value, '') as unknown) : value;
}

function read(get: () => unknown): unknown {
  try {
    return get();
  } catch {
    return '[unreadable]'; // foreign code (a getter, toJSON, a proxy) threw; the rest of the value is still worth telling
  }
}

/** A text cut to a length, with a mark that says so; a surrogate pair is never cut in two. */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const beginning = cut(text, maxLength);
  return `${beginning}\n[cut from ${text.length} to ${beginning.length} characters]`;
}

/** A content whose text has at most a length, with a mark where it was cut; media are kept. */
export function cutContent(content: ToolMessage['content'], maxLength: number): ToolMessage['content'] {
  if (typeof content === 'string') return cutText(content, maxLength);
  let left = maxLength;
  return content.map((part) => {
    if (part.type !== 'text') return part;
    const text = cutText(part.text, Math.max(left, 0));
    left -= part.text.length;
    return text === part.text ? part : { ...part, text };
  });
}
