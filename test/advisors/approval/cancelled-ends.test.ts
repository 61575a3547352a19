import { expect } from 'chai';
import {
  AdvisorChainError,
  defineTool,
  InMemoryKeyValueStore,
  type KeyValueStore,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { decideAll, pauseOptions, pausingClient } from '../../support/paused-turns.js';

/** A store that calls back during each of its writes. */
function watched(onWrite: () => void): KeyValueStore {
  const store = new InMemoryKeyValueStore();
  const during = <T>(write: Promise<T>): Promise<T> => (onWrite(), write);
  return {
    get: (key) => store.get(key),
    set: (...args) => during(store.set(...args)),
    delete: (...args) => during(store.delete(...args)),
    add: (...args) => store.add(...args),
  };
}

describe('a resumed turn that is cancelled', () => {
  for (const mode of MODES)
    it(`can be resumed again, at whichever write of its state it was (${mode})`, async () => {
      let writes = Infinity;
      for (let at = 0; at < writes; at++) {
        let paid = 0;
        let count = 0;
        const abort = new AbortController();
        const store = watched(() => void (count++ === at && abort.abort()));
        const pay = defineTool({ name: 'pay', effect: 'write', execute: () => `${++paid}` });
        const script = [{ toolCalls: [{ id: 'c', name: 'pay' }] }, 'Paid.', 'Paid.'];
        const model = new ScriptedChatModel(script);
        const client = pausingClient(model, [pay], pauseOptions({ store }));
        const paused = await runSpec(mode, client.prompt('Pay.'));
        const resume = () => client.resume(paused.paused?.state ?? '', decideAll(paused));

        const error = await failureOf(runSpec(mode, resume().signal(abort.signal)));
        // until then the state is in use: a resume would be refused
        if (error instanceof AdvisorChainError) await error.run?.settled;
        if (error === undefined) writes = count;
        else expect((await runSpec(mode, resume())).text, `after write ${at}`).to.equal('Paid.');

        expect(paid, `after write ${at}`).to.be.at.most(1);
      }
      expect(writes).to.be.above(3);
    });
});
