import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { SqliteKeyValueStore } from '../../src/key-value-stores/sqlite-key-value-store.js';
import { contentsOf, ledgerTurn } from '../support/tool-ledger-suite.js';

describe('ToolLedgerAdvisor', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'tool-ledger-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  for (const [point, paid] of [
    ['before', ''],
    ['after', 'paid\n'],
  ] as const)
    it(`waits for the lease of a process that was killed ${point} the effect of its tool, and does not repeat it`, async () => {
      const [database, effects] = [join(folder, 'ledger.db'), join(folder, 'effects')];
      writeFileSync(effects, '');
      const worker = 'test/support/tool-ledger-worker.ts';
      const args = ['--import', 'tsx', worker, database, 'order-42', effects, point];
      const { signal } = spawnSync(process.execPath, args, { encoding: 'utf8' });
      const store = await SqliteKeyValueStore.open(database);
      const execute = (): string => (appendFileSync(effects, 'paid\n'), 'Paid.');

      const response = await ledgerTurn({ store, turnId: 'order-42', execute });
      await store.close();

      expect(signal).to.equal('SIGKILL');
      expect(contentsOf(response)[0]).to.match(/^Not run: An earlier attempt/);
      expect(readFileSync(effects, 'utf8')).to.equal(paid);
    });
});
