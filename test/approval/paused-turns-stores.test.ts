import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { defineTool, ModelCallError, type PausedTurn } from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import {
  dropStates,
  openKeyValueStore,
  SERVER_OF,
  STORE_KINDS,
  type OpenKeyValueStore,
} from '../support/key-value-stores.js';
import { failureOf } from '../support/modes.js';
import { decideAll, pauseOptions, pausingClient } from '../support/paused-turns.js';
import { hasServer } from '../support/servers.js';

for (const kind of STORE_KINDS)
  describe(`paused turns with the key-value store ${kind}`, () => {
    const location = kind === 'sqlite' ? ':memory:' : `paused_${randomUUID().replaceAll('-', '')}`;
    let open: OpenKeyValueStore | undefined;
    before(async function () {
      const server = SERVER_OF[kind];
      if (server && !(await hasServer(this, server))) return;
      open = await openKeyValueStore(kind, location);
    });
    after(async () => {
      await open?.close();
      if (open) await dropStates(kind, location);
    });

    it('are used once, by one of many processes, and go on after a failure', async () => {
      const { store } = open as OpenKeyValueStore;
      let paid = 0;
      let refuseAll = (): void => undefined;
      const othersAreRefused = new Promise<void>((resolve) => (refuseAll = resolve));
      const pay = defineTool({
        name: 'pay',
        effect: 'write',
        execute: () => othersAreRefused.then(() => `paid ${++paid}`),
      });
      const down = new ModelCallError('down', { status: 503 });
      const asks = { toolCalls: [{ id: 'c', name: 'pay' }] };
      const model = new ScriptedChatModel([asks, down, 'Paid.']);
      const client = pausingClient(model, [pay], pauseOptions({ store }));
      const paused = await client.prompt('Pay').call().chatResponse();
      const { state } = paused.paused as PausedTurn;
      const resumed = client.resume(state, decideAll(paused));

      let refused = 0;
      const process = async (): Promise<unknown> => {
        const error = await failureOf(resumed.call().content());
        if ((error as ModelCallError).code === 'paused_state' && ++refused === 4) refuseAll();
        return error;
      };
      const first = await Promise.all(Array.from({ length: 5 }, process));
      const text = await resumed.call().content();

      const codes = first.map((error) => (error as ModelCallError).code).toSorted();
      expect(codes).to.deep.equal([
        'model_call',
        ...Array.from({ length: 4 }, () => 'paused_state'),
      ]);
      expect([text, paid]).to.deep.equal(['Paid.', 1]);
      expect(await failureOf(resumed.call().content())).to.have.property('reason', 'used');
    });
  });
