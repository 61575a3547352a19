import { describe } from '../chat/message.js';
import type { JsonSchema, ToolDefinition } from '../chat/tool-definition.js';
import { ToolDefinitionError } from '../errors.js';
import { isStandardSchema, toToolSchema, type InferInput, type InputSchema } from './input-schema.js';
import { isTimeout, TIMEOUT_RULE } from './timeout.js';
import type { Tool, ToolContext, ToolMetadata } from './tool.js';
import { jsonSchemaValidator, standardValidator } from './validation.js';

/** What a tool is made from. */
export interface ToolOptions<S extends InputSchema> extends ToolMetadata {
  /** 1 to 64 letters, digits, `_` and `-`: what every provider accepts. */
  readonly name: string;
  /** What the tool does, for the model. @default the name split into words */
  readonly description?: string | undefined;
  /** Schema of the arguments: zod 4, zod 3, any Standard Schema, or JSON Schema. @default no arguments */
  readonly input?: S | undefined;
  /** JSON Schema of the arguments, where `input` is of a library that cannot convert it. */
  readonly inputSchema?: JsonSchema | undefined;
  /** Whether the provider is asked to enforce the schema. @default the model's `strictTools` */
  readonly strict?: boolean | undefined;
  /** Does the work. Throw a `ToolError` to tell the model what went wrong; other errors reach it as a general text. */
  execute(args: InferInput<S>, context: ToolContext): unknown;
}

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * Makes a tool from a function.
 * @throws {@link ToolDefinitionError} at once if the name or the schema cannot be offered to a model
 */
export function defineTool<S extends InputSchema = JsonSchema>(options: ToolOptions<S>): Tool {
  checkToolOptions(options);
  const input: InputSchema = options.input ?? {};
  const definition = toDefinition(options, input);
  return {
    definition,
    metadata: {
      returnDirect: options.returnDirect ?? false,
      deferred: options.deferred ?? false,
      ...(options.timeout !== undefined && { timeout: options.timeout }),
    },
    validate: isStandardSchema(input) ? standardValidator(input) : jsonSchemaValidator(definition.inputSchema),
    call: (args, context) => options.execute(args as InferInput<S>, context),
  };
}

function toDefinition(options: ToolOptions<InputSchema>, input: InputSchema): ToolDefinition {
  const { name, description } = options;
  return {
    name,
    description: description?.trim() ? description : wordsOf(name),
    inputSchema: toToolSchema(options.inputSchema ?? input, name),
    ...(options.strict !== undefined && { strict: options.strict }),
  };
}

function checkToolOptions(options: ToolOptions<InputSchema>): void {
  const { name, description, timeout } = options ?? ({} as Partial<ToolOptions<InputSchema>>);
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw new ToolDefinitionError(`defineTool: name must be 1 to 64 letters, digits, "_" or "-", not ${describe(name)}`, String(name));
  }
  const check = (option: string, value: unknown, rule: string, holds: boolean): void => {
    if (!holds) throw new ToolDefinitionError(`tool "${name}": ${option} must be ${rule}, not ${describe(value)}`, name);
  };
  const execute: unknown = Reflect.get(options, 'execute');
  check('execute', execute, 'a function', typeof execute === 'function');
  check('description', description, 'a string', description === undefined || typeof description === 'string');
  check('timeout', timeout, TIMEOUT_RULE, timeout === undefined || isTimeout(timeout));
  for (const option of ['input', 'inputSchema'] as const) {
    const schema: unknown = options[option];
    // an undefined schema is mostly one that a circular import has not made yet; the tool would silently take no arguments
    check(option, schema, 'a schema, or left out', !(option in options) || (schema !== undefined && schema !== null));
  }
}

/** `getCurrentWeather` and `get_current_weather` as `get current weather`. */
function wordsOf(name: string): string {
  return name
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[_-]+/g, ' ')
    .trim()
    .toLowerCase();
}
