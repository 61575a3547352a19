import type { ToolContextValues } from '../chat/chat-options.js';
import type { AdvisorContext } from '../chat/context.js';
import { describe } from '../chat/message.js';
import { ToolDefinitionError } from '../errors.js';
import { checkTool } from './check-tool.js';
import type { Tool } from './tool.js';

/**
 * Gives the tool of a name that the request does not have, or undefined if there is none. The model chooses the name: give no
 * tool that the user of this request may not have.
 */
export type ToolResolver = (name: string, request: ToolResolverRequest) => Tool | undefined | Promise<Tool | undefined>;

/** What a resolver knows of the request. */
export interface ToolResolverRequest {
  /** The values for the advisors. */
  readonly advisorContext: AdvisorContext;
  /** The values for the tools; the model never sees them. */
  readonly toolContext: ToolContextValues;
  /** Aborts when the run is cancelled. */
  readonly signal: AbortSignal;
}

/**
 * Asks a resolver.
 * @throws whatever it throws, `InvalidArgumentError` if it gives something that is no tool, {@link ToolDefinitionError} if the
 * tool has another name
 */
export async function resolveTool(resolver: ToolResolver, name: string, request: ToolResolverRequest): Promise<Tool | undefined> {
  const tool: unknown = await resolver(name, request);
  if (tool === undefined || tool === null) return undefined;
  checkTool(tool, `the resolver, asked for ${describe(name)}`);
  const { name: own } = tool.definition;
  if (own !== name) throw new ToolDefinitionError(`the resolver was asked for ${describe(name)} and gave the tool ${describe(own)}`, own);
  return tool;
}
