import { InvalidArgumentError } from '../errors.js';

/** Free data that travels with a message; what a model put there goes back to it unchanged. */
export type Metadata = Readonly<Record<string, unknown>>;

/** A piece of a user message. `raw` is handed to the provider untouched. */
export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | MediaPart<'image'>
  | MediaPart<'audio'>
  | (MediaPart<'file'> & { readonly name?: string })
  | { readonly type: 'raw'; readonly value: unknown };

/** Media by address or by content; `data` is base64 text or bytes, and then `mediaType` (such as `image/png`) is needed. */
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

/** What the user says. */
export interface UserMessage {
  readonly role: 'user';
  readonly content: string | readonly ContentPart[];
  readonly metadata?: Metadata;
}

/** What the model answered. */
export interface AssistantMessage {
  readonly role: 'assistant';
  /** The text; null if the model gave none (tool calls only, a refusal). */
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

/** A model's wish to have a tool run. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text exactly as the model wrote it. */
  readonly arguments: string;
  readonly metadata?: Metadata;
}

/** The text of a content, its text parts joined; media contribute nothing. */
export function textOf(content: string | readonly ContentPart[]): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** @throws {@link InvalidArgumentError} if a value is not a message, naming the place and the rule */
export function checkMessage(value: Message, where: string): void {
  const problem = messageProblem(value);
  if (problem) throw new InvalidArgumentError(`${where}: ${problem}`);
}

function messageProblem(value: Message): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return `a message is an object with a role, not ${describe(value)}`;
  switch (value.role) {
    case 'system':
      return typeof value.text === 'string' ? undefined : 'a system message needs `text`, a string';
    case 'user':
      return contentProblem(value.content, 'user');
    case 'assistant':
      return assistantProblem(value);
    case 'tool':
      if (!isId(value, 'toolCallId')) return 'a tool message needs `toolCallId`, the id of the call it answers';
      if (typeof value.toolName !== 'string') return 'a tool message needs `toolName`, the name of the tool that ran';
      return contentProblem(value.content, 'tool');
    default:
      return `unknown role ${describe((value as { role?: unknown }).role)}; it is one of system, user, assistant, tool`;
  }
}

function assistantProblem(value: AssistantMessage): string | undefined {
  if (value.text !== null && typeof value.text !== 'string') return 'an assistant message needs `text`, a string or null';
  if (!Array.isArray(value.toolCalls)) return 'an assistant message needs `toolCalls`, an array (empty if there are none)';
  const bad = (value.toolCalls as readonly (ToolCall | undefined)[]).findIndex(
    (call) => !call || !isId(call, 'id') || typeof call.name !== 'string' || typeof call.arguments !== 'string',
  );
  return bad < 0 ? undefined : `toolCalls[${bad}] needs \`id\`, \`name\` and \`arguments\` (JSON text), all strings`;
}

/** An id must be given, if only as undefined: some providers know no ids, and their histories are good. */
function isId<K extends string>(holder: { readonly [name in K]: unknown }, name: K): boolean {
  return name in holder && (holder[name] === undefined || typeof holder[name] === 'string');
}

function contentProblem(content: unknown, role: string): string | undefined {
  if (typeof content === 'string') return undefined;
  if (!Array.isArray(content)) return `a ${role} message needs \`content\`, a string or an array of parts`;
  for (const [at, part] of content.entries()) {
    const problem = partProblem(part as ContentPart);
    if (problem) return `content[${at}] ${problem}`;
  }
  return undefined;
}

/** Whether a value is a piece of a message. */
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
      return mediaProblem(part);
    case 'raw':
      return 'value' in part ? undefined : 'needs `value`';
    default:
      return `has unknown type ${describe((part as { type?: unknown } | undefined)?.type)}; it is one of text, image, audio, file, raw`;
  }
}

function mediaProblem(part: MediaPart<string>): string | undefined {
  const { data, mediaType } = part;
  // a url without a value is let through: recordings of other clients hold such parts, and the provider is to judge them
  if (data === undefined) return 'url' in part ? undefined : 'needs `url`, a string, or `data`';
  if (typeof data !== 'string' && !(data instanceof Uint8Array)) return 'needs `data` as base64 text or bytes';
  return typeof mediaType === 'string' ? undefined : 'with `data` needs `mediaType`, such as "image/png"';
}

/** A short text of any value for error messages; never throws and never prints the content of objects. */
export function describe(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
