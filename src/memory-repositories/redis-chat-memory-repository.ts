import { InvalidArgumentError } from '../errors.js';
import { MemoryConflictError } from '../memory/memory-error.js';
import { describe } from '../internal/text.js';
import {
  BOOLEAN,
  checkOption,
  checkOptions,
  hasMethods,
  integer,
  rule,
} from '../internal/options.js';
import {
  compareUtf8,
  type ChatMemoryCapabilities,
  type ReadOptions,
} from '../memory/chat-memory-repository.js';
import {
  CheckedChatMemoryRepository,
  type DecodingOptions,
  type EncodedLog,
  type EncodedWrite,
} from '../memory/checked-chat-memory-repository.js';
import { describeServer, isErrorReply, type SendCommand } from './redis-server.js';

/** A connected client of `redis` or `ioredis`. */
export type RedisClient =
  | { sendCommand(command: string[]): Promise<unknown> }
  | { call(command: string, ...values: string[]): Promise<unknown> };

/** Options of a {@link RedisChatMemoryRepository}. */
export interface RedisChatMemoryRepositoryOptions extends DecodingOptions {
  /** A connected client; the caller closes it. */
  readonly client: RedisClient;
  /** Prefix of the keys, without braces. @default 'chat_memory' */
  readonly keyPrefix?: string | undefined;
  /** Time to live after the last write, in milliseconds; an integer >= 1. @default unlimited */
  readonly ttl?: number | undefined;
  /**
   * Accepts a server that evicts conversations when its memory is full; otherwise the first use
   * fails. @default false
   */
  readonly allowEviction?: boolean | undefined;
}

/**
 * A conversation is one hash, so that eviction and expiry take all of it or nothing. Fields:
 * `version`, `first` (version of the first message), `system`, `write:<id>` with the version that the
 * write made, and the messages by their versions.
 *
 * ARGV: id of the write, expected version or '', 'append' or 'replace', system messages or '', ttl or
 * '', messages.
 */
const WRITE_SCRIPT = `
local key, field = KEYS[1], 'write:' .. ARGV[1]
local known = redis.call('HGET', key, field)
if known then return {1, tonumber(known)} end
local present = tonumber(redis.call('HGET', key, 'version') or '0')
if ARGV[2] ~= '' and tonumber(ARGV[2]) ~= present then return {0, present} end
local version = present + math.max(#ARGV - 5, 1)
if ARGV[3] == 'replace' then
  local first = tonumber(redis.call('HGET', key, 'first') or '0')
  local fields = redis.call('HGETALL', key)
  redis.call('DEL', key)
  for at = 1, #fields, 2 do
    if string.sub(fields[at], 1, 6) == 'write:' and tonumber(fields[at + 1]) >= first then
      redis.call('HSET', key, fields[at], fields[at + 1])
    end
  end
end
redis.call('HSETNX', key, 'first', present + 1)
redis.call('HSET', key, 'version', version, field, version)
if ARGV[4] ~= '' then redis.call('HSET', key, 'system', ARGV[4]) end
for at = 6, #ARGV do redis.call('HSET', key, present + at - 5, ARGV[at]) end
if ARGV[5] ~= '' then redis.call('PEXPIRE', key, ARGV[5]) end
return {1, version}`;

/** ARGV: limit or '', upper bound of the versions (exclusive) or ''. */
const READ_SCRIPT = `
local head = redis.call('HMGET', KEYS[1], 'version', 'first', 'system')
local version, first = tonumber(head[1] or '0'), tonumber(head[2] or '1')
local last = version
if ARGV[2] ~= '' then last = math.min(last, tonumber(ARGV[2]) - 1) end
if ARGV[1] ~= '' then first = math.max(first, last - tonumber(ARGV[1]) + 1) end
local entries = {}
for at = first, last do
  local entry = redis.call('HGET', KEYS[1], at)
  if entry then entries[#entries + 1] = entry end
end
return {version, first, head[3] or '', entries}`;

const WHERE = 'RedisChatMemoryRepository';
const KEY_PREFIX = rule(
  'a non-empty string without { and }',
  (prefix) => typeof prefix === 'string' && /^[^{}]+$/.test(prefix),
);

/**
 * Stores conversations in Redis, as durable as the configuration of its server. Every write is one
 * script with one key, as a cluster requires.
 */
export class RedisChatMemoryRepository extends CheckedChatMemoryRepository {
  /** `durable` is false until the server, at the first use, reports an append-only file. */
  override capabilities: ChatMemoryCapabilities = {
    durable: false,
    transactional: true,
    storesToolMessages: true,
  };
  private readonly sendCommand: SendCommand;
  private readonly keyPrefix: string;
  private readonly idsKey: string;
  private readonly ttl: number | undefined;
  private readonly allowEviction: boolean;
  private opening: Promise<void> | undefined;

  /** @throws {@link InvalidArgumentError} if an option breaks its rule */
  constructor(options: RedisChatMemoryRepositoryOptions) {
    super(WHERE, options);
    const { client, keyPrefix = 'chat_memory', ttl, allowEviction = false } = options ?? {};
    this.sendCommand = commandSender(client);
    checkOption(WHERE, 'keyPrefix', keyPrefix, KEY_PREFIX);
    checkOptions(WHERE, options, { ttl: integer(1), allowEviction: BOOLEAN });
    this.keyPrefix = keyPrefix;
    this.idsKey = `${keyPrefix}:ids`;
    this.ttl = ttl;
    this.allowEviction = allowEviction;
  }

  /**
   * Reads how the server keeps its data, once; the first use does it, too.
   * @throws {@link InvalidArgumentError} if the server evicts conversations
   */
  async migrate(): Promise<void> {
    this.opening ??= this.open();
    await this.opening.catch((error: unknown) => {
      this.opening = undefined;
      throw error;
    });
  }

  private async open(): Promise<void> {
    const { isDurable, evictionPolicy = 'noeviction' } = await describeServer(this.sendCommand);
    // volatile policies evict only keys with a time to live
    const isKept = evictionPolicy.startsWith('volatile') && this.ttl === undefined;
    if (evictionPolicy !== 'noeviction' && !isKept && !this.allowEviction)
      throw new InvalidArgumentError(
        `${WHERE}: the server evicts conversations when its memory is full (maxmemory-policy ${evictionPolicy}); set its policy to noeviction, or the option allowEviction to true`,
      );
    this.capabilities = { ...this.capabilities, durable: isDurable };
  }

  protected async readLog(id: string, options: ReadOptions): Promise<EncodedLog> {
    await this.migrate();
    const { limit = '', beforeVersion = '' } = options;
    const values = [`${limit}`, `${beforeVersion}`];
    const reply = await this.sendCommand('EVAL', READ_SCRIPT, '1', this.keyOf(id), ...values);
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
    await this.sendCommand('DEL', this.keyOf(id));
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
    const { texts, system, turn, writeId, expectedVersion, isReplacing } = write;
    await this.migrate();
    await this.listId(id);
    const values = [
      writeId,
      `${expectedVersion ?? ''}`,
      isReplacing ? 'replace' : 'append',
      system ?? '',
      `${this.ttl ?? ''}`,
      ...texts.map((text) => `${JSON.stringify(turn)}\n${text}`),
    ];
    const reply = await this.sendCommand('EVAL', WRITE_SCRIPT, '1', this.keyOf(id), ...values);
    const [written, version] = reply as [number, number];
    if (written === 0) throw new MemoryConflictError(id, expectedVersion ?? 0, version);
    // a concurrent listing or deletion may have removed the id before the conversation existed
    if (version === Math.max(texts.length, 1)) await this.listId(id);
    return version;
  }

  /** Returns whether a listed conversation exists; if it expired, removes its id from the list. */
  private async verifyListed(id: string): Promise<boolean> {
    const key = this.keyOf(id);
    if (await this.sendCommand('EXISTS', key)) return true;
    await this.sendCommand('ZREM', this.idsKey, id);
    // the conversation may have been created between the two commands
    if (!(await this.sendCommand('EXISTS', key))) return false;
    await this.listId(id);
    return true;
  }

  private listId(id: string): Promise<unknown> {
    return this.sendCommand('ZADD', this.idsKey, '0', id);
  }

  /** The script writes nothing before its last error. */
  protected isRefused(error: unknown): boolean {
    const { syscall = '' } = (error ?? {}) as { readonly syscall?: string };
    return isErrorReply(error) || /^(connect|getaddrinfo)/.test(syscall);
  }

  /** The part in braces determines the slot; the encoded id cannot contain a brace. */
  private keyOf(id: string): string {
    return `${this.keyPrefix}:{${encodeURIComponent(id)}}`;
  }
}

/** Clients of `ioredis` have both methods, with another meaning of `sendCommand`. */
function commandSender(client: RedisClient): SendCommand {
  if (!hasMethods(client, ['call']) && !hasMethods(client, ['sendCommand']))
    throw new InvalidArgumentError(
      `${WHERE}: client must be a client of redis or ioredis, not ${describe(client)}`,
    );
  return 'call' in client
    ? (...command) => client.call(...command)
    : (...command) => client.sendCommand(command);
}
