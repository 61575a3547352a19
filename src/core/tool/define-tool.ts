import type { ToolMessage } from '../chat/message.js';
import { PORTABLE_NAME, type JsonSchema, type ToolDefinition } from '../chat/tool-definition.js';
import { InvalidArgumentError, ToolDefinitionError } from '../errors/errors.js';
import { frozenCopy } from '../internal/frozen-copy.js';
import type { JsonValue } from '../internal/json.js';
import { describe } from '../errors/describe.js';
import { nameHint } from '../internal/name-hint.js';
import {
  BOOLEAN,
  checkFields,
  checkOption,
  FUNCTION,
  isPlainObject,
  rule,
} from '../internal/options.js';
import {
  toResultSchema,
  toToolSchema,
  type InferOutput,
  type InputSchema,
} from '../json-schema/to-json-schema.js';
import { isStandardSchema } from '../json-schema/standard-schema.js';
import { toValidator, type Validate } from '../json-schema/validator.js';
import { checkRetries, METADATA_RULES, STRING } from './check-tool.js';
import { callClient } from './client-tool.js';
import { hiddenText } from './hidden-text.js';
import { jsonOf, resultText } from './result-text.js';
import { isToolResult } from './tool-result.js';
import type { NamedTool, OutputOf, Tool, ToolContext, ToolMetadata } from './tool.js';

/** Options shared by tools from functions and tools from methods. */
export interface ToolSettings<S extends InputSchema, Output> extends Omit<
  ToolMetadata,
  'concurrencyKey'
> {
  /** 1 to 64 letters, digits, `_` and `-`: the names that every provider accepts. */
  readonly name: string;
  /** Description for the model. @default the name, split into words */
  readonly description?: string | undefined;
  /**
   * Schema of the arguments: zod 4, zod 3, any Standard Schema, or JSON Schema as an object or text.
   * @default no arguments
   */
  readonly input?: S | undefined;
  /**
   * The same as `input`; or, beside an `input` whose library cannot convert it, its JSON Schema.
   * @default the JSON Schema of `input`
   */
  readonly inputSchema?: S | JsonSchema | string | undefined;
  /**
   * Schema of the result. Model and application get the checked value; a result that does not fit
   * is an error result, with a `ToolOutputError` for the application.
   * @default any result
   */
  readonly output?: InputSchema | undefined;
  /** Asks the provider to enforce the schema. @default the model's `strictTools` */
  readonly strict?: boolean | undefined;
  /** Rejects names that some providers reject; see `withToolNames`. @default true */
  readonly strictName?: boolean | undefined;
  /**
   * Replaces the result for the model; the application receives the original. Media need
   * `toolResult({ content })`.
   */
  toModelOutput?(value: Output): unknown;
  /**
   * Converts a result, or the output of `toModelOutput`, to content.
   * @default see `Tool.toContent`
   */
  resultConverter?(value: unknown): ToolMessage['content'] | Promise<ToolMessage['content']>;
  /**
   * Resource of a call, or a function that derives it from the arguments; see {@link
   * ToolMetadata.concurrencyKey}.
   */
  readonly concurrencyKey?: string | ((args: InferOutput<S>) => string | undefined) | undefined;
}

/** Options of {@link defineTool}. */
export interface ToolOptions<
  S extends InputSchema,
  R = unknown,
  Name extends string = string,
  O extends InputSchema = JsonSchema,
> extends ToolSettings<S, OutputOf<O, R>> {
  readonly name: Name;
  readonly output?: O | undefined;
  /**
   * Runs the tool. Returns the result, a Promise of it, or a generator or an Observable whose last
   * item is the result. Throw a `ToolError` to send its message to the model; the model never sees
   * the messages of other errors.
   * @default the client runs the tool: an `ApprovalAdvisor` asks for its output, which is JSON
   */
  execute?(args: InferOutput<S>, context: ToolContext): R;
}

/**
 * Makes a tool from a function.
 * @throws {@link ToolDefinitionError} if the name, the schema or another option is invalid
 */
export function defineTool<
  const Name extends string,
  S extends InputSchema = JsonSchema,
  O extends InputSchema = JsonSchema,
  R = JsonValue,
>(options: ToolOptions<S, R, Name, O>): NamedTool<Name, InferOutput<S>, OutputOf<O, R>> {
  const tool = makeTool(options as unknown as ToolOptions<InputSchema>, 'defineTool');
  return tool as NamedTool<Name, InferOutput<S>, OutputOf<O, R>>;
}

/** @throws {@link ToolDefinitionError} if an option is invalid */
export function makeTool(options: ToolOptions<InputSchema>, where: string): NamedTool {
  checkToolOptions(options, where);
  const { inputSchema, input = inputSchema ?? {}, output } = options;
  const definition = frozenCopy(toDefinition(options, inputSchema ?? input));
  const hidden = hiddenText(definition);
  if (hidden !== undefined)
    throw new ToolDefinitionError(`tool ${describe(options.name)}: ${hidden}`, options.name);
  const toContent = toConverter(options);
  return Object.freeze<NamedTool>({
    name: definition.name,
    definition,
    metadata: Object.freeze(toMetadata(options)),
    validate: toValidator(input, definition.inputSchema),
    call: options.execute
      ? (args, context) => options.execute?.(args as Readonly<Record<string, unknown>>, context)
      : (args, context) => callClient(args, definition.outputSchema, context),
    ...(output !== undefined && {
      validateResult: toResultValidator(output, definition.outputSchema ?? {}),
    }),
    ...(toContent && { toContent }),
  });
}

/** JSON Schema describes what the model reads, in which a date is a text. */
function toResultValidator(output: InputSchema, schema: JsonSchema): Validate {
  const validate = toValidator(output, schema);
  if (isStandardSchema(output)) return validate;
  return async (value, limits) => {
    const checked = await validate(jsonOf(value, limits?.maxResultLength), limits);
    return 'value' in checked ? { value } : checked;
  };
}

function toDefinition(options: ToolOptions<InputSchema>, input: InputSchema): ToolDefinition {
  const { name, description, strict, output } = options;
  return {
    name,
    description: description?.trim() ? description : splitWords(name),
    inputSchema: toToolSchema(input, name),
    ...(output !== undefined && {
      outputSchema: toResultSchema(output, name),
    }),
    ...(strict !== undefined && { strict }),
  };
}

/** `getCurrentWeather` and `get_current_weather` as `get current weather`. */
function splitWords(name: string): string {
  return name
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[_.-]+/g, ' ')
    .trim()
    .toLowerCase();
}

function toConverter(options: ToolSettings<InputSchema, unknown>): Tool['toContent'] {
  if (!options.toModelOutput && !options.resultConverter) return undefined;
  return async (value) => {
    const output = options.toModelOutput ? await options.toModelOutput(value) : value;
    if (options.resultConverter) return options.resultConverter(output);
    return isToolResult(output) ? output.content : resultText(output);
  };
}

/** Metadata without absent options. */
function toMetadata(options: ToolOptions<InputSchema>): ToolMetadata {
  const { concurrencyKey: key } = options;
  const names = Object.keys(METADATA_RULES) as (keyof ToolMetadata)[];
  const entries = names.map((name) => [name, options[name]] as const);
  return {
    returnDirect: false,
    deferred: false,
    ...(!options.execute && { cacheable: false }), // another user's client gives another output
    ...Object.fromEntries(entries.filter(([, value]) => value !== undefined)),
    ...(typeof key === 'string' && { concurrencyKey: () => key }),
  };
}

/** Every option, with its names in other libraries. */
const OPTION_NAMES = {
  name: [],
  description: [],
  input: ['parameters', 'schema', 'args', 'inputs', 'argsSchema', 'paramsSchema'],
  inputSchema: ['jsonSchema'],
  output: ['outputSchema', 'returns', 'response'],
  strict: [],
  strictName: [],
  execute: 'handler func fn function run call invoke callback implementation'.split(' '),
  toModelOutput: [],
  resultConverter: ['converter', 'outputConverter'],
  returnDirect: ['returnsDirect', 'direct'],
  deferred: ['deferLoading', 'defer'],
  alwaysLoaded: ['alwaysVisible', 'alwaysActive', 'pinned'],
  findsTools: [],
  category: ['group', 'tags'],
  timeout: ['timeoutMs', 'toolTimeout'],
  effect: ['effects', 'sideEffect', 'needsApproval'],
  concurrencyKey: ['key', 'lock'],
  maxConcurrency: ['concurrency'],
  retries: ['maxRetries', 'retry'],
  polls: ['polling'],
  cacheable: ['cache', 'cached'],
  untrusted: [],
  onToolError: ['onError', 'handleToolError', 'handleToolErrors'],
} satisfies Readonly<Record<keyof ToolOptions<InputSchema>, readonly string[]>>;

const RULES = {
  ...METADATA_RULES,
  description: STRING,
  strict: BOOLEAN,
  strictName: BOOLEAN,
  toModelOutput: FUNCTION,
  resultConverter: FUNCTION,
  concurrencyKey: rule(
    'a string or a function',
    (value) => typeof value === 'string' || FUNCTION.accepts(value),
  ),
};

const OPTIONS = rule('an object { name, description, input, execute }', isPlainObject);
const ANY_NAME = rule(
  'a non-blank string of at most 512 characters on one line',
  (name) => typeof name === 'string' && /^(?=.*\S)\P{Cc}{1,512}$/u.test(name),
);

function checkToolOptions(options: ToolOptions<InputSchema>, where: string): void {
  const { name, strictName } = options ?? ({} as Partial<ToolOptions<InputSchema>>);
  try {
    checkOption(where, 'the argument', options, OPTIONS);
    checkOption(where, 'name', name, strictName === false ? ANY_NAME : PORTABLE_NAME);
    const owner = `tool "${name}"`;
    const unknown = unknownOption(options);
    if (unknown !== undefined) throw new InvalidArgumentError(`${owner}: ${unknown}`);
    const functions: { readonly execute?: unknown } = options;
    if ('execute' in options) checkOption(owner, 'execute', functions.execute, FUNCTION);
    checkFields(owner, options, RULES);
    checkRetries(owner, options);
  } catch (error) {
    throw new ToolDefinitionError((error as Error).message, String(name));
  }
  const issue = schemaIssue(options);
  if (issue !== undefined) throw new ToolDefinitionError(`tool "${name}": ${issue}`, name);
}

function schemaIssue(options: ToolOptions<InputSchema>): string | undefined {
  for (const name of ['input', 'inputSchema', 'output'] as const) {
    const schema: unknown = options[name];
    // mostly a schema that a circular import has not initialised yet
    if (name in options && (schema === undefined || schema === null))
      return `${name} must be a schema, or left out, not ${String(schema)}`;
  }
  const { input, inputSchema } = options;
  if (input === undefined || inputSchema === undefined) return undefined;
  if (isStandardSchema(input) && !isStandardSchema(inputSchema)) return undefined;
  return 'give one schema, as `input` or as `inputSchema`; both only where the library of `input` cannot convert it: then `inputSchema` is its JSON Schema';
}

/** A misspelt option would be ignored silently. */
function unknownOption(options: object): string | undefined {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(OPTION_NAMES, name));
  if (unknown === undefined) return undefined;
  const entries: readonly (readonly [string, readonly string[]])[] = Object.entries(OPTION_NAMES);
  const meant = entries.find(([, others]) => others.includes(unknown));
  const hint = meant ? `use \`${meant[0]}\`` : nameHint(unknown, Object.keys(OPTION_NAMES));
  return `there is no option \`${unknown}\`; ${hint}`;
}
