import { expect } from 'chai';
import {
  InMemoryDurableEngine,
  InvalidArgumentError,
  type DurableEntries,
} from '../../src/index.js';
import { itBehavesLikeADurableEngine } from '../../src/testing/index.js';

const engines = new Map<string, InMemoryDurableEngine>();
const recorded = new Map<string, DurableEntries>();

/** The engine of the execution of a turn, made of what the one before it has recorded. */
function engineOf(turnId: string): InMemoryDurableEngine {
  const engine = engines.get(turnId) ?? new InMemoryDurableEngine(recorded.get(turnId));
  engines.set(turnId, engine);
  return engine;
}

itBehavesLikeADurableEngine({
  name: 'InMemoryDurableEngine',
  run: (turnId, body) => body(engineOf(turnId)),
  interrupt: (turnId) => {
    recorded.set(turnId, engineOf(turnId).entries());
    engines.delete(turnId);
  },
  send: (turnId, name, value) => void engineOf(turnId).send(name, value),
});

describe('InMemoryDurableEngine', () => {
  it('rejects anything but a list of entries', () => {
    for (const entries of [{}, [1], [[1, 2]]])
      expect(() => new InMemoryDurableEngine(entries as never)).to.throw(
        InvalidArgumentError,
        'entries must be the entries of an engine',
      );
  });

  it('rejects two steps of one name: one would get the result of the other', async () => {
    const engine = new InMemoryDurableEngine();
    await engine.step('a', async () => 1);

    const again = engine.step('a', async () => 2);

    const error = await again.catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(InvalidArgumentError);
    expect((error as Error).message).to.include('two steps named "a"');
  });

  it('takes one value for each wait', () => {
    const engine = new InMemoryDurableEngine();

    expect([engine.send('a', 1), engine.send('a', 2)]).to.deep.equal([true, false]);
  });
});
