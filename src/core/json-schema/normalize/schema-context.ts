import { ToolDefinitionError } from '../../errors/errors.js';
import { truncate } from '../../internal/text.js';
import { childPointer } from '../json-pointer.js';

/** A change that normalizing made to a schema. */
export interface SchemaChange {
  /** JSON Pointer into the given schema: `#/properties/city/type`. */
  readonly path: string;
  readonly problem: string;
  /** The correction: `removed it`. */
  readonly action: string;
  /** `error`: not JSON Schema, `defineTool` rejects it. `warning`: an older draft, or unwise. */
  readonly severity: 'error' | 'warning';
}

/** A normalized schema under construction. */
export type Draft = { [keyword: string]: unknown };

const MAX_PATH = 200;

/** Position of a schema or keyword; records the changes made there. */
export class SchemaContext {
  /**
   * @param path JSON Pointer into the given schema
   * @param target JSON Pointer into the normalized schema
   */
  constructor(
    private readonly toolName: string,
    readonly changes: SchemaChange[] = [],
    readonly path = '#',
    readonly target = '#',
  ) {}

  child(key: string | number): SchemaContext {
    const [path, target] = [childPointer(this.path, key), childPointer(this.target, key)];
    return new SchemaContext(this.toolName, this.changes, path, target);
  }

  /** @param key last key in the normalized schema */
  renamed(key: string): SchemaContext {
    const target = childPointer(this.target.replace(/\/[^/]*$/, ''), key);
    return new SchemaContext(this.toolName, this.changes, this.path, target);
  }

  error(problem: string, action: string): void {
    this.changes.push({ path: this.shownPath, problem, action, severity: 'error' });
  }

  warning(problem: string, action: string): void {
    this.changes.push({ path: this.shownPath, problem, action, severity: 'warning' });
  }

  /** @throws {@link ToolDefinitionError} for a schema whose meaning would have to be guessed */
  reject(problem: string, cause?: unknown): never {
    const message = `tool "${this.toolName}": its schema cannot be used, at ${this.shownPath}: ${problem}`;
    throw new ToolDefinitionError(message, this.toolName, cause === undefined ? {} : { cause });
  }

  private get shownPath(): string {
    return this.path.length > MAX_PATH ? `${truncate(this.path, MAX_PATH)}…` : this.path;
  }
}
