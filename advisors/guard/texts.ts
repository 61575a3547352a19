import type { Generation } from '../../src/core/chat/chat-response.js';
import type { Citation } from '../../src/core/chat/citation.js';
import {
  callsOf,
  textOf,
  type AssistantMessage,
  type ContentPart,
  type Metadata,
  type ToolCall,
} from '../../src/core/chat/message.js';
import { isJsonText } from '../../src/core/internal/json.js';
import { isPlainObject } from '../../src/core/internal/options.js';

/** Changes a text, or leaves it unchanged after a look at it. */
export type TextChange = (text: string, inToolCall: boolean) => string;

type Content = string | readonly ContentPart[];

const ESCAPE = /\\u[\da-f]{4}/i;
const ESCAPES = /\\u([\da-f]{4})/gi;
const JSON_STRING = /"(?:[^"\\]|\\.)*"/g;

/**
 * A content with changed texts. Several parts are looked at alone and as one text; if that is
 * changed, it becomes one part, since a place in it may be in several.
 */
export function changeContent(content: Content, change: TextChange): Content {
  if (typeof content === 'string') return changeText(content, change);
  const parts = content.map((part) => {
    const text = part.type === 'text' ? changeText(part.text, change) : undefined;
    return text === undefined || text === textOf([part]) ? part : { type: 'text' as const, text };
  });
  const whole = textOf(parts);
  const joined = change(whole, false);
  if (joined !== whole)
    return [{ type: 'text', text: joined }, ...parts.filter(({ type }) => type !== 'text')];
  return parts.some((part, at) => part !== content[at]) ? parts : content;
}

/** Looks at a text, and before at the strings of JSON in which something is escaped. */
function changeText(text: string, change: TextChange, inToolCall = false): string {
  const isEscaped = text.includes('\\') && /^\s*[[{"]/.test(text) && isJsonText(text);
  return change(isEscaped ? text.replace(JSON_STRING, changeString) : text, inToolCall);

  function changeString(written: string): string {
    if (!written.includes('\\')) return written;
    const value = JSON.parse(written) as string;
    // it may be JSON again
    const changed = changeText(value, change, inToolCall);
    return changed === value ? written : JSON.stringify(changed);
  }
}

/** Looks at a text of arguments, and at what a program reads in its escapes, wherever these are. */
function changeArgument(text: string, change: TextChange): string {
  const changed = changeText(text, change, true);
  if (!ESCAPE.test(changed)) return changed;
  const read = changed.replace(ESCAPES, (_escape, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  const kept = change(read, true);
  return kept === read ? changed : kept;
}

/** A content with texts before and after it. */
export function surround(content: Content, before: string, after: string): Content {
  if (typeof content === 'string') return `${before}${content}${after}`;
  return [{ type: 'text', text: before }, ...content, { type: 'text', text: after }];
}

/** All texts of an answer: reasoning, text, refusal, and arguments of calls. */
function changeMessage(message: AssistantMessage, change: TextChange): AssistantMessage {
  const { reasoning, content, refusal, toolCalls } = message;
  const own = (value: string): string => (value === '' ? value : changeText(value, change));
  return {
    ...message,
    ...(reasoning !== undefined && { reasoning: own(reasoning) }),
    content: content === null ? null : own(textOf(content)),
    ...(refusal !== undefined && { refusal: own(refusal) }),
    ...(toolCalls && { toolCalls: toolCalls.map((call) => changeCall(call, change)) }),
  };
}

function changeCall(call: ToolCall, change: TextChange): ToolCall {
  const text = changeArguments(call.arguments, change);
  return text === call.arguments ? call : { ...call, arguments: text };
}

/** Looks at the strings of the arguments, where nothing is escaped, and at their whole text. */
function changeArguments(text: string, change: TextChange): string {
  let changed = false;
  const changeValue = (key: string, value: unknown): unknown => {
    const isKept = key === '' || changeArgument(key, change) === key;
    const kept = typeof value === 'string' ? changeArgument(value, change) : value;
    if (!isKept || kept !== value) changed = true;
    return isKept ? kept : undefined;
  };
  let result = text;
  try {
    const value: unknown = JSON.parse(text, changeValue);
    if (changed) result = JSON.stringify(value) ?? text;
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
  }
  return change(result, true);
}

/** All texts of an answer, and the texts of its sources. */
export function changeGeneration(
  { message, citations }: Generation,
  change: TextChange,
): Pick<Generation, 'message' | 'citations'> {
  return {
    message: changeMessage(message, change),
    ...(citations && { citations: citations.map((each) => changeCitation(each, change)) }),
  };
}

/** Texts that a message shows of its model. */
function textsOf(message: AssistantMessage): string {
  return [textOf(message), message.reasoning].filter(Boolean).join('\n');
}

/** A changed generation without copies of what was removed from it. */
export function withoutCopies(
  before: Generation,
  { message, citations }: Pick<Generation, 'message' | 'citations'>,
  removed: readonly string[],
  change: TextChange,
): Generation {
  const original = textsOf(before.message);
  const clean = textsOf(message);
  const isCopy = (text: string): boolean =>
    removed.some((each) => text.includes(each)) ||
    (original.includes(text) && !clean.includes(text));
  const cleaned = (metadata: Metadata): Metadata =>
    changeStrings(metadata, (text) => (isCopy(text) ? change(text, false) : text), isCopy);
  const toolCalls = callsOf(message).map((call) =>
    call.metadata ? { ...call, metadata: cleaned(call.metadata) } : call,
  );
  const { finishReason } = before;
  return {
    message: {
      ...message,
      toolCalls,
      ...(message.metadata && { metadata: cleaned(message.metadata) }),
    },
    ...(finishReason !== undefined && { finishReason }),
    ...(citations && { citations }),
  };
}

/** Without its place in a text that is another one now, and without the object of the provider. */
function changeCitation({ url, title, text }: Citation, change: TextChange): Citation {
  return {
    ...(url !== undefined && { url: change(url, false) }),
    ...(title !== undefined && { title: change(title, false) }),
    ...(text !== undefined && { text: change(text, false) }),
  };
}

/** Fields of providers without text of an answer, whatever their value is. */
const NAMES: ReadonlySet<string> = new Set(['type', 'id', 'name', 'role', 'status']);

/**
 * Changes the strings of plain data; what is part of a secret after the change too becomes empty.
 */
function changeStrings<T>(value: T, change: (text: string) => string, isCopy: IsCopy): T {
  const visit = (each: unknown, name: string): unknown => {
    if (typeof each === 'string') {
      if (NAMES.has(name)) return each;
      const text = change(each);
      return isCopy(text) ? '' : text;
    }
    if (Array.isArray(each)) return each.map((item) => visit(item, name));
    if (!isPlainObject(each) || Object.getPrototypeOf(each) !== Object.prototype) return each;
    return Object.fromEntries(Object.entries(each).map(([key, item]) => [key, visit(item, key)]));
  };
  return visit(value, '') as T;
}

type IsCopy = (text: string) => boolean;
