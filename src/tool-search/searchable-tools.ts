import { changeTool } from '../tool/change-tool.js';
import type { Tool } from '../tool/tool.js';
import type { ToolReference } from './tool-index.js';

/** The tools of a request as a search sees them. */
export interface SearchableTools {
  /** All of them; what can be searched for is deferred. */
  readonly tools: readonly Tool[];
  /** What can be searched for. */
  readonly references: readonly ToolReference[];
  /** The same by name. */
  readonly byName: ReadonlyMap<string, ToolReference>;
  /** Of what can be searched for, each once, in order. */
  readonly categories: readonly string[];
}

const copies = new WeakMap<Tool, Tool>();
const referencesOfTools = new WeakMap<Tool, ToolReference>();

/** Hides tools behind a search, but for those that are always loaded. */
export function searchableTools(tools: readonly Tool[]): SearchableTools {
  const hidden = tools.filter(isSearchable);
  const references = hidden.map(referenceOf);
  return {
    tools: tools.map((tool) => withDeferred(tool, isSearchable(tool))),
    references,
    byName: new Map(references.map((reference) => [reference.name, reference])),
    categories: [...new Set(references.flatMap(({ category }) => category ?? []))],
  };
}

const shownByProvider = new WeakMap<Tool, Tool>();

/**
 * Tools of which the provider hides all but those that are always loaded, and one that must be called; undefined if there are none to
 * hide.
 */
export function leftToProvider(tools: readonly Tool[], forced: string | undefined): readonly Tool[] | undefined {
  const isHidden = (tool: Tool): boolean => isSearchable(tool) && tool.definition.name !== forced;
  return tools.some(isHidden) ? tools.map((tool) => (isHidden(tool) ? toShowLater(tool) : withDeferred(tool, false))) : undefined;
}

function toShowLater(tool: Tool): Tool {
  let copy = shownByProvider.get(tool);
  if (!copy) {
    const { definition, metadata } = tool;
    copy = changeTool(tool, { definition: { ...definition, deferLoading: true }, metadata: { ...metadata, deferred: false } });
    shownByProvider.set(tool, copy);
  }
  return copy;
}

/** Whether a tool may be hidden behind a search. */
function isSearchable(tool: Tool): boolean {
  return tool.metadata.alwaysLoaded !== true;
}

function withDeferred(tool: Tool, deferred: boolean): Tool {
  if ((tool.metadata.deferred ?? false) === deferred) return tool;
  let copy = copies.get(tool);
  if (!copy) copies.set(tool, (copy = changeTool(tool, { metadata: { ...tool.metadata, deferred } })));
  return copy;
}

function referenceOf(tool: Tool): ToolReference {
  let reference = referencesOfTools.get(tool);
  if (!reference) {
    const { definition, metadata } = tool;
    const { name, description, inputSchema } = definition;
    reference = { name, description, inputSchema, ...(metadata.category !== undefined && { category: metadata.category }) };
    referencesOfTools.set(tool, reference);
  }
  return reference;
}
