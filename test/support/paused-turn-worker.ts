/**
 * A process of a newer deployment that resumes a paused turn: another system text, other tool
 * objects of the same definitions.
 *
 * `node paused-turn-worker.js <database> <file for effects> [<amount that hangs> <lease>]` reads `{ state, decisions }` from its
 * input and prints the text of the answer, or the reason of the refusal, as JSON.
 */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { SqliteKeyValueStore } from '../../src/stores/key-value/sqlite-key-value-store.js';
import type { Decisions } from '../../src/index.js';
import { paymentClient } from './paused-payment.js';

const [database = '', effects = '', hangs, lease] = process.argv.slice(2);
const hanging = hangs === undefined ? {} : { hangsAt: Number(hangs), lease: Number(lease) };
const [line] = (await once(createInterface(process.stdin), 'line')) as [string];
const { state, decisions } = JSON.parse(line) as { state: string; decisions: Decisions };
const store = await SqliteKeyValueStore.open(database);
const client = paymentClient({
  store,
  effects,
  system: 'You pay, politely.',
  isNew: true,
  ...hanging,
});
const end = await client
  .resume(state, decisions)
  .call()
  .chatClientResponse()
  .then(
    ({ text, transcript }) => ({ text, system: transcript[0] }),
    (error: unknown) => ({ reason: (error as { reason?: string }).reason ?? String(error) }),
  );
process.stdout.write(`${JSON.stringify(end)}\n`);
await store.close();
process.exit();
