import { describe } from '../chat/message.js';
import type { ToolDefinition } from '../chat/tool-definition.js';
import { InvalidArgumentError } from '../errors.js';
import { metadataIssue } from './metadata-issue.js';
import type { Tool } from './tool.js';

/** @throws {@link InvalidArgumentError} if a value is no tool, or one that could not be offered or run */
export function checkTool(value: unknown, where: string): asserts value is Tool {
  if (!isMeantAsTool(value)) throw new InvalidArgumentError(`${where}: ${wantedTool(value)}`);
  const issue = definitionIssue(value.definition) ?? behaviourIssue(value);
  if (issue !== undefined) throw new InvalidArgumentError(`${where}: tool ${describe(value.definition.name)}: ${issue}`);
}

/** The tools of lists within lists, in order. @throws {@link InvalidArgumentError} if something else is among them */
export function flattenTools(values: readonly unknown[], where: string): Tool[] {
  return values.flatMap((value) => {
    if (Array.isArray(value)) return flattenTools(value, where);
    checkTool(value, where);
    return [value];
  });
}

/** The fields that tell a tool from other things; what they hold is looked at later. */
function isMeantAsTool(value: unknown): value is Tool {
  const { call, definition, metadata } = (value ?? {}) as Partial<Tool>;
  return typeof call === 'function' && typeof definition?.name === 'string' && isObject(metadata);
}

/** What was expected in place of a value, with a hint where the value looks like the source of tools. */
function wantedTool(value: unknown): string {
  const expected = 'expected a tool with definition, metadata and call, such as defineTool({ … }) makes';
  if (typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value)))
    return `${expected}, not the class ${value.name}; if its static methods are the tools, give toolsFrom(${value.name})`;
  const className = classOf(value);
  if (className === undefined) return `${expected}, not ${describe(value)}`;
  const hint = className === 'Promise' ? 'await it, or give a tool provider' : 'if its methods are the tools, give toolsFrom(instance)';
  return `${expected}, not an instance of ${className}; ${hint}`;
}

/** The name of the class of an instance; undefined for plain objects and everything else. */
function classOf(value: unknown): string | undefined {
  if (!isObject(value)) return undefined;
  const { constructor } = value;
  return typeof constructor === 'function' && constructor.name !== 'Object' ? constructor.name : undefined;
}

function definitionIssue({ name, description, inputSchema, strict, deferLoading }: ToolDefinition): string | undefined {
  if (name.trim() === '') return 'definition.name must not be blank';
  if (typeof description !== 'string') return `definition.description must be a string, not ${describe(description)}`;
  if (!isObject(inputSchema)) return `definition.inputSchema must be a JSON Schema, not ${describe(inputSchema)}`;
  const { type } = inputSchema;
  if (type !== 'object') return `definition.inputSchema must have the type "object", not ${describe(type)}`;
  for (const [flag, value] of Object.entries({ strict, deferLoading }))
    if (value !== undefined && typeof value !== 'boolean') return `definition.${flag} must be true or false, not ${describe(value)}`;
  return undefined;
}

function behaviourIssue(tool: Tool): string | undefined {
  for (const name of ['validate', 'toContent'] as const) {
    const method: unknown = tool[name];
    if (method !== undefined && typeof method !== 'function') return `${name} must be a function, not ${describe(method)}`;
  }
  const issue = metadataIssue(tool.metadata);
  return issue && `metadata.${issue}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
