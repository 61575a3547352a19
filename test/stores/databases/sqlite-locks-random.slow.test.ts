import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  ChatClient,
  StoreBusyError,
  MemoryWriteError,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  textOf,
} from '../../../src/index.js';
import { SqliteChatMemoryRepository } from '../../../src/stores/chat-memory/sqlite-chat-memory-repository.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { inConversation, storedTexts } from '../../support/memory-advisor.js';
import { MODES, runSpec } from '../../support/modes.js';
import { lockAtRandom, watchEventLoop } from '../../support/sqlite-locker.js';
import { inFull } from '../../support/sweep.js';

const [TURNS, CONCURRENT, CONVERSATIONS] = [inFull(2_000, 600), 20, 5];

describe('a chat memory in SQLite, locked at random by another process', function () {
  this.timeout(300_000);
  this.slow(60_000);

  const folder = mkdtempSync(join(tmpdir(), 'chat-memory-'));
  after(() => rmSync(folder, { recursive: true }));

  it(`[D48] loses and doubles none of ${TURNS} turns, and each failed turn is not stored`, async () => {
    const file = join(folder, 'memory.db');
    const repository = await SqliteChatMemoryRepository.open(file, { busyTimeout: 60 });
    const chatMemory = new MessageWindowChatMemory({ repository });
    const model = new ScriptedChatModel(
      ({ userMessage }) => `${textOf(userMessage?.content ?? '')}!`,
    );
    const client = ChatClient.builder(model)
      .defaultAdvisors(new MessageChatMemoryAdvisor({ chatMemory }))
      .build();
    const stop = await lockAtRandom(file);
    const blocked = watchEventLoop();
    const stored: string[] = [];
    const failures: unknown[] = [];
    const runTurn = async (turn: number): Promise<void> => {
      const name = `${turn}`;
      const spec = inConversation(client.prompt(name), `c${turn % CONVERSATIONS}`);
      await runSpec(MODES[turn % MODES.length] ?? 'call', spec).then(
        () => stored.push(name, `${name}!`),
        (error: unknown) => failures.push(error),
      );
    };
    for (let turn = 0; turn < TURNS; turn += CONCURRENT)
      await Promise.all(Array.from({ length: CONCURRENT }, (_, at) => runTurn(turn + at)));
    const longest = blocked();
    await stop();
    const ids = await repository.conversationIds();
    const found = (await Promise.all(ids.map((id) => storedTexts(repository, id)))).flat();
    await repository.close();
    console.log(
      `      ${failures.length} of ${TURNS} turns failed; longest block ${longest.toFixed(1)} ms`,
    );

    expect(found.toSorted()).to.deep.equal(stored.toSorted());
    expect(failures).to.have.length.greaterThan(0).and.lessThan(TURNS);
    for (const error of failures) {
      expect(error).to.be.instanceOf(MemoryWriteError);
      expect((error as MemoryWriteError).cause).to.be.instanceOf(StoreBusyError);
    }
  });
});
