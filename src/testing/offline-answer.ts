import type { ChatOptions } from '../core/chat/chat-options.js';
import { textOf, type Message } from '../core/chat/message.js';
import type { JsonSchema, ToolDefinition } from '../core/chat/tool-definition.js';
import { parseJson, type JsonValue } from '../core/internal/json.js';
import { isPlainObject } from '../core/internal/options.js';
import { truncate } from '../core/internal/text.js';
import { KeywordToolIndex } from '../stores/tool-indexes/keyword-tool-index.js';
import { ArgumentSource, wordsOf } from './offline-arguments.js';

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

/** The end of a prompt that asks for JSON in its text, as `entity(schema)` does. */
const SCHEMA = /\n[^\n]*JSON Schema:\n(\{.*\})\s*$/s;
/** A tool that searches for tools. */
const SEARCH_TOOL = /tools?[_.-]?search|search[_.-]?tools?|find[_.-]?tools?/i;
/** Characters of a question that are read. */
const MAX_LENGTH = 4_000;
/** Characters of a result that are repeated. */
const MAX_RESULT = 400;

/**
 * The decision of the offline model, on plain data: calls the tools whose subject the question
 * names, with its values in their order and fields of earlier results as arguments, then answers
 * with the results. Without such a tool, a tool that searches for tools is called. Deterministic.
 */
export function offlineAnswer({
  messages,
  tools = [],
  toolChoice: choice = 'auto',
  parallelToolCalls = true,
  responseFormat: format,
}: OfflineQuestion): OfflineAnswer {
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const { question, asked } = readQuestion(messages[at]);
  const results = messages.slice(at + 1).filter((message) => message.role === 'tool');
  const found = results.filter(({ toolName }) => !SEARCH_TOOL.test(toolName));
  const good = found.filter(({ isError }) => !isError);
  const data = good.map(({ toolName, content }) => ({ [toolName]: valueOf(textOf(content)) }));
  const source = new ArgumentSource(question, data);
  const isOpen = ({ name }: ToolDefinition): boolean =>
    results.every(({ toolName }) => toolName !== name);
  const toolCalls: PlannedCall[] = [];
  for (const { name, inputSchema } of toolsFor(question, tools, choice).filter(isOpen)) {
    const { args, isComplete } = source.fill(inputSchema);
    // a call that lacks a value waits for results, or is left out
    if (isComplete || results.length + toolCalls.length === 0)
      toolCalls.push({ name, args: SEARCH_TOOL.test(name) ? { query: question } : args });
  }
  if (toolCalls.length > 0)
    return { text: null, toolCalls: parallelToolCalls ? toolCalls : toolCalls.slice(0, 1) };
  const schema = typeof format === 'object' ? format.schema : asked;
  const lines = found.map(
    ({ toolName, content }) => `${toolName}: ${truncate(textOf(content), MAX_RESULT)}`,
  );
  const text = schema ? JSON.stringify(source.fill(schema).args) : lines.join('\n') || NO_TOOL;
  return { text, toolCalls };
}

const NO_TOOL =
  'I am the offline model: I answer with the results of tools, and no tool fits here.';

function readQuestion(message: Message | undefined): {
  readonly question: string;
  readonly asked: JsonSchema | undefined;
} {
  const text = message?.role === 'user' ? textOf(message.content).trim() : '';
  const schema = valueOf(SCHEMA.exec(text)?.[1] ?? '');
  const asked = isPlainObject(schema) ? schema : undefined;
  const question = asked ? text.replace(SCHEMA, '') : text;
  return { question: truncate(question.replaceAll(/[“”]/g, '"'), MAX_LENGTH), asked };
}

/** A text as JSON, or the text itself. */
function valueOf(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

function toolsFor(
  question: string,
  offered: readonly ToolDefinition[],
  choice: OfflineQuestion['toolChoice'],
): readonly ToolDefinition[] {
  if (choice === 'none') return [];
  if (typeof choice === 'object') return offered.filter(({ name }) => name === choice.tool);
  const named = toolsNamedIn(
    question,
    offered.filter(({ name }) => !SEARCH_TOOL.test(name)),
  );
  if (named.length > 0) return named;
  const isFallback = ({ name }: ToolDefinition): boolean =>
    SEARCH_TOOL.test(name) ? question !== '' : choice === 'required';
  return offered.filter(isFallback).slice(0, 1);
}

/** The tools that name a subject of the question, each with a word that no better one has, in the order of these words. */
function toolsNamedIn(
  question: string,
  tools: readonly ToolDefinition[],
): readonly ToolDefinition[] {
  const index = new KeywordToolIndex();
  index.index({ session: 'question', references: tools });
  const words = wordsOf(question);
  const named = new Set<string>();
  const found: { readonly at: number; readonly tool: ToolDefinition }[] = [];
  for (const tool of index.search({ session: 'question', query: question }).references) {
    // many tools get or find something, few get the weather
    const [verb = '', ...subject] = wordsOf(tool.name);
    const names = subject.length > 0 ? subject : [verb];
    const at = words.findIndex((word) => names.includes(word) && !named.has(word));
    if (at >= 0) found.push({ at, tool });
    for (const name of names) named.add(name);
  }
  return found.sort(({ at }, other) => at - other.at).map(({ tool }) => tool);
}
