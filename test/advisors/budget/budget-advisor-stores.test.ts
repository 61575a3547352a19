import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  BudgetAdvisor,
  LimitExceededError,
  priceTable,
  type KeyValueStore,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { answers, clientOf } from '../../support/budget.js';
import {
  dropStates,
  openKeyValueStore,
  SERVER_OF,
  STORE_KINDS,
  type OpenKeyValueStore,
} from '../../support/key-value-stores.js';
import { failureOf } from '../../support/modes.js';
import { hasServer } from '../../support/servers.js';

const price = priceTable({ scripted: { input: 1_000, output: 1_000 } }); // 0.1 for 100 tokens

for (const kind of STORE_KINDS)
  describe(`BudgetAdvisor with a store, ${kind}`, () => {
    const name = `t${randomUUID().replaceAll('-', '').slice(0, 16)}`;
    const folder = mkdtempSync(join(tmpdir(), 'budget-'));
    const location = kind === 'sqlite' ? join(folder, 'states.db') : name;
    let opened: readonly OpenKeyValueStore[] = [];
    before(async function () {
      const server = SERVER_OF[kind];
      if (server) await hasServer(this, server);
      // one after the other: both create what is missing
      opened = [await openKeyValueStore(kind, location), await openKeyValueStore(kind, location)];
    });
    after(async () => {
      await Promise.all(opened.map(({ close }) => close()));
      if (opened.length > 0) await dropStates(kind, location);
      rmSync(folder, { recursive: true });
    });

    /** Two clients with a connection each, whose tenant shares a budget. */
    const clients = (tenant: string, maxCost: number) =>
      opened.map(({ store }) => {
        const shared = [{ name: 'tenant', key: () => tenant, window: 600_000, maxCost }];
        const model = new ScriptedChatModel(() => answers('fine', 100));
        return clientOf(model, new BudgetAdvisor({ shared, price, store }));
      });
    const spentBy = (tenant: string) => {
      const { store } = opened[0] as { readonly store: KeyValueStore };
      const nothing = { tokens: 0, cost: 0, modelCalls: 0, toolCalls: 0 };
      return store.add(`budget:["tenant","${tenant}"]`, nothing);
    };

    it('limits the turns of a tenant over connections', async () => {
      const [a, b] = clients('acme', 0.25).map(
        (client) => () => client.prompt('?').call().content(),
      );

      const texts = [await a?.(), await b?.(), await a?.()];
      const error = await failureOf(Promise.resolve(b?.()));

      expect(texts).to.deep.equal(['fine', 'fine', 'fine']);
      expect(error).to.be.instanceOf(LimitExceededError).and.include({ option: 'tenant.maxCost' });
    });

    it('counts the calls of concurrent turns, each once', async () => {
      const both = clients('many', 1_000);

      const turns = Array.from({ length: 10 }, () => both).flat();
      await Promise.all(turns.map((client) => client.prompt('?').call().content()));
      const { cost, ...counts } = await spentBy('many');

      expect(counts).to.deep.equal({ tokens: 2_000, modelCalls: 20, toolCalls: 0 });
      expect(cost).to.be.closeTo(2, 1e-9);
    });
  });
