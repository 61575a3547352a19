import { describe, type Message } from '../chat/message.js';
import { InvalidArgumentError } from '../errors.js';

/** A message of a conversation as a store has it. */
export interface StoredMessage {
  /** Its number within the conversation: 1 for the first, one more for each that follows. Never used twice, whatever is replaced. */
  readonly version: number;
  /** The turn that wrote it, where one did. */
  readonly turnId: string | undefined;
  readonly message: Message;
}

/** What a store has of a conversation. */
export interface ConversationLog {
  /** Version of the last message; 0 if there is no such conversation. */
  readonly version: number;
  /** Oldest first, with consecutive versions. */
  readonly messages: readonly StoredMessage[];
  /** The system messages of the last write that had any, however long ago that was. */
  readonly systemMessages: readonly Message[];
}

/** What a store can do. */
export interface ChatMemoryCapabilities {
  /** Whether an acknowledged write outlives the process. */
  readonly durable: boolean;
  /** Whether a write is there as a whole or not at all, also where the process dies in the middle of it. */
  readonly transactional: boolean;
  /** Whether tool calls and their results are kept. */
  readonly storesToolMessages: boolean;
}

/** Settings of a write. */
export interface WriteOptions {
  /** The write fails with a {@link MemoryConflictError} unless the conversation has this version. */
  readonly expectedVersion?: number | undefined;
  /** The turn that writes: an id like that of a conversation. */
  readonly turnId?: string | undefined;
}

/** Settings of a replacement. It must know what it replaces: what was added meanwhile would be lost. */
export interface ReplaceOptions extends WriteOptions {
  readonly expectedVersion: number;
}

/** Which part of a conversation to read. */
export interface ReadOptions {
  /** Most messages, the newest ones; 0 or more. @default all */
  readonly limit?: number | undefined;
  /** Only messages with a lower version. @default all */
  readonly beforeVersion?: number | undefined;
}

/** Which ids to list. */
export interface ConversationIdsOptions {
  /** Only ids that begin with this text, taken literally. */
  readonly prefix?: string | undefined;
  /** Only ids behind this one: the last id of the page before. */
  readonly after?: string | undefined;
  /** Most ids, 1 or more. @default 100 */
  readonly limit?: number | undefined;
}

/**
 * A store of conversations: for each an append-only log. Every write is atomic. Ids are opaque: 1 to 512 characters without NUL and
 * without unpaired surrogates; they and the contents are data, never part of a query, pattern or path.
 */
export interface ChatMemoryRepository {
  readonly capabilities: ChatMemoryCapabilities;
  /**
   * Adds messages to the end of a conversation and gives its new version; no messages change nothing.
   * @throws MemoryConflictError if the conversation has another version than the expected one
   */
  append(conversationId: string, messages: readonly Message[], options?: WriteOptions): Promise<number>;
  read(conversationId: string, options?: ReadOptions): Promise<ConversationLog>;
  /**
   * Puts messages in place of the whole log, for compaction, and gives the new version: versions go on from the present one, also
   * if there are no messages.
   * @throws MemoryConflictError if the conversation has another version than the expected one
   */
  replace(conversationId: string, messages: readonly Message[], options: ReplaceOptions): Promise<number>;
  /** Removes a conversation; one that is not there is no error. */
  delete(conversationId: string): Promise<void>;
  /** A page of the ids, in the order of their UTF-8 bytes. */
  conversationIds(options?: ConversationIdsOptions): Promise<readonly string[]>;
}

const MAX_ID_LENGTH = 512;

/** @throws {@link InvalidArgumentError} if a value is not an id of a conversation */
export function checkConversationId(id: unknown, where: string): asserts id is string {
  checkId(id, 'the conversation id', where);
}

function checkId(id: unknown, what: string, where: string): void {
  checkText(id, what, where);
  if (id.trim() === '') throw new InvalidArgumentError(`${where}: ${what} must not be blank`);
}

function checkText(text: unknown, what: string, where: string): asserts text is string {
  const problem = textProblem(text);
  if (problem) throw new InvalidArgumentError(`${where}: ${what} ${problem}`);
}

/** @throws {@link InvalidArgumentError} if a setting of a write is one that some store could not hold */
export function checkWrite({ expectedVersion, turnId }: WriteOptions, where: string): void {
  checkCounts({ expectedVersion }, where);
  if (turnId !== undefined) checkId(turnId, 'the turn id', where);
}

/** @throws {@link InvalidArgumentError} if a setting of a listing could be no part of an id */
export function checkListing({ prefix, after, limit }: ConversationIdsOptions, where: string): void {
  checkCounts({ limit }, where);
  for (const [name, value] of Object.entries({ prefix, after })) if (value !== undefined) checkText(value, name, where);
}

function textProblem(text: unknown): string | undefined {
  if (typeof text !== 'string') return `must be a string, not ${describe(text)}`;
  if (text.length > MAX_ID_LENGTH) return `must have at most ${MAX_ID_LENGTH} characters, not ${text.length}`;
  if (text.includes('\0')) return 'must not contain NUL';
  return UNPAIRED_SURROGATE.test(text) ? 'must not contain half of a surrogate pair' : undefined;
}

const UNPAIRED_SURROGATE = /\p{Surrogate}/u;

/** @throws {@link InvalidArgumentError} if settings of a read or a write are no counts */
export function checkCounts(counts: Readonly<Record<string, number | undefined>>, where: string): void {
  for (const [name, value] of Object.entries(counts))
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 0))
      throw new InvalidArgumentError(`${where}: ${name} must be an integer of 0 or more, not ${describe(value)}`);
}

/** @throws {@link InvalidArgumentError} if a replacement does not say what it replaces */
export function checkReplacement(options: ReplaceOptions | undefined): void {
  if (options?.expectedVersion === undefined)
    throw new InvalidArgumentError('replace needs expectedVersion, the version that read() gave: what was added since then would be lost');
}

/** The order of the UTF-8 bytes of two texts; `<` would order by UTF-16 units. */
export function compareBytes(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => Array.from(text, (character) => character.codePointAt(0) ?? 0)) as [number[], number[]];
  const at = left.findIndex((point, index) => point !== right[index]);
  return at < 0 ? left.length - right.length : (left[at] as number) - (right[at] ?? -1);
}
