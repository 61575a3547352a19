import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ChatClient, RateLimitAdvisor, RateLimitError } from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import {
  dropStates,
  openKeyValueStore,
  SERVER_OF,
  STORE_KINDS,
  type OpenKeyValueStore,
} from '../../support/key-value-stores.js';
import { failureOf } from '../../support/modes.js';
import { settle } from '../../support/promises.js';
import { hasServer } from '../../support/servers.js';
import { sampled } from '../../support/sweep.js';

describe('RateLimitAdvisor, shared by connections', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rate-limit-'));
  const name = `t${randomUUID().replaceAll('-', '').slice(0, 16)}`;
  after(() => rmSync(folder, { recursive: true }));

  const kinds = sampled(STORE_KINDS.toReversed()); // Redis first
  for (const kind of kinds)
    it(`admits exactly as many calls as the limit has, in ${kind}`, async function () {
      const server = SERVER_OF[kind];
      if (server) await hasServer(this, server);
      const location = kind === 'sqlite' ? join(folder, 'rates.db') : name;
      const opened: OpenKeyValueStore[] = [];
      for (let at = 0; at < 2; at++) opened.push(await openKeyValueStore(kind, location));
      const model = new ScriptedChatModel(() => 'fine');
      const clients = opened.map(({ store }) => {
        const limit = { requestsPerMinute: 5, maxWait: 0, store, key: () => name };
        return ChatClient.builder(model).defaultAdvisors(new RateLimitAdvisor(limit)).build();
      });

      const failures = await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          failureOf((clients[at % 2] as ChatClient).prompt('?').call().content()),
        ),
      );

      await settle();
      for (const { close } of opened) await close();
      await dropStates(kind, location);
      const refused = failures.filter((error) => error !== undefined);
      expect(refused).to.have.length(15);
      for (const error of refused) expect(error).to.be.instanceOf(RateLimitError);
    });
});
