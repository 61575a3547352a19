import type { ToolCall } from '../chat/message.js';
import type { JsonSchema } from '../chat/tool-definition.js';
import { InvalidArgumentError } from '../errors/errors.js';
import { frozenCopy, ownCopy } from '../internal/frozen-copy.js';
import { BOOLEAN, checkOption, checkOptions, FUNCTION } from '../internal/options.js';
import { mergeSchemas } from '../json-schema/merge-schemas.js';
import { toToolSchema, type InferOutput, type InputSchema } from '../json-schema/to-json-schema.js';
import { toValidator, type Validate, type Validation } from '../json-schema/validator.js';
import type { Tool } from './tool.js';
import {
  changeSource,
  changeTool,
  type ChangedSource,
  type ToolSource,
} from './transform-tools.js';

const WHERE = 'augmentTools';

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
  onArguments: (call: AugmentedCall<InferOutput<S>>) => unknown,
  options: AugmentOptions = {},
): ChangedSource<T> {
  checkOptions(WHERE, options, { keep: BOOLEAN });
  const { keep = false } = options;
  checkOption(WHERE, 'onArguments', onArguments, FUNCTION);
  const added = addedArguments(schema);
  const callback = onArguments as (call: AugmentedCall<unknown>) => unknown;
  return changeSource(source, WHERE, (tools) =>
    tools.map((tool) => augmentTool(tool, added, callback, keep)),
  );
}

type Arguments = Readonly<Record<string, unknown>>;

/** The arguments of a call: the tool's own, and the added ones. */
interface SplitArguments {
  readonly own: unknown;
  readonly extra: unknown;
}

interface AddedArguments {
  readonly schema: JsonSchema;
  readonly validate: Validate;
  readonly split: (args: unknown) => SplitArguments;
}

function addedArguments(input: InputSchema): AddedArguments {
  const schema = toToolSchema(input, WHERE);
  const names = new Set(Object.keys(schema['properties'] as Arguments));
  if (names.size === 0)
    throw new InvalidArgumentError(`${WHERE}: the schema must have at least one property`);
  const pick = (args: unknown, added: boolean): Arguments =>
    Object.fromEntries(
      Object.entries(args as Arguments).filter(([name]) => names.has(name) === added),
    );
  return {
    schema,
    validate: toValidator(input, schema),
    split: (args) => ({ own: pick(args, false), extra: pick(args, true) }),
  };
}

function augmentTool(
  tool: Tool,
  added: AddedArguments,
  onArguments: (call: AugmentedCall<unknown>) => unknown,
  keep: boolean,
): Tool {
  const { definition, metadata } = tool;
  const { concurrencyKey } = metadata;
  /** By the merged object: a schema may change both parts, also to values without fields. */
  const validated = new WeakMap<object, SplitArguments>();
  const split = (args: unknown): SplitArguments =>
    validated.get(args as object) ?? added.split(args);
  const inputSchema = mergeSchemas(definition.inputSchema, added.schema, definition.name, WHERE);
  return changeTool(tool, {
    definition: { ...definition, inputSchema },
    metadata: concurrencyKey
      ? { ...metadata, concurrencyKey: (args) => concurrencyKey(split(args).own) }
      : metadata,
    validate: async (args, limits) => {
      const parts = added.split(args);
      const [own, extra] = await Promise.all([
        tool.validate?.(parts.own, limits) ?? { value: parts.own },
        added.validate(parts.extra, limits),
      ]);
      if (!('value' in own) || !('value' in extra))
        return { issues: [...issuesOf(own), ...issuesOf(extra)] };
      const fields = frozenCopy({ ...(own.value as object), ...(extra.value as object) });
      const value = Object.freeze(Object.assign(new MergedArguments(), fields));
      validated.set(value, { own: own.value, extra: extra.value });
      return { value };
    },
    call: async (args, context) => {
      const { own, extra } = split(args);
      await onArguments({ tool, call: context.call, arguments: ownCopy(extra) });
      return tool.call(keep ? { ...(args as object) } : ownCopy(own), context);
    },
  });
}

/** Shared, not copied, so that the parts of it are found again. */
class MergedArguments {}

function issuesOf(validation: Validation): readonly string[] {
  return 'issues' in validation ? validation.issues : [];
}
