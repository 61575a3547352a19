/** JSON Pointer (RFC 6901) of a member of the value at `pointer`. */
export function childPointer(pointer: string, key: string | number): string {
  if (typeof key === 'number') return `${pointer}/${key}`;
  return `${pointer}/${/[~/]/.test(key) ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key}`;
}

/** Keys of a JSON Pointer fragment such as `#/$defs/a`. */
export function keysOf(pointer: string): readonly string[] {
  const tokens = pointer.split('/').slice(1);
  return tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Value at a JSON Pointer; undefined if there is none. */
export function valueAt(document: unknown, pointer: string): unknown {
  return keysOf(pointer).reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? (value as Readonly<Record<string, unknown>>)[key]
        : undefined,
    document,
  );
}

/** Decodes the percent-encoding of a reference. */
export function decodeReference(reference: string): string {
  try {
    return reference.includes('%') ? decodeURIComponent(reference) : reference;
  } catch {
    return reference;
  }
}

/** First of `name`, `name_2`, `name_3`, ... that an object does not have. */
export function freeName(name: string, taken: object): string {
  let free = name;
  for (let at = 2; Object.hasOwn(taken, free) || free === '__proto__'; at++) free = `${name}_${at}`;
  return free;
}

/** The value of a keyword that should be an array. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
