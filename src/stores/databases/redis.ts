import { InvalidArgumentError } from '../../core/errors/errors.js';
import { BOOLEAN, hasMethods, required, rule } from '../../core/internal/options.js';

/** A connected client of `redis` or `ioredis`. */
export type RedisClient =
  | { sendCommand(command: string[]): Promise<unknown> }
  | { call(command: string, ...values: string[]): Promise<unknown> };

/** Options of every store in Redis. */
export interface RedisOptions {
  /** A connected client; the caller closes it. */
  readonly client: RedisClient;
  /** Prefix of the keys, without braces. */
  readonly keyPrefix?: string | undefined;
  /**
   * Accepts a server that evicts keys when its memory is full; otherwise the first use
   * fails. @default false
   */
  readonly allowEviction?: boolean | undefined;
}

/** Rules of {@link RedisOptions}. */
export const REDIS_RULES = {
  client: required(
    rule(
      'a client of redis or ioredis',
      (value) => hasMethods(value, ['call']) || hasMethods(value, ['sendCommand']),
    ),
  ),
  keyPrefix: rule(
    'a non-empty string without { and }',
    (prefix) => typeof prefix === 'string' && /^[^{}]+$/.test(prefix),
  ),
  allowEviction: BOOLEAN,
};

/** A server whose configuration a store depends on. */
export class RedisConnection {
  private opening: Promise<boolean> | undefined;
  private readonly sendCommand: (command: string, ...values: string[]) => Promise<unknown>;
  private readonly keyPrefix: string;
  private readonly allowEviction: boolean;

  /**
   * @param hasLifetimes whether keys of the store may have a time to live
   */
  constructor(
    private readonly where: string,
    options: RedisOptions & { readonly keyPrefix: string },
    private readonly hasLifetimes: boolean,
  ) {
    const { client, keyPrefix, allowEviction = false } = options;
    this.sendCommand = commandSender(client);
    this.keyPrefix = keyPrefix;
    this.allowEviction = allowEviction;
  }

  /** Sends a command. */
  send(command: string, ...values: string[]): Promise<unknown> {
    return this.sendCommand(command, ...values);
  }

  /** Runs a script with one key, or with several of one slot, as a cluster requires. */
  eval(script: string, key: string | readonly string[], ...values: string[]): Promise<unknown> {
    const keys = typeof key === 'string' ? [key] : key;
    return this.sendCommand('EVAL', script, String(keys.length), ...keys, ...values);
  }

  /** The part in braces determines the slot; the encoded id cannot contain a brace. */
  keyOf(id: string, kind = ''): string {
    return `${this.keyPrefix}:${kind}{${encodeURIComponent(id)}}`;
  }

  /**
   * Asks the server once how it keeps its data; resolves with whether it has an append-only file.
   * @throws {@link InvalidArgumentError} if the server evicts keys of the store
   */
  open(): Promise<boolean> {
    this.opening ??= this.check().catch((error: unknown) => {
      this.opening = undefined;
      throw error;
    });
    return this.opening;
  }

  private async check(): Promise<boolean> {
    const { isDurable, evictionPolicy = 'noeviction' } = await this.describeServer();
    // volatile policies evict only keys with a time to live
    const isKept = evictionPolicy.startsWith('volatile') && !this.hasLifetimes;
    if (evictionPolicy !== 'noeviction' && !isKept && !this.allowEviction)
      throw new InvalidArgumentError(
        `${this.where}: the server evicts keys when its memory is full (maxmemory-policy ${evictionPolicy}); set its policy to noeviction, or the option allowEviction to true`,
      );
    return isDurable;
  }

  /** A server that refuses to answer has no known properties. */
  private async describeServer() {
    const info = await this.sendCommand('INFO').catch((error: unknown) => {
      // a user without this command, or a proxy
      if (isErrorReply(error)) return '';
      throw error;
    });
    const fieldOf = (name: string): string | undefined =>
      new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(String(info))?.[1];
    return {
      isDurable: fieldOf('aof_enabled') === '1',
      // a server without a limit of memory never applies its policy
      evictionPolicy: Number(fieldOf('maxmemory')) > 0 ? fieldOf('maxmemory_policy') : undefined,
    };
  }
}

/** True if nothing was written: scripts and commands write nothing before their last error. */
export function isRefusedByRedis(error: unknown): boolean {
  const { syscall = '' } = (error ?? {}) as { readonly syscall?: string };
  return isErrorReply(error) || /^(connect|getaddrinfo)/.test(syscall);
}

/** True for an answer of the server: it begins with a word in capitals, a client's with a sentence. */
function isErrorReply(error: unknown): boolean {
  return /^[A-Z]{2,} /.test((error as Partial<Error> | null)?.message ?? '');
}

/** Clients of `ioredis` have both methods, with another meaning of `sendCommand`. */
function commandSender(
  client: RedisClient,
): (command: string, ...values: string[]) => Promise<unknown> {
  return 'call' in client
    ? (...command) => client.call(...command)
    : (...command) => client.sendCommand(command);
}
