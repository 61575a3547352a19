import type { ToolContextValues } from '../chat/chat-options.js';
import { checkTool } from '../tool/check-tool.js';
import type { PlacedProvider } from '../tool/provide-tools.js';
import { toolContextValues, type ToolContextInput } from '../tool/tool-context-input.js';
import { toolsByName } from '../tool/tool-names.js';
import { checkToolProvider, isToolProvider, type ToolProvider } from '../tool/tool-provider.js';
import type { Tool } from '../tool/tool.js';
import { requireValues } from './arguments.js';

/** Tools, providers of tools, or collections of both. */
export type ToolInput = Tool | ToolProvider | readonly ToolInput[];

/** What a spec has for the tools of its requests. */
export interface ToolState {
  readonly tools: readonly Tool[];
  /** Whoever gives more tools when a request is made, each with its place among the tools. */
  readonly providers: readonly PlacedProvider[];
  readonly toolContext: ToolContextValues;
}

export function addTools<S extends ToolState>(state: S, inputs: readonly ToolInput[], where: string): S {
  const tools = [...state.tools];
  let { providers } = state;
  const add = (input: ToolInput): void => {
    if (Array.isArray(input)) return (input as readonly ToolInput[]).forEach(add);
    if (isToolProvider(input)) {
      checkToolProvider(input, where);
      providers = [...providers, { provider: input, at: tools.length }];
    } else {
      checkTool(input, where);
      tools.push(input);
    }
  };
  inputs.forEach(add);
  toolsByName(tools); // refuses two of one name now, not at the first call
  return { ...state, tools, providers };
}

export function addToolContext<S extends ToolState>(state: S, input: ToolContextInput<unknown>, where: string): S {
  const values = toolContextValues(input, where);
  requireValues(values, where);
  return { ...state, toolContext: { ...state.toolContext, ...values } };
}
