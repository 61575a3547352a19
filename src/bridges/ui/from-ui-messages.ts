import type { ContentPart, UserMessage } from '../../core/chat/message.js';
import { mediaProblem } from '../../core/chat/media-content.js';
import type { ResumeDecisions } from '../../core/chat/paused-turn.js';
import { checkOptions, integer, isPlainObject, rule, TEXT } from '../../core/internal/options.js';
import { invalidInput } from '../http/request-input.js';
import { decisionsOf } from './ui-decisions.js';

/** Options of {@link fromUIMessages}. */
export interface FromUIMessagesOptions {
  /** Name of the person in the decisions. @default none */
  readonly by?: string | undefined;
  /** Maximum length of the text, and of the JSON of an output, in characters >= 1. @default 100_000 */
  readonly maxCharacters?: number | undefined;
  /** Media types of files that may be sent, such as `image/png`. @default none */
  readonly mediaTypes?: readonly string[] | undefined;
  /** Maximum size of all files, in bytes >= 1. @default 5_000_000 */
  readonly maxFileBytes?: number | undefined;
}

/** The part of a body that a stranger may decide on: a new message, or answers to requests. */
export interface UIInput {
  /** The new message of the user; undefined if the last message is an answer with decisions. */
  readonly message?: UserMessage;
  /** For `client.resume`: answers to approvals, and outputs of tools that the page runs, where they are asked for. */
  readonly decisions: ResumeDecisions;
}

const WHERE = 'fromUIMessages';
const RULES = {
  by: TEXT,
  maxCharacters: integer(1),
  mediaTypes: rule('an array of media types', Array.isArray),
  maxFileBytes: integer(1),
};
const MAX_CHARACTERS = 100_000;
/** Parts of one message. */
const MAX_PARTS = 1_000;
const DATA_URL = /^data:([\w!#$&^.+*-]+\/[\w!#$&^.+*-]+);base64,([\w+/=-]*)$/;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the body of `useChat`, and believes the last message alone: its text and permitted files if it is the user's, or the
 * answers to approval requests and to open calls of tools that the page runs. The history of the page, with its system
 * messages, answers and results of other tools, is not read: the chat memory has it.
 * @param body the parsed JSON, with `messages`
 * @throws {@link InvalidArgumentError} for an invalid body, answered by 400; for invalid options
 */
export function fromUIMessages(body: unknown, options: FromUIMessagesOptions = {}): UIInput {
  checkOptions(WHERE, options, RULES);
  const messages = isPlainObject(body) ? body['messages'] : undefined;
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  if (!isPlainObject(last)) throw invalidInput('The body needs `messages`, with a last one.');
  const parts = partsOf(last);
  if (last['role'] === 'user') return { message: userMessage(parts, options), decisions: {} };
  if (last['role'] !== 'assistant')
    throw invalidInput('The last message must be of the user, or an answer with decisions.');
  const { maxCharacters = MAX_CHARACTERS, by } = options;
  const decisions = decisionsOf(parts, maxCharacters, by);
  if (!decisions)
    throw invalidInput('The last message has no answer to an approval request, and no output.');
  return { decisions };
}

function partsOf({ parts }: Fields): readonly Fields[] {
  if (!Array.isArray(parts) || parts.length > MAX_PARTS || !parts.every(isPlainObject))
    throw invalidInput(`The last message needs at most ${MAX_PARTS} parts.`);
  return parts as readonly Fields[];
}

function userMessage(parts: readonly Fields[], options: FromUIMessagesOptions): UserMessage {
  const { maxCharacters = MAX_CHARACTERS, maxFileBytes = 5_000_000, mediaTypes = [] } = options;
  let characters = 0;
  let bytes = 0;
  const content = parts.map((part): ContentPart => {
    const { type, text } = part;
    if (type === 'text' && typeof text === 'string') {
      characters += text.length;
      if (characters > maxCharacters)
        throw invalidInput(`The message has more than ${maxCharacters} characters.`);
      return { type: 'text', text };
    }
    if (type !== 'file') throw invalidInput('A message of the user has texts and files alone.');
    const file = fileOf(part, mediaTypes);
    bytes += (file.data.length * 3) / 4;
    if (bytes > maxFileBytes) throw invalidInput(`The files have more than ${maxFileBytes} bytes.`);
    return file;
  });
  if (content.length === 0) throw invalidInput('The message is empty.');
  const isText = content.every(({ type }) => type === 'text');
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  if (isText && text.trim() === '') throw invalidInput('The message is empty.');
  return { role: 'user', content: isText ? text : content };
}

/** A file by its content: an address would let the server or the provider load it. */
function fileOf({ url }: Fields, mediaTypes: readonly string[]) {
  const [, mediaType = '', data = ''] = DATA_URL.exec(typeof url === 'string' ? url : '') ?? [];
  if (!mediaTypes.includes(mediaType.toLowerCase()))
    throw invalidInput(
      mediaTypes.length === 0
        ? 'Files are not accepted.'
        : `A file must be a data URL of ${mediaTypes.join(', ')}, in base64.`,
    );
  const [kind] = mediaType.toLowerCase().split('/');
  const type = kind === 'image' || kind === 'audio' ? kind : 'file';
  const part = { type, mediaType: mediaType.toLowerCase(), data } as const;
  if (mediaProblem(part) !== undefined) throw invalidInput('A file must have content in base64.');
  return part;
}
