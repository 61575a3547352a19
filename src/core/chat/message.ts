import { InvalidArgumentError } from '../errors/errors.js';
import { frozenCopy } from '../internal/frozen-copy.js';
import { describe } from '../errors/describe.js';
import { mediaProblem } from './media-content.js';
import { isPlainObject } from '../internal/options.js';
import { wellFormedJson } from '../internal/well-formed.js';

/** Data attached to a message; data of a model is sent back to it unchanged. */
export type Metadata = Readonly<Record<string, unknown>>;

/** A part of a message. `raw` is sent to the provider unchanged. */
export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | MediaPart<'image'>
  | MediaPart<'audio'>
  | (MediaPart<'file'> & { readonly name?: string })
  | { readonly type: 'raw'; readonly value: unknown };

/** Media by URL or content. `data`, base64 or base64url text or bytes, needs a `mediaType` such as `image/png`. */
export interface MediaPart<T extends string> {
  readonly type: T;
  readonly url?: string;
  readonly data?: string | Uint8Array;
  readonly mediaType?: string;
}

/** The content of a message: a text, or parts in order. */
export type Content = string | readonly ContentPart[];

/** Instructions of the application: text alone. */
export interface SystemMessage {
  readonly role: 'system';
  readonly content: Content;
  readonly metadata?: Metadata;
}

/** Input of the user. */
export interface UserMessage {
  readonly role: 'user';
  readonly content: Content;
  readonly metadata?: Metadata;
}

/** An answer of the model. */
export interface AssistantMessage {
  readonly role: 'assistant';
  /** Text alone; null if there is none (tool calls only, a refusal). */
  readonly content: Content | null;
  /** Left out if there are none. */
  readonly toolCalls?: readonly ToolCall[];
  readonly reasoning?: string;
  readonly refusal?: string;
  readonly metadata?: Metadata;
}

/** The result of one tool call. */
export interface ToolMessage {
  readonly role: 'tool';
  readonly toolCallId: string;
  /** {@link ToolCall.wireId} of the call. */
  readonly wireId?: string;
  readonly toolName: string;
  readonly content: Content;
  readonly isError?: boolean;
  readonly metadata?: Metadata;
}

/** A message of a conversation: plain, readonly, JSON. */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

/** A request of the model to run a tool. */
export interface ToolCall<Name extends string = string> {
  /** Unique in the conversation, if the model does not give one id in turns that do not see each other. */
  readonly id: string;
  /**
   * The id by which the model knows the call, if that is not its `id`. It is sent to the model in
   * place of `id`, unless it has more than 64 characters or an earlier call has it.
   */
  readonly wireId?: string;
  readonly name: Name;
  /** JSON text exactly as written by the model. */
  readonly arguments: string;
  readonly metadata?: Metadata;
}

/** A tool call whose arguments were checked, in events. */
export interface CheckedCall<Name extends string = string, Input = unknown> extends ToolCall<Name> {
  /**
   * The checked arguments, with the defaults and transforms of the schema; frozen. Absent if they
   * did not pass the check. JSON and copies leave it out: it may hold dates and other instances.
   */
  readonly input?: Input | undefined;
}

/** The id by which the model knows a call: steps of recorded turns are named after it. */
export function wireIdOf({ id, wireId }: Pick<ToolCall, 'id' | 'wireId'>): string {
  return wireId ?? id;
}

/** The text of a message or of a content: its text parts, joined; empty if there is none. */
export function textOf(value: Message | Content | null): string {
  if (value === null || typeof value === 'string') return value ?? '';
  if (!isParts(value)) return textOf(value.content);
  return value.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

const isParts = (value: Message | readonly ContentPart[]): value is readonly ContentPart[] =>
  Array.isArray(value);

const NO_CALLS: readonly ToolCall[] = [];

/** The tool calls of a message; empty if there are none. */
export function callsOf(message: Message): readonly ToolCall[] {
  return (message.role === 'assistant' && message.toolCalls) || NO_CALLS;
}

/** A message that has text alone, with its text as a string. */
function withText<T extends SystemMessage | AssistantMessage>(message: T): T {
  return Array.isArray(message.content) ? { ...message, content: textOf(message) } : message;
}

/** A message without its tool calls. */
export function withoutCalls({ toolCalls: _left, ...message }: AssistantMessage): AssistantMessage {
  return message;
}

/** True for a content with other parts than text. */
export function hasMedia(content: Content): boolean {
  return typeof content !== 'string' && content.some(({ type }) => type !== 'text');
}

/** Types of images, audio and files; undefined without any. */
export function mediaTypes(content: Content): readonly string[] | undefined {
  const parts = typeof content === 'string' ? [] : content;
  const media = parts.flatMap(({ type }) => (type === 'text' ? [] : [type]));
  return media.length > 0 ? media : undefined;
}

/**
 * A copy of a message that nothing can change, of well-formed texts. Without other fields, as most
 * are, it is made faster.
 */
export function frozenMessage(message: Message): Message {
  const { role } = message;
  const count = Object.isFrozen(message) ? 0 : Object.keys(message).length;
  if (role === 'user' && count === 2)
    return Object.freeze({ role, content: frozenCopy(message.content) });
  if (role === 'system') return frozenCopy(withText(message));
  if (role !== 'assistant') return frozenCopy(message);
  const own = withText(message);
  const { toolCalls: given, content } = own;
  if (!given?.length) return frozenCopy(given ? withoutCalls(own) : own);
  const toolCalls = frozenCopy(withTextArguments(given));
  if (count === 3) return Object.freeze({ role, content: frozenCopy(content), toolCalls });
  return frozenCopy(toolCalls === given ? own : { ...own, toolCalls });
}

/**
 * The calls with well-formed JSON text as arguments, which stores and providers need; the same list
 * if they have it. Models in JavaScript also return the parsed arguments, or null for none.
 */
export function withTextArguments(calls: readonly ToolCall[]): readonly ToolCall[] {
  const texts = calls.map((call) => argumentText(call.arguments));
  if (calls.every((call, at) => call.arguments === texts[at])) return calls;
  return calls.map((call, at) => ({ ...call, arguments: texts[at] as string }));
}

function argumentText(value: unknown): string {
  if (typeof value === 'string') return wellFormedJson(value);
  try {
    return wellFormedJson(JSON.stringify(value ?? null) ?? String(value));
  } catch {
    return String(value); // no JSON: the model is asked to correct it
  }
}

/** @throws {@link InvalidArgumentError} if a value is not a message; `where` begins its text */
export function checkMessage(value: Message, where: string): void {
  const problem = messageProblem(value) ?? metadataProblem(value);
  if (problem) throw new InvalidArgumentError(`${where}: ${problem}`);
}

function messageProblem(value: Message): string | undefined {
  if (!isPlainObject(value))
    return `a message must be an object with a role, not ${describe(value)}`;
  switch (value.role) {
    case 'system':
      return textProblem(value.content, 'system');
    case 'user':
      return contentProblem(value.content, 'user');
    case 'assistant':
      return assistantProblem(value);
    case 'tool':
      if (!isId(value, 'toolCallId'))
        return 'a tool message needs `toolCallId`, the id of the call it answers';
      if (typeof value.toolName !== 'string')
        return 'a tool message needs `toolName`, the name of the tool that ran';
      return contentProblem(value.content, 'tool');
    default:
      return `unknown role ${describe((value as { role?: unknown }).role)}; it is one of system, user, assistant, tool`;
  }
}

function metadataProblem({ metadata }: Message): string | undefined {
  if (metadata === undefined || isPlainObject(metadata)) return undefined;
  return `\`metadata\` of a message must be an object, not ${describe(metadata)}`;
}

function assistantProblem(value: AssistantMessage): string | undefined {
  const { content, toolCalls } = value;
  const problem = content === null ? undefined : textProblem(content, 'assistant');
  if (problem !== undefined || toolCalls === undefined) return problem;
  if (!Array.isArray(toolCalls))
    return `\`toolCalls\` must be an array, not ${describe(toolCalls)}`;
  const calls = toolCalls as readonly (ToolCall | undefined)[];
  const bad = calls.findIndex((call) => !isToolCall(call));
  if (bad < 0) return undefined;
  return `toolCalls[${bad}] needs \`id\`, \`name\` and \`arguments\` (JSON text), all strings`;
}

function isToolCall(call: ToolCall | undefined): boolean {
  if (!call || !isId(call, 'id')) return false;
  return typeof call.name === 'string' && typeof call.arguments === 'string';
}

/** Ids may be undefined, but not missing: some providers do not support ids. */
function isId<K extends string>(holder: { readonly [name in K]: unknown }, name: K): boolean {
  return name in holder && (holder[name] === undefined || typeof holder[name] === 'string');
}

const AN = { system: 'a system', user: 'a user', assistant: 'an assistant', tool: 'a tool' };

/** Providers take text alone of the application and of models. */
function textProblem(content: Content, role: 'system' | 'assistant'): string | undefined {
  const problem = contentProblem(content, role);
  if (problem !== undefined || typeof content === 'string') return problem;
  const other = content.find(({ type }) => type !== 'text');
  return other && `${AN[role]} message has text alone, no part of type ${describe(other.type)}`;
}

function contentProblem(content: unknown, role: Message['role']): string | undefined {
  if (typeof content === 'string') return undefined;
  if (!Array.isArray(content))
    return `${AN[role]} message needs \`content\`, a string or an array of parts${role === 'assistant' ? ', or null' : ''}`;
  for (const [at, part] of content.entries()) {
    const problem = partProblem(part as ContentPart);
    if (problem) return `content[${at}] ${problem}`;
  }
  return undefined;
}

export function isContentPart(value: unknown): value is ContentPart {
  return partProblem(value as ContentPart) === undefined;
}

/** An undefined address is accepted: recordings of other clients contain such parts. */
function addressProblem(part: MediaPart<string>): string | undefined {
  return typeof part.url === 'string' ? mediaProblem(part) : undefined;
}

function partProblem(part: ContentPart): string | undefined {
  switch (part?.type) {
    case 'text':
      return typeof part.text === 'string' ? undefined : 'needs `text`, a string';
    case 'image':
    case 'audio':
    case 'file':
      if (part.data === undefined)
        return 'url' in part ? addressProblem(part) : 'needs `url`, a string, or `data`';
      if (typeof part.data !== 'string' && !(part.data instanceof Uint8Array))
        return 'needs `data` as base64 text or bytes';
      if (typeof part.mediaType !== 'string')
        return 'with `data` needs `mediaType`, such as "image/png"';
      return mediaProblem(part);
    case 'raw':
      return 'value' in part ? undefined : 'needs `value`';
    default:
      return `has unknown type ${describe((part as { type?: unknown } | undefined)?.type)}; it is one of text, image, audio, file, raw (calls: \`toolCalls\`, results: a message of the role tool)`;
  }
}
