import { checkOptions } from '../../core/internal/options.js';
import {
  isRefusedByRedis,
  REDIS_RULES,
  RedisConnection,
  type RedisClient,
  type RedisOptions,
} from '../databases/redis.js';
import { CheckedKeyValueStore, type Counters } from './checked-key-value-store.js';

export type { RedisClient };

/** Options of a {@link RedisKeyValueStore}. */
export interface RedisKeyValueStoreOptions extends RedisOptions {
  /** Prefix of the keys, without braces. @default 'key_value' */
  readonly keyPrefix?: string | undefined;
}

/** ARGV: expected value, value, lifetime or ''. */
const REPLACE_SCRIPT = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[3] == '' then redis.call('SET', KEYS[1], ARGV[2])
else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1`;

/** ARGV: expected value. */
const DELETE_SCRIPT = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;

/** ARGV: lifetime or '', then names and amounts in turn. */
const ADD_SCRIPT = `
local isNew = redis.call('EXISTS', KEYS[1]) == 0
local sums = {}
for at = 2, #ARGV, 2 do
  sums[#sums + 1] = redis.call('HINCRBYFLOAT', KEYS[1], ARGV[at], ARGV[at + 1])
end
if isNew and ARGV[1] ~= '' then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return sums`;

const READ_SCRIPT = `return redis.call('HGETALL', KEYS[1])`;

const WHERE = 'RedisKeyValueStore';

/**
 * Keeps states in Redis, as durable as the configuration of its server, which also deletes what has
 * expired. Every operation is one command or one script with one key, as a cluster requires.
 */
export class RedisKeyValueStore extends CheckedKeyValueStore {
  private readonly redis: RedisConnection;

  /** @throws {@link InvalidArgumentError} if an option breaks its rule */
  constructor(options: RedisKeyValueStoreOptions) {
    super();
    checkOptions(WHERE, options, REDIS_RULES);
    const { keyPrefix = 'key_value' } = options;
    this.redis = new RedisConnection(WHERE, { ...options, keyPrefix }, true);
  }

  /**
   * Reads how the server keeps its data, once; the first use does it, too.
   * @throws {@link InvalidArgumentError} if the server evicts keys: an evicted lock would be free
   */
  async migrate(): Promise<void> {
    await this.redis.open();
  }

  protected async readValue(key: string): Promise<string | undefined> {
    await this.migrate();
    return ((await this.redis.send('GET', this.valueKey(key))) as string | null) ?? undefined;
  }

  protected async writeValue(
    key: string,
    value: string,
    ttl: number,
    expected: string | null | undefined,
  ): Promise<boolean> {
    await this.migrate();
    const lifetime = ttl === Infinity ? '' : `${ttl}`;
    if (typeof expected === 'string')
      return this.isDone(REPLACE_SCRIPT, key, expected, value, lifetime);
    const condition = expected === null ? ['NX'] : [];
    const end = lifetime === '' ? [] : ['PX', lifetime];
    const reply = await this.redis.send('SET', this.valueKey(key), value, ...condition, ...end);
    return reply !== null;
  }

  protected async deleteValue(key: string, expected: string | undefined): Promise<boolean> {
    await this.migrate();
    if (expected !== undefined) return this.isDone(DELETE_SCRIPT, key, expected);
    return Number(await this.redis.send('DEL', this.valueKey(key))) === 1;
  }

  protected async readCounters(key: string): Promise<Counters> {
    await this.migrate();
    const fields = (await this.redis.eval(READ_SCRIPT, this.countersKey(key))) as string[];
    const names = fields.filter((_, at) => at % 2 === 0);
    return Object.fromEntries(names.map((name, at) => [name, Number(fields[at * 2 + 1])]));
  }

  protected async addCounters(key: string, amounts: Counters, ttl: number): Promise<Counters> {
    await this.migrate();
    const entries = Object.entries(amounts);
    const values = entries.flatMap(([name, amount]) => [name, `${amount}`]);
    const lifetime = ttl === Infinity ? '' : `${ttl}`;
    const reply = await this.redis.eval(ADD_SCRIPT, this.countersKey(key), lifetime, ...values);
    const sums = reply as readonly string[];
    return Object.fromEntries(entries.map(([name], at) => [name, Number(sums[at])]));
  }

  protected isRefused(error: unknown): boolean {
    return isRefusedByRedis(error);
  }

  private async isDone(script: string, key: string, ...values: string[]): Promise<boolean> {
    return Number(await this.redis.eval(script, this.valueKey(key), ...values)) === 1;
  }

  private valueKey(key: string): string {
    return this.redis.keyOf(key, 'value:');
  }

  private countersKey(key: string): string {
    return this.redis.keyOf(key, 'counters:');
  }
}
