/**
 * A process that competes for keys, for tests with several processes.
 *
 * `node key-value-worker.js <store> <location> <name> <keys>` writes its name to each key that has no
 * value, 10 at a time, counts each attempt, and prints the keys that it has won.
 */
import { openKeyValueStore, type StoreKind } from './key-value-stores.js';

const [kind = '', location = '', name = '', keys = '0'] = process.argv.slice(2);
const { store, close } = await openKeyValueStore(kind as StoreKind, location);

process.stdout.write('ready\n');
await new Promise((resolve) => process.stdin.once('data', resolve));
for (let first = 0; first < Number(keys); first += 10)
  await Promise.all(
    Array.from({ length: 10 }, async (_, at) => {
      const key = `key ${first + at}`;
      const isWon = await store.set(key, name, { expected: null, ttl: 600_000 });
      await store.add('attempts', { all: 1, won: isWon ? 1 : 0 });
      if (isWon) process.stdout.write(`${key}\n`);
    }),
  );
await close();
process.stdin.destroy();
