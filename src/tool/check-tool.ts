import { InvalidArgumentError } from '../errors.js';
import { describe } from '../internal/text.js';
import {
  BOOLEAN,
  checkOption,
  FUNCTION,
  integer,
  integerOrInfinity,
  isPlainObject,
  oneOf,
  rule,
  TEXT,
  TIMEOUT,
  type Rule,
} from '../internal/options.js';
import type { Tool, ToolMetadata } from './tool.js';

export const STRING: Rule = rule('a string', (value) => typeof value === 'string');

export const ERROR_POLICY: Rule = rule(
  "'send-to-model', 'throw' or a function",
  (value) => value === 'send-to-model' || value === 'throw' || typeof value === 'function',
);

export const METADATA_RULES = {
  returnDirect: BOOLEAN,
  deferred: BOOLEAN,
  alwaysLoaded: BOOLEAN,
  category: TEXT,
  timeout: TIMEOUT,
  effect: oneOf('read', 'idempotent', 'write'),
  concurrencyKey: FUNCTION,
  maxConcurrency: integerOrInfinity(1),
  retries: integer(0),
  onToolError: ERROR_POLICY,
} satisfies Readonly<Record<keyof ToolMetadata, Rule>>;

const DEFINITION_RULES = {
  name: TEXT,
  description: STRING,
  inputSchema: rule('a JSON Schema object', isPlainObject),
  strict: BOOLEAN,
  deferLoading: BOOLEAN,
} as const;
const OBJECT_TYPE = oneOf('object');

/** @throws {@link InvalidArgumentError} if a value is not a tool that can be offered and run */
export function checkTool(value: unknown, where: string): asserts value is Tool {
  if (!resemblesTool(value)) throw new InvalidArgumentError(`${where}: ${expectedTool(value)}`);
  const { definition, metadata } = value;
  const owner = `${where}: tool ${describe(definition.name)}`;
  checkFields(owner, 'definition.', definition, DEFINITION_RULES, ['description', 'inputSchema']);
  checkOption(owner, 'definition.inputSchema.type', definition.inputSchema['type'], OBJECT_TYPE);
  checkFields(owner, '', value, { validate: FUNCTION, toContent: FUNCTION });
  checkFields(owner, 'metadata.', metadata, METADATA_RULES);
  checkRetries(owner, metadata);
}

function checkFields(
  owner: string,
  path: string,
  fields: object,
  rules: Readonly<Record<string, Rule>>,
  required: readonly string[] = [],
): void {
  for (const [name, each] of Object.entries(rules)) {
    const value = (fields as Readonly<Record<string, unknown>>)[name];
    if (value !== undefined || required.includes(name))
      checkOption(owner, path + name, value, each);
  }
}

/** @throws {@link InvalidArgumentError} if a tool with side effects has retries */
export function checkRetries(
  where: string,
  { retries = 0, effect }: Pick<ToolMetadata, 'retries' | 'effect'>,
): void {
  if (retries > 0 && effect !== 'read' && effect !== 'idempotent')
    throw new InvalidArgumentError(
      `${where}: retries needs the effect 'read' or 'idempotent', not ${describe(effect)}: a call with side effects is never repeated`,
    );
}

/**
 * Flattens nested lists of tools, in order. @throws {@link InvalidArgumentError} if an item is not
 * a tool
 */
export function flattenTools(values: readonly unknown[], where: string): Tool[] {
  return values.flatMap((value) => {
    if (Array.isArray(value)) return flattenTools(value, where);
    checkTool(value, where);
    return [value];
  });
}

/** Checks only for the fields that distinguish tools from other values. */
function resemblesTool(value: unknown): value is Tool {
  const { call, definition, metadata } = (value ?? {}) as Partial<Tool>;
  return (
    typeof call === 'function' && typeof definition?.name === 'string' && isPlainObject(metadata)
  );
}

/** A message with a hint for values that have or produce tools. */
function expectedTool(value: unknown): string {
  const expected =
    'expected a tool with definition, metadata and call, such as defineTool({ … }) returns';
  if (typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value)))
    return `${expected}, not the class ${value.name}; if its static methods are the tools, pass toolsFrom(${value.name})`;
  const className = classNameOf(value);
  if (className === undefined) return `${expected}, not ${describe(value)}`;
  const hint =
    className === 'Promise'
      ? 'await it, or pass a tool provider'
      : 'if its methods are the tools, pass toolsFrom(instance)';
  return `${expected}, not an instance of ${className}; ${hint}`;
}

/** The class name of an instance; undefined for plain objects and all other values. */
function classNameOf(value: unknown): string | undefined {
  if (!isPlainObject(value)) return undefined;
  const { constructor } = value;
  return typeof constructor === 'function' && constructor.name !== 'Object'
    ? constructor.name
    : undefined;
}

/** A loop uses the same list of tools in every iteration. */
const indexes = new WeakMap<readonly Tool[], ReadonlyMap<string, Tool>>();

/**
 * Indexes tools by name.
 * @throws {@link InvalidArgumentError} if two tools have the same name: a call of the model would
 * be ambiguous
 */
export function toolsByName(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const known = indexes.get(tools);
  if (known) return known;
  const names = tools.map((tool) => tool.definition.name);
  const byName = new Map(tools.map((tool) => [tool.definition.name, tool]));
  if (byName.size < tools.length) {
    const repeated = new Set(names.filter((name, at) => names.indexOf(name) !== at));
    throw new InvalidArgumentError(
      `two tools have the same name: ${[...repeated].join(', ')}. Rename one of them or leave it out.`,
    );
  }
  indexes.set(tools, byName);
  return byName;
}
