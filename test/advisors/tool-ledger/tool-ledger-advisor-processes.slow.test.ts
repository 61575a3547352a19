import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Reconciled } from '../../../src/index.js';
import { SqliteKeyValueStore } from '../../../src/stores/key-value/sqlite-key-value-store.js';
import { contentsOf, ledgerTurn } from '../../support/tool-ledger-suite.js';

describe('ToolLedgerAdvisor', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'tool-ledger-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Runs a turn whose process is killed before or after its payment; returns its effects and its ledger. */
  const killedTurn = async (point: 'before' | 'after') => {
    const [database, effects] = [join(folder, 'ledger.db'), join(folder, 'effects')];
    writeFileSync(effects, '');
    const worker = 'test/support/tool-ledger-worker.ts';
    const args = ['--import', 'tsx', worker, database, 'order-42', effects, point];
    const { signal } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(signal).to.equal('SIGKILL');
    const store = await SqliteKeyValueStore.open(database);
    const execute = (): string => (appendFileSync(effects, 'paid\n'), 'Paid.');
    const effectsNow = (): string => readFileSync(effects, 'utf8');
    return { turn: { store, turnId: 'order-42', execute }, store, effectsNow };
  };

  for (const [point, paid] of [
    ['before', ''],
    ['after', 'paid\n'],
  ] as const)
    it(`waits for the lease of a process that was killed ${point} the effect of its tool, and does not repeat it`, async () => {
      const { turn, store, effectsNow } = await killedTurn(point);

      const response = await ledgerTurn(turn);
      await store.close();

      expect(contentsOf(response)[0]).to.match(/^Not run: An earlier attempt/);
      expect(effectsNow()).to.equal(paid);
    });

  for (const [point, content] of [
    ['before', 'Paid.'],
    ['after', 'Paid before.'],
  ] as const)
    it(`asks the service about a call whose process was killed ${point} its effect, which is made once`, async () => {
      const { turn, store, effectsNow } = await killedTurn(point);
      const reconcile = (): Reconciled =>
        effectsNow() === '' ? 'not-run' : { content: 'Paid before.' };

      const contents = [];
      for (let attempt = 0; attempt < 2; attempt++)
        contents.push(...contentsOf(await ledgerTurn({ ...turn, options: { reconcile } })));
      await store.close();

      expect(contents).to.deep.equal([content, content]);
      expect(effectsNow()).to.equal('paid\n');
    });
});
