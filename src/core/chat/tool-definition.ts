import { ToolDefinitionError } from '../errors/errors.js';
import { rule } from '../internal/options.js';
import { sha256Hex } from '../internal/text.js';

/** A JSON Schema as plain data. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** The description of a tool for the model. */
export interface ToolDefinition<Name extends string = string> {
  readonly name: Name;
  readonly description: string;
  /** JSON Schema of the arguments; its type is `object`. */
  readonly inputSchema: JsonSchema;
  /** JSON Schema of the result, for providers that take it. */
  readonly outputSchema?: JsonSchema | undefined;
  /** Asks the provider to enforce the schema. @default the setting of the model */
  readonly strict?: boolean;
  /** Hides the tool until the provider's tool search finds it (`defer_loading`). @default false */
  readonly deferLoading?: boolean | undefined;
}

/** Anything with a definition, such as a tool: offered to the model by a prompt. */
export interface OfferedTool<Name extends string = string, Input = unknown, Output = unknown> {
  readonly definition: ToolDefinition<Name>;
  /** Types of the checked arguments and of the result, for the compiler; absent at run time. */
  readonly '~types'?: { readonly input: Input; readonly output: Output };
}

const MAX_LENGTH = 64;
const HASH_LENGTH = 8;

/** Tool names that every provider accepts. */
export const PORTABLE_NAME = rule(
  '1 to 64 letters, digits, "_" or "-"',
  (name) => typeof name === 'string' && /^[a-zA-Z0-9_-]{1,64}$/.test(name),
);

/** Truncates a longer name and appends a hash of it. */
export function shortName(name: string, maxLength: number = MAX_LENGTH): string {
  if (name.length <= maxLength) return name;
  return `${name.slice(0, maxLength - HASH_LENGTH - 1)}_${sha256Hex(name).slice(0, HASH_LENGTH)}`;
}

/**
 * Renames tools.
 * @throws {@link ToolDefinitionError} if two tools would have the same name
 */
export function uniqueNames(
  names: readonly string[],
  rename: (name: string) => string,
  where: string,
): readonly string[] {
  const owners = new Map<string, string>();
  return names.map((name) => {
    const renamed = rename(name);
    const owner = owners.get(renamed);
    if (owner !== undefined)
      throw new ToolDefinitionError(
        `${where}: the tools "${owner}" and "${name}" would both have the name "${renamed}"`,
        name,
      );
    owners.set(renamed, name);
    return renamed;
  });
}
