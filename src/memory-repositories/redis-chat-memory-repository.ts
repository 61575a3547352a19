import { describe, type Message } from '../chat/message.js';
import { InvalidArgumentError, MemoryConflictError } from '../errors.js';
import {
  checkConversationId,
  checkCounts,
  checkListing,
  checkWrite,
  checkReplacement,
  compareBytes,
  type ChatMemoryRepository,
  type ConversationIdsOptions,
  type ConversationLog,
  type ReadOptions,
  type ReplaceOptions,
  type WriteOptions,
} from '../memory/chat-memory-repository.js';
import { behindPrefix, encodeMessages, toLog } from './sql.js';

/** The part of a client of `redis` that is used. */
interface SendingClient {
  sendCommand(command: string[]): Promise<unknown>;
}

/** The part of a client of `ioredis` that is used. */
interface CallingClient {
  call(command: string, ...values: string[]): Promise<unknown>;
}

/** A connected client of `redis` or `ioredis`. */
export type RedisClient = SendingClient | CallingClient;

/** Options of a {@link RedisChatMemoryRepository}. */
export interface RedisChatMemoryRepositoryOptions {
  /** A connected client; it stays the caller's. */
  readonly client: RedisClient;
  /** What the keys begin with. @default 'chat_memory' */
  readonly keyPrefix?: string | undefined;
  /** Milliseconds after its last write when a conversation is forgotten; an integer of 1 or more. @default never */
  readonly ttl?: number | undefined;
}

/** KEYS: messages, head. ARGV: expected version or '', 'append' or 'replace', system messages or '', ttl or '', then the entries. */
const WRITE = `
local version = tonumber(redis.call('HGET', KEYS[2], 'version') or '0')
if ARGV[1] ~= '' and tonumber(ARGV[1]) ~= version then return {0, version} end
local added = #ARGV - 4
if ARGV[2] == 'replace' then
  redis.call('DEL', KEYS[1])
  redis.call('HDEL', KEYS[2], 'system')
  version = version + math.max(added, 1)
else
  version = version + added
end
for at = 5, #ARGV do redis.call('RPUSH', KEYS[1], ARGV[at]) end
if added > 0 or ARGV[2] == 'replace' then redis.call('HSET', KEYS[2], 'version', version) end
if ARGV[3] ~= '' then redis.call('HSET', KEYS[2], 'system', ARGV[3]) end
if ARGV[4] ~= '' then
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
  redis.call('PEXPIRE', KEYS[2], ARGV[4])
end
return {1, version}`;

/** KEYS: messages, head. ARGV: limit or '', version before which to end or ''. */
const READ = `
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

/**
 * Keeps conversations in Redis, as durable as its server is set up to be. Every write is one script; the keys of a conversation share
 * a slot, so a cluster will do.
 */
export class RedisChatMemoryRepository implements ChatMemoryRepository {
  readonly capabilities = { durable: true, transactional: true, storesToolMessages: true } as const;
  private readonly send: (command: string, ...values: string[]) => Promise<unknown>;
  private readonly keyPrefix: string;
  private readonly ttl: number | undefined;

  /** @throws {@link InvalidArgumentError} if an option cannot be used */
  constructor(options: RedisChatMemoryRepositoryOptions) {
    const { client, keyPrefix = 'chat_memory', ttl } = options ?? {};
    this.send = senderOf(client);
    if (typeof keyPrefix !== 'string' || !/^[^{}]+$/.test(keyPrefix))
      throw new InvalidArgumentError(`RedisChatMemoryRepository: keyPrefix must be a text without { and }, not ${describe(keyPrefix)}`);
    if (ttl !== undefined && !(Number.isSafeInteger(ttl) && ttl >= 1))
      throw new InvalidArgumentError(`RedisChatMemoryRepository: ttl must be an integer of 1 or more, not ${describe(ttl)}`);
    this.keyPrefix = keyPrefix;
    this.ttl = ttl;
  }

  /** Nothing has to be made; here so that all stores can be started alike. */
  async migrate(): Promise<void> {}

  async append(conversationId: string, messages: readonly Message[], options: WriteOptions = {}): Promise<number> {
    checkConversationId(conversationId, 'append');
    return this.write(conversationId, messages, options, 'append');
  }

  async read(conversationId: string, { limit, beforeVersion }: ReadOptions = {}): Promise<ConversationLog> {
    checkConversationId(conversationId, 'read');
    checkCounts({ limit, beforeVersion }, 'read');
    const values = [`${limit ?? ''}`, `${beforeVersion ?? ''}`];
    const [version, first, system, entries] = (await this.send('EVAL', READ, '2', ...this.keysOf(conversationId), ...values)) as StoredLog;
    const rows = entries.map((entry, at) => {
      const end = entry.indexOf('\n');
      return { version: first + at, turn: JSON.parse(entry.slice(0, end)) as string | null, message: entry.slice(end + 1) };
    });
    return toLog(version, system || null, rows);
  }

  async replace(conversationId: string, messages: readonly Message[], options: ReplaceOptions): Promise<number> {
    checkConversationId(conversationId, 'replace');
    checkReplacement(options);
    return this.write(conversationId, messages, options, 'replace');
  }

  async delete(conversationId: string): Promise<void> {
    checkConversationId(conversationId, 'delete');
    await this.send('ZREM', this.idsKey, conversationId);
    await this.send('DEL', ...this.keysOf(conversationId));
  }

  async conversationIds({ prefix = '', after = '', limit = 100 }: ConversationIdsOptions = {}): Promise<readonly string[]> {
    checkListing({ prefix, after, limit }, 'conversationIds');
    const end = behindPrefix(prefix);
    const found: string[] = [];
    let [start, isOpen] = compareBytes(after, prefix) >= 0 && after !== '' ? [after, true] : [prefix, false];
    while (found.length < limit) {
      const from = start === '' ? '-' : `${isOpen ? '(' : '['}${start}`;
      const page = (await this.send(
        'ZRANGEBYLEX',
        this.idsKey,
        from,
        end === undefined ? '+' : `(${end}`,
        'LIMIT',
        '0',
        '100',
      )) as string[];
      for (const id of page) if (await this.isThere(id)) found.push(id);
      if (page.length < 100) break;
      [start, isOpen] = [page.at(-1) as string, true];
    }
    return found.slice(0, limit);
  }

  /** The id is listed first: listed without a conversation it does no harm, the other way round it could not be found. */
  private async write(id: string, messages: readonly Message[], options: WriteOptions, how: 'append' | 'replace'): Promise<number> {
    checkWrite(options, how);
    const { expectedVersion, turnId } = options;
    const { texts, system } = encodeMessages(messages);
    if (texts.length > 0 || how === 'replace') await this.send('ZADD', this.idsKey, '0', id);
    const turn = JSON.stringify(turnId ?? null);
    const entries = texts.map((text) => `${turn}\n${text}`);
    const settings = [`${expectedVersion ?? ''}`, how, system ?? '', `${this.ttl ?? ''}`];
    const [written, version] = (await this.send('EVAL', WRITE, '2', ...this.keysOf(id), ...settings, ...entries)) as [number, number];
    if (written === 0) throw new MemoryConflictError(id, expectedVersion ?? 0, version);
    // somebody who listed or deleted before it was there may have taken its id from the list
    if (version === Math.max(texts.length, 1)) await this.send('ZADD', this.idsKey, '0', id);
    return version;
  }

  /** Conversations that expired are still listed; they are taken from the list when somebody looks. */
  private async isThere(id: string): Promise<boolean> {
    const [, head] = this.keysOf(id);
    if (((await this.send('EXISTS', head)) as number) > 0) return true;
    await this.send('ZREM', this.idsKey, id);
    // it may have come between the two
    if (((await this.send('EXISTS', head)) as number) === 0) return false;
    await this.send('ZADD', this.idsKey, '0', id);
    return true;
  }

  private get idsKey(): string {
    return `${this.keyPrefix}:ids`;
  }

  /** The part in braces decides the slot; encoded, no id can have a brace of its own. */
  private keysOf(id: string): readonly [messages: string, head: string] {
    const place = `${this.keyPrefix}:{${encodeURIComponent(id)}}`;
    return [`${place}:messages`, `${place}:head`];
  }
}

type StoredLog = readonly [version: number, first: number, system: string, entries: readonly string[]];

/** Clients of `ioredis` have both methods, and there `sendCommand` is something else. */
function senderOf(client: RedisClient): (command: string, ...values: string[]) => Promise<unknown> {
  const { call, sendCommand } = (client ?? {}) as Partial<Record<'call' | 'sendCommand', unknown>>;
  if (typeof call === 'function') return (command, ...values) => (client as CallingClient).call(command, ...values);
  if (typeof sendCommand === 'function') return (command, ...values) => (client as SendingClient).sendCommand([command, ...values]);
  throw new InvalidArgumentError(`RedisChatMemoryRepository: client must be a client of redis or ioredis, not ${describe(client)}`);
}
