import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Decision, Decisions, PausedTurn } from '../../../src/index.js';
import { SqliteKeyValueStore } from '../../../src/stores/key-value/sqlite-key-value-store.js';
import { startLineProcess } from '../../support/line-process.js';
import { paymentClient } from '../../support/paused-payment.js';

const WORKER = new URL('../../support/paused-turn-worker.ts', import.meta.url);

describe('a paused turn in another process', () => {
  let folder: string;
  let database: string;
  let effects: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'paused-turns-'));
    database = join(folder, 'states.db');
    effects = join(folder, 'effects');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const pausedTurn = async (): Promise<PausedTurn> => {
    const store = await SqliteKeyValueStore.open(database);
    const client = paymentClient({ store, effects });
    const { paused } = await client.prompt('Pay 5 and 6').call().chatResponse();
    await store.close();
    return paused as PausedTurn;
  };
  const resumeElsewhere = async (state: string, decisions: Decisions): Promise<unknown> => {
    const worker = startLineProcess(WORKER, database, effects);
    worker.write({ state, decisions });
    const line = await worker.waitFor(/^\{/);
    await worker.kill();
    return JSON.parse(line);
  };
  const decide = ({ requests }: PausedTurn, ...decisions: readonly Decision[]): Decisions =>
    Object.fromEntries(requests.map(({ id }, at) => [id, decisions[at] as Decision]));

  for (const handle of ['id', 'state'] as const)
    it(`continues in a newer deployment by its ${handle}, and repeats no finished call`, async () => {
      const paused = await pausedTurn();
      const edited: Decision = { type: 'edit', arguments: { amount: 1 }, by: 'bob' };

      const end = await resumeElsewhere(
        paused[handle] ?? '',
        decide(paused, { type: 'allow', by: 'anna' }, edited),
      );

      expect(end).to.deep.equal({
        text: 'Paid.',
        system: { role: 'system', content: 'You pay.' },
      });
      expect(readFileSync(effects, 'utf8').trim().split('\n')).to.deep.equal([
        'look {}',
        'pay {"amount":5}',
        'pay {"amount":1}',
      ]);
    });

  for (const handle of ['id', 'state'] as const)
    it(`continues by its ${handle} in one of two processes`, async () => {
      const paused = await pausedTurn();
      const decisions = decide(paused, { type: 'allow' }, { type: 'deny', reason: 'too much' });

      const ends = await Promise.all([
        resumeElsewhere(paused[handle] ?? '', decisions),
        resumeElsewhere(paused[handle] ?? '', decisions),
      ]);

      const [used, answered] = ends.toSorted((a, b) => Number('text' in (a as object)) - Number('text' in (b as object))); // prettier-ignore
      expect((used as { reason: string }).reason).to.be.oneOf(['used', 'running']);
      expect(answered).to.include({ text: 'Paid.' });
      expect(readFileSync(effects, 'utf8').trim().split('\n')).to.deep.equal([
        'look {}',
        'pay {"amount":5}',
      ]);
    });
});
