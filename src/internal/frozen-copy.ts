const NO_ITEMS: readonly unknown[] = Object.freeze([]);

/**
 * A copy that nothing can change: plain objects and arrays are copied and frozen. Everything else
 * (bytes, functions, instances of classes) is shared.
 */
export function frozenCopy<T>(value: T): T {
  return copyOf(value, undefined) as T;
}

/** A copy whose values are frozen copies. It stays open itself: freezing a long history is slow. */
export function copyFields<T extends object>(value: T): T {
  const copy = { ...value } as Record<string, unknown>;
  for (const key in copy) if (typeof copy[key] === 'object') copy[key] = frozenCopy(copy[key]);
  return copy as T;
}

/** @param before the copies of the objects around this one, for cycles; most messages need none */
function copyOf(value: unknown, before: Map<object, object> | undefined): unknown {
  if (!isPlain(value)) return value;
  if (Array.isArray(value) && value.length === 0) return NO_ITEMS;
  const known = before?.get(value);
  if (known) return known;
  const copy = (Array.isArray(value) ? value.slice() : { ...value }) as Record<string, unknown>;
  let copies = before;
  for (const key in copy) {
    const inner = copy[key];
    if (typeof inner !== 'object' || inner === null) continue;
    copies ??= new Map();
    copies.set(value, copy);
    copy[key] = copyOf(inner, copies);
  }
  return Object.freeze(copy);
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
