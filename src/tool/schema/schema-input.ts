import { childPath, type SchemaChanges } from './schema-changes.js';

/** A schema as plain data. */
export interface SchemaInput {
  readonly value: unknown;
  /** Whether a keyword in it may refer to another part. */
  readonly hasReferences: boolean;
}

/** Deeper nesting is refused: whoever reads the schema could run out of stack. */
const MAX_DEPTH = 100;
/** More values are refused; a hundred times what the largest published tools have. */
const MAX_VALUES = 100_000;

/** Keys whose values refer to other parts. */
const REFERENCES: ReadonlySet<string> = new Set(['$ref', '$dynamicRef', '$recursiveRef']);

/** Copies a schema from outside as JSON does, without keys that reach a prototype; one that is too deep or too large is refused. */
export function readSchemaInput(schema: unknown, changes: SchemaChanges): SchemaInput {
  let values = 0;
  let hasReferences = false;

  const copy = (value: unknown, path: string, depth: number): unknown => {
    if (++values > MAX_VALUES) changes.refuse('#', `it has more than ${MAX_VALUES} values, or contains itself`);
    if (depth > MAX_DEPTH) changes.refuse(path, `it is nested deeper than ${MAX_DEPTH} levels, or contains itself`);
    if (typeof value === 'bigint') changes.refuse(path, 'a BigInt is not JSON');
    if (typeof value === 'number') return Number.isFinite(value) ? value : null;
    if (typeof value !== 'object' || value === null) return isJson(value) ? value : null;
    if (Array.isArray(value)) return Array.from(value, (item, at) => copy(item, childPath(path, at), depth + 1));
    const copied: Record<string, unknown> = {};
    for (const [key, inner] of Object.entries(value)) {
      if (key === '__proto__') changes.advice(path, 'it has the key "__proto__", which is never accepted', 'left it out');
      else if (isJson(inner) || typeof inner === 'bigint') copied[key] = copy(inner, childPath(path, key), depth + 1);
      if (REFERENCES.has(key)) hasReferences = true;
    }
    return copied;
  };

  return { value: copy(schema, '#', 0), hasReferences };
}

/** Whether JSON has a form for a value; what it has none for, it leaves out. */
function isJson(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol';
}
