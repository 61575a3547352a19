import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { ChatClient, CONVERSATION_ID, type KeyValueStore } from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import {
  dropStates,
  openKeyValueStore,
  SERVER_OF,
  STORE_KINDS,
  type OpenKeyValueStore,
} from '../../support/key-value-stores.js';
import { runSpec } from '../../support/modes.js';
import { idIn, linesOf, offloading, resultsOf, returning } from '../../support/offloading.js';
import { hasServer } from '../../support/servers.js';

describe('offloaded results in a store', () => {
  for (const kind of STORE_KINDS)
    describe(kind, () => {
      const location =
        kind === 'sqlite' ? ':memory:' : `t${randomUUID().replaceAll('-', '').slice(0, 16)}`;
      let open: OpenKeyValueStore | undefined;

      before(async function () {
        const server = SERVER_OF[kind];
        if (server && !(await hasServer(this, server))) return;
        open = await openKeyValueStore(kind, location);
      });
      after(async () => {
        if (!open) return;
        await open.close();
        await dropStates(kind, location);
      });

      /** Offloads a text in one client, and reads it in another one. */
      const readBack = async (text: string, args: object): Promise<string> => {
        const { store } = open as { store: KeyValueStore };
        const conversation = `${'c'.repeat(400)} é ${randomUUID()}`;
        const ask = async (script: ConstructorParameters<typeof ScriptedChatModel>[0]) => {
          const model = new ScriptedChatModel(script);
          const spec = ChatClient.create(model).prompt('Go.').tools(returning('logs', text));
          const { advisor } = offloading({ store });
          await runSpec(
            'call',
            spec.advisors(advisor, (a) => a.param(CONVERSATION_ID, conversation)),
          );
          return resultsOf(model.prompts.at(-1));
        };
        const [content] = await ask([{ toolCalls: [{ name: 'logs' }] }, 'Done.']);
        const id = idIn(content);
        const [, read] = await ask((_, index) => {
          if (index === 0) return { toolCalls: [{ name: 'logs' }] };
          if (index > 1) return 'Done.';
          return { toolCalls: [{ name: 'read_result', arguments: { id, ...args } }] };
        });
        return read as string;
      };

      it('are read by another process with the same store', async () => {
        const text = `${linesOf(1_000)}\nthe end`;

        expect(await readBack(text, { search: 'the end' })).to.include('line 1001, offset 100000');
      });

      it('have up to 4,000,000 characters, the middle of longer ones is lost', async () => {
        const text = '😀é漢x'.repeat(900_000);

        const read = await readBack(text, { offset: 3_999_900 });

        expect(read).to.match(/^Characters 3999900 to \d+ of 40000\d\d; this is the end\./);
        expect(read.endsWith(text.slice(-50))).to.equal(true);
      });

      it('keep their offsets if they have characters that a store does not take', async () => {
        const text = `a\0b\ud800c${'x'.repeat(5_000)}end`;

        expect(await readBack(text, { length: 10 })).to.include('a\ufffdb\ufffdcxxxxx');
        expect(await readBack(text, { search: 'end' })).to.include('offset 5005');
      });
    });
});
