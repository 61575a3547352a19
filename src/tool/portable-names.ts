import { sha256Hex } from '../chat/hash.js';
import { ToolDefinitionError } from '../errors.js';

/** What a name must be, for messages: the strictest of the rules of the providers. */
export const PORTABLE_NAME_RULE = '1 to 64 letters, digits, "_" or "-"';

const PORTABLE_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const MAX_LENGTH = 64;
const HASH_LENGTH = 8;

/** Whether every provider takes a name. */
export function isPortableName(name: unknown): name is string {
  return typeof name === 'string' && PORTABLE_NAME.test(name);
}

/** A name of at most some characters: a longer one is cut, with a hash of the whole in place of what is missing. */
export function shortName(name: string, maxLength: number = MAX_LENGTH): string {
  if (name.length <= maxLength) return name;
  return `${name.slice(0, maxLength - HASH_LENGTH - 1)}_${sha256Hex(name).slice(0, HASH_LENGTH)}`;
}

/**
 * Gives names new ones, and refuses it if two would have one.
 * @throws {@link ToolDefinitionError} naming both
 */
export function uniqueNames(names: readonly string[], rename: (name: string) => string, where: string): readonly string[] {
  const owners = new Map<string, string>();
  return names.map((name) => {
    const renamed = rename(name);
    const owner = owners.get(renamed);
    if (owner !== undefined)
      throw new ToolDefinitionError(`${where}: the tools "${owner}" and "${name}" would both have the name "${renamed}"`, name);
    owners.set(renamed, name);
    return renamed;
  });
}
