/**
 * A process that runs a turn with a ledger, and is killed by itself in the tool.
 *
 * `node tool-ledger-worker.js <database> <turn id> <file for effects> <before | after>` appends a line
 * to the file for the effect of its tool, and ends before or after that without any cleanup.
 */
import { appendFileSync } from 'node:fs';
import { SqliteKeyValueStore } from '../../src/stores/key-value/sqlite-key-value-store.js';
import { ledgerTurn } from './tool-ledger-suite.js';

const [database = '', turnId = '', effects = '', point = ''] = process.argv.slice(2);
const store = await SqliteKeyValueStore.open(database);
await ledgerTurn({
  store,
  turnId,
  options: { lease: 1_000 },
  execute: () => {
    if (point === 'after') appendFileSync(effects, 'paid\n');
    process.kill(process.pid, 'SIGKILL');
  },
});
