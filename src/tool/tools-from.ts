import { describe } from '../chat/message.js';
import { InvalidArgumentError } from '../errors.js';
import { decoratedTools } from './tool-decorator.js';
import { toolsByName } from './tool-names.js';
import type { Tool } from './tool.js';

/**
 * The tools that the methods of an object are, those of its base classes and the static ones of its class included; of a class, the
 * static ones. The methods keep their `this`.
 * @throws {@link InvalidArgumentError} if no method is decorated with `@Tool({ … })`, or two tools have one name
 */
export function toolsFrom(target: object): readonly Tool[] {
  const given: unknown = target;
  if ((typeof given !== 'object' && typeof given !== 'function') || given === null)
    throw new InvalidArgumentError(`toolsFrom: expected an object whose methods are decorated with @Tool({ … }), not ${describe(given)}`);
  const tools = typeof target === 'function' ? staticTools(target) : [...decoratedTools([target], target), ...staticTools(classOf(target))];
  if (tools.length === 0) throw new InvalidArgumentError(`toolsFrom: ${withoutTools(target)}`);
  toolsByName(tools); // refuses two of one name
  return tools;
}

function classOf(instance: object): unknown {
  const { constructor } = (Object.getPrototypeOf(instance) ?? {}) as { readonly constructor?: unknown };
  return constructor;
}

/** The static tools of a class and of its base classes. */
function staticTools(target: unknown): readonly Tool[] {
  return decoratedTools(lineOf(target), target as object);
}

/** A class after those it extends. */
function lineOf(target: unknown): readonly object[] {
  return typeof target === 'function' ? [...lineOf(Object.getPrototypeOf(target)), target] : [];
}

function withoutTools(target: object): string {
  if (typeof target === 'function')
    return `the class ${target.name} has no static method decorated with @Tool({ … }); for the others give an object: toolsFrom(new ${target.name}(…))`;
  const { name = 'Object' } = (classOf(target) ?? {}) as { readonly name?: string };
  return `no method of ${name} is decorated with @Tool({ … }); give plain functions to defineTool({ … }) instead`;
}
