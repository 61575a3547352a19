import { flattenTools } from './check-tool.js';
import { isToolProvider, type ProvidedTools, type ToolProvider } from './tool-provider.js';
import type { Tool } from './tool.js';

/** Tools, also in lists within lists, or a provider of tools. */
export type ToolSource = ProvidedTools | ToolProvider;

/** What becomes of a source: of tools tools, of a provider one that changes what it gives. */
export type ChangedSource<T extends ToolSource> = T extends ToolProvider ? ToolProvider : readonly Tool[];

/** Changes the tools of a source: at once, or whenever a provider is asked. */
export function changeSource<T extends ToolSource>(
  source: T,
  where: string,
  change: (tools: readonly Tool[]) => readonly Tool[],
): ChangedSource<T> {
  const changed = isToolProvider(source) ? changeProvider(source, where, change) : change(toolsOf(source, where));
  return changed as ChangedSource<T>;
}

/** A provider that gives the changed tools of another. */
export function changeProvider(
  provider: ToolProvider,
  where: string,
  change: (tools: readonly Tool[]) => readonly Tool[] | Promise<readonly Tool[]>,
): ToolProvider {
  const { name, timeout } = provider;
  return { name, timeout, tools: async (request) => change(toolsOf(await provider.tools(request), where)) };
}

/** The tools of lists within lists. */
export function toolsOf(source: unknown, where: string): readonly Tool[] {
  return flattenTools(Array.isArray(source) ? source : [source], where);
}
