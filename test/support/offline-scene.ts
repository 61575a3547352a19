import { expect } from 'chai';
import fc from 'fast-check';
import type { Message } from '../../src/core/chat/message.js';
import type { JsonSchema, ToolDefinition } from '../../src/core/chat/tool-definition.js';
import { offlineAnswer, type OfflineQuestion, type PlannedCall } from '../../src/testing/index.js';

/** A tool definition with the function behind it. */
export interface SceneTool extends ToolDefinition {
  readonly run: (args: Readonly<Record<string, unknown>>) => unknown;
}

/** A tool; all properties are required except names that end in `?`. */
export function tool(
  name: string,
  description: string,
  properties: Readonly<Record<string, JsonSchema>>,
  run: SceneTool['run'] = () => 'done',
): SceneTool {
  const names = Object.keys(properties);
  const bare = Object.fromEntries(names.map((key) => [key.replace('?', ''), properties[key]]));
  return {
    name,
    description,
    inputSchema: {
      type: 'object',
      properties: bare,
      required: names.filter((key) => !key.endsWith('?')),
    },
    run,
  };
}

export const TEXT: JsonSchema = { type: 'string' };
export const NUMBER: JsonSchema = { type: 'number' };
export const WHOLE: JsonSchema = { type: 'integer' };

/** A text parameter with a description. */
export function text(description: string): JsonSchema {
  return { type: 'string', description };
}

/** The calls of the first iteration. */
export function firstCalls(
  question: string,
  tools: readonly ToolDefinition[],
  options: Partial<OfflineQuestion> = {},
): readonly PlannedCall[] {
  return offlineAnswer({ messages: [{ role: 'user', content: question }], tools, ...options })
    .toolCalls;
}

/** A whole turn. */
export interface Conversation {
  /** The calls of each iteration. */
  readonly rounds: readonly (readonly PlannedCall[])[];
  readonly text: string | null;
  readonly messages: readonly Message[];
}

/** Runs a turn to its end, with the tools. */
export function converse(
  question: string | readonly Message[],
  tools: readonly SceneTool[],
): Conversation {
  const messages: Message[] =
    typeof question === 'string' ? [{ role: 'user', content: question }] : [...question];
  const rounds: (readonly PlannedCall[])[] = [];
  for (;;) {
    const answer = offlineAnswer({ messages, tools });
    if (answer.toolCalls.length === 0) return { rounds, text: answer.text, messages };
    if (rounds.push(answer.toolCalls) > 10) throw new Error('the turn does not end');
    messages.push(...played(answer.toolCalls, tools, rounds.length));
  }
}

function played(
  calls: readonly PlannedCall[],
  tools: readonly SceneTool[],
  round: number,
): readonly Message[] {
  const toolCalls = calls.map(({ name, args }, at) => ({
    id: `${round}-${at}`,
    name,
    arguments: JSON.stringify(args),
  }));
  const results = calls.map(({ name, args }, at): Message => {
    const result = tools.find((one) => one.name === name)?.run(args);
    return {
      role: 'tool',
      toolCallId: `${round}-${at}`,
      toolName: name,
      content: typeof result === 'string' ? result : JSON.stringify(result),
    };
  });
  return [{ role: 'assistant', content: null, toolCalls }, ...results];
}

const anyProperties = fc.oneof(
  fc.json().map((json) => JSON.parse(json) as JsonSchema),
  fc.dictionary(
    fc.oneof(fc.string(), fc.constantFrom('constructor', '__proto__', 'toString')),
    fc.constantFrom(TEXT, NUMBER, { type: 'array' }, { $ref: '#' }, {}),
  ),
);

/** A question with a tool of any schema. */
export const anyQuestion = fc.record({
  question: fc.oneof(fc.string(), fc.lorem(), fc.string({ unit: 'binary' })),
  name: fc.string({ minLength: 1 }),
  description: fc.string(),
  properties: anyProperties,
});

/** Expects either a text or calls of offered tools. */
export function callsOfferedToolsOnly({
  question,
  name,
  description,
  properties,
}: typeof anyQuestion extends fc.Arbitrary<infer T> ? T : never): void {
  const weather = tool('get_weather', 'Current weather in a city.', { city: TEXT });
  const required = ['a', 'constructor'];
  const offered = { name, description, inputSchema: { type: 'object', properties, required } };

  const { toolCalls, text: answer } = offlineAnswer({
    messages: [{ role: 'user', content: question }],
    tools: [offered, weather],
  });

  expect(answer === null).to.equal(toolCalls.length > 0);
  expect([name, 'get_weather']).to.include.members(toolCalls.map((call) => call.name));
}
