import type { ChatOptions } from '../chat/chat-options.js';
import type { ChatResponse } from '../chat/chat-response.js';
import type { Prompt } from '../chat/prompt.js';
import type { ToolDefinition } from '../chat/tool-definition.js';
import type { ToolExecutionResult } from './execution-result.js';
import type { ToolRun } from './tool-run.js';

/** Runs the tools of a tool loop; a `ToolCallingManager`, or an object with the same methods. */
export interface ToolManager {
  /**
   * Returns the definitions that the model is offered, for example without those that the user may
   * not use; called once per turn. A definition without a tool is for `executeToolCalls` alone.
   * @param options options of the request, with its tools and tool context
   * @default the definitions of the tools
   */
  resolveToolDefinitions?(options: ChatOptions): readonly ToolDefinition[];
  /** Runs the calls of the first generation that has some; returns one result per call. */
  executeToolCalls(
    prompt: Prompt,
    response: ChatResponse,
    run?: ToolRun,
  ): Promise<ToolExecutionResult>;
}
