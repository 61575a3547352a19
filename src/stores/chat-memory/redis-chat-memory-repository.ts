import {
  isRefusedByRedis,
  REDIS_RULES,
  RedisConnection,
  type RedisClient,
  type RedisOptions,
} from '../databases/redis.js';
import { MemoryConflictError } from '../../core/errors/errors.js';
import { checkOptions, integer } from '../../core/internal/options.js';
import {
  compareUtf8,
  type ChatMemoryCapabilities,
  type ReadOptions,
} from './chat-memory-repository.js';
import {
  CheckedChatMemoryRepository,
  DECODING_RULES,
  type DecodingOptions,
} from './checked-chat-memory-repository.js';
import type { EncodedEntry, EncodedLog, EncodedWrite } from './encoded-write.js';

export type { RedisClient };

/** Options of a {@link RedisChatMemoryRepository}. */
export interface RedisChatMemoryRepositoryOptions extends DecodingOptions, RedisOptions {
  /** Prefix of the keys, without braces. @default 'chat_memory' */
  readonly keyPrefix?: string | undefined;
  /** Time to live after the last write, in milliseconds; an integer >= 1. @default unlimited */
  readonly ttl?: number | undefined;
}

/**
 * A conversation is one hash, so that eviction and expiry take all of it or nothing. Fields:
 * `version`, `first` (version of the first message), `system`, `write:<id>` with the version that the
 * write made, `turn:<id as JSON>` with the version of the first message of the turn, and the messages
 * by their versions, each after its turn as JSON and a line feed.
 *
 * ARGV: id of the write, expected version or '', 'append' or 'replace', system messages or '', ttl or
 * '', id of the write after which this one changes nothing, the turn as JSON, version after which it is
 * superseded or '', messages.
 */
const WRITE_SCRIPT = `
local key, field, head = KEYS[1], 'write:' .. ARGV[1], 8
local known = redis.call('HGET', key, field) or redis.call('HGET', key, 'write:' .. ARGV[6])
if known then return {1, tonumber(known)} end
local present = tonumber(redis.call('HGET', key, 'version') or '0')
local first = tonumber(redis.call('HGET', key, 'first') or '1')
local expected, place = tonumber(ARGV[2]), tonumber(ARGV[8])
local function turnOf(entry)
  return string.sub(entry, 1, string.find(entry, string.char(10), 1, true) - 1)
end
local function isOwn(entry)
  return turnOf(entry) == ARGV[7]
end
local function hasOthers(after)
  for at = math.max(first, after + 1), present do
    local entry = redis.call('HGET', key, at)
    if entry and not isOwn(entry) then return true end
  end
end
if expected and expected ~= present and (not place or expected > present or hasOthers(expected)) then
  return {0, present, expected}
end
if place and place > 0 then
  local entry = redis.call('HGET', key, place)
  if not entry or not isOwn(entry) then return {0, present, place} end
end
local version = present + math.max(#ARGV - head, 1)
if ARGV[3] == 'replace' then
  local fields = redis.call('HGETALL', key)
  redis.call('DEL', key)
  for at = 1, #fields, 2 do
    if string.sub(fields[at], 1, 6) == 'write:' and tonumber(fields[at + 1]) >= first then
      redis.call('HSET', key, fields[at], fields[at + 1])
    end
  end
elseif place then
  local began = tonumber(redis.call('HGET', key, 'turn:' .. ARGV[7]) or present + 1)
  for at = math.max(began, place + 1), present do
    local entry = redis.call('HGET', key, at)
    if entry and isOwn(entry) then redis.call('HDEL', key, at) end
  end
  if began > place then redis.call('HDEL', key, 'turn:' .. ARGV[7]) end
end
redis.call('HSETNX', key, 'first', present + 1)
redis.call('HSET', key, 'version', version, field, version)
if ARGV[4] ~= '' then redis.call('HSET', key, 'system', ARGV[4]) end
local last = 'null'
for at = head + 1, #ARGV do
  local turn = turnOf(ARGV[at])
  if turn ~= last and turn ~= 'null' then
    redis.call('HSETNX', key, 'turn:' .. turn, present + at - head)
  end
  last = turn
  redis.call('HSET', key, present + at - head, ARGV[at])
end
if ARGV[5] ~= '' then redis.call('PEXPIRE', key, ARGV[5]) end
return {1, version}`;

/** ARGV: limit or '', upper bound of the versions (exclusive) or ''. */
const READ_SCRIPT = `
local head = redis.call('HMGET', KEYS[1], 'version', 'first', 'system')
local version, first = tonumber(head[1] or '0'), tonumber(head[2] or '1')
local last, limit = version, tonumber(ARGV[1])
if ARGV[2] ~= '' then last = math.min(last, tonumber(ARGV[2]) - 1) end
local entries = {}
for at = last, first, -1 do
  if limit and #entries >= limit * 2 then break end
  local entry = redis.call('HGET', KEYS[1], at)
  if entry then
    entries[#entries + 1] = entry
    entries[#entries + 1] = at
  end
end
return {version, head[3] or '', entries}`;

const WHERE = 'RedisChatMemoryRepository';

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
  private readonly redis: RedisConnection;
  private readonly idsKey: string;
  private readonly ttl: number | undefined;

  /** @throws {@link InvalidArgumentError} if an option breaks its rule */
  constructor(options: RedisChatMemoryRepositoryOptions) {
    super(WHERE, options);
    checkOptions(WHERE, options, { ...DECODING_RULES, ...REDIS_RULES, ttl: integer(1) });
    const { keyPrefix = 'chat_memory', ttl } = options;
    this.redis = new RedisConnection(WHERE, { ...options, keyPrefix }, ttl !== undefined);
    this.idsKey = `${keyPrefix}:ids`;
    this.ttl = ttl;
  }

  /**
   * Reads how the server keeps its data, once; the first use does it, too.
   * @throws {@link InvalidArgumentError} if the server evicts conversations
   */
  async migrate(): Promise<void> {
    const durable = await this.redis.open();
    if (durable !== this.capabilities.durable)
      this.capabilities = { ...this.capabilities, durable };
  }

  protected async readLog(id: string, options: ReadOptions): Promise<EncodedLog> {
    await this.migrate();
    const { limit = '', beforeVersion = '' } = options;
    const values = [`${limit}`, `${beforeVersion}`];
    const reply = await this.redis.eval(READ_SCRIPT, this.redis.keyOf(id), ...values);
    const [version, system, newestFirst] = reply as [number, string, (string | number)[]];
    const entries: EncodedEntry[] = [];
    for (let at = newestFirst.length - 2; at >= 0; at -= 2)
      entries.push(toEntry(newestFirst[at] as string, newestFirst[at + 1] as number));
    return { version, system: system || null, entries };
  }

  protected async deleteLog(id: string): Promise<void> {
    await this.redis.send('ZREM', this.idsKey, id);
    await this.redis.send('DEL', this.redis.keyOf(id));
  }

  protected async listIds(prefix: string, after: string, limit: number): Promise<string[]> {
    const found: string[] = [];
    let min = compareUtf8(after, prefix) < 0 ? `[${prefix}` : `(${after}`;
    while (found.length < limit) {
      const range = [this.idsKey, min, '+', 'LIMIT', '0', '100'];
      const page = (await this.redis.send('ZRANGEBYLEX', ...range)) as string[];
      for (const id of page) if (await this.verifyListed(id)) found.push(id);
      if (page.length < 100 || !page[99]?.startsWith(prefix)) break;
      min = `(${page.at(-1)}`;
    }
    return found.slice(0, limit);
  }

  /** Lists the id first: an id without a conversation is harmless, the opposite cannot be found. */
  protected async writeLog(id: string, write: EncodedWrite): Promise<number> {
    await this.migrate();
    await this.listId(id);
    const values = this.toArguments(write);
    const reply = await this.redis.eval(WRITE_SCRIPT, this.redis.keyOf(id), ...values);
    const [written, version, expected] = reply as [number, number, number?];
    if (written === 0) throw new MemoryConflictError(id, expected ?? 0, version);
    // a concurrent listing or deletion may have removed the id before the conversation existed
    if (version === Math.max(write.entries.length, 1)) await this.listId(id);
    return version;
  }

  private toArguments(write: EncodedWrite): readonly string[] {
    const { entries, system, turn, writeId, endId, supersedesAfter } = write;
    return [
      writeId,
      `${write.expectedVersion ?? ''}`,
      write.isReplacing ? 'replace' : 'append',
      system ?? '',
      `${this.ttl ?? ''}`,
      endId,
      JSON.stringify(turn),
      `${supersedesAfter ?? ''}`,
      ...entries.map((entry) => `${JSON.stringify(entry.turn)}\n${entry.message}`),
    ];
  }

  /** Returns whether a listed conversation exists; if it expired, removes its id from the list. */
  private async verifyListed(id: string): Promise<boolean> {
    const key = this.redis.keyOf(id);
    if (await this.redis.send('EXISTS', key)) return true;
    await this.redis.send('ZREM', this.idsKey, id);
    // the conversation may have been created between the two commands
    if (!(await this.redis.send('EXISTS', key))) return false;
    await this.listId(id);
    return true;
  }

  private listId(id: string): Promise<unknown> {
    return this.redis.send('ZADD', this.idsKey, '0', id);
  }

  protected isRefused(error: unknown): boolean {
    return isRefusedByRedis(error);
  }
}

function toEntry(text: string, version: number): EncodedEntry {
  const end = text.indexOf('\n');
  const turn = JSON.parse(text.slice(0, end)) as string | null;
  return { version, turn, message: text.slice(end + 1) };
}
