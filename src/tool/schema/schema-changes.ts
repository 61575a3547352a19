import { ToolDefinitionError } from '../../errors.js';

/** Something of a schema that was mended. */
export interface SchemaChange {
  /** Where in the schema as it was given, as a JSON pointer: `#/properties/city/type`. */
  readonly path: string;
  readonly problem: string;
  /** What became of it. */
  readonly action: string;
  /** Whether the schema was no JSON Schema there: `defineTool` refuses it. Otherwise it was legal, but of an older draft or unwise. */
  readonly isFault: boolean;
}

const MAX_PATH = 200;

/** What is wrong with the schema of a tool. */
export class SchemaChanges {
  readonly list: SchemaChange[] = [];

  constructor(private readonly toolName: string) {}

  /** Something that JSON Schema does not know, and what becomes of it. */
  fault(path: string, problem: string, action: string): void {
    this.list.push({ path: shown(path), problem, action, isFault: true });
  }

  /** Something legal that is written otherwise, or better not sent to a model. */
  advice(path: string, problem: string, action: string): void {
    this.list.push({ path: shown(path), problem, action, isFault: false });
  }

  /** Something that nobody could mend without a guess. */
  refuse(path: string, problem: string, cause?: unknown): never {
    const message = `tool "${this.toolName}": the schema of its arguments cannot be used, at ${shown(path)}: ${problem}`;
    throw new ToolDefinitionError(message, this.toolName, cause === undefined ? {} : { cause });
  }
}

function shown(path: string): string {
  return path.length > MAX_PATH ? `${path.slice(0, MAX_PATH)}…` : path;
}

/** The JSON pointer to a part of what a pointer leads to. */
export function childPath(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}/${key}`;
  return `${path}/${/[~/]/.test(key) ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key}`;
}

/** What a JSON pointer leads to; undefined if there is nothing. */
export function valueAt(document: unknown, path: string): unknown {
  return path
    .split('/')
    .slice(1)
    .reduce<unknown>((at, part) => {
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
      return typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? (at as Readonly<Record<string, unknown>>)[key] : undefined;
    }, document);
}

/** A JSON pointer as it stands in a reference, where some characters have codes. */
export function decodedPointer(pointer: string): string {
  try {
    return pointer.includes('%') ? decodeURIComponent(pointer) : pointer;
  } catch {
    return pointer;
  }
}
