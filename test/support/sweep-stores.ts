import { randomBytes, randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  InMemoryChatMemoryRepository,
  InMemoryKeyValueStore,
  type ChatMemoryRepository,
  type KeyValueStore,
} from '../../src/index.js';
import { dropStates, openKeyValueStore, type StoreKind } from './key-value-stores.js';
import { openStore } from './memory-stores.js';
import { POSTGRES } from './servers.js';

/** The stores of one conversation. */
export interface Stores {
  readonly repository: ChatMemoryRepository;
  readonly states: KeyValueStore;
  /** Different for each conversation of a sweep. */
  readonly conversation: string;
}

interface Opened extends Omit<Stores, 'conversation'> {
  readonly close: () => Promise<void>;
}

/** Stores of a sweep: connections are opened once, conversations are apart. */
export class SweepStores {
  private readonly opened = new Map<StoreKind, Promise<Opened>>();
  private count = 0;

  async open(kind: StoreKind): Promise<Stores> {
    const conversation = `c${this.count++}`;
    if (kind === 'memory') {
      const repository = new InMemoryChatMemoryRepository();
      return { repository, states: new InMemoryKeyValueStore(), conversation };
    }
    const opened = this.opened.get(kind) ?? openServer(kind);
    this.opened.set(kind, opened);
    const { repository, states } = await opened;
    return { repository, states: prefixed(states, `${conversation} `), conversation };
  }

  async close(): Promise<void> {
    for (const opened of this.opened.values()) await (await opened).close();
  }
}

async function openServer(kind: StoreKind): Promise<Opened> {
  const name = `sweep_${randomBytes(4).toString('hex')}`;
  const folder = kind === 'sqlite' ? mkdtempSync(join(tmpdir(), 'advisor-chain-sweep-')) : '';
  const placeOf = (part: string): string =>
    kind === 'sqlite' ? join(folder, `${part}.db`) : `${name}_${part}`;
  const memory = await openStore(kind, placeOf('memory'));
  const states = await openKeyValueStore(kind, placeOf('states'));
  return {
    repository: memory.repository,
    states: states.store,
    close: async () => {
      await memory.close();
      await states.close();
      await dropStates(kind, placeOf('states'));
      if (kind === 'postgres') await dropMemory(placeOf('memory'));
      if (kind === 'redis') await dropStates(kind, placeOf('memory'));
      if (folder) rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function dropMemory(prefix: string): Promise<void> {
  const { default: pg } = await import('pg');
  const client = new pg.Client(POSTGRES.connection);
  await client.connect();
  const tables = ['conversation', 'message', 'write'].map((part) => `${prefix}_${part}`);
  await client.query(`DROP TABLE IF EXISTS ${tables.join(', ')}`);
  await client.end();
}

/** A part of a store. */
export function prefixed(store: KeyValueStore, prefix: string): KeyValueStore {
  return {
    get: (key) => store.get(prefix + key),
    set: (key, ...rest) => store.set(prefix + key, ...rest),
    delete: (key, ...rest) => store.delete(prefix + key, ...rest),
    add: (key, ...rest) => store.add(prefix + key, ...rest),
  };
}

/** Seed of the sweeps of this process: the same in every run, unless `FC_SEED` has another one. */
export function sweepSeed(): number {
  const { FC_SEED: seed = '1' } = process.env;
  return seed === 'random' ? randomInt(2 ** 31) : Number(seed);
}
