import { PORTABLE_NAME, shortName, uniqueNames } from '../chat/tool-definition.js';
import { InvalidArgumentError, ToolDefinitionError } from '../errors/errors.js';
import { describe } from '../errors/describe.js';
import { checkOption, isPlainObject, orFunction, rule } from '../internal/options.js';
import { flattenTools } from './check-tool.js';
import { isToolProvider, type ProvidedTools, type ToolProvider } from './tool-provider.js';
import { toolResult } from './tool-result.js';
import type { NamedTool, Tool } from './tool.js';

/** Tools, nested lists of tools, or a provider of tools. */
export type ToolSource = ProvidedTools | ToolProvider;

/** A provider for a provider, a list of tools for tools. */
export type ChangedSource<T extends ToolSource> = T extends ToolProvider
  ? ToolProvider
  : readonly Tool[];

const NAMES = orFunction(rule("{ old: 'new' }", isPlainObject));
const FILTER = orFunction(rule('an array of names', Array.isArray));

/**
 * Puts a prefix before the names of tools. A name that becomes too long is truncated and ends with
 * a hash of the whole name.
 * @throws {@link InvalidArgumentError} if the prefix has characters that names must not have
 * @throws {@link ToolDefinitionError} if two tools would have the same name
 */
export function prefixTools<T extends ToolSource>(source: T, prefix: string): ChangedSource<T> {
  const where = 'prefixTools';
  checkOption(where, 'prefix', prefix, PORTABLE_NAME);
  return changeSource(source, where, (tools) =>
    withNames(tools, (name) => shortName(prefix + name), where),
  );
}

/**
 * Renames tools.
 * @param names new names by old names, or a function of the old name
 * @throws {@link InvalidArgumentError} if no tool has one of the old names
 * @throws {@link ToolDefinitionError} if a new name is invalid, or two tools would have the same
 * name
 */
export function renameTools<T extends ToolSource>(
  source: T,
  names: Readonly<Record<string, string>> | ((name: string) => string),
): ChangedSource<T> {
  const where = 'renameTools';
  checkOption(where, 'names', names, NAMES);
  return changeSource(source, where, (tools) => {
    if (typeof names === 'function') return withNames(tools, names, where);
    checkNames(Object.keys(names), tools, where);
    const newNames = new Map(Object.entries(names));
    return withNames(tools, (name) => newNames.get(name) ?? name, where);
  });
}

/**
 * Filters tools, in their order.
 * @param filter names of the tools to keep, or a predicate
 * @throws {@link InvalidArgumentError} if no tool has one of the names
 */
export function filterTools<T extends ToolSource>(
  source: T,
  filter: readonly string[] | ((tool: Tool) => boolean),
): ChangedSource<T> {
  const where = 'filterTools';
  checkOption(where, 'filter', filter, FILTER);
  return changeSource(source, where, (tools) => {
    if (typeof filter === 'function') return tools.filter((tool) => filter(tool));
    checkNames(filter, tools, where);
    return tools.filter(({ definition }) => filter.includes(definition.name));
  });
}

function withNames(
  tools: readonly Tool[],
  rename: (name: string) => string,
  where: string,
): readonly Tool[] {
  const before = tools.map(({ definition }) => definition.name);
  const names: readonly unknown[] = uniqueNames(before, rename, where);
  if (names.every((name, at) => name === before[at])) return tools;
  const newNames = new Map(before.map((name, at) => [name, checkName(names[at], name, where)]));
  return tools.map((tool) => withName(tool, newNames));
}

function checkName(name: unknown, before: string, where: string): string {
  if (name === before || PORTABLE_NAME.accepts(name)) return name as string;
  const message = `${where}: the new name of the tool "${before}" must be ${PORTABLE_NAME.text}, not ${describe(name)}`;
  throw new ToolDefinitionError(message, before);
}

/** Renames a tool, and the tools that its results unlock or lock. */
function withName(tool: Tool, newNames: ReadonlyMap<string, string>): Tool {
  const toNew = (name: string): string => newNames.get(name) ?? name;
  const { definition } = tool;
  const name = toNew(definition.name);
  return changeTool(tool, {
    ...(name !== definition.name && { definition: { ...definition, name } }),
    changeResult: (original) => {
      const result = tool.changeResult?.(original) ?? original;
      const { unlocks, locks } = result;
      if (!unlocks && !locks) return result;
      return toolResult({
        ...result,
        ...(unlocks && { unlocks: unlocks.map(toNew) }),
        ...(locks && { locks: locks.map(toNew) }),
      });
    },
  });
}

/** An unknown name is mostly a typing error: the intended tool would stay unchanged silently. */
function checkNames(names: readonly string[], tools: readonly Tool[], where: string): void {
  const known = tools.map(({ definition }) => definition.name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new InvalidArgumentError(
      `${where}: there is no tool ${unknown.join(', ')}; the tools are ${known.join(', ') || 'none'}`,
    );
}

/** Changes the tools of a source: now, or each time a provider runs. */
export function changeSource<T extends ToolSource>(
  source: T,
  where: string,
  change: (tools: readonly Tool[]) => readonly Tool[],
): ChangedSource<T> {
  const changed = isToolProvider(source)
    ? changeProvider(source, where, change)
    : change(flattenTools([source], where));
  return changed as ChangedSource<T>;
}

/** A provider of the changed tools of another provider. */
export function changeProvider(
  provider: ToolProvider,
  where: string,
  change: (tools: readonly Tool[]) => readonly Tool[] | Promise<readonly Tool[]>,
): ToolProvider {
  const { name, timeout } = provider;
  return {
    name,
    timeout,
    tools: async (request) => change(flattenTools([await provider.tools(request)], where)),
  };
}

/**
 * A copy of a tool with changes. Methods that stay run on the original, which may be an instance of
 * a class.
 */
export function changeTool(tool: Tool, changes: Omit<Partial<Tool>, 'name'>): NamedTool {
  const { definition, metadata } = tool;
  return {
    name: (changes.definition ?? definition).name,
    definition,
    metadata,
    ...(tool.validate && { validate: tool.validate.bind(tool) }),
    call: tool.call.bind(tool),
    ...(tool.validateResult && { validateResult: tool.validateResult.bind(tool) }),
    ...(tool.toContent && { toContent: tool.toContent.bind(tool) }),
    ...(tool.changeResult && { changeResult: tool.changeResult.bind(tool) }),
    ...changes,
  };
}
