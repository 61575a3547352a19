import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { InvalidArgumentError } from '../core/errors/argument-errors.js';
import type { ChatMemoryRepository } from '../index.js';
import type { SqliteDatabase } from '../stores/databases/sqlite.js';
import { connectPostgres, connectRedis } from './databases.js';
import type { Terminal } from './terminal.js';

/** A store of conversations, to close at the end. */
export interface OpenMemory {
  readonly repository: ChatMemoryRepository;
  readonly close: () => Promise<void>;
}

export interface OpenMemoryOptions {
  /** Creates the file of a SQLite database if there is none. @default false */
  readonly create?: boolean;
  /** Prefix of tables or keys, if the application has one of its own. */
  readonly prefix?: string | undefined;
}

/**
 * Opens the store of `--memory`: a file of SQLite, or the address of PostgreSQL or Redis.
 * @throws {@link InvalidArgumentError} if there is no such file, or a package is not installed
 */
export async function openMemory(
  address: string,
  terminal: Terminal,
  { create = false, prefix }: OpenMemoryOptions = {},
): Promise<OpenMemory> {
  const [, protocol] = /^([a-z+]{2,}):/.exec(address) ?? [];
  if (protocol === 'postgres' || protocol === 'postgresql')
    return await openPostgres(address, prefix);
  if (protocol === 'redis' || protocol === 'rediss') return await openRedis(address, prefix);
  if (protocol !== undefined)
    throw new InvalidArgumentError(
      `--memory is a file of SQLite, postgres://… or redis://…, not ${protocol}:`,
    );
  const file = address === ':memory:' ? address : resolve(terminal.cwd, address);
  if (!create && !existsSync(file)) throw new InvalidArgumentError(`there is no file ${address}`);
  return await openSqlite(file, prefix);
}

/** Opens a file by `libsql`, or by Node.js itself where it can. */
async function openSqlite(file: string, tablePrefix: string | undefined): Promise<OpenMemory> {
  const { SqliteChatMemoryRepository: Repository } =
    await import('../stores/chat-memory/sqlite-chat-memory-repository.js');
  const options = { ...(tablePrefix !== undefined && { tablePrefix }) };
  try {
    const repository = await Repository.open(file, options);
    return { repository, close: () => repository.close() };
  } catch (error) {
    const database = /needs the package libsql/.test(String(error)) && (await openByNode(file));
    if (!database) throw error;
    const repository = new Repository({ ...options, database });
    await repository.migrate();
    return { repository, close: () => repository.close() };
  }
}

/** From Node.js 22.13 on; undefined before. */
async function openByNode(file: string): Promise<SqliteDatabase | undefined> {
  const name = 'node:sqlite';
  try {
    const { DatabaseSync } = (await import(name)) as {
      readonly DatabaseSync: new (file: string) => SqliteDatabase;
    };
    return new DatabaseSync(file);
  } catch {
    return undefined;
  }
}

async function openPostgres(address: string, tablePrefix: string | undefined): Promise<OpenMemory> {
  const { PostgresChatMemoryRepository } =
    await import('../stores/chat-memory/postgres-chat-memory-repository.js');
  const client = await connectPostgres(address);
  const repository = new PostgresChatMemoryRepository({
    client,
    ...(tablePrefix !== undefined && { tablePrefix }),
  });
  return await ready(repository, () => client.end());
}

async function openRedis(address: string, keyPrefix: string | undefined): Promise<OpenMemory> {
  const { RedisChatMemoryRepository } =
    await import('../stores/chat-memory/redis-chat-memory-repository.js');
  const client = await connectRedis(address);
  const repository = new RedisChatMemoryRepository({
    client: client as unknown as { sendCommand: (command: string[]) => Promise<unknown> },
    ...(keyPrefix !== undefined && { keyPrefix }),
  });
  return await ready(repository, () => client.close());
}

async function ready(
  repository: ChatMemoryRepository & { migrate(): Promise<void> },
  close: () => Promise<void>,
): Promise<OpenMemory> {
  try {
    await repository.migrate();
    return { repository, close };
  } catch (error) {
    await close();
    throw error;
  }
}
