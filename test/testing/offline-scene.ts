import type { Message } from '../../src/chat/message.js';
import type { JsonSchema, ToolDefinition } from '../../src/chat/tool-definition.js';
import { offlineAnswer, type OfflineQuestion, type PlannedCall } from '../../src/testing/index.js';

/** A tool of a scene: its definition and what it gives. */
export interface SceneTool extends ToolDefinition {
  readonly run: (args: Readonly<Record<string, unknown>>) => unknown;
}

/** A tool whose properties are all required but those that end in `?`. */
export function tool(
  name: string,
  description: string,
  properties: Readonly<Record<string, JsonSchema>>,
  run: SceneTool['run'] = () => 'done',
): SceneTool {
  const names = Object.keys(properties);
  const bare = Object.fromEntries(names.map((key) => [key.replace('?', ''), properties[key]]));
  return { name, description, inputSchema: { type: 'object', properties: bare, required: names.filter((key) => !key.endsWith('?')) }, run };
}

export const TEXT: JsonSchema = { type: 'string' };
export const NUMBER: JsonSchema = { type: 'number' };
export const WHOLE: JsonSchema = { type: 'integer' };

/** A text parameter with a description. */
export function text(description: string): JsonSchema {
  return { type: 'string', description };
}

/** The first calls for a question. */
export function firstCalls(
  question: string,
  tools: readonly ToolDefinition[],
  options: Partial<OfflineQuestion> = {},
): readonly PlannedCall[] {
  return offlineAnswer({ messages: [{ role: 'user', content: question }], tools, ...options }).toolCalls;
}

/** A turn to its end. */
export interface Conversation {
  /** The calls of each iteration. */
  readonly rounds: readonly (readonly PlannedCall[])[];
  readonly text: string | null;
  readonly messages: readonly Message[];
}

/** Runs a turn to its end, with the tools. */
export function converse(question: string | readonly Message[], tools: readonly SceneTool[]): Conversation {
  const messages: Message[] = typeof question === 'string' ? [{ role: 'user', content: question }] : [...question];
  const rounds: (readonly PlannedCall[])[] = [];
  for (;;) {
    const answer = offlineAnswer({ messages, tools });
    if (answer.toolCalls.length === 0) return { rounds, text: answer.text, messages };
    if (rounds.push(answer.toolCalls) > 10) throw new Error('the turn does not end');
    messages.push(...played(answer.toolCalls, tools, rounds.length));
  }
}

function played(calls: readonly PlannedCall[], tools: readonly SceneTool[], round: number): readonly Message[] {
  const toolCalls = calls.map(({ name, args }, at) => ({ id: `${round}-${at}`, name, arguments: JSON.stringify(args) }));
  const results = calls.map(({ name, args }, at): Message => {
    const result = tools.find((one) => one.name === name)?.run(args);
    return {
      role: 'tool',
      toolCallId: `${round}-${at}`,
      toolName: name,
      content: typeof result === 'string' ? result : JSON.stringify(result),
    };
  });
  return [{ role: 'assistant', text: null, toolCalls }, ...results];
}
