import type { ChatOptions, ToolChoice } from '../../chat/chat-options.js';
import { textOf, type Message } from '../../chat/message.js';
import type { JsonSchema, ToolDefinition } from '../../chat/tool-definition.js';
import { parseJson, type JsonValue } from '../../internal/json.js';
import { isPlainObject } from '../../internal/options.js';
import { truncate } from '../../internal/text.js';
import { listOf } from '../../json-schema/json-pointer.js';
import { KeywordToolIndex } from '../../tool-indexes/keyword-tool-index.js';
import type { ToolReference } from '../../tool-search/tool-index.js';
import { FilledArguments, inWords, valuesIn, wordsOf } from './fill-arguments.js';

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

/** A part of a question and the tool that fits it. */
interface ToolRequest {
  readonly tool: ToolReference;
  text: string;
}

/** The end of a prompt that asks for JSON in its text, as `entity(schema)` does. */
const SCHEMA = /\n[^\n]*JSON Schema:\n(\{.*\})\s*$/s;
/** A tool that searches for tools. */
const SEARCH_TOOL = /tools?[_.-]?search|search[_.-]?tools?|find[_.-]?tools?/i;
/** Ends of sentences, commas, `and` and `then`. */
const SEPARATOR = String.raw`[.!?;]\s+|,\s+(?:(?:and|then)\s+)?|\s+(?:and|then)\s+`;
/** A separator and the text after it; a quoted text is one value and is not separated. */
const PART = new RegExp(`(?:${SEPARATOR})?(?:"[^"]*"|(?!${SEPARATOR})[^])+`, 'gi');
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
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const { question, schema } = readQuestion(messages[at], responseFormat);
  const calls = answeredCalls(messages.slice(at + 1));
  const answered = calls.filter((call) => !isSearch(call));
  const results = answered
    .filter(({ isError }) => !isError)
    .map(({ name, result }) => ({ [name]: result }));
  const planned: PlannedCall[] = [];
  for (const { tool, text } of toolRequests(question, calls, tools, toolChoice)) {
    const { args, isComplete } = new FilledArguments(tool.inputSchema, text, results);
    // a call that lacks a value waits for the results of the calls before it
    if (planned.length > 0 && (!isComplete || !parallelToolCalls)) break;
    planned.push({ name: tool.name, args: isSearch(tool) ? { query: question } : args });
  }
  if (planned.length > 0) return { text: null, toolCalls: planned };
  const text = schema
    ? JSON.stringify(new FilledArguments(schema, question, results).args)
    : textAnswer(answered);
  return { text, toolCalls: [] };
}

function readQuestion(
  message: Message | undefined,
  format: OfflineQuestion['responseFormat'],
): { readonly question: string; readonly schema: JsonSchema | undefined } {
  const text = message?.role === 'user' ? textOf(message.content).trim() : '';
  const asked = valueOf(SCHEMA.exec(text)?.[1] ?? '');
  const inText = isPlainObject(asked) ? asked : undefined;
  const question = inText ? text.replace(SCHEMA, '') : text;
  return {
    question: truncate(question.replaceAll(/[“”]/g, '"'), MAX_LENGTH),
    schema: typeof format === 'object' ? format.schema : inText,
  };
}

function answeredCalls(messages: readonly Message[]): readonly AnsweredCall[] {
  const calls = messages.flatMap((message) =>
    message.role === 'assistant' ? message.toolCalls : [],
  );
  return messages.flatMap((message) => {
    if (message.role !== 'tool') return [];
    const { toolCallId, toolName: name, content, isError = false } = message;
    const args = valueOf(calls.find(({ id }) => id === toolCallId)?.arguments ?? '');
    const result = valueOf(textOf(content));
    return { name, args: isPlainObject(args) ? args : {}, result, isError };
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

/** The tools to call that were not called yet, in the order of the question. */
function toolRequests(
  question: string,
  calls: readonly AnsweredCall[],
  offered: readonly ToolDefinition[],
  choice: ToolChoice,
): readonly ToolRequest[] {
  if (choice === 'none') return [];
  const tools = offered.filter((tool) => !isSearch(tool));
  const requests = typeof choice === 'object' ? [] : pickTools(question, tools);
  if (requests.length > 0) return requests.slice(calls.filter((call) => !isSearch(call)).length);
  const isFallback = (tool: ToolDefinition): boolean => {
    if (typeof choice === 'object') return tool.name === choice.tool;
    return isSearch(tool) ? question !== '' : choice === 'required';
  };
  const fallback = offered.filter(isFallback).slice(calls.length, 1);
  return fallback.map((tool) => ({ tool, text: question }));
}

function isSearch({ name }: { readonly name: string }): boolean {
  return SEARCH_TOOL.test(name);
}

/**
 * The tools that fit the parts of a question best, in order. A part without a match belongs to the
 * part before it, or repeats its tool with another value, as in `the weather in Oslo and Rome`.
 */
function pickTools(question: string, tools: readonly ToolDefinition[]): readonly ToolRequest[] {
  const index = new KeywordToolIndex();
  index.index({ session: 'question', references: tools });
  const requests: ToolRequest[] = [];
  let unmatched = '';
  for (const [part] of question.matchAll(PART)) {
    const { references } = index.search({ session: 'question', query: part });
    const found = references.find(({ name }) => namesSubject(part, name));
    const last = requests.at(-1);
    const isRepeated = takesOneValue(last?.tool) && valuesIn(part).length > 0;
    const tool = found ?? (isRepeated ? last?.tool : undefined);
    if (tool) requests.push({ tool, text: last ? part : unmatched + part });
    else if (last) last.text += part;
    else unmatched += part;
  }
  return requests;
}

/** Ignores the verb of a name: many tools get or find something, few get the weather. */
function namesSubject(query: string, name: string): boolean {
  const words = wordsOf(name);
  const asked = wordsOf(query);
  return words.slice(words.length > 1 ? 1 : 0).some((word) => asked.includes(word));
}

function takesOneValue(tool: ToolReference | undefined): boolean {
  const { properties, required } = tool?.inputSchema ?? {};
  const takesMore = /"type":"(?:array|object)"/.test(JSON.stringify(properties ?? {}));
  return listOf(required).length === 1 && !takesMore;
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
