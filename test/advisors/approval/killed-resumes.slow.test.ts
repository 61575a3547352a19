import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  CONVERSATION_ID,
  type ChatResponse,
  type Decisions,
  type Reconcile,
} from '../../../src/index.js';
import { SqliteKeyValueStore } from '../../../src/stores/key-value/sqlite-key-value-store.js';
import { startLineProcess } from '../../support/line-process.js';
import { paymentClient } from '../../support/paused-payment.js';
import { decideAll } from '../../support/paused-turns.js';

const WORKER = new URL('../../support/paused-turn-worker.ts', import.meta.url);
const LEASE = 1_500;

describe('a resumed turn whose process is killed', () => {
  let folder: string;
  let store: SqliteKeyValueStore;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'killed-resumes-'));
    store = await SqliteKeyValueStore.open(join(folder, 'states.db'));
  });
  afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  const effectsIn = (): readonly string[] =>
    readFileSync(join(folder, 'effects'), 'utf8').trim().split('\n');
  /** Repeats a resume until the lease of the killed process has ended. */
  const resume = async (
    state: string,
    decisions: Decisions,
    reconcile?: Reconcile,
  ): Promise<ChatResponse> => {
    const effects = join(folder, 'effects');
    const base = { store, effects, isNew: true, lease: LEASE };
    const client = paymentClient(reconcile ? { ...base, reconcile } : base);
    for (;;)
      try {
        return await client.resume(state, decisions).call().chatResponse();
      } catch (error) {
        if ((error as { reason?: string }).reason !== 'running') throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
  };

  /** A turn whose process was killed after the effect of a payment. */
  const killedTurn = async (handle: 'id' | 'state') => {
    const first = paymentClient({ store, effects: join(folder, 'effects'), lease: LEASE });
    const spec = first.prompt('Pay 5 and 6').advisors((a) => a.param(CONVERSATION_ID, 'c'));
    const asked = await spec.call().chatResponse();
    const state = asked.paused?.[handle] ?? '';
    const decisions = decideAll(asked);
    const worker = startLineProcess(WORKER, join(folder, 'states.db'), join(folder, 'effects'), '6', String(LEASE)); // prettier-ignore
    worker.write({ state, decisions });
    await worker.waitFor('hangs');
    await worker.kill();
    return { state, decisions };
  };

  it('is resumed again after its lease, and the service knows of the call that was running', async () => {
    const { state, decisions } = await killedTurn('state');
    const asked: unknown[] = [];

    const { text, paused } = await resume(state, decisions, ({ arguments: args }) => {
      asked.push(args);
      return { content: 'pay done' };
    });

    expect([text, paused]).to.deep.equal(['Paid.', undefined]);
    expect(asked).to.deep.equal([{ amount: 6 }]);
    expect(effectsIn().toSorted()).to.deep.equal([
      'look {}',
      'pay {"amount":5}',
      'pay {"amount":6}',
    ]);
  });

  it('is found by its conversation after its lease, and resumed by its id', async () => {
    const { state: id, decisions } = await killedTurn('id');
    const client = paymentClient({ store, effects: join(folder, 'effects'), isNew: true });
    const during = await client.pending('c');

    let pending = during;
    while (pending.length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      pending = await client.pending('c');
    }
    const interrupted = await resume(id, decisions);

    expect(during).to.deep.equal([]);
    expect(pending.map((turn) => turn.id)).to.deep.equal([id]);
    expect(pending[0]?.messages[0]).to.include({ role: 'user', content: 'Pay 5 and 6' });
    expect(interrupted.paused?.id).to.equal(id);
  });

  for (const [handle, answer, effects] of [
    ['state', 'refuse', ['look {}', 'pay {"amount":5}', 'pay {"amount":6}']],
    ['id', 'run', ['look {}', 'pay {"amount":5}', 'pay {"amount":6}', 'pay {"amount":6}']],
  ] as const)
    it(`is resumed again after its lease, and a person decides about the call that was running: ${answer}`, async () => {
      const { state, decisions } = await killedTurn(handle);

      const interrupted = await resume(state, decisions);

      expect(interrupted.paused?.requests.map(({ type, prompt }) => [type, prompt])).to.deep.equal([
        [
          'question',
          'An earlier attempt of this call of "pay" was interrupted, and may have had its effect. Run it again? Arguments: {"amount":6}',
        ],
      ]);
      const decided = decideAll(interrupted, { type: 'answer', value: answer });
      const { text } = await resume(interrupted.paused?.[handle] ?? '', decided);
      expect(text).to.equal('Paid.');
      expect(effectsIn().toSorted()).to.deep.equal([...effects].toSorted());
      const error: unknown = await resume(interrupted.paused?.[handle] ?? '', decided).catch((thrown: unknown) => thrown); // prettier-ignore
      expect(error).to.include({ reason: 'used' });
    });
});
