import { describe } from '../chat/message.js';
import { InvalidArgumentError, ToolDefinitionError } from '../errors.js';
import { changeTool } from './change-tool.js';
import { isPortableName, PORTABLE_NAME_RULE, shortName, uniqueNames } from './portable-names.js';
import { changeSource, type ChangedSource, type ToolSource } from './tool-source.js';
import type { Tool } from './tool.js';

/**
 * Tools, or those of a provider, with a prefix before their names; where that is too long, the name is cut and ends with a hash of
 * the whole.
 * @throws {@link InvalidArgumentError} if the prefix has characters that a name cannot have
 * @throws {@link ToolDefinitionError} if two tools would have one name
 */
export function prefixTools<T extends ToolSource>(source: T, prefix: string): ChangedSource<T> {
  const where = 'prefixTools';
  if (!isPortableName(prefix))
    throw new InvalidArgumentError(`${where}: the prefix must be ${PORTABLE_NAME_RULE}, not ${describe(prefix)}`);
  return changeSource(source, where, (tools) => withNames(tools, (name) => shortName(prefix + name), where));
}

/**
 * Tools, or those of a provider, with other names: new ones by old ones, or a function of the old name.
 * @throws {@link InvalidArgumentError} if there is no tool with an old name
 * @throws {@link ToolDefinitionError} if a new name cannot be used, or two tools would have one name
 */
export function renameTools<T extends ToolSource>(
  source: T,
  names: Readonly<Record<string, string>> | ((name: string) => string),
): ChangedSource<T> {
  const where = 'renameTools';
  if (typeof names === 'function') return changeSource(source, where, (tools) => withNames(tools, names, where));
  if (typeof names !== 'object' || names === null)
    throw new InvalidArgumentError(`${where}: names must be { old: 'new' } or a function, not ${describe(names)}`);
  return changeSource(source, where, (tools) => {
    refuseUnknown(Object.keys(names), tools, where);
    return withNames(tools, (name) => (Object.hasOwn(names, name) ? (names[name] as string) : name), where);
  });
}

/**
 * Some of the tools, or of those of a provider: those with the names, in the order of the tools, or those that a function accepts.
 * @throws {@link InvalidArgumentError} if there is no tool with one of the names
 */
export function filterTools<T extends ToolSource>(source: T, kept: readonly string[] | ((tool: Tool) => boolean)): ChangedSource<T> {
  const where = 'filterTools';
  if (typeof kept === 'function') return changeSource(source, where, (tools) => tools.filter((tool) => kept(tool)));
  if (!Array.isArray(kept)) throw new InvalidArgumentError(`${where}: expected names or a function, not ${describe(kept)}`);
  return changeSource(source, where, (tools) => {
    refuseUnknown(kept, tools, where);
    return tools.filter(({ definition }) => kept.includes(definition.name));
  });
}

function withNames(tools: readonly Tool[], rename: (name: string) => string, where: string): readonly Tool[] {
  const names = uniqueNames(
    tools.map(({ definition }) => definition.name),
    rename,
    where,
  );
  return tools.map((tool, at) => withName(tool, names[at], where));
}

function withName(tool: Tool, name: unknown, where: string): Tool {
  const { definition } = tool;
  if (name === definition.name) return tool;
  if (isPortableName(name)) return changeTool(tool, { definition: { ...definition, name } });
  const message = `${where}: the new name of the tool "${definition.name}" must be ${PORTABLE_NAME_RULE}, not ${describe(name)}`;
  throw new ToolDefinitionError(message, definition.name);
}

/** A name that no tool has is mostly a slip of the pen; the tool that was meant would stay as it is in silence. */
function refuseUnknown(names: readonly string[], tools: readonly Tool[], where: string): void {
  const known = tools.map(({ definition }) => definition.name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new InvalidArgumentError(`${where}: there is no tool ${unknown.join(', ')}; the tools are ${known.join(', ') || 'none'}`);
}
