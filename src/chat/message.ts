import { InvalidArgumentError } from '../errors.js';
import { frozenCopy } from '../internal/frozen-copy.js';
import { describe } from '../internal/text.js';
import { isPlainObject } from '../internal/options.js';

/** Data attached to a message; data of a model is sent back to it unchanged. */
export type Metadata = Readonly<Record<string, unknown>>;

/** A part of a message. `raw` is sent to the provider unchanged. */
export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | MediaPart<'image'>
  | MediaPart<'audio'>
  | (MediaPart<'file'> & { readonly name?: string })
  | { readonly type: 'raw'; readonly value: unknown };

/** Media by URL or content. `data`, base64 or bytes, needs a `mediaType` such as `image/png`. */
export interface MediaPart<T extends string> {
  readonly type: T;
  readonly url?: string;
  readonly data?: string | Uint8Array;
  readonly mediaType?: string;
}

/** Instructions of the application. */
export interface SystemMessage {
  readonly role: 'system';
  readonly text: string;
  readonly metadata?: Metadata;
}

/** Input of the user. */
export interface UserMessage {
  readonly role: 'user';
  readonly content: string | readonly ContentPart[];
  readonly metadata?: Metadata;
}

/** An answer of the model. */
export interface AssistantMessage {
  readonly role: 'assistant';
  /** Null if the answer has no text (tool calls only, a refusal). */
  readonly text: string | null;
  readonly toolCalls: readonly ToolCall[];
  readonly reasoning?: string;
  readonly refusal?: string;
  readonly metadata?: Metadata;
}

/** The result of one tool call. */
export interface ToolMessage {
  readonly role: 'tool';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly content: string | readonly ContentPart[];
  readonly isError?: boolean;
  readonly metadata?: Metadata;
}

/** A message of a conversation: plain, readonly, JSON. */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

/** A request of the model to run a tool. */
export interface ToolCall<Name extends string = string> {
  readonly id: string;
  readonly name: Name;
  /** JSON text exactly as written by the model. */
  readonly arguments: string;
  readonly metadata?: Metadata;
}

/** The joined text parts of a content. */
export function textOf(content: string | readonly ContentPart[]): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** A copy of a message that nothing can change. Without other fields, as most are, it is made faster. */
export function frozenMessage(message: Message): Message {
  if (Object.isFrozen(message)) return frozenCopy(message);
  const { role } = message;
  const count = Object.keys(message).length;
  if (role === 'user' && count === 2)
    return Object.freeze({ role, content: frozenCopy(message.content) });
  if (role === 'assistant' && count === 3)
    return Object.freeze({ role, text: message.text, toolCalls: frozenCopy(message.toolCalls) });
  return frozenCopy(message);
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
      return typeof value.text === 'string' ? undefined : 'a system message needs `text`, a string';
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
  if (value.text !== null && typeof value.text !== 'string')
    return 'an assistant message needs `text`, a string or null';
  if (!Array.isArray(value.toolCalls))
    return 'an assistant message needs `toolCalls`, an array (empty if there are none)';
  const calls = value.toolCalls as readonly (ToolCall | undefined)[];
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

function contentProblem(content: unknown, role: string): string | undefined {
  if (typeof content === 'string') return undefined;
  if (!Array.isArray(content))
    return `a ${role} message needs \`content\`, a string or an array of parts`;
  for (const [at, part] of content.entries()) {
    const problem = partProblem(part as ContentPart);
    if (problem) return `content[${at}] ${problem}`;
  }
  return undefined;
}

export function isContentPart(value: unknown): value is ContentPart {
  return partProblem(value as ContentPart) === undefined;
}

function partProblem(part: ContentPart): string | undefined {
  switch (part?.type) {
    case 'text':
      return typeof part.text === 'string' ? undefined : 'needs `text`, a string';
    case 'image':
    case 'audio':
    case 'file':
      // accepts an undefined url: recordings of other clients contain such parts
      if (part.data === undefined)
        return 'url' in part ? undefined : 'needs `url`, a string, or `data`';
      if (typeof part.data !== 'string' && !(part.data instanceof Uint8Array))
        return 'needs `data` as base64 text or bytes';
      if (typeof part.mediaType === 'string') return undefined;
      return 'with `data` needs `mediaType`, such as "image/png"';
    case 'raw':
      return 'value' in part ? undefined : 'needs `value`';
    default:
      return `has unknown type ${describe((part as { type?: unknown } | undefined)?.type)}; it is one of text, image, audio, file, raw`;
  }
}
