/**
 * What a tool returned, as text for a model: text as it is, nothing as "Done", everything else as JSON. Never throws: what JSON
 * cannot express (cycles, big integers, functions, getters that throw) is written as a short text in its place.
 */
export function resultText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === undefined) return 'Done';
  return JSON.stringify(plain(value, []));
}

function plain(value: unknown, above: readonly object[]): unknown {
  return read(() => toPlain(value, above));
}

function toPlain(value: unknown, above: readonly object[]): unknown {
  switch (typeof value) {
    case 'bigint':
    case 'symbol':
      return String(value);
    case 'function':
      return `[function ${value.name || 'anonymous'}]`;
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'object':
      return value === null ? null : plainObject(value, above);
    default:
      return value;
  }
}

function plainObject(value: object, above: readonly object[]): unknown {
  if (above.includes(value)) return '[circular]';
  if (above.length >= 100) return '[too deep]';
  const inside = [...above, value];
  const json = toJson(value);
  if (json !== value) return typeof json === 'object' && json !== null ? plainObject(json, inside) : plain(json, inside);
  if (Array.isArray(value)) return Array.from(value, (item) => plain(item ?? null, inside));
  // a null prototype: a key "__proto__" of the value stays a key
  const object = Object.create(null) as Record<string, unknown>;
  for (const key of Object.keys(value)) {
    const field = read(() => (value as Record<string, unknown>)[key]);
    if (field !== undefined) object[key] = plain(field, inside);
  }
  return object;
}

function toJson(value: object): unknown {
  if (value instanceof Error) return { name: value.name, message: value.message };
  if (value instanceof Map) return Array.from(value);
  if (value instanceof Set) return Array.from(value);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
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
  const last = text.charCodeAt(maxLength - 1);
  const end = last >= 0xd800 && last <= 0xdbff ? maxLength - 1 : maxLength;
  return `${text.slice(0, end)}\n[cut from ${text.length} to ${end} characters]`;
}
