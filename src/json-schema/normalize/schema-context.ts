import { ToolDefinitionError } from '../../errors.js';
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

/** Keywords whose schemas apply together with others, or only where a reference leads to them. */
const PARTS: ReadonlySet<string> = new Set(
  'allOf anyOf oneOf not if then else dependentSchemas $defs contains'.split(' '),
);
const MAX_PATH = 200;

/** Position of a schema or keyword; records the changes made there. */
export class SchemaContext {
  /**
   * @param path JSON Pointer into the given schema
   * @param target JSON Pointer into the normalized schema
   * @param isPart whether the schema applies together with others, so that it may be incomplete
   */
  constructor(
    private readonly toolName: string,
    readonly changes: SchemaChange[] = [],
    readonly path = '#',
    readonly target = '#',
    readonly isPart = false,
  ) {}

  at(path: string, target = this.target, isPart = this.isPart): SchemaContext {
    return new SchemaContext(this.toolName, this.changes, path, target, isPart);
  }

  /** @param target key in the normalized schema */
  child(key: string | number, target = key, isPart = this.isPart): SchemaContext {
    return this.at(childPointer(this.path, key), childPointer(this.target, target), isPart);
  }

  /** Context of the schemas in a keyword. @param target keyword in the normalized schema */
  keyword(keyword: string, target = keyword): SchemaContext {
    return this.child(keyword, target, PARTS.has(target));
  }

  error(problem: string, action: string): void {
    this.changes.push({ path: this.shownPath, problem, action, severity: 'error' });
  }

  warning(problem: string, action: string): void {
    this.changes.push({ path: this.shownPath, problem, action, severity: 'warning' });
  }

  /** @throws {@link ToolDefinitionError} for a schema whose meaning would have to be guessed */
  reject(problem: string, cause?: unknown): never {
    const message = `tool "${this.toolName}": the schema of its arguments cannot be used, at ${this.shownPath}: ${problem}`;
    throw new ToolDefinitionError(message, this.toolName, cause === undefined ? {} : { cause });
  }

  private get shownPath(): string {
    return this.path.length > MAX_PATH ? `${truncate(this.path, MAX_PATH)}…` : this.path;
  }
}
