import { describe } from '../../chat/message.js';
import { InvalidArgumentError, ToolDefinitionError } from '../../errors.js';
import { normalizeSchema } from './normalize-schema.js';
import { isPortableName, PORTABLE_NAME_RULE } from '../portable-names.js';
import type { SchemaChange } from './schema-changes.js';

/** A tool as it was published. */
export interface PublishedTool {
  readonly name: string;
  readonly description?: string | undefined;
  /** Schema of the arguments, in whatever dialect. */
  readonly inputSchema?: unknown;
}

/** What stands between a published tool and a model. */
export interface ToolCompatibility {
  readonly name: string;
  /** What `normalizeSchema` changes in the schema. */
  readonly changes: readonly SchemaChange[];
  /** Why the schema is refused. */
  readonly refused?: string;
  /** What is wrong besides the schema: the name, the description. */
  readonly notes: readonly string[];
}

/** How published tools get on with `defineTool` and with providers. */
export interface CompatibilityReport {
  readonly tools: readonly ToolCompatibility[];
  readonly counts: {
    readonly tools: number;
    /** Tools that can be used as they are. */
    readonly unchanged: number;
    /** Tools whose schema is no JSON Schema and can be mended: `defineTool` takes them after `normalizeSchema` only. */
    readonly faulty: number;
    /** Tools whose schema is legal, and changed for the sake of models and providers. */
    readonly adapted: number;
    readonly refused: number;
    /** Tools with a note about their name or description. */
    readonly noted: number;
  };
  /** The counts and what was found, a line each, for people. */
  toString(): string;
}

/**
 * Tries published tools out: what would be changed in their schemas, which are refused, and which names providers would not take.
 * @throws {@link InvalidArgumentError} if it is not given an array of objects
 */
export function compatibilityReport(definitions: readonly PublishedTool[]): CompatibilityReport {
  if (!isListOfObjects(definitions))
    throw new InvalidArgumentError(`compatibilityReport: definitions must be an array of tools, not ${describe(definitions)}`);
  const names = new Map<unknown, number>();
  for (const { name } of definitions) names.set(name, (names.get(name) ?? 0) + 1);
  const tools = definitions.map((definition) => tryOut(definition, names.get(definition.name) ?? 1));
  return { tools, counts: countOf(tools), toString: () => linesOf(tools).join('\n') };
}

function isListOfObjects(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null);
}

function tryOut({ name, description, inputSchema }: PublishedTool, uses: number): ToolCompatibility {
  const notes = notesOn(name, description, uses);
  try {
    return { name, changes: normalizeSchema(inputSchema, String(name)).changes, notes };
  } catch (error) {
    if (!(error instanceof ToolDefinitionError)) throw error;
    return { name, changes: [], refused: error.message, notes };
  }
}

function notesOn(name: unknown, description: unknown, uses: number): readonly string[] {
  const isDescribed = typeof description === 'string' && description.trim() !== '';
  return [
    ...(isPortableName(name) ? [] : [`the name ${describe(name)} is not what providers take: ${PORTABLE_NAME_RULE}`]),
    ...(uses > 1 ? [`${uses} tools have this name`] : []),
    ...(isDescribed ? [] : ['it has no description; the model has to guess from the name']),
  ];
}

function countOf(tools: readonly ToolCompatibility[]): CompatibilityReport['counts'] {
  const count = (holds: (tool: ToolCompatibility) => boolean): number => tools.filter(holds).length;
  const isFaulty = ({ changes }: ToolCompatibility): boolean => changes.some(({ isFault }) => isFault);
  return {
    tools: tools.length,
    unchanged: count(({ changes, refused, notes }) => changes.length + notes.length === 0 && refused === undefined),
    faulty: count(isFaulty),
    adapted: count((tool) => tool.changes.length > 0 && !isFaulty(tool)),
    refused: count(({ refused }) => refused !== undefined),
    noted: count(({ notes }) => notes.length > 0),
  };
}

function linesOf(tools: readonly ToolCompatibility[]): readonly string[] {
  const { unchanged, faulty, adapted, refused, noted } = countOf(tools);
  const summary =
    `${tools.length} tools: ${unchanged} can be used as they are, ${faulty} are no JSON Schema and can be mended, ` +
    `${adapted} are legal and adapted, ${refused} are refused, ${noted} have notes`;
  const details = tools.flatMap(({ name, changes, refused: reason, notes }) => [
    ...(reason === undefined ? [] : [`refused: ${reason}`]),
    ...notes.map((note) => `${describe(name)}: ${note}`),
    ...changes.map(({ path, problem, action }) => `${describe(name)} ${path}: ${problem}; ${action}`),
  ]);
  return [summary, ...details];
}
