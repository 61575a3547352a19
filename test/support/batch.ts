import { ChatResponse } from '../../src/core/chat/chat-response.js';
import type { ChatEvent } from '../../src/core/chat/chat-event.js';
import type { Message, ToolCall } from '../../src/core/chat/message.js';
import { Prompt } from '../../src/core/chat/prompt.js';
import {
  ToolCallingManager,
  type ToolCallingManagerOptions,
} from '../../src/core/tool-execution/tool-calling-manager.js';
import type { ToolExecutionResult } from '../../src/core/tool-execution/execution-result.js';
import type { ToolRun } from '../../src/core/tool-execution/tool-run.js';
import type { Tool } from '../../src/core/tool/tool.js';

/** A call as a test writes it: a name, or a name with arguments and an id. */
export type CallInput =
  string | { readonly name: string; readonly args?: string | object; readonly id?: string };

export function toCalls(inputs: readonly CallInput[]): ToolCall[] {
  return inputs.map((input, at) => {
    const {
      name,
      args = {},
      id = `call_${at + 1}`,
    } = typeof input === 'string' ? { name: input } : input;
    return { id, name, arguments: typeof args === 'string' ? args : JSON.stringify(args) };
  });
}

/** The answer of a model that asks for tools. */
export function asking(...inputs: readonly CallInput[]): ChatResponse {
  return answerWith(toCalls(inputs));
}

export function answerWith(
  toolCalls: readonly ToolCall[],
  finishReason = 'tool_calls',
): ChatResponse {
  return new ChatResponse({
    generations: [{ message: { role: 'assistant', content: null, toolCalls }, finishReason }],
  });
}

interface BatchOptions extends ToolCallingManagerOptions {
  readonly run?: ToolRun;
  readonly history?: readonly Message[];
}

/** Runs calls of tools with a manager, and gives the result and the events. */
export async function runBatch(
  tools: readonly Tool[],
  calls: readonly CallInput[] | ChatResponse,
  { run, history = [{ role: 'user', content: 'Go.' }], ...options }: BatchOptions = {},
): Promise<
  ToolExecutionResult & {
    readonly events: readonly ChatEvent[];
    readonly contents: readonly unknown[];
  }
> {
  const events: ChatEvent[] = [];
  const response = calls instanceof ChatResponse ? calls : asking(...calls);
  const manager = new ToolCallingManager(options);
  const result = await manager.executeToolCalls(new Prompt(history), response, {
    tools,
    onEvent: (event) => events.push(event),
    ...run,
  });
  return Object.assign(result, {
    events,
    contents: result.messages.map((message) => message.content),
  });
}

/** The error that a promise rejects with; fails if it does not. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  if (!outcome) throw new Error('expected a rejection');
  return outcome.error;
}
