import { describe } from '../errors/describe.js';
import { PORTABLE_NAME } from '../chat/tool-definition.js';
import { checkOption, isPlainObject, rule } from '../internal/options.js';
import { ToolDefinitionError } from '../errors/errors.js';
import { normalizeSchema } from './normalize/normalize-schema.js';
import type { SchemaChange } from './normalize/schema-context.js';

/** A tool of a published catalogue. */
export interface PublishedTool {
  readonly name: string;
  readonly description?: string | undefined;
  /** Schema of the arguments, in any dialect. */
  readonly inputSchema?: unknown;
}

/** Obstacles between a published tool and a model. */
export interface ToolCompatibility {
  readonly name: string;
  /** Changes that `normalizeSchema` makes to the schema. */
  readonly changes: readonly SchemaChange[];
  /** Reason why the schema is rejected. */
  readonly rejected?: string;
  /** Problems of the name and the description. */
  readonly notes: readonly string[];
}

/** Compatibility of published tools with `defineTool` and with providers. */
export interface CompatibilityReport {
  readonly tools: readonly ToolCompatibility[];
  readonly counts: {
    readonly tools: number;
    /** Tools without changes and notes. */
    readonly unchanged: number;
    /** Tools whose schema is not JSON Schema: `defineTool` accepts it after `normalizeSchema`. */
    readonly normalized: number;
    /** Tools whose legal schema is changed for models and providers. */
    readonly adapted: number;
    readonly rejected: number;
    /** Tools with a note about their name or description. */
    readonly noted: number;
  };
  /** Formats the counts and the findings, one per line. */
  toString(): string;
}

const TOOLS = rule('an array of tools', (all) => Array.isArray(all) && all.every(isPlainObject));

/**
 * Lists the changes, rejected schemas and unportable names of published tools.
 * @throws {@link InvalidArgumentError} if it is not given an array of objects
 */
export function compatibilityReport(definitions: readonly PublishedTool[]): CompatibilityReport {
  checkOption('compatibilityReport', 'definitions', definitions, TOOLS);
  const uses = new Map<unknown, number>();
  for (const { name } of definitions) uses.set(name, (uses.get(name) ?? 0) + 1);
  const tools = definitions.map((tool) => compatibilityOf(tool, uses.get(tool.name) ?? 1));
  const counts = countTools(tools);
  return {
    tools,
    counts,
    toString: () => [lineOf(counts), ...tools.flatMap(linesOf)].join('\n'),
  };
}

function compatibilityOf(tool: PublishedTool, uses: number): ToolCompatibility {
  const { name, inputSchema, description } = tool;
  const isDescribed = typeof description === 'string' && description.trim() !== '';
  const unportable = `providers do not accept the name ${describe(name)}: ${PORTABLE_NAME.text}`;
  const notes = [
    ...(PORTABLE_NAME.accepts(name) ? [] : [unportable]),
    ...(uses > 1 ? [`${uses} tools have this name`] : []),
    ...(isDescribed ? [] : ['it has no description; the model has to guess from the name']),
  ];
  try {
    return { name, changes: normalizeSchema(inputSchema, String(name)).changes, notes };
  } catch (error) {
    if (!(error instanceof ToolDefinitionError)) throw error;
    return { name, changes: [], rejected: error.message, notes };
  }
}

function countTools(tools: readonly ToolCompatibility[]): CompatibilityReport['counts'] {
  const count = (holds: (tool: ToolCompatibility) => boolean): number => tools.filter(holds).length;
  const changed = count(({ changes }) => changes.length > 0);
  const normalized = count(({ changes }) => changes.some(({ severity }) => severity === 'error'));
  return {
    tools: tools.length,
    unchanged: count(({ changes, rejected, notes }) => !rejected && !changes[0] && !notes[0]),
    normalized,
    adapted: changed - normalized,
    rejected: count(({ rejected }) => rejected !== undefined),
    noted: count(({ notes }) => notes.length > 0),
  };
}

function lineOf(counts: CompatibilityReport['counts']): string {
  return `${counts.tools} tools: ${counts.unchanged} unchanged, ${counts.normalized} not JSON Schema and normalized, ${counts.adapted} legal and adapted, ${counts.rejected} rejected, ${counts.noted} with notes`;
}

function linesOf({ name, changes, rejected, notes }: ToolCompatibility): readonly string[] {
  return [
    ...(rejected === undefined ? [] : [`rejected: ${rejected}`]),
    ...notes.map((note) => `${describe(name)}: ${note}`),
    ...changes.map((at) => `${describe(name)} ${at.path}: ${at.problem}; ${at.action}`),
  ];
}
