import { describe } from '../chat/message.js';
import type { JsonSchema } from '../chat/tool-definition.js';
import { ToolDefinitionError } from '../errors.js';
import { changeTool } from './change-tool.js';
import { makeTool } from './define-tool.js';
import type { InferInput, InputSchema } from './schema/input-schema.js';
import { checkToolOptions, type ToolOptions, type ToolSettings } from './tool-options.js';
import type { Tool as ToolType, ToolContext } from './tool.js';

/** What a tool is made from whose work a method does; everything is optional. */
export type ToolMethodOptions<S extends InputSchema = JsonSchema> = Omit<ToolSettings<S, unknown>, 'name'> & {
  /** 1 to 64 letters, digits, `_` and `-`. @default the name of the method */
  readonly name?: string | undefined;
};

/** A method as a decorator sees it: its class, and what it does with arguments that were checked. */
type ToolMethod<This, S extends InputSchema> = (this: This, args: InferInput<S>, context: ToolContext) => unknown;

type AnyMethod = ToolMethod<object, InputSchema>;

/** A method that is a tool, without the object it belongs to. */
interface DecoratedMethod {
  readonly tool: ToolType;
  /** The object that has the method, where another one that inherits from it has not: a class with a private static method. */
  readonly owner: object | undefined;
  /** The method of an object; of a class that overrides it, the overriding one. */
  readonly of: (target: object) => AnyMethod;
}

/** The decorated methods by object: by instance, and by class for static ones. */
const decorated = new WeakMap<object, Map<unknown, DecoratedMethod>>();

/**
 * Makes a method a tool; `toolsFrom(instance)` gives the tools of an object. A standard decorator: leave `experimentalDecorators` off.
 * @throws {@link ToolDefinitionError} when the class is defined, if it is no method or an option cannot be used
 */
export function Tool<S extends InputSchema = JsonSchema>(options: ToolMethodOptions<S> = {}) {
  return <This extends object>(_method: ToolMethod<This, S>, context: ClassMethodDecoratorContext<This, ToolMethod<This, S>>): void => {
    checkTarget(context);
    const tool = defineMethod(options as ToolMethodOptions<InputSchema>, context.name);
    // an override has the place of what it overrides; private methods of two classes are two, whatever they are called
    const key = context.private ? tool : context.name;
    const of = (target: object): AnyMethod => context.access.get(target as This) as AnyMethod;
    context.addInitializer(function register() {
      const owner = context.static && context.private ? this : undefined;
      const methods = decorated.get(this) ?? new Map<unknown, DecoratedMethod>();
      decorated.set(this, methods.set(key, { tool, owner, of }));
    });
  };
}

/**
 * The tools that were registered for some objects, to be called on a target; an override has the place of what it overrides.
 * @param holders an object, or a class after those it extends
 */
export function decoratedTools(holders: readonly object[], target: object): readonly ToolType[] {
  const methods = new Map(holders.flatMap((holder) => [...(decorated.get(holder) ?? [])]));
  return [...methods.values()].map(({ tool, owner = target, of }) =>
    changeTool(tool, { call: (args, context) => of(owner).call(owner, args as Readonly<Record<string, unknown>>, context) }),
  );
}

function defineMethod(options: ToolMethodOptions<InputSchema>, method: string | symbol): ToolType {
  if (typeof options !== 'object' || options === null)
    throw new ToolDefinitionError(`@Tool: expected options, as in @Tool({ description: '…' }), not ${describe(options)}`, String(method));
  const name = options.name ?? (typeof method === 'string' ? method.replace('#', '') : undefined);
  if (name === undefined) {
    const message = `@Tool: the method ${String(method)} needs a name: @Tool({ name: '…' })`;
    throw new ToolDefinitionError(message, String(method));
  }
  const whole: ToolOptions<InputSchema> = { ...options, name, execute: unbound };
  checkToolOptions(whole, '@Tool');
  return makeTool(whole);
}

/** Takes the place of the method until there is an object to call it on. */
function unbound(): never {
  throw new Error('a method was called without its object');
}

/** With `experimentalDecorators` the second argument is a name; other decorators have contexts of other kinds. */
function checkTarget(context: { readonly kind: string; readonly name: string | symbol } | undefined): void {
  const kind = context?.kind;
  if (kind === 'method') return;
  const found = kind === undefined ? 'the old kind of decorators: turn experimentalDecorators off' : `a ${kind}`;
  throw new ToolDefinitionError(`@Tool is a standard decorator for methods; it was used on ${found}`, String(context?.name));
}
