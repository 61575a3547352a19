import type { ChatOptions, ToolChoice } from '../../chat/chat-options.js';
import { textOf, type Message } from '../../chat/message.js';
import type { JsonSchema, ToolDefinition } from '../../chat/tool-definition.js';
import { parseJson, type JsonValue } from '../../internal/json.js';
import { isPlainObject } from '../../internal/options.js';
import { truncate } from '../../internal/text.js';
import { fillArguments, type FilledArguments } from './fill-arguments.js';
import { pickTools, type ToolRequest } from './pick-tools.js';
import { inWords, valuesIn } from './text-values.js';

/** Input of {@link offlineAnswer}. With a schema as response format the answer is JSON. */
export interface OfflineQuestion extends Pick<
  ChatOptions,
  'toolChoice' | 'parallelToolCalls' | 'responseFormat'
> {
  readonly messages: readonly Message[];
  /** @default [] */
  readonly tools?: readonly ToolDefinition[];
}

/** Output of {@link offlineAnswer}: a text or tool calls. */
export interface OfflineAnswer {
  readonly text: string | null;
  readonly toolCalls: readonly PlannedCall[];
}

/** A tool call before it has an id. */
export interface PlannedCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** A tool call with its result. */
interface AnsweredCall extends PlannedCall {
  /** The result as data if it is JSON, else its text. */
  readonly result: JsonValue;
  readonly isError: boolean;
}

/** A request of the user, and the tool calls that were made for it. */
interface Turn {
  readonly question: string;
  readonly answered: readonly AnsweredCall[];
  readonly tools: readonly ToolDefinition[];
  /** A tool that searches for tools; not used yet. */
  readonly searchTool: ToolDefinition | undefined;
  /** A schema in the text of the question. */
  readonly schema: JsonSchema | undefined;
}

/** The end of a prompt that asks for JSON in its text, as `entity(schema)` does. */
const SCHEMA = /\n[^\n]*JSON Schema:\n(\{.*\})\s*$/s;
const SEARCH_TOOL = /tools?[_.-]?search|search[_.-]?tools?|find[_.-]?tools?/i;
/** Characters of a question that are read. */
const MAX_LENGTH = 4_000;
/** Characters of a result that are repeated. */
const MAX_RESULT = 400;

/**
 * The decision of the offline model, on plain data: calls the tools that match the question best,
 * with arguments from the question and from earlier results, then answers with the results. Without
 * a match, a tool that searches for tools is called. Deterministic.
 */
export function offlineAnswer({
  messages,
  tools = [],
  toolChoice = 'auto',
  parallelToolCalls = true,
  responseFormat,
}: OfflineQuestion): OfflineAnswer {
  const turn = readTurn(messages, tools);
  const calls = toolChoice === 'none' ? [] : nextCalls(turn, toolChoice);
  if (calls.length > 0)
    return { text: null, toolCalls: parallelToolCalls ? calls : calls.slice(0, 1) };
  const schema = typeof responseFormat === 'object' ? responseFormat.schema : turn.schema;
  const text = schema ? JSON.stringify(fillFrom(turn, schema).args) : textAnswer(turn.answered);
  return { text, toolCalls: [] };
}

function readTurn(messages: readonly Message[], offered: readonly ToolDefinition[]): Turn {
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const asked = messages[at];
  const text = asked?.role === 'user' ? textOf(asked.content).trim() : '';
  const schema = valueOf(SCHEMA.exec(text)?.[1] ?? '');
  const question = isPlainObject(schema) ? text.replace(SCHEMA, '') : text;
  const searchTool = offered.find(isSearchTool);
  const calls = answeredCalls(messages.slice(at + 1));
  const answered = calls.filter(({ name }) => name !== searchTool?.name);
  return {
    question: truncate(question.replaceAll(/[“”]/g, '"'), MAX_LENGTH),
    answered,
    tools: offered.filter((tool) => tool !== searchTool),
    searchTool: answered.length < calls.length ? undefined : searchTool,
    schema: isPlainObject(schema) ? schema : undefined,
  };
}

function isSearchTool({ name, inputSchema: { properties } }: ToolDefinition): boolean {
  return SEARCH_TOOL.test(name) && isPlainObject(properties) && 'query' in properties;
}

function answeredCalls(messages: readonly Message[]): readonly AnsweredCall[] {
  const calls = messages.flatMap((message) =>
    message.role === 'assistant' ? message.toolCalls : [],
  );
  return messages.flatMap((message) => {
    if (message.role !== 'tool') return [];
    const call = calls.find(({ id }) => id === message.toolCallId);
    const args = valueOf(call?.arguments ?? '');
    return {
      name: message.toolName,
      args: isPlainObject(args) ? args : {},
      result: valueOf(textOf(message.content)),
      isError: message.isError ?? false,
    };
  });
}

/** A text as JSON, or the text itself. */
function valueOf(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/**
 * The calls to make next, in the order of the question. A call that lacks the value of an argument
 * waits for the results of the calls before it.
 */
function nextCalls(turn: Turn, choice: ToolChoice): readonly PlannedCall[] {
  const { question, answered, searchTool } = turn;
  const requests = toolRequests(turn, choice);
  if (requests.length === 0 && searchTool && question !== '')
    return [{ name: searchTool.name, args: { query: question } }];
  const open = requests.slice(answered.length).map(({ tool, start, end }) => {
    return { name: tool.name, ...fillFrom(turn, tool.inputSchema, start, end) };
  });
  const waiting = open.findIndex(({ isComplete }, index) => index > 0 && !isComplete);
  const ready = waiting === -1 ? open : open.slice(0, waiting);
  return ready.map(({ name, args }) => ({ name, args }));
}

function toolRequests({ question, tools }: Turn, choice: ToolChoice): readonly ToolRequest[] {
  const requests = typeof choice === 'object' ? [] : pickTools(question, tools);
  if (choice === 'auto' || requests.length > 0) return requests;
  const forced = tools.filter(({ name }) => typeof choice !== 'object' || name === choice.tool);
  return forced.slice(0, 1).map((tool) => ({ tool, start: 0, end: question.length }));
}

/** Fills the arguments of a schema from a part of the question and from the results. */
function fillFrom(
  { question, answered }: Turn,
  schema: JsonSchema,
  from = 0,
  to = question.length,
): FilledArguments {
  const text = question.slice(from, to);
  const values = valuesIn(question).filter(({ start }) => start >= from && start < to);
  const succeeded = answered.filter(({ isError }) => !isError);
  const results = succeeded.map(({ name, result }) => ({ [name]: result }));
  return fillArguments(schema, { text, values, results });
}

function textAnswer(answered: readonly AnsweredCall[]): string {
  const results = answered.map(describeCall);
  if (results.length === 0)
    return 'I am the offline model: I answer with the results of tools, and no tool fits here.';
  return results.length === 1
    ? results.join('')
    : ['Here is what I found:', ...results.map((line) => `- ${line}`)].join('\n');
}

/** A call and its result in words, such as `find hotel (city Rome, nights 2): price 120`. */
function describeCall({ name, args, result, isError }: AnsweredCall): string {
  const given = describeData(args as JsonValue);
  const subject = given === '' ? inWords(name) : `${inWords(name)} (${given})`;
  return `${subject}${isError ? ' failed' : ''}: ${truncate(describeData(result), MAX_RESULT)}`;
}

function describeData(value: JsonValue): string {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(describeData).join('; ');
  if (typeof value !== 'object' || value === null) return String(value).trim();
  const fields = Object.entries(value);
  return fields.map(([key, item]) => `${inWords(key)} ${describeData(item)}`).join(', ');
}
