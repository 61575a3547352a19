import { describe, type ToolCall } from '../chat/message.js';
import { InvalidArgumentError } from '../errors.js';
import { augmentSchema } from './schema/augment-schema.js';
import { changeTool } from './change-tool.js';
import { isStandardSchema, toToolSchema, type InferInput, type InputSchema } from './schema/input-schema.js';
import { changeSource, type ChangedSource, type ToolSource } from './tool-source.js';
import type { Tool, Validation } from './tool.js';
import { jsonSchemaValidator, standardValidator } from './schema/validation.js';

/** A call with the arguments that the tool does not have. */
export interface AugmentedCall<Extra> {
  readonly tool: Tool;
  readonly call: ToolCall;
  /** The additional arguments, checked. */
  readonly arguments: Extra;
}

/** Options of {@link augmentTools}. */
export interface AugmentOptions {
  /** Whether the tool gets the additional arguments too. @default false */
  readonly keep?: boolean | undefined;
}

/**
 * Tools, or those of a provider, with more arguments than they have: the model fills them in, a function gets them before the tool
 * runs, and the tool does not see them. What the function throws is an error of the call, and the tool does not run.
 * @throws {@link InvalidArgumentError} if the schema has no properties, or what should be a function is none
 * @throws {@link ToolDefinitionError} if a tool has an argument of the same name
 */
export function augmentTools<T extends ToolSource, S extends InputSchema>(
  source: T,
  schema: S,
  onArguments: (call: AugmentedCall<InferInput<S>>) => unknown,
  options: AugmentOptions = {},
): ChangedSource<T> {
  const where = 'augmentTools';
  if (typeof onArguments !== 'function')
    throw new InvalidArgumentError(`${where}: expected a function that gets the arguments, not ${describe(onArguments)}`);
  const extra = new ExtraArguments(schema, where);
  const told = onArguments as (call: AugmentedCall<unknown>) => unknown;
  return changeSource(source, where, (tools) => tools.map((tool) => augment(tool, extra, told, options.keep ?? false)));
}

type Arguments = Readonly<Record<string, unknown>>;

/** The arguments of a call: those of the tool, and the additional ones. */
interface Parts {
  readonly own: unknown;
  readonly extra: unknown;
}

class ExtraArguments {
  readonly schema: ReturnType<typeof toToolSchema>;
  readonly validate: (value: unknown) => Validation | Promise<Validation>;
  private readonly names: ReadonlySet<string>;

  constructor(schema: InputSchema, where: string) {
    this.schema = toToolSchema(schema, where);
    this.names = new Set(Object.keys(this.schema['properties'] as Arguments));
    if (this.names.size === 0) throw new InvalidArgumentError(`${where}: the schema has no properties, so there is nothing to add`);
    this.validate = isStandardSchema(schema) ? standardValidator(schema) : jsonSchemaValidator(this.schema);
  }

  split(args: unknown): { readonly own: Arguments; readonly extra: Arguments } {
    const entries = Object.entries(args as Arguments);
    return {
      own: Object.fromEntries(entries.filter(([name]) => !this.names.has(name))),
      extra: Object.fromEntries(entries.filter(([name]) => this.names.has(name))),
    };
  }
}

function augment(tool: Tool, extra: ExtraArguments, onArguments: (call: AugmentedCall<unknown>) => unknown, keep: boolean): Tool {
  const { definition, metadata } = tool;
  const { concurrencyKey } = metadata;
  // what was checked, by the arguments as advisors see them: a schema may turn its part into anything, also into what has no names
  const checked = new WeakMap<object, Parts>();
  const partsOf = (args: unknown): Parts => checked.get(args as object) ?? extra.split(args);
  return changeTool(tool, {
    definition: { ...definition, inputSchema: augmentSchema(definition.inputSchema, extra.schema, definition.name) },
    metadata: { ...metadata, ...(concurrencyKey && { concurrencyKey: (args: unknown) => concurrencyKey(partsOf(args).own) }) },
    validate: async (args) => {
      const given = extra.split(args);
      const [own, added] = await Promise.all([tool.validate?.(given.own) ?? { value: given.own }, extra.validate(given.extra)]);
      if (!('value' in own) || !('value' in added)) return { issues: [...issuesOf(own), ...issuesOf(added)] };
      const value = { ...fieldsOf(own.value), ...fieldsOf(added.value) };
      checked.set(value, { own: own.value, extra: added.value });
      return { value };
    },
    call: async (args, context) => {
      const parts = partsOf(args);
      await onArguments({ tool, call: context.call, arguments: parts.extra });
      return tool.call(keep ? args : parts.own, context);
    },
  });
}

function fieldsOf(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}

function issuesOf(validation: Validation): readonly string[] {
  return 'issues' in validation ? validation.issues : [];
}
