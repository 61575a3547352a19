import type { JsonValue } from '../../core/internal/json.js';
import { truncate } from '../../core/internal/text.js';
import { shownKey, type Redactor } from './redactor.js';

/** Names of options whose text is hidden. */
const CREDENTIAL = /auth|key|token|secret|cookie|password|credential/i;
const MAX_DEPTH = 4;
const MAX_ITEMS = 50;
const MAX_TEXT = 2_000;

/** Options as JSON: functions and instances by name, secrets hidden, deep and long values cut. */
export function optionsAsJson(options: object, redactor: Redactor): JsonValue {
  const convert = (value: unknown, name: string, depth: number): JsonValue => {
    switch (typeof value) {
      case 'string':
        if (CREDENTIAL.test(name)) return '***';
        return redactor.text(value.length > MAX_TEXT ? `${truncate(value, MAX_TEXT)}…` : value);
      case 'number':
        return Number.isFinite(value) ? value : String(value);
      case 'boolean':
        return value;
      case 'function':
        return `${value.name || 'anonymous'}()`;
      case 'object':
        return value === null ? null : convertObject(value, name, depth);
      default:
        return String(value);
    }
  };
  const convertObject = (value: object, name: string, depth: number): JsonValue => {
    if (Array.isArray(value)) {
      if (depth >= MAX_DEPTH) return `[${value.length} items]`;
      const given: readonly unknown[] = value.slice(0, MAX_ITEMS);
      const items = Array.from(given, (item) => convert(item, name, depth + 1)); // holes, too
      return value.length > MAX_ITEMS ? [...items, `${value.length - MAX_ITEMS} more`] : items;
    }
    const className = classOf(value);
    if (className !== undefined) return nameOf(value, className);
    return depth >= MAX_DEPTH ? '{…}' : convertFields(value, name, depth);
  };
  const convertFields = (value: object, owner: string, depth: number): JsonValue => {
    const names = Object.keys(value).slice(0, MAX_ITEMS);
    const entries = names.map((name) => [shownKey(name, owner), read(value, name, depth)]);
    return Object.fromEntries(entries.filter(([, field]) => field !== undefined)) as JsonValue;
  };
  const read = (value: object, name: string, depth: number): JsonValue | undefined => {
    try {
      const field = (value as Readonly<Record<string, unknown>>)[name];
      return field === undefined ? undefined : convert(field, name, depth + 1);
    } catch {
      return '[unreadable]'; // a getter or a proxy threw
    }
  };
  return convertFields(options, '', 0);
}

/** Name of the class of an instance; undefined for a plain object. */
function classOf(value: object): string | undefined {
  const prototype = Object.getPrototypeOf(value) as { readonly constructor?: unknown } | null;
  if (prototype === null || prototype === Object.prototype) return undefined;
  const { constructor } = prototype;
  return (typeof constructor === 'function' && constructor.name) || 'object';
}

/** An instance by its class, and its name if it has one, such as a tool. */
function nameOf(value: object, className: string): string {
  if (value instanceof RegExp || value instanceof URL || value instanceof Date)
    return String(value);
  const { name, definition } = value as {
    readonly name?: unknown;
    readonly definition?: { readonly name?: unknown };
  };
  const own = name ?? definition?.name;
  return typeof own === 'string' && own !== '' ? `${className} "${own}"` : className;
}
