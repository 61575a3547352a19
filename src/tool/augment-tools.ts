import type { ToolCall } from '../chat/message.js';
import { InvalidArgumentError } from '../errors.js';
import { checkOption, FUNCTION } from '../internal/options.js';
import { mergeSchemas } from '../json-schema/merge-schemas.js';
import {
  isStandardSchema,
  toToolSchema,
  type InferInput,
  type InputSchema,
} from '../json-schema/to-json-schema.js';
import {
  jsonSchemaValidator,
  standardValidator,
  type Validation,
} from '../json-schema/validator.js';
import type { Tool, ToolMetadata } from './tool.js';
import {
  changeSource,
  changeTool,
  type ChangedSource,
  type ToolSource,
} from './transform-tools.js';

/** A call with the additional arguments. */
export interface AugmentedCall<Extra> {
  readonly tool: Tool;
  readonly call: ToolCall;
  /** The additional arguments, checked. */
  readonly arguments: Extra;
}

/** Options of {@link augmentTools}. */
export interface AugmentOptions {
  /** Passes the additional arguments to the tool too. @default false */
  readonly keep?: boolean | undefined;
}

/**
 * Adds arguments to tools: the model fills them in, a function receives them before the tool runs,
 * and the tool does not. If the function throws, the call fails and the tool does not run.
 * @throws {@link InvalidArgumentError} if the schema has no properties, or `onArguments` is not a
 * function
 * @throws {@link ToolDefinitionError} if a tool has an argument of the same name
 */
export function augmentTools<T extends ToolSource, S extends InputSchema>(
  source: T,
  schema: S,
  onArguments: (call: AugmentedCall<InferInput<S>>) => unknown,
  { keep = false }: AugmentOptions = {},
): ChangedSource<T> {
  const where = 'augmentTools';
  checkOption(where, 'onArguments', onArguments, FUNCTION);
  const extra = new ExtraArguments(schema, where);
  const callback = onArguments as (call: AugmentedCall<unknown>) => unknown;
  return changeSource(source, where, (tools) =>
    tools.map((tool) => new AugmentedTool(tool, extra).toTool(callback, keep)),
  );
}

type Arguments = Readonly<Record<string, unknown>>;

/** The arguments of a call: those of the tool, and the additional ones. */
interface SplitArguments {
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
    if (this.names.size === 0)
      throw new InvalidArgumentError(`${where}: the schema must have at least one property`);
    this.validate = isStandardSchema(schema)
      ? standardValidator(schema)
      : jsonSchemaValidator(this.schema);
  }

  split(args: unknown): { readonly own: Arguments; readonly extra: Arguments } {
    const entries = Object.entries(args as Arguments);
    return {
      own: Object.fromEntries(entries.filter(([name]) => !this.names.has(name))),
      extra: Object.fromEntries(entries.filter(([name]) => this.names.has(name))),
    };
  }
}

class AugmentedTool {
  /**
   * Validated arguments by their merged object: a schema may change both parts, also to values
   * without fields.
   */
  private readonly validated = new WeakMap<object, SplitArguments>();

  constructor(
    private readonly tool: Tool,
    private readonly extra: ExtraArguments,
  ) {}

  toTool(onArguments: (call: AugmentedCall<unknown>) => unknown, keep: boolean): Tool {
    const { tool } = this;
    const { definition } = tool;
    const inputSchema = mergeSchemas(definition.inputSchema, this.extra.schema, definition.name);
    return changeTool(tool, {
      definition: { ...definition, inputSchema },
      metadata: this.metadata(),
      validate: (args) => this.validate(args),
      call: async (args, context) => {
        const { own, extra } = this.split(args);
        await onArguments({ tool, call: context.call, arguments: extra });
        return tool.call(keep ? args : own, context);
      },
    });
  }

  private metadata(): ToolMetadata {
    const { metadata } = this.tool;
    const { concurrencyKey } = metadata;
    if (!concurrencyKey) return metadata;
    return { ...metadata, concurrencyKey: (args) => concurrencyKey(this.split(args).own) };
  }

  private async validate(args: unknown): Promise<Validation> {
    const parts = this.extra.split(args);
    const [own, extra] = await Promise.all([
      this.tool.validate?.(parts.own) ?? { value: parts.own },
      this.extra.validate(parts.extra),
    ]);
    if (!('value' in own) || !('value' in extra))
      return { issues: [...issuesOf(own), ...issuesOf(extra)] };
    const value = { ...fieldsOf(own.value), ...fieldsOf(extra.value) };
    this.validated.set(value, { own: own.value, extra: extra.value });
    return { value };
  }

  private split(args: unknown): SplitArguments {
    return this.validated.get(args as object) ?? this.extra.split(args);
  }
}

function fieldsOf(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}

function issuesOf(validation: Validation): readonly string[] {
  return 'issues' in validation ? validation.issues : [];
}
