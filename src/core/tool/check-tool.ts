import { InvalidArgumentError } from '../errors/errors.js';
import { memoize } from '../internal/memoize.js';
import { describe } from '../errors/describe.js';
import {
  BOOLEAN,
  checkFields,
  checkOption,
  FUNCTION,
  integer,
  integerOrInfinity,
  isPlainObject,
  oneOf,
  orFunction,
  rule,
  TEXT,
  TIMEOUT,
  type Rule,
} from '../internal/options.js';
import { hiddenText } from './hidden-text.js';
import type { Tool, ToolMetadata } from './tool.js';

export const STRING: Rule = rule('a string', (value) => typeof value === 'string');

export const ERROR_POLICY: Rule = rule(
  "'send-to-model', 'throw' or a function",
  orFunction(oneOf('send-to-model', 'throw')).accepts,
);

export const METADATA_RULES = {
  returnDirect: BOOLEAN,
  deferred: BOOLEAN,
  alwaysLoaded: BOOLEAN,
  findsTools: BOOLEAN,
  category: TEXT,
  timeout: TIMEOUT,
  effect: oneOf('read', 'idempotent', 'write'),
  concurrencyKey: FUNCTION,
  maxConcurrency: integerOrInfinity(1),
  retries: integer(0),
  polls: BOOLEAN,
  cacheable: BOOLEAN,
  untrusted: BOOLEAN,
  onToolError: ERROR_POLICY,
} satisfies Readonly<Record<keyof ToolMetadata, Rule>>;

const METHOD_RULES = {
  validate: FUNCTION,
  validateResult: FUNCTION,
  toContent: FUNCTION,
  changeResult: FUNCTION,
};
const SCHEMA = rule('a JSON Schema object', isPlainObject);
const DEFINITION_RULES = {
  name: TEXT,
  outputSchema: SCHEMA,
  strict: BOOLEAN,
  deferLoading: BOOLEAN,
};
const OBJECT_TYPE = oneOf('object');

/** Tools are immutable, and many are passed with each request. */
const checkedTools = new WeakSet<Tool>();

/** @throws {@link InvalidArgumentError} if a value is not a tool that can be offered and run */
export function checkTool(value: unknown, where: string): asserts value is Tool {
  if (!resemblesTool(value)) throw new InvalidArgumentError(`${where}: ${expectedTool(value)}`);
  if (checkedTools.has(value)) return;
  const { definition, metadata } = value;
  const { name, description, inputSchema } = definition;
  const owner = `${where}: tool ${describe(name)}`;
  checkOption(owner, 'definition.description', description, STRING);
  checkOption(owner, 'definition.inputSchema', inputSchema, SCHEMA);
  checkOption(owner, 'definition.inputSchema.type', inputSchema['type'], OBJECT_TYPE);
  checkFields(owner, definition, DEFINITION_RULES, 'definition.');
  checkFields(owner, value, METHOD_RULES);
  checkFields(owner, metadata, METADATA_RULES, 'metadata.');
  checkRetries(owner, metadata);
  const hidden = hiddenText(definition);
  if (hidden !== undefined) throw new InvalidArgumentError(`${owner}: ${hidden}`);
  if (value.name !== undefined && value.name !== name)
    throw new InvalidArgumentError(
      `${owner}: name must be left out, or the same as definition.name, not ${describe(value.name)}; renameTools changes both`,
    );
  checkedTools.add(value);
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

/** A message with a hint for values that name, have or produce tools. */
function expectedTool(value: unknown): string {
  return `expected a tool with definition, metadata and call, such as defineTool({ … }) returns, not ${withHint(value)}`;
}

function withHint(value: unknown): string {
  const given = describe(value);
  if (typeof value === 'string')
    return `${given}; to offer some of several tools pass filterTools(tools, [${given}])`;
  if (typeof value === 'function') return functionWithHint(value);
  const { constructor } = (isPlainObject(value) ? value : {}) as Partial<object>;
  if (constructor === undefined || constructor.name === 'Object')
    return recordWithHint(value, given);
  const instance = `an instance of ${constructor.name}`;
  return constructor === Promise
    ? `${instance}; await it, or pass a tool provider`
    : `${instance}; ${decorated('instance')}`;
}

/** Other libraries take tools by name. */
function recordWithHint(value: unknown, given: string): string {
  const tools = Object.values(value ?? {});
  if (tools.length === 0 || !tools.every(resemblesTool)) return given;
  const names = tools.slice(0, 3).map(({ definition }) => definition.name);
  return `an object of tools; each has its name already: tools(${names.join(', ')}${tools.length > 3 ? ', …' : ''})`;
}

function functionWithHint(value: object): string {
  if (!/^class\b/.test(Function.prototype.toString.call(value)))
    return 'a function; pass defineTool({ name, execute }) with it';
  const { name } = value as { readonly name: unknown };
  return typeof name === 'string' && name !== ''
    ? `the class ${name}; ${decorated(`new ${name}(…)`)}`
    : `a class; ${decorated('instance')}`;
}

const decorated = (instance: string): string =>
  `decorate its methods with @Tool({ … }) and pass toolsFrom(${instance})`;

/** The first two tools that have the same name; cached by the list of tools. */
export function toolsOfOneName(tools: readonly Tool[]): readonly [Tool, Tool] | undefined {
  return indexTools(tools).repeated;
}

/**
 * Indexes tools by name; a loop uses the same list of tools in every iteration.
 * @throws {@link InvalidArgumentError} if two tools have the same name: a call of the model would
 * be ambiguous
 */
export function toolsByName(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const { byName, repeated } = indexTools(tools);
  if (!repeated) return byName;
  throw new InvalidArgumentError(
    `two tools have the same name: ${repeated[0].definition.name}. Rename one of them or leave it out.`,
  );
}

const indexTools = memoize((tools: readonly Tool[]) => {
  const byName = new Map<string, Tool>();
  let repeated: readonly [Tool, Tool] | undefined;
  for (const tool of tools) {
    const other = byName.get(tool.definition.name);
    if (other) repeated ??= [other, tool];
    else byName.set(tool.definition.name, tool);
  }
  return { byName, repeated };
});
