import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import pg from 'pg';
import { createClient } from 'redis';
import {
  MemoryWriteError,
  MessageWindowChatMemory,
  type ChatMemoryRepository,
} from '../../src/index.js';
import { PostgresChatMemoryRepository } from '../../src/memory-repositories/postgres-chat-memory-repository.js';
import { RedisChatMemoryRepository } from '../../src/memory-repositories/redis-chat-memory-repository.js';
import { turn } from './conversation.js';
import { CuttingProxy, type Direction } from './cutting-proxy.js';
import { hasServer, POSTGRES, REDIS } from './servers.js';

/** A store with a client of its own. */
interface Connected {
  readonly repository: ChatMemoryRepository;
  readonly close: () => unknown;
}

const NAME = `cut_${randomUUID().slice(0, 8)}`;

/** Clients with their default options, connected to a port. */
const CLIENTS = {
  ioredis: async (port: number): Promise<Connected> => {
    const client = new Redis({ host: '127.0.0.1', port }).on('error', () => undefined);
    const repository = new RedisChatMemoryRepository({ client, keyPrefix: NAME });
    return { repository, close: () => client.disconnect() };
  },
  'node-redis': async (port: number): Promise<Connected> => {
    const client = createClient({ socket: { host: '127.0.0.1', port } });
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

type ClientName = keyof typeof CLIENTS;

/** A turn whose connection is cut, and its end. */
interface Cut {
  readonly id: string;
  readonly failure: MemoryWriteError | undefined;
}

/** A number of bytes that ends the first try of each turn, for a direction. */
type Positions = (length: number) => readonly number[];

/** Tests that no cut of a connection loses or doubles a turn, or misleads about it. */
export function describeCutWrites(
  positions: Readonly<Record<Direction, Positions>>,
  /** Minimum number of turns for each client. */
  minTurns: number,
): void {
  describe('a write whose connection breaks', function () {
    this.timeout(300_000);
    this.slow(60_000);

    for (const name of ['ioredis', 'node-redis', 'pg'] as const)
      describe(`with ${name}`, () => {
        const target = name === 'pg' ? POSTGRES : REDIS;
        let direct: Connected | undefined;
        before(async function () {
          if (!(await hasServer(this, target))) return;
          direct = await CLIENTS[name](target.connection.port);
          if (direct.repository instanceof PostgresChatMemoryRepository)
            await direct.repository.migrate();
        });
        after(() => direct && removeAll(name, direct));

        for (const direction of ['request', 'reply'] as const)
          it(`[D44] is stored once, whatever bytes of the ${direction} pass`, async () => {
            const lengths = await measure(name);
            const cuts = await cutAll(name, direction, positions[direction](lengths[direction]));

            if (direction === 'request') expect(cuts.length).to.be.at.least(minTurns);
            expect(cuts.filter(({ failure }) => failure)).to.deep.equal([]);
            await expectTruth(cuts, direct);
          });

        if (name === 'pg')
          it('[D44] has a true outcome if the server stays away', async () => {
            const { reply } = await measure(name);
            const cuts = await cutAll(name, 'reply', positions.reply(reply), true);

            expect(cuts.map(({ failure }) => failure?.outcome)).to.include('unknown');
            await expectTruth(cuts, direct);
          });
      });
  });
}

/** Expects that an acknowledged turn is stored once, and one that was not stored is not. */
async function expectTruth(cuts: readonly Cut[], direct: Connected | undefined): Promise<void> {
  const lies: unknown[] = [];
  for (const { id, failure } of cuts) {
    const { messages } = await (direct as Connected).repository.read(id);
    const stored = messages.length;
    const isTrue =
      failure?.outcome === 'unknown' ? stored === 0 || stored === 2 : stored === (failure ? 0 : 2);
    if (!isTrue) lies.push({ id, stored, outcome: failure?.outcome });
  }
  expect(lies).to.deep.equal([]);
}

/** Numbers of bytes of a write that is not cut. */
async function measure(name: ClientName): Promise<Record<Direction, number>> {
  let lengths: Record<Direction, number> = { request: 0, reply: 0 };
  await throughProxy(name, async ({ repository }, proxy) => {
    await repository.read('warm');
    proxy.cutAfter('reply', Infinity);
    await store(repository, `${NAME} measured`);
    lengths = { ...proxy.passed };
  });
  return lengths;
}

/** Cuts one turn at each position; 16 at a time, each with a proxy and a client of its own. */
async function cutAll(
  name: ClientName,
  direction: Direction,
  positions: readonly number[],
  staysDown = false,
): Promise<readonly Cut[]> {
  const queue = [...positions];
  const cuts: Cut[] = [];
  const work = async (): Promise<void> => {
    for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
      const position = at;
      const id = `${NAME} ${direction} ${at} ${staysDown}`;
      await throughProxy(name, async ({ repository }, proxy) => {
        await repository.read('warm');
        proxy.cutAfter(direction, position, staysDown);
        cuts.push({ id, failure: await store(repository, id) });
      });
    }
  };
  await Promise.all(Array.from({ length: 16 }, work));
  return cuts;
}

function store(
  repository: ChatMemoryRepository,
  id: string,
): Promise<MemoryWriteError | undefined> {
  const memory = new MessageWindowChatMemory({ repository });
  return memory.add(id, turn(1), { turnId: 'turn 1' }).then(
    () => undefined,
    (error: unknown) => {
      expect(error).to.be.instanceOf(MemoryWriteError);
      return error as MemoryWriteError;
    },
  );
}

async function throughProxy(
  name: ClientName,
  act: (connected: Connected, proxy: CuttingProxy) => Promise<void>,
): Promise<void> {
  const proxy = new CuttingProxy((name === 'pg' ? POSTGRES : REDIS).connection);
  const connected = await CLIENTS[name](await proxy.listen());
  try {
    await act(connected, proxy);
  } finally {
    await connected.close();
    proxy.close();
  }
}

async function removeAll(name: ClientName, { repository, close }: Connected): Promise<void> {
  if (name === 'pg') {
    const client = new pg.Client(POSTGRES.connection);
    await client.connect();
    await client.query(`DROP TABLE IF EXISTS ${NAME}_conversation, ${NAME}_message, ${NAME}_write`);
    await client.end();
  } else {
    for (let ids = await repository.conversationIds(); ids.length > 0;) {
      for (const id of ids) await repository.delete(id);
      ids = await repository.conversationIds();
    }
  }
  await close();
}
