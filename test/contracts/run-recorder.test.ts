import { expect } from 'chai';
import { PausingRecorder, TurnRequests } from '../../advisors/approval/pausing-recorder.js';
import { TurnJournal } from '../../advisors/approval/turn-journal.js';
import { jsonStep, LIVE, type RunRecorder } from '../../src/core/chat/run-recorder.js';
import { DurableRun } from '../../src/engines/recorder/durable-run.js';
import { CancelledError, InMemoryDurableEngine, type DurableEntries } from '../../src/index.js';
import { KilledEngine } from '../support/durable.js';
import { failureOf } from '../support/modes.js';
import { itBehavesLikeARunRecorder, type RecorderContract } from '../support/recorder-contract.js';

/** A recorder of an engine in memory; each execution has the entries of the one before. */
function inMemory<E extends InMemoryDurableEngine>(
  name: string,
  engineOf: (entries: DurableEntries | undefined) => E,
  recorderOf: (engine: E) => RunRecorder,
  waits: RecorderContract['waits'],
): RecorderContract {
  const engines = new Map<string, E>();
  return {
    name,
    records: true,
    waits,
    run: (turnId, body) => {
      const engine = engineOf(engines.get(turnId)?.entries());
      engines.set(turnId, engine);
      return body(recorderOf(engine));
    },
    interrupt: () => undefined,
  };
}

itBehavesLikeARunRecorder({
  name: 'LIVE',
  records: false,
  waits: 'never',
  run: (_, body) => body(LIVE),
  interrupt: () => undefined,
});

itBehavesLikeARunRecorder(
  inMemory(
    'The recorder of an engine in memory',
    (entries) => new InMemoryDurableEngine(entries),
    (engine) => new DurableRun(engine),
    'for a value',
  ),
);

itBehavesLikeARunRecorder(
  inMemory(
    'The recorder of a turn that can pause',
    (entries) => new TurnJournal(entries),
    (journal) => new PausingRecorder(journal, new TurnRequests()),
    'by a pause',
  ),
);

describe('a recorder', () => {
  it('L5: lets a turn be continued whose engine fails, and the turn around it', async () => {
    const outer = new DurableRun(new KilledEngine([], { at: 'agent/work', place: 'after' }));
    const nested = outer.addNested('0.c', 'agent');
    const before = [outer.isLost, nested.isLost];

    await failureOf(nested.stepOf('agent/work', async () => 1));

    expect(before).to.deep.equal([false, false]);
    expect([outer.isLost, nested.isLost]).to.deep.equal([true, true]);
  });

  it('L8: keeps the steps of a failed turn if another execution can have them', async () => {
    const requests = new TurnRequests();
    const pausing = new PausingRecorder(new TurnJournal(), requests);
    const recorders = [LIVE, new DurableRun(new InMemoryDurableEngine()), pausing];
    for (const recorder of recorders) await recorder.step('memory read', async () => 1, jsonStep());
    const errors = [new CancelledError('stopped'), new Error('any'), requests.error];
    const kept = (recorder: RunRecorder): readonly boolean[] =>
      errors.map((error) => recorder.keepsStep('memory read', error));

    const ends = recorders.map(kept);
    requests.isResumable = true;

    const [never, always] = [Array(3).fill(false), Array(3).fill(true)];
    expect(ends).to.deep.equal([never, always, [false, false, true]]);
    expect(kept(pausing)).to.deep.equal(always);
    expect(pausing.keepsStep('memory write', new Error('any'))).to.equal(false);
  });
});
