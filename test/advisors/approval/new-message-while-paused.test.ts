import { expect } from 'chai';
import {
  AdvisorOrder,
  ApprovalAdvisor,
  ChatClient,
  defineTool,
  InMemoryChatMemoryRepository,
  InMemoryKeyValueStore,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  type ChatClientResponse,
  type Decision,
  type PromptSpec,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { shortTexts } from '../../support/conversation.js';
import { MODES, runSpec, type Mode } from '../../support/modes.js';
import { SECRET } from '../../support/paused-turns.js';

const pays = (id: string): ScriptedAnswer => ({ toolCalls: [{ id, name: 'pay' }] });
const allow = (): Decision => ({ type: 'allow' });
const deny = (): Decision => ({ type: 'deny', reason: 'Another wish.' });

/** A conversation in which a turn waits. */
async function waiting(mode: Mode, order: number | undefined, ...later: readonly ScriptedAnswer[]) {
  const pay = defineTool({ name: 'pay', effect: 'write', execute: () => 'paid' });
  const model = new ScriptedChatModel([pays('c1'), ...later]);
  const chatMemory = new MessageWindowChatMemory({
    repository: new InMemoryChatMemoryRepository(),
  });
  const client = ChatClient.builder(model)
    .defaultTools(pay)
    .defaultAdvisors(
      new MessageChatMemoryAdvisor({ chatMemory, ...(order !== undefined && { order }) }),
      new ApprovalAdvisor({ pause: { secrets: SECRET, store: new InMemoryKeyValueStore() } }),
    )
    .build();
  const run = async (spec: PromptSpec): Promise<ChatClientResponse> => {
    const response = await runSpec(mode, spec.conversation('c'));
    await response.run?.settled;
    return response;
  };
  const { paused } = await run(client.prompt('Pay.'));
  return {
    client,
    id: paused?.id as string,
    run,
    seen: () => shortTexts(model.prompts.at(-1)?.messages ?? []),
    lastPrompt: () => JSON.stringify(model.prompts.at(-1)?.messages),
    stored: async () => shortTexts(await chatMemory.get('c')),
  };
}

describe('a new message while a turn waits', () => {
  for (const mode of MODES) {
    it(`gets nothing of it from a memory outside of the loop, which stores it last (${mode})`, async () => {
      const { client, id, run, seen, stored } = await waiting(mode, undefined, 'Sunny.', 'Paid.');

      await run(client.prompt('Weather?'));
      const seenByNew = seen();
      const storedBefore = await stored();
      await run(client.resume(id, allow));

      expect(seenByNew).to.deep.equal(['Weather?']);
      expect(storedBefore).to.deep.equal(['Weather?', 'Sunny.']);
      expect(seen()).to.deep.equal(['Pay.', '>c1', '<c1']);
      expect(await stored()).to.deep.equal(['Weather?', 'Sunny.', 'Pay.', 'Paid.']);
    });

    it(`gets its call without a result from a memory inside the loop, which keeps its place (${mode})`, async () => {
      const order = AdvisorOrder.TOOL_CALLING + 100;
      const { client, id, run, seen, lastPrompt, stored } = await waiting(mode, order, 'Sunny.', 'Paid.'); // prettier-ignore

      await run(client.prompt('Weather?'));
      const seenByNew = seen();
      const promptOfNew = lastPrompt();
      await run(client.resume(id, allow));

      expect(seenByNew).to.deep.equal(['Pay.', '>c1', '<c1', 'Weather?']);
      expect(promptOfNew).to.include(
        'Interrupted: this call has no result. It may or may not have been carried out.',
      );
      expect(seen()).to.deep.equal(['Weather?', 'Sunny.', 'Pay.', '>c1', '<c1']);
      expect(await stored()).to.deep.equal(['Pay.', '>c1', '<c1', 'Paid.', 'Weather?', 'Sunny.']);
    });

    it(`may lead to a second request for the same (${mode})`, async () => {
      const { client, run } = await waiting(mode, undefined, pays('c2'));

      const { paused } = await run(client.prompt('Pay, please.'));

      const pending = await client.pending('c');
      expect(paused?.requests).to.have.length(1);
      expect(pending.flatMap(({ requests }) => requests)).to.have.length(2);
    });

    it(`follows the answer of a turn that was denied before it (${mode})`, async () => {
      const { client, id, run, seen } = await waiting(mode, undefined, 'Not paid.', 'Sunny.');

      await run(client.resume(id, deny));
      await run(client.prompt('Weather?'));

      expect(await client.pending('c')).to.deep.equal([]);
      expect(seen()).to.deep.equal(['Pay.', 'Not paid.', 'Weather?']);
    });
  }
});
