import { InvalidArgumentError } from '../errors.js';
import type { Tool } from './tool.js';

/**
 * The tools of a request by name.
 * @throws {@link InvalidArgumentError} if two tools have one name: the model could not say which it means
 */
export function toolsByName(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  let byName = known.get(tools);
  if (!byName) known.set(tools, (byName = index(tools)));
  return byName;
}

/** A loop asks for the same tools again in every iteration. */
const known = new WeakMap<readonly Tool[], ReadonlyMap<string, Tool>>();

function index(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const byName = new Map(tools.map((tool) => [tool.definition.name, tool]));
  if (byName.size < tools.length)
    throw new InvalidArgumentError(`two tools have the same name: ${repeated(tools).join(', ')}. Rename one of them or leave it out.`);
  return byName;
}

function repeated(tools: readonly Tool[]): string[] {
  const names = tools.map((tool) => tool.definition.name);
  return [...new Set(names.filter((name, at) => names.indexOf(name) !== at))];
}
