import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import pg from 'pg';
import { createClient } from 'redis';
import type { ChatMemoryRepository } from '../../src/index.js';
import { PostgresChatMemoryRepository } from '../../src/stores/chat-memory/postgres-chat-memory-repository.js';
import { RedisChatMemoryRepository } from '../../src/stores/chat-memory/redis-chat-memory-repository.js';
import { CuttingProxy } from './cutting-proxy.js';
import { hasServer, POSTGRES, REDIS } from './servers.js';

/** A store with a client of its own. */
export interface Connected {
  readonly repository: ChatMemoryRepository;
  readonly close: () => unknown;
}

/** Prefix of the keys, tables and conversations of this process. */
export const NAME = `cut_${randomUUID().slice(0, 8)}`;

const [host, reconnectDelay] = ['127.0.0.1', () => 2];

// a client with other options costs 30 ms for its class, a duplicate does not
const nodeRedis = createClient();

/** Clients, connected to a port; one that resends waits for a connection, and repeats commands if it can. */
const CLIENTS = {
  ioredis: async (port: number, resends: boolean): Promise<Connected> => {
    const retries = resends ? {} : { maxRetriesPerRequest: 0 };
    const client = new Redis({ host, port, retryStrategy: reconnectDelay, ...retries });
    client.on('error', () => undefined);
    const repository = new RedisChatMemoryRepository({ client, keyPrefix: NAME });
    return { repository, close: () => client.disconnect() };
  },
  'node-redis': async (port: number, resends: boolean): Promise<Connected> => {
    const socket = { host, port, reconnectStrategy: reconnectDelay };
    const client = nodeRedis.duplicate({ socket, disableOfflineQueue: !resends });
    await client.on('error', () => undefined).connect();
    const repository = new RedisChatMemoryRepository({ client, keyPrefix: NAME });
    return { repository, close: () => client.destroy() };
  },
  pg: async (port: number): Promise<Connected> => {
    const client = new pg.Pool({ ...POSTGRES.connection, port }).on('error', () => undefined);
    const repository = new PostgresChatMemoryRepository({ client, tablePrefix: NAME });
    return { repository, close: () => client.end() };
  },
};

export type ClientName = keyof typeof CLIENTS;
export const CLIENT_NAMES = Object.keys(CLIENTS) as readonly ClientName[];

const serverOf = (name: ClientName) => (name === 'pg' ? POSTGRES : REDIS);

/** Registers hooks that connect to the server itself and remove everything at the end. */
export function connectDirectly(name: ClientName): () => ChatMemoryRepository {
  let direct: Connected | undefined;
  before(async function () {
    if (!(await hasServer(this, serverOf(name)))) return;
    direct = await CLIENTS[name](serverOf(name).connection.port, true);
    if (direct.repository instanceof PostgresChatMemoryRepository)
      await direct.repository.migrate();
  });
  after(async () => {
    if (!direct) return;
    await removeAll(name, direct.repository);
    await direct.close();
  });
  return () => (direct as Connected).repository;
}

/** Connects through a proxy that can break connections; the store is used once before. */
export async function throughProxy(
  name: ClientName,
  resends: boolean,
  act: (repository: ChatMemoryRepository, proxy: CuttingProxy) => Promise<void>,
): Promise<void> {
  const proxy = new CuttingProxy(serverOf(name).connection);
  const connected = await CLIENTS[name](await proxy.listen(), resends);
  try {
    await connected.repository.read('warm');
    await act(connected.repository, proxy);
  } finally {
    await connected.close();
    proxy.close();
  }
}

async function removeAll(name: ClientName, repository: ChatMemoryRepository): Promise<void> {
  if (name === 'pg') {
    const client = new pg.Client(POSTGRES.connection);
    await client.connect();
    await client.query(`DROP TABLE IF EXISTS ${NAME}_conversation, ${NAME}_message, ${NAME}_write`);
    await client.end();
    return;
  }
  for (let ids = await repository.conversationIds(); ids.length > 0;) {
    for (const id of ids) await repository.delete(id);
    ids = await repository.conversationIds();
  }
}
