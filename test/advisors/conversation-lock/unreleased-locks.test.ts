import { expect } from 'chai';
import {
  ChatClient,
  ConversationLockAdvisor,
  InMemoryKeyValueStore,
  type KeyValueStore,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { inConversation } from '../../support/memory-advisor.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';

/** A view of a store that fails to delete for some time. */
function failing(inner: KeyValueStore, failures: number): KeyValueStore {
  let left = failures;
  return {
    get: (...args) => inner.get(...args),
    set: (...args) => inner.set(...args),
    add: (...args) => inner.add(...args),
    delete: (...args) => (left-- > 0 ? Promise.reject(new Error('down')) : inner.delete(...args)),
  };
}

/** A turn that is refused while another one has the lock, for as long as its lease. */
const turnOn = (store: KeyValueStore) =>
  inConversation(
    ChatClient.builder(new ScriptedChatModel(['Hello.']))
      .defaultAdvisors(new ConversationLockAdvisor({ store, onBusy: 'reject' }))
      .build()
      .prompt('Hi.'),
  );

for (const mode of MODES)
  describe(`a lock whose release has failed (${mode})`, () => {
    for (const failures of [1, 2])
      it(`[D85] is taken over by the next turn of its process, after ${failures} failures`, async () => {
        const store = failing(new InMemoryKeyValueStore(), failures);

        for (let turn = 0; turn <= failures; turn++)
          expect((await runSpec(mode, turnOn(store))).text, `turn ${turn}`).to.equal('Hello.');
      });

    it('[D85] stays for others, and is not taken from another holder', async () => {
      const inner = new InMemoryKeyValueStore();
      const store = failing(inner, 1);
      await runSpec(mode, turnOn(store));

      const elsewhere = await failureOf(runSpec(mode, turnOn(failing(inner, 0))));
      await inner.set('conversation-lock:c', 'another holder');
      const here = await failureOf(runSpec(mode, turnOn(store)));

      expect([elsewhere, here].map((error) => (error as { readonly code?: string }).code))
        .to.deep // prettier-ignore
        .equal(['conversation_lock', 'conversation_lock']);
      expect(await inner.get('conversation-lock:c')).to.equal('another holder');
    });
  });
