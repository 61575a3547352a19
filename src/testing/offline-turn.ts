import { canonicalJson, parseJson, type JsonValue } from '../chat/json.js';
import type { JsonSchema } from '../chat/tool-definition.js';
import { textOf, type AssistantMessage, type Message, type ToolCall } from '../chat/message.js';

/** A call of the turn with what came of it. */
export interface AnsweredCall {
  readonly name: string;
  readonly args: Readonly<Record<string, JsonValue>>;
  /** The result as the model was told. */
  readonly text: string;
  /** The result as data if it is JSON, else its text. */
  readonly value: JsonValue;
  readonly isError: boolean;
}

/** One request of the user, as a conversation has it. */
export interface Turn {
  readonly question: string;
  /** Where the words of this request begin, if the question was asked in several messages. */
  readonly start: number;
  /** The calls that were answered since, in order. */
  readonly answered: readonly AnsweredCall[];
  /** What was said before. */
  readonly earlier: readonly Message[];
  /** Schema that the text asks the answer to fit, as `entity(schema)` does it. */
  readonly schema: JsonSchema | undefined;
}

/** Begins a text that asks the user for values, so that the next message is understood as the answer. */
export const ASKING = 'I need more to go on: ';

const FOLLOW_UP = /^(?:and|or|but|what about|how about|also|now)\b/i;

/** A text ends with the schema that its answer is to fit. */
const SCHEMA = /\n[^\n]*JSON Schema:\n(\{.*\})\s*$/s;
/** Longer texts are read at their beginning and end only: that is where a question stands. */
const MAX_LENGTH = 8_000;

/** Reads the turn that a model has to go on with. */
export function turnOf(messages: readonly Message[]): Turn {
  const at = messages.findLastIndex((message) => message.role === 'user');
  const earlier = messages.slice(0, Math.max(at, 0));
  const whole = userText(messages[at]);
  const schema = schemaIn(whole);
  const text = clean(schema ? whole.replace(SCHEMA, '') : whole);
  return { ...inContext(text, earlier), answered: answeredCalls(messages.slice(at + 1)), earlier, schema };
}

/** A message that answers a question of ours, or goes on with the last one (`And in Rome?`), is read together with it. */
function inContext(text: string, earlier: readonly Message[]): Pick<Turn, 'question' | 'start'> {
  const before = clean(userText(earlier.findLast((message) => message.role === 'user')));
  const answers = isAnswer(earlier);
  if (before === '' || !(answers || FOLLOW_UP.test(text))) return { question: text, start: 0 };
  const question = `${before.replace(/[?.!\s]*$/, '.')} ${text}`;
  return { question, start: answers ? 0 : question.length - text.length };
}

function isAnswer(earlier: readonly Message[]): boolean {
  const last = earlier.at(-1);
  return last?.role === 'assistant' && (last.text?.includes(ASKING) ?? false);
}

function userText(message: Message | undefined): string {
  return message?.role === 'user' ? textOf(message.content).trim() : '';
}

function clean(text: string): string {
  const short = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH / 2)}\n${text.slice(-MAX_LENGTH / 2)}` : text;
  return /^(["'])[^"]+\1$/.test(short) ? short.slice(1, -1).trim() : short;
}

function schemaIn(text: string): JsonSchema | undefined {
  const schema = valueOf(SCHEMA.exec(text)?.[1] ?? '');
  return typeof schema === 'object' && schema !== null && !Array.isArray(schema) ? (schema as JsonSchema) : undefined;
}

function answeredCalls(messages: readonly Message[]): readonly AnsweredCall[] {
  const calls = messages
    .filter((message): message is AssistantMessage => message.role === 'assistant')
    .flatMap((message) => message.toolCalls);
  return messages.flatMap((message) => {
    if (message.role !== 'tool') return [];
    const call = calls.find((one) => one.id === message.toolCallId);
    const text = textOf(message.content);
    return [
      { name: call?.name ?? message.toolName, args: argumentsOf(call), text, value: valueOf(text), isError: message.isError ?? false },
    ];
  });
}

function argumentsOf(call: ToolCall | undefined): AnsweredCall['args'] {
  const value = valueOf(call?.arguments ?? '{}');
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as AnsweredCall['args']) : {};
}

function valueOf(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch {
    return text; // a result in words
  }
}

/** The same text for calls that do the same. */
export function callKey(name: string, args: Readonly<Record<string, unknown>>): string {
  return `${name} ${canonicalJson(args as JsonValue)}`;
}
