import type { ChatMemoryRepository } from '../../src/index.js';
import { POSTGRES, REDIS } from './servers.js';

/** A store on a server or in a file, opened by one process. */
export interface OpenStore {
  readonly repository: ChatMemoryRepository;
  readonly close: () => Promise<unknown>;
}

/**
 * Opens a store and loads only its client: the tests start hundreds of processes.
 * @param location the file, or the prefix of tables or keys
 */
export async function openStore(kind: string, location: string): Promise<OpenStore> {
  if (kind === 'sqlite') {
    const { SqliteChatMemoryRepository } =
      await import('../../src/stores/chat-memory/sqlite-chat-memory-repository.js');
    const repository = await SqliteChatMemoryRepository.open(location);
    return { repository, close: () => repository.close() };
  }
  if (kind === 'postgres') {
    const { PostgresChatMemoryRepository } =
      await import('../../src/stores/chat-memory/postgres-chat-memory-repository.js');
    const { default: pg } = await import('pg');
    const client = new pg.Pool({ ...POSTGRES.connection, max: 8 });
    const repository = new PostgresChatMemoryRepository({ client, tablePrefix: location });
    await repository.migrate();
    return { repository, close: () => client.end() };
  }
  const { RedisChatMemoryRepository } =
    await import('../../src/stores/chat-memory/redis-chat-memory-repository.js');
  const { Redis } = await import('ioredis');
  const client = new Redis(REDIS.connection);
  return {
    repository: new RedisChatMemoryRepository({ client, keyPrefix: location }),
    close: () => client.quit(),
  };
}
