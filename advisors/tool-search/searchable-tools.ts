import { memoize } from '../../src/core/internal/memoize.js';
import { changeTool } from '../../src/core/tool/transform-tools.js';
import type { Tool } from '../../src/core/tool/tool.js';
import type { ToolReference } from '../../src/stores/tool-indexes/tool-index.js';

/** The tools of a request, hidden behind a search. */
export interface HiddenTools {
  /** All tools of the request; those that can be found are deferred. */
  readonly tools: readonly Tool[];
  /** The search tool, then all other tools. */
  readonly withSearch: readonly Tool[];
  /** The tools that can be found. */
  readonly references: readonly ToolReference[];
  readonly byName: ReadonlyMap<string, ToolReference>;
}

/**
 * Hides tools behind a search, except those that are always loaded.
 * @returns undefined if fewer than `minTools`, or none, can be found
 */
export function hideTools(
  tools: readonly Tool[],
  minTools: number,
  createSearchTool: (categories: readonly string[]) => Tool,
): HiddenTools | undefined {
  const references = tools.filter(isSearchable).map(toReference);
  if (references.length < Math.max(1, minTools)) return undefined;
  const categories = new Set(references.flatMap(({ category }) => category ?? []));
  const deferred = tools.map((tool) => (isSearchable(tool) ? toDeferred(tool) : toOffered(tool)));
  return {
    tools: deferred,
    withSearch: [createSearchTool([...categories]), ...deferred],
    references,
    byName: new Map(references.map((reference) => [reference.name, reference])),
  };
}

/**
 * Marks tools with `deferLoading` for a provider that searches itself, except those that are always
 * loaded and one that the model must call.
 * @returns undefined if there are none to defer
 */
export function deferToProvider(
  tools: readonly Tool[],
  requiredTool: string | undefined,
): readonly Tool[] | undefined {
  const isDeferred = (tool: Tool): boolean =>
    isSearchable(tool) && tool.definition.name !== requiredTool;
  if (!tools.some(isDeferred)) return undefined;
  return tools.map((tool) => (isDeferred(tool) ? toDeferredByProvider(tool) : toOffered(tool)));
}

function isSearchable(tool: Tool): boolean {
  return tool.metadata.alwaysLoaded !== true;
}

// Each tool is changed once, so that equal requests have the same objects.
const toDeferred = memoize((tool: Tool) => withDeferred(tool, true));
const toOffered = memoize((tool: Tool) => withDeferred(tool, false));
const toDeferredByProvider = memoize((tool: Tool) =>
  changeTool(tool, {
    definition: { ...tool.definition, deferLoading: true },
    metadata: { ...tool.metadata, deferred: false },
  }),
);

function withDeferred(tool: Tool, deferred: boolean): Tool {
  if ((tool.metadata.deferred ?? false) === deferred) return tool;
  return changeTool(tool, { metadata: { ...tool.metadata, deferred } });
}

const toReference = memoize(({ definition, metadata: { category } }: Tool): ToolReference => {
  const { name, description, inputSchema } = definition;
  return { name, description, inputSchema, ...(category !== undefined && { category }) };
});
