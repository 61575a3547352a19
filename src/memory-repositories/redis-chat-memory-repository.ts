import { InvalidArgumentError } from '../errors.js';
import { MemoryConflictError } from '../memory/memory-error.js';
import { describe } from '../internal/text.js';
import { checkOption, checkOptions, hasMethods, integer, rule } from '../internal/options.js';
import {
  CheckedChatMemoryRepository,
  compareUtf8,
  type EncodedLog,
  type EncodedWrite,
  type ReadOptions,
} from '../memory/chat-memory-repository.js';

/** A connected client of `redis` or `ioredis`. */
export type RedisClient =
  | { sendCommand(command: string[]): Promise<unknown> }
  | { call(command: string, ...values: string[]): Promise<unknown> };

/** Options of a {@link RedisChatMemoryRepository}. */
export interface RedisChatMemoryRepositoryOptions {
  /** A connected client; the caller closes it. */
  readonly client: RedisClient;
  /** Prefix of the keys, without braces. @default 'chat_memory' */
  readonly keyPrefix?: string | undefined;
  /** Time to live after the last write, in milliseconds; an integer >= 1. @default unlimited */
  readonly ttl?: number | undefined;
}

/**
 * KEYS: messages, head.
 * ARGV: expected version or '', 'append' or 'replace', system messages or '', ttl or '', entries.
 */
const WRITE_SCRIPT = `
local version = tonumber(redis.call('HGET', KEYS[2], 'version') or '0')
if ARGV[1] ~= '' and tonumber(ARGV[1]) ~= version then return {0, version} end
if ARGV[2] == 'replace' then redis.call('DEL', KEYS[1], KEYS[2]) end
for at = 5, #ARGV do redis.call('RPUSH', KEYS[1], ARGV[at]) end
version = version + math.max(#ARGV - 4, 1)
redis.call('HSET', KEYS[2], 'version', version)
if ARGV[3] ~= '' then redis.call('HSET', KEYS[2], 'system', ARGV[3]) end
if ARGV[4] ~= '' then
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
  redis.call('PEXPIRE', KEYS[2], ARGV[4])
end
return {1, version}`;

/** KEYS: messages, head. ARGV: limit or '', upper bound of the versions (exclusive) or ''. */
const READ_SCRIPT = `
local version = tonumber(redis.call('HGET', KEYS[2], 'version') or '0')
local length = redis.call('LLEN', KEYS[1])
local first = version - length + 1
local stop = length
if ARGV[2] ~= '' then stop = math.max(0, math.min(length, tonumber(ARGV[2]) - first)) end
local start = 0
if ARGV[1] ~= '' then start = math.max(0, stop - tonumber(ARGV[1])) end
local entries = {}
if stop > start then entries = redis.call('LRANGE', KEYS[1], start, stop - 1) end
return {version, first + start, redis.call('HGET', KEYS[2], 'system') or '', entries}`;

const WHERE = 'RedisChatMemoryRepository';
const KEY_PREFIX = rule(
  'a non-empty string without { and }',
  (prefix) => typeof prefix === 'string' && /^[^{}]+$/.test(prefix),
);

type SendCommand = (command: string, ...values: string[]) => Promise<unknown>;

/**
 * Stores conversations in Redis, as durable as the configuration of its server. Every write is one
 * script; the keys of a conversation share a slot, as a cluster requires.
 */
export class RedisChatMemoryRepository extends CheckedChatMemoryRepository {
  private readonly sendCommand: SendCommand;
  private readonly keyPrefix: string;
  private readonly idsKey: string;
  private readonly ttl: number | undefined;

  /** @throws {@link InvalidArgumentError} if an option breaks its rule */
  constructor(options: RedisChatMemoryRepositoryOptions) {
    super();
    const { client, keyPrefix = 'chat_memory', ttl } = options ?? {};
    this.sendCommand = commandSender(client);
    checkOption(WHERE, 'keyPrefix', keyPrefix, KEY_PREFIX);
    checkOptions(WHERE, options, { ttl: integer(1) });
    this.keyPrefix = keyPrefix;
    this.idsKey = `${keyPrefix}:ids`;
    this.ttl = ttl;
  }

  /** Does nothing; for code that starts every store in the same way. */
  async migrate(): Promise<void> {}

  protected async readLog(id: string, options: ReadOptions): Promise<EncodedLog> {
    const { limit = '', beforeVersion = '' } = options;
    const keys = this.keysOf(id);
    const values = [`${limit}`, `${beforeVersion}`];
    const reply = await this.sendCommand('EVAL', READ_SCRIPT, '2', ...keys, ...values);
    const [version, firstVersion, system, texts] = reply as [number, number, string, string[]];
    const entries = texts.map((text, at) => {
      const end = text.indexOf('\n');
      const turn = JSON.parse(text.slice(0, end)) as string | null;
      return { version: firstVersion + at, turn, message: text.slice(end + 1) };
    });
    return { version, system: system || null, entries };
  }

  protected async deleteLog(id: string): Promise<void> {
    await this.sendCommand('ZREM', this.idsKey, id);
    await this.sendCommand('DEL', ...this.keysOf(id));
  }

  protected async listIds(prefix: string, after: string, limit: number): Promise<string[]> {
    const found: string[] = [];
    let min = compareUtf8(after, prefix) < 0 ? `[${prefix}` : `(${after}`;
    while (found.length < limit) {
      const range = [this.idsKey, min, '+', 'LIMIT', '0', '100'];
      const page = (await this.sendCommand('ZRANGEBYLEX', ...range)) as string[];
      for (const id of page) if (await this.verifyListed(id)) found.push(id);
      if (page.length < 100 || !page[99]?.startsWith(prefix)) break;
      min = `(${page.at(-1)}`;
    }
    return found.slice(0, limit);
  }

  /** Lists the id first: an id without a conversation is harmless, the opposite cannot be found. */
  protected async writeLog(id: string, write: EncodedWrite): Promise<number> {
    const { texts, system, turn, expectedVersion, isReplacing } = write;
    await this.listId(id);
    const values = [
      `${expectedVersion ?? ''}`,
      isReplacing ? 'replace' : 'append',
      system ?? '',
      `${this.ttl ?? ''}`,
      ...texts.map((text) => `${JSON.stringify(turn)}\n${text}`),
    ];
    const reply = await this.sendCommand('EVAL', WRITE_SCRIPT, '2', ...this.keysOf(id), ...values);
    const [written, version] = reply as [number, number];
    if (written === 0) throw new MemoryConflictError(id, expectedVersion ?? 0, version);
    // a concurrent listing or deletion may have removed the id before the conversation existed
    if (version === Math.max(texts.length, 1)) await this.listId(id);
    return version;
  }

  /** Returns whether a listed conversation exists; if it expired, removes its id from the list. */
  private async verifyListed(id: string): Promise<boolean> {
    const [, head] = this.keysOf(id);
    if (await this.sendCommand('EXISTS', head)) return true;
    await this.sendCommand('ZREM', this.idsKey, id);
    // the conversation may have been created between the two commands
    if (!(await this.sendCommand('EXISTS', head))) return false;
    await this.listId(id);
    return true;
  }

  private listId(id: string): Promise<unknown> {
    return this.sendCommand('ZADD', this.idsKey, '0', id);
  }

  /** The part in braces determines the slot; the encoded id cannot contain a brace. */
  private keysOf(id: string): readonly [messages: string, head: string] {
    const key = `${this.keyPrefix}:{${encodeURIComponent(id)}}`;
    return [`${key}:messages`, `${key}:head`];
  }
}

/** Clients of `ioredis` have both methods, with another meaning of `sendCommand`. */
function commandSender(client: RedisClient): SendCommand {
  if (!hasMethods(client, 'call') && !hasMethods(client, 'sendCommand'))
    throw new InvalidArgumentError(
      `${WHERE}: client must be a client of redis or ioredis, not ${describe(client)}`,
    );
  return 'call' in client
    ? (...command) => client.call(...command)
    : (...command) => client.sendCommand(command);
}
