import { changeTool } from '../tool/change-tool.js';
import type { Tool } from '../tool/tool.js';
import type { ToolReference } from './tool-index.js';

/** The tools of a request as a search sees them. */
export interface SearchableTools {
  /** All of them; what can be searched for is deferred. */
  readonly tools: readonly Tool[];
  /** What can be searched for. */
  readonly references: readonly ToolReference[];
  /** Names of what can be searched for. */
  readonly names: ReadonlySet<string>;
  /** Of what can be searched for, each once, in order. */
  readonly categories: readonly string[];
}

const deferredCopies = new WeakMap<Tool, Tool>();
const referencesOfTools = new WeakMap<Tool, ToolReference>();

/** Hides tools behind a search, but for those that are always loaded. */
export function searchableTools(tools: readonly Tool[]): SearchableTools {
  const hidden = tools.filter(isSearchable);
  const references = hidden.map(referenceOf);
  return {
    tools: tools.map((tool) => (isSearchable(tool) ? deferred(tool) : tool)),
    references,
    names: new Set(references.map(({ name }) => name)),
    categories: [...new Set(references.flatMap(({ category }) => category ?? []))],
  };
}

const shownByProvider = new WeakMap<Tool, Tool>();
const leftLists = new WeakMap<readonly Tool[], readonly Tool[]>();

/** Tools of which the provider hides all but those that are always loaded. The same list for the same list; itself if there are none. */
export function leftToProvider(tools: readonly Tool[]): readonly Tool[] {
  if (!tools.some(isSearchable)) return tools;
  let left = leftLists.get(tools);
  if (!left) leftLists.set(tools, (left = tools.map((tool) => (isSearchable(tool) ? toShowLater(tool) : tool))));
  return left;
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

function deferred(tool: Tool): Tool {
  if (tool.metadata.deferred) return tool;
  let copy = deferredCopies.get(tool);
  if (!copy) deferredCopies.set(tool, (copy = changeTool(tool, { metadata: { ...tool.metadata, deferred: true } })));
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
