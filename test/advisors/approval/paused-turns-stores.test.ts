import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { CONVERSATION_ID, defineTool, ModelCallError } from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import {
  dropStates,
  openKeyValueStore,
  SERVER_OF,
  STORE_KINDS,
  type OpenKeyValueStore,
} from '../../support/key-value-stores.js';
import { failureOf } from '../../support/modes.js';
import { decideAll, pauseOptions, pausingClient } from '../../support/paused-turns.js';
import { hasServer } from '../../support/servers.js';

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

    for (const handle of ['id', 'state'] as const)
      it(`are used once by their ${handle}, by one of many processes, and continue after a failure`, async () => {
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
        const ask = client.prompt('Pay').advisors((a) => a.param(CONVERSATION_ID, `c ${handle}`));
        const paused = await ask.call().chatResponse();
        const [pending] = await client.pending(`c ${handle}`);
        const resumed = client.resume(paused.paused?.[handle] ?? '', decideAll(paused));

        let refused = 0;
        const process = async (): Promise<unknown> => {
          const error = await failureOf(resumed.call().content());
          if ((error as ModelCallError).code === 'paused_state' && ++refused === 4) refuseAll();
          return error;
        };
        const first = await Promise.all(Array.from({ length: 5 }, process));
        const [waiting] = await client.pending(`c ${handle}`);
        const end = await resumed.call().chatClientResponse();
        await end.run?.settled;

        const codes = first.map((error) => (error as ModelCallError).code).toSorted();
        expect(codes).to.deep.equal([
          'model_call',
          ...Array.from({ length: 4 }, () => 'paused_state'),
        ]);
        expect([end.text, paid]).to.deep.equal(['Paid.', 1]);
        expect(await failureOf(resumed.call().content())).to.have.property('reason', 'used');
        expect([pending, waiting].map((each) => each?.id)).to.deep.equal([
          paused.paused?.id,
          pending?.id,
        ]);
        expect(pending?.requests).to.deep.equal(paused.paused?.requests);
        expect(await client.pending(`c ${handle}`)).to.deep.equal([]);
      });
  });
