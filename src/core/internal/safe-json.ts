import type { JsonValue } from './json.js';
import { truncateText } from './text.js';

/** Number of characters of a value that is written as JSON, unless more are asked for. */
export const MIN_LENGTH = 4_000_000;
/** Characters that each value counts for, beside its texts and keys. */
const PER_VALUE = 20;
const MAX_DEPTH = 100;

export interface JsonText {
  /** Undefined for undefined. */
  readonly text: string | undefined;
  readonly isCut: boolean;
}

/**
 * A value as JSON. Never throws: what JSON cannot express (cycles, big integers, functions, getters
 * that throw) is replaced by a short text, and so is what exceeds the limit, in time that does not
 * depend on it.
 */
export function jsonText(value: unknown, maxLength = MIN_LENGTH): JsonText {
  const max = Math.max(maxLength, MIN_LENGTH);
  try {
    if (new JsonCheck(max).accepts(value, 0)) return { text: JSON.stringify(value), isCut: false };
  } catch {
    // a getter or a proxy threw; the copy replaces that value alone
  }
  const copy = new JsonCopy(max);
  return { text: JSON.stringify(copy.of({ value }, 'value')), isCut: copy.isFull };
}

/** A value of an application as JSON data, for `toJSON`; undefined only for undefined. */
export function safeJson(value: unknown, maxLength?: number): JsonValue | undefined {
  const { text } = jsonText(value, maxLength);
  return text === undefined ? undefined : (JSON.parse(text) as JsonValue);
}

const WRAPPERS = [String, Number, Boolean, BigInt] as const;

/** Accepts plain data within the limit, which needs no copy: several times faster than the copy. */
class JsonCheck {
  constructor(private left: number) {}

  accepts(value: unknown, depth: number): boolean {
    this.left -= typeof value === 'string' ? value.length + PER_VALUE : PER_VALUE;
    if (this.left < 0) return false;
    if (typeof value !== 'object')
      return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
    if (value === null || value instanceof Date) return true;
    if (depth >= MAX_DEPTH || 'toJSON' in value) return false;
    // before its items are read: a hole is written, too
    if (Array.isArray(value) && value.length * PER_VALUE > this.left) return false;
    if (Array.isArray(value)) return value.every((item) => this.accepts(item ?? null, depth + 1));
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) return false;
    const fields = value as Readonly<Record<string, unknown>>;
    return Object.keys(value).every((key) => {
      this.left -= key.length;
      return this.accepts(fields[key] ?? null, depth + 1);
    });
  }
}

/** Copies a value as data that `JSON.stringify` writes without running foreign code. */
class JsonCopy {
  private left: number;
  /** The objects that are being copied, each inside the one before. */
  private readonly parents = new Set<object>();

  constructor(private readonly max: number) {
    this.left = max;
  }

  /** True if something was left out: the rest of the value is not read. */
  get isFull(): boolean {
    return this.left < 0;
  }

  of(holder: object, key: string | number): unknown {
    this.left -= PER_VALUE;
    if (this.isFull) return this.tooLarge;
    try {
      return this.convert((holder as Readonly<Record<string | number, unknown>>)[key]);
    } catch {
      return '[unreadable]'; // a getter, toJSON or a proxy threw; the rest is still useful
    }
  }

  private get tooLarge(): string {
    return `[too large: left out after ${this.max} characters]`;
  }

  private convert(value: unknown): unknown {
    switch (typeof value) {
      case 'string':
        return this.text(value);
      case 'bigint':
      case 'symbol':
        return this.text(String(value));
      case 'function':
        return this.ofFunction(`function ${value.name || 'anonymous'}`);
      case 'number':
        return Number.isFinite(value) ? value : String(value);
      case 'object':
        return value === null ? null : this.object(value);
      default:
        return value;
    }
  }

  /** Within other values, the rest of them is useful. */
  private ofFunction(type: string): string {
    return this.parents.size > 0 ? `[${type}]` : inexpressible(type);
  }

  private text(text: string): string {
    const { left } = this;
    this.left -= text.length;
    return truncateText(text, left);
  }

  private object(value: object): unknown {
    if (this.parents.has(value)) return '[circular]';
    if (this.parents.size >= MAX_DEPTH) return '[too deep]';
    this.parents.add(value);
    try {
      const json = toJson(value, this.left / PER_VALUE + 1);
      if (json !== value) return this.of({ json }, 'json');
      return Array.isArray(value) ? this.items(value) : this.fields(value);
    } finally {
      this.parents.delete(value);
    }
  }

  private items(value: readonly unknown[]): unknown {
    const copy: unknown[] = [];
    for (let at = 0; at < value.length && !this.isFull; at++) copy.push(this.of(value, at));
    if (copy.length < value.length) copy.push(this.tooLarge);
    return copy;
  }

  private fields(value: object): unknown {
    // without a prototype, a key "__proto__" of the value stays a key
    const copy = Object.create(null) as Record<string, unknown>;
    for (const key of Object.keys(value)) {
      if (this.isFull) break;
      this.left -= key.length;
      copy[key] = this.of(value, key);
    }
    return copy;
  }
}

/** @param maxItems number of items of which one is too many for the limit */
function toJson(value: object, maxItems: number): unknown {
  if (value instanceof Error) return { name: value.name, message: value.message };
  if (value instanceof Map || value instanceof Set)
    return firstItems(value as Iterable<unknown>, maxItems);
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value))
    return `[${value.byteLength} bytes]`;
  if (WRAPPERS.some((type) => value instanceof type)) return value.valueOf();
  const { toJSON } = value as { readonly toJSON?: unknown };
  if (typeof toJSON === 'function') return toJSON.call(value, '') as unknown;
  return isInstance(value) && Object.keys(value).length === 0 ? opaque(value, maxItems) : value;
}

function isInstance(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== null && Object.getPrototypeOf(prototype) !== null && !Array.isArray(value);
}

/**
 * An instance without fields, of which JSON has `{}`: its items (headers, the fields of a form), its
 * own text (a pattern, the parameters of an address), or what its tool has to return in its place.
 */
function opaque(value: object, maxItems: number): unknown {
  const { next } = value as { readonly next?: unknown };
  const name = /^\[object (.*)\]$/.exec(Object.prototype.toString.call(value))?.[1] ?? 'Object';
  const text = String(value as { toString(): string });
  if (text !== `[object ${name}]`) return text;
  if (Symbol.iterator in value && typeof next !== 'function')
    return firstItems(value as Iterable<unknown>, maxItems);
  const { constructor } = value as { readonly constructor?: { readonly name?: unknown } };
  const className = constructor?.name;
  const type = name === 'Object' && typeof className === 'string' ? className : name;
  return inexpressible(type);
}

function inexpressible(type: string): string {
  return `[${type}: JSON cannot express it; the tool must return what it contains]`;
}

function firstItems(values: Iterable<unknown>, max: number): readonly unknown[] {
  const items: unknown[] = [];
  for (const item of values) if (items.push(item) > max) break;
  return items;
}
