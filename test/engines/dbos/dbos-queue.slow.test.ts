import { expect } from 'chai';
import { DbosTurns } from '../../../src/engines/dbos/dbos.js';
import { ChatClient } from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { TestDbos } from '../../support/dbos.js';

const client = ChatClient.create(new ScriptedChatModel(() => 'done'));

describe('The queue of DbosTurns', () => {
  let dbos: TestDbos | undefined;
  let turns: DbosTurns<string>;
  /** Beginnings and ends of turns. */
  const log: string[] = [];
  let running = 0;
  let most = 0;

  before(async function () {
    dbos = await TestDbos.launch(this, () => {
      turns = new DbosTurns<string>({
        name: 'queued',
        queue: { concurrency: 2, workerConcurrency: 2, pollInterval: 20 },
        run: async (name) => {
          log.push(`${name} begins`);
          most = Math.max(most, ++running);
          await new Promise((resolve) => setTimeout(resolve, 30));
          running--;
          log.push(`${name} ends`);
          return client.prompt(name);
        },
      });
    });
  });

  after(() => dbos?.stop());

  it('runs one turn of a conversation at a time, in the order of their start, and not more than its limit in all', async () => {
    const conversations = ['anna', 'ben', 'cleo'];
    const names = conversations.flatMap((id) => [1, 2, 3].map((at) => [id, at] as const));

    const ids = await Promise.all(
      names.map(([conversationId, at]) =>
        turns.start(`${conversationId} ${at}`, { conversationId }),
      ),
    );
    await Promise.all(ids.map((id) => turns.result(id, { pollInterval: 50 })));

    for (const id of conversations)
      expect(log.filter((line) => line.startsWith(id))).to.deep.equal(
        [1, 2, 3].flatMap((at) => [`${id} ${at} begins`, `${id} ${at} ends`]),
      );
    expect(most).to.be.within(1, 2);
  });
});
