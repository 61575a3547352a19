import { describe, type ToolMessage } from '../chat/message.js';
import type { JsonSchema } from '../chat/tool-definition.js';
import { ToolDefinitionError } from '../errors.js';
import type { Observable } from '../rxjs.js';
import { isStandardSchema, type InferInput, type InputSchema } from './schema/input-schema.js';
import { metadataIssue } from './metadata-issue.js';
import { isPortableName, PORTABLE_NAME_RULE } from './portable-names.js';
import type { ToolContext, ToolMetadata } from './tool.js';

/** What a tool is made from, whether a function or a method does its work. */
export interface ToolSettings<S extends InputSchema, R> extends Omit<ToolMetadata, 'concurrencyKey'> {
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
  /** False lets a name through that providers refuse, for a model that maps names; see `withToolNames`. @default true */
  readonly strictName?: boolean | undefined;
  /** A value in place of the result for the model; the application gets the result. */
  toModelOutput?(value: ToolValue<R>): unknown;
  /** What the model reads of a result, or of what `toModelOutput` made of it. @default see `Tool.toContent` */
  resultConverter?(value: unknown): ToolMessage['content'] | Promise<ToolMessage['content']>;
  /** What a call works on, or how to tell by its arguments; see {@link ToolMetadata.concurrencyKey}. */
  readonly concurrencyKey?: string | ((args: InferInput<S>) => string | undefined) | undefined;
}

/** What a tool is made from. */
export interface ToolOptions<S extends InputSchema, R = unknown> extends ToolSettings<S, R> {
  /**
   * Does the work; may give the result at once, as a Promise, or as the last item of a generator or an Observable. Throw a
   * `ToolError` to tell the model what went wrong; other errors reach it as a general text.
   */
  execute(args: InferInput<S>, context: ToolContext): R;
}

/** The result of a function: what its Promise resolves to, or the items of its generator or Observable. */
export type ToolValue<R> =
  R extends PromiseLike<infer Value>
    ? ToolValue<Value>
    : R extends AsyncGenerator<infer Item, infer Last> | Generator<infer Item, infer Last>
      ? Item | Exclude<Last, void>
      : R extends AsyncIterable<infer Item> | Observable<infer Item>
        ? Item
        : R;

/** Every option, and the options that other libraries have in their place. */
const OPTIONS = {
  name: [],
  description: [],
  input: ['parameters', 'schema', 'args', 'inputs', 'argsSchema', 'paramsSchema'],
  inputSchema: ['jsonSchema'],
  strict: [],
  strictName: [],
  execute: ['handler', 'func', 'fn', 'function', 'run', 'call', 'invoke', 'callback', 'implementation'],
  toModelOutput: [],
  resultConverter: ['converter', 'outputConverter'],
  returnDirect: ['returnsDirect', 'direct'],
  deferred: ['deferLoading', 'defer'],
  alwaysLoaded: ['alwaysVisible', 'alwaysActive', 'pinned'],
  category: ['group', 'tags'],
  timeout: ['timeoutMs', 'toolTimeout'],
  effect: ['effects', 'sideEffect'],
  concurrencyKey: ['key', 'lock'],
  maxConcurrency: ['concurrency'],
  retries: ['maxRetries', 'retry'],
  onToolError: ['onError', 'handleToolError', 'handleToolErrors'],
} satisfies Readonly<Record<keyof ToolOptions<InputSchema>, readonly string[]>>;

const MAX_NAME = 512;

/** @throws {@link ToolDefinitionError} if a tool cannot be made from options */
export function checkToolOptions(options: ToolOptions<InputSchema>, where: string): void {
  const { name, strictName } = options ?? ({} as Partial<ToolOptions<InputSchema>>);
  if (strictName === false ? !isAnyName(name) : !isPortableName(name)) {
    const rule = strictName === false ? `a non-blank text of at most ${MAX_NAME} characters on one line` : PORTABLE_NAME_RULE;
    throw new ToolDefinitionError(`${where}: name must be ${rule}, not ${describe(name)}`, String(name));
  }
  const issue = optionIssue(options) ?? schemaIssue(options) ?? metadataIssue(metadataOf(options)) ?? unknownOption(options);
  if (issue !== undefined) throw new ToolDefinitionError(`tool "${name}": ${issue}`, name);
}

function isAnyName(name: unknown): boolean {
  return typeof name === 'string' && name.trim() !== '' && name.length <= MAX_NAME && !/\p{Cc}/u.test(name);
}

function optionIssue(options: Partial<Record<keyof ToolOptions<InputSchema>, unknown>>): string | undefined {
  const { execute, description, strict, strictName, toModelOutput, resultConverter } = options;
  if (typeof execute !== 'function') return `execute must be a function, not ${describe(execute)}`;
  if (description !== undefined && typeof description !== 'string') return `description must be a string, not ${describe(description)}`;
  for (const [name, value] of Object.entries({ strict, strictName }))
    if (value !== undefined && typeof value !== 'boolean') return `${name} must be true or false, not ${describe(value)}`;
  for (const [name, value] of Object.entries({ toModelOutput, resultConverter }))
    if (value !== undefined && typeof value !== 'function') return `${name} must be a function, not ${describe(value)}`;
  return undefined;
}

function schemaIssue(options: ToolOptions<InputSchema>): string | undefined {
  for (const name of ['input', 'inputSchema'] as const) {
    const schema: unknown = options[name];
    // an undefined schema is mostly one that a circular import has not made yet; the tool would silently take no arguments
    if (name in options && (schema === undefined || schema === null)) return `${name} must be a schema, or left out, not ${String(schema)}`;
  }
  const { inputSchema } = options;
  if (typeof inputSchema === 'object' && isStandardSchema(inputSchema))
    return 'inputSchema is plain JSON Schema; give a schema of a library as `input`';
  return undefined;
}

/** A misspelt option would be left out in silence. */
function unknownOption(options: object): string | undefined {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(OPTIONS, name));
  if (unknown === undefined) return undefined;
  const meant = Object.entries(OPTIONS).find(([, others]) => (others as readonly string[]).includes(unknown));
  return `there is no option ${JSON.stringify(unknown)}; ${meant ? `use ${meant[0]}` : `there are ${Object.keys(OPTIONS).join(', ')}`}`;
}

/** The metadata of a tool; what was not given is left out. */
export function metadataOf(options: ToolSettings<InputSchema, unknown>): ToolMetadata {
  const { returnDirect = false, deferred = false, concurrencyKey } = options;
  const { alwaysLoaded, category, timeout, effect, maxConcurrency, retries, onToolError } = options;
  return {
    returnDirect,
    deferred,
    ...(alwaysLoaded !== undefined && { alwaysLoaded }),
    ...(category !== undefined && { category }),
    ...(timeout !== undefined && { timeout }),
    ...(effect !== undefined && { effect }),
    ...(concurrencyKey !== undefined && { concurrencyKey: keyFunction(concurrencyKey) }),
    ...(maxConcurrency !== undefined && { maxConcurrency }),
    ...(retries !== undefined && { retries }),
    ...(onToolError !== undefined && { onToolError }),
  };
}

function keyFunction(key: NonNullable<ToolSettings<InputSchema, unknown>['concurrencyKey']>): ToolMetadata['concurrencyKey'] {
  return typeof key === 'string' ? () => key : (key as ToolMetadata['concurrencyKey']);
}
