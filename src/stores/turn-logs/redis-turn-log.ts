import { checkOptions } from '../../core/internal/options.js';
import {
  REDIS_RULES,
  RedisConnection,
  type RedisClient,
  type RedisOptions,
} from '../databases/redis.js';
import { CheckedTurnLog } from './checked-turn-log.js';
import type { BegunRun, LogBatch, LogPage, LogPosition, NewRun } from './turn-log.js';

export type { RedisClient };

/** Options of a {@link RedisTurnLog}. */
export interface RedisTurnLogOptions extends RedisOptions {
  /** Prefix of the keys, without braces. @default 'turn_log' */
  readonly keyPrefix?: string | undefined;
}

const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/** ARGV: writer, id of the turn or '', lease, time to live. */
const BEGIN_SCRIPT = `${NOW}
local head = redis.call('HMGET', KEYS[1], 'generation', 'writer', 'turn', 'state', 'length', 'lease')
local isRunning = head[4] == 'running'
local isOwn = isRunning and head[2] == ARGV[1]
local isSameTurn = ARGV[2] ~= '' and head[3] == ARGV[2]
if isRunning and not isOwn and tonumber(head[6]) > now then return {'running', head[1], head[5]} end
if isSameTurn and head[4] == 'complete' then return {'complete', head[1], head[5]} end
local generation, length = head[1], head[5]
if not (isOwn or (isRunning and isSameTurn)) then
  local previous = generation or '0'
  generation = string.format('%.0f', math.max(tonumber(previous) + 1, now))
  length = '0'
  if previous == '0' then redis.call('DEL', KEYS[2])
  else redis.call('XTRIM', KEYS[2], 'MINID', previous .. '-0') end
  redis.call('HSET', KEYS[1], 'generation', generation, 'previous', previous, 'turn', ARGV[2],
    'state', 'running', 'length', length, 'stopped', '0')
end
redis.call('HSET', KEYS[1], 'writer', ARGV[1], 'lease', string.format('%.0f', now + ARGV[3]))
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[3] + ARGV[4]) end
return {'begun', generation, length}`;

/** ARGV: generation, writer, number of entries before, lease, time to live, end or '', then entries. */
const APPEND_SCRIPT = `${NOW}
local head = redis.call('HMGET', KEYS[1], 'generation', 'writer', 'state', 'length', 'stopped')
if head[1] ~= ARGV[1] or head[2] ~= ARGV[2] then return false end
local after, count, length = tonumber(ARGV[3]), #ARGV - 6, tonumber(head[4])
if head[3] ~= 'running' then
  if length >= after + count then return head[5] end
  return false
end
if length < after then return false end
for at = length - after + 1, count do
  redis.call('XADD', KEYS[2], ARGV[1] .. '-' .. (after + at), 'entry', ARGV[6 + at])
end
redis.call('HSET', KEYS[1], 'length', math.max(length, after + count),
  'lease', string.format('%.0f', now + ARGV[4]))
local life = tonumber(ARGV[5])
if ARGV[6] == '' then life = life + ARGV[4] else redis.call('HSET', KEYS[1], 'state', ARGV[6]) end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, life) end
return head[5]`;

/** ARGV: generation or '', number of entries before, maximum number. */
const READ_SCRIPT = `${NOW}
local head = redis.call('HMGET', KEYS[1], 'generation', 'previous', 'turn', 'state', 'lease')
local generation = ARGV[1]
if generation == '' then generation = head[1] end
if not head[1] or (generation ~= head[1] and generation ~= head[2]) then return false end
local silence = 'Infinity'
if generation == head[1] then
  silence = '0'
  if head[4] == 'running' then silence = string.format('%.0f', math.max(0, now - head[5])) end
end
local entries = {}
local first = generation .. '-' .. (ARGV[2] + 1)
for at, item in ipairs(redis.call('XRANGE', KEYS[2], first, generation, 'COUNT', ARGV[3])) do
  entries[at] = item[2][2]
end
return {generation, generation == head[1] and head[3] or '', silence, entries}`;

/** ARGV: generation. */
const STOP_SCRIPT = `
local head = redis.call('HMGET', KEYS[1], 'generation', 'state')
if head[1] ~= ARGV[1] or head[2] ~= 'running' then return 0 end
redis.call('HSET', KEYS[1], 'stopped', '1')
return 1`;

const WHERE = 'RedisTurnLog';

/**
 * Keeps the logs of turns in streams of Redis (6.2 or later), whose ids are the ids of the events, as
 * durable as the configuration of its server, which also deletes what has expired. Every operation is
 * one script with the keys of one slot, as a cluster requires.
 */
export class RedisTurnLog extends CheckedTurnLog {
  private readonly redis: RedisConnection;

  /** @throws {@link InvalidArgumentError} if an option breaks its rule */
  constructor(options: RedisTurnLogOptions) {
    super();
    checkOptions(WHERE, options, REDIS_RULES);
    const { keyPrefix = 'turn_log' } = options;
    this.redis = new RedisConnection(WHERE, { ...options, keyPrefix }, true);
  }

  /**
   * Reads how the server keeps its data, once; the first use does it, too.
   * @throws {@link InvalidArgumentError} if the server evicts keys: runs would lose events
   */
  async migrate(): Promise<void> {
    await this.redis.open();
  }

  protected async beginRun(
    key: string,
    { writer, turnId = '', lease, ttl }: NewRun,
  ): Promise<BegunRun> {
    const reply = await this.run(BEGIN_SCRIPT, key, writer, turnId, `${lease}`, `${ttl}`);
    const [state, generation, length] = reply as readonly string[];
    return {
      state: state as BegunRun['state'],
      generation: Number(generation),
      length: Number(length),
    };
  }

  protected async appendEntries(
    key: string,
    { generation, writer, after, entries, end, lease, ttl }: LogBatch,
  ): Promise<{ readonly isStopped: boolean } | undefined> {
    const values = [
      `${generation}`,
      writer,
      `${after}`,
      `${lease}`,
      `${ttl}`,
      end ?? '',
      ...entries,
    ];
    const reply = await this.run(APPEND_SCRIPT, key, ...values);
    return reply === null ? undefined : { isStopped: reply === '1' };
  }

  protected async readEntries(
    key: string,
    { generation, after, limit }: LogPosition,
  ): Promise<LogPage | undefined> {
    const values = [`${generation ?? ''}`, `${after}`, `${limit}`];
    const reply = await this.run(READ_SCRIPT, key, ...values);
    if (reply === null) return undefined;
    const [run, turnId, silence, entries] = reply as [string, string, string, string[]];
    return {
      generation: Number(run),
      entries,
      turnId: turnId === '' ? undefined : turnId,
      silence: Number(silence),
    };
  }

  protected async stopRun(key: string, generation: number): Promise<boolean> {
    return Number(await this.run(STOP_SCRIPT, key, `${generation}`)) === 1;
  }

  private async run(script: string, key: string, ...values: string[]): Promise<unknown> {
    await this.migrate();
    const keys = [this.redis.keyOf(key, 'run:'), this.redis.keyOf(key, 'events:')];
    return this.redis.eval(script, keys, ...values);
  }
}
