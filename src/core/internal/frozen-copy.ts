import { wellFormed } from './well-formed.js';

const NO_ITEMS: readonly unknown[] = Object.freeze([]);
/** Spread first: V8 freezes a copy that is one spread alone five times as slowly. */
const NO_FIELDS: object = {};
/** Deeper values are shared. */
const MAX_DEPTH = 200;
/** Cycles are looked for from here on; messages and responses are not as deep. */
const CYCLE_DEPTH = 8;

type Fields = Record<string, unknown>;

/**
 * A copy that nothing can change, of well-formed texts: plain objects and arrays are copied and
 * frozen. Everything else (bytes, functions, instances of classes) is shared, and so is what is
 * frozen already. What comes from outside becomes messages, responses and results by it.
 */
export function frozenCopy<T>(value: T): T {
  return copyOf(value, true, 0, undefined) as T;
}

/** A copy of the plain objects and arrays of a value, for a receiver that may change it. */
export function ownCopy<T>(value: T): T {
  return copyOf(value, false, 0, undefined) as T;
}

/** A list that nothing can change, of the same items. */
export function frozenList<T>(list: readonly T[]): readonly T[] {
  return Object.isFrozen(list) ? list : Object.freeze(list.slice());
}

/** An object that nothing can change, of the same values. */
export function frozenFields<T extends object>(fields: T): T {
  return Object.isFrozen(fields) ? fields : Object.freeze({ ...NO_FIELDS, ...fields });
}

/** @param before the copies of the objects around this one, for cycles; most messages need none */
function copyOf(
  value: unknown,
  freezes: boolean,
  depth: number,
  before: Map<object, object> | undefined,
): unknown {
  if (typeof value === 'string') return freezes ? wellFormed(value) : value;
  if (!isPlainData(value) || depth > MAX_DEPTH) return value;
  if (Array.isArray(value) && value.length === 0) return freezes ? NO_ITEMS : [];
  if (freezes && isFrozenWithin(value, depth, undefined)) return value;
  const known = before?.get(value);
  if (known) return known;
  const copy = Array.isArray(value) ? value.slice() : { ...NO_FIELDS, ...value };
  // an array by its indexes: its keys would be texts, a million for a million items
  const keys = Array.isArray(copy) ? undefined : Object.keys(copy);
  const { length } = keys ?? (copy as readonly unknown[]);
  const fields = copy as Fields;
  let copies = before;
  for (let at = 0; at < length; at++) {
    const key = (keys ? keys[at] : at) as string;
    const inner = fields[key];
    if (typeof inner === 'string' && freezes) fields[key] = wellFormed(inner);
    if (typeof inner !== 'object' || inner === null) continue;
    copies ??= new Map();
    copies.set(value, copy);
    fields[key] = copyOf(inner, freezes, depth + 1, copies);
  }
  return freezes ? Object.freeze(copy) : copy;
}

/**
 * True for data that is frozen and well-formed.
 * @param around the objects around this one, for cycles
 */
function isFrozenWithin(value: object, depth: number, around: Set<object> | undefined): boolean {
  if (depth > MAX_DEPTH) return true;
  if (!Object.isFrozen(value)) return false;
  // data of this depth may have cycles
  const seen = depth < CYCLE_DEPTH ? around : (around ?? new Set()).add(value);
  for (const key in value) {
    const inner = (value as Fields)[key];
    if (typeof inner === 'string' && !inner.isWellFormed()) return false;
    if (typeof inner !== 'object' || inner === null || seen?.has(inner) || !isPlainData(inner))
      continue;
    if (!isFrozenWithin(inner, depth + 1, seen)) return false;
  }
  return true;
}

function isPlainData(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
