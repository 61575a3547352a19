import type { JsonSchema } from '../chat/tool-definition.js';
import { InvalidArgumentError, ToolDefinitionError } from '../errors/errors.js';
import { checkOption, rule } from '../internal/options.js';
import type { InferOutput, InputSchema } from '../json-schema/to-json-schema.js';
import { toolsByName } from './check-tool.js';
import { makeTool, type ToolOptions, type ToolSettings } from './define-tool.js';
import type { NamedTool, Tool as ToolType, ToolContext } from './tool.js';
import { changeTool } from './transform-tools.js';

/** Options of `@Tool`. */
export type ToolMethodOptions<S extends InputSchema = JsonSchema> = Omit<
  ToolSettings<S, unknown>,
  'name'
> & {
  /** 1 to 64 letters, digits, `_` and `-`. @default the name of the method */
  readonly name?: string | undefined;
};

type ToolMethod<This, S extends InputSchema> = (
  this: This,
  args: InferOutput<S>,
  context: ToolContext,
) => unknown;

type AnyMethod = ToolMethod<object, InputSchema>;

/** A decorated method, without the object it belongs to. */
interface DecoratedMethod {
  readonly tool: ToolType;
  /** The class of a private static method, which subclasses do not inherit. */
  readonly owner: object | undefined;
  /** Returns the method of an object; an overriding method if its class has one. */
  readonly of: (target: object) => AnyMethod;
}

/** Property of an instance with its decorated methods, and of a class with its static ones. */
const METHODS = Symbol.for('advisor-chain.tool-methods');

type DecoratedMethods = Map<unknown, DecoratedMethod>;

function decoratedMethods(holder: { readonly [METHODS]?: DecoratedMethods }): DecoratedMethods {
  return (Object.hasOwn(holder, METHODS) && holder[METHODS]) || new Map();
}

/**
 * Makes a method a tool; pass the object to `.tools(…)`. A standard decorator: leave
 * `experimentalDecorators` off.
 * @throws {@link ToolDefinitionError} when the class is defined, if it decorates no method or an
 * option is invalid
 */
export function Tool<S extends InputSchema = JsonSchema>(options: ToolMethodOptions<S> = {}) {
  return <This extends object>(
    _method: ToolMethod<This, S>,
    context: ClassMethodDecoratorContext<This, ToolMethod<This, S>>,
  ): void => {
    checkTarget(context);
    const { name = String(context.name).replace('#', '') } = options;
    const all = { ...options, name, execute: throwUnbound } as unknown;
    const tool = makeTool(all as ToolOptions<InputSchema>, '@Tool');
    // an override replaces the method of the base class; private methods of two classes never
    // override one another
    const key = context.private ? tool : context.name;
    const of = (target: object): AnyMethod => context.access.get(target as This) as AnyMethod;
    context.addInitializer(function register() {
      const owner = context.static && context.private ? this : undefined;
      const value = decoratedMethods(this).set(key, { tool, owner, of });
      Object.defineProperty(this, METHODS, { value, configurable: true });
    });
  };
}

/**
 * With `experimentalDecorators` the second argument is a name; decorators of other targets have
 * contexts of other kinds.
 */
function checkTarget(
  context: { readonly kind?: string; readonly name: string | symbol } | undefined,
): void {
  if (context?.kind === 'method') return;
  const found = context?.kind
    ? `a ${context.kind}`
    : 'a legacy decorator: turn experimentalDecorators off';
  const message = `@Tool is a standard decorator for methods; it was used on ${found}`;
  throw new ToolDefinitionError(message, String(context?.name));
}

/** Replaces the method until there is an object to call it on. */
function throwUnbound(): never {
  throw new Error('a decorated method was called without its object');
}

const TARGET = rule(
  'an object whose methods are decorated with @Tool({ … })',
  (value) => typeof value === 'function' || (typeof value === 'object' && value !== null),
);

/**
 * Returns the tools of an object's decorated methods, inherited and static ones included; of a
 * class, the static ones. The methods keep their `this`.
 * @throws {@link InvalidArgumentError} if no method is decorated with `@Tool({ … })`, or two tools
 * have the same name
 */
export function toolsFrom(target: object): readonly NamedTool[] {
  checkOption('toolsFrom', 'the target', target, TARGET);
  const tools = methodTools(target);
  if (tools.length === 0) throw new InvalidArgumentError(`toolsFrom: ${noToolsMessage(target)}`);
  toolsByName(tools); // rejects repeated names
  return tools;
}

/** Like {@link toolsFrom}, for any value; returns no tools if no method is decorated. */
export function methodTools(target: unknown): readonly NamedTool[] {
  if (typeof target === 'function') return staticTools(target);
  if (typeof target !== 'object' || target === null) return [];
  return [...decoratedTools([target], target), ...staticTools(classOf(target))];
}

/** @param holders an instance, or a class after its base classes */
function decoratedTools(holders: readonly object[], target: object): readonly NamedTool[] {
  const methods = new Map(holders.flatMap((holder) => [...decoratedMethods(holder)]));
  return [...methods.values()].map(({ tool, owner = target, of }) =>
    changeTool(tool, {
      call: (args, context) =>
        of(owner).call(owner, args as Readonly<Record<string, unknown>>, context),
    }),
  );
}

function staticTools(target: unknown): readonly NamedTool[] {
  return decoratedTools(classHierarchy(target), target as object);
}

/** A class after its base classes. */
function classHierarchy(target: unknown): readonly object[] {
  return typeof target === 'function'
    ? [...classHierarchy(Object.getPrototypeOf(target)), target]
    : [];
}

function classOf(instance: object): unknown {
  return (Object.getPrototypeOf(instance) as { readonly constructor?: unknown } | null)
    ?.constructor;
}

function noToolsMessage(target: object): string {
  if (typeof target === 'function')
    return `the class ${target.name} has no static method decorated with @Tool({ … }); for instance methods pass an object: toolsFrom(new ${target.name}(…))`;
  const { name = 'Object' } = (classOf(target) ?? {}) as { readonly name?: string };
  return `no method of ${name} is decorated with @Tool({ … }); pass plain functions to defineTool({ … }) instead`;
}
