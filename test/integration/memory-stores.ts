import type { ChatMemoryRepository } from '../../src/index.js';
import { POSTGRES, REDIS } from '../memory-repositories/servers.js';

/** A store on a server or in a file, as each process opens it for itself. */
export interface OpenStore {
  readonly repository: ChatMemoryRepository;
  readonly close: () => Promise<unknown>;
}

/**
 * Loads what the store needs and nothing else: the tests start hundreds of processes.
 * @param place the file, or what tables or keys begin with
 */
export async function openStore(kind: string, place: string): Promise<OpenStore> {
  if (kind === 'sqlite') {
    const { SqliteChatMemoryRepository } = await import('../../src/memory-repositories/sqlite-chat-memory-repository.js');
    const repository = await SqliteChatMemoryRepository.open(place);
    return { repository, close: () => repository.close() };
  }
  if (kind === 'postgres') {
    const { PostgresChatMemoryRepository } = await import('../../src/memory-repositories/postgres-chat-memory-repository.js');
    const { default: pg } = await import('pg');
    const client = new pg.Pool({ ...POSTGRES.connection, max: 8 });
    const repository = new PostgresChatMemoryRepository({ client, tablePrefix: place });
    await repository.migrate();
    return { repository, close: () => client.end() };
  }
  const { RedisChatMemoryRepository } = await import('../../src/memory-repositories/redis-chat-memory-repository.js');
  const { Redis } = await import('ioredis');
  const client = new Redis(REDIS.connection);
  return { repository: new RedisChatMemoryRepository({ client, keyPrefix: place }), close: () => client.quit() };
}
