/** Writes to every field of a value that is plain data, and of what is inside; ignores what is refused. */
export function vandalise(value: unknown, seen = new Set<object>()): void {
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  if (!Array.isArray(value) && !isRecord(value)) return;
  const fields = value as Record<string, unknown>;
  for (const key of Object.keys(fields)) {
    vandalise(fields[key], seen);
    const type = typeof fields[key];
    if (type === 'string') attempt(() => (fields[key] = 'VANDAL'));
    else if (type === 'number') attempt(() => (fields[key] = -1));
    else if (type === 'boolean') attempt(() => (fields[key] = !(fields[key] as boolean)));
  }
  if (Array.isArray(value)) attempt(() => value.push('VANDAL'));
  else attempt(() => (fields['vandal'] = 'VANDAL'));
}

function isRecord(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function attempt(write: () => unknown): void {
  try {
    write();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // frozen
  }
}
