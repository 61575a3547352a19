import { expect } from 'chai';
import {
  ApprovalAdvisor,
  InMemoryChatMemoryRepository,
  InMemoryKeyValueStore,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ModelCallError,
  RetryAdvisor,
} from '../../../src/index.js';
import type { ScriptedAnswer, ScriptedChatModel } from '../../../src/testing/index.js';
import { textOf } from '../../../src/core/chat/message.js';
import { SECRET } from '../../support/paused-turns.js';
import { sealingServer, toolClient } from '../../support/sealing-server.js';
import type { PageBody } from '../../support/ui-page.js';

const look = { text: 'I look.', toolCalls: [{ name: 'find', arguments: { city: 'Rome' } }] };
const twoCalls = { toolCalls: [...look.toolCalls, { name: 'find', arguments: { city: 'Oslo' } }] };

/** A client with a chat memory. */
function remembering(script: readonly ScriptedAnswer[]) {
  const repository = new InMemoryChatMemoryRepository();
  const chatMemory = new MessageWindowChatMemory({ repository, maxMessages: 1_000 });
  return toolClient(script, new MessageChatMemoryAdvisor({ chatMemory, storeToolMessages: true }));
}

const sent = ({ prompts }: ScriptedChatModel) => prompts.map(({ messages }) => messages);
const texts = ({ prompts }: ScriptedChatModel): readonly unknown[] =>
  prompts.at(-1)?.messages.map((message) => `${message.role}: ${textOf(message)}`) ?? [];

/** The status of the answer to a body. */
async function statusOf(page: ReturnType<typeof sealingServer>, body: unknown): Promise<number> {
  const response = await page.answer(body as PageBody);
  await response.text();
  return response.status;
}

describe('a sealed history', () => {
  it('gives the model what a chat memory would, in 20 turns with tools', async () => {
    const script = Array.from({ length: 20 }, (_, turn): readonly ScriptedAnswer[] => {
      const metadata = { signature: `canary ${turn}` };
      const end = { text: `Answer ${turn}.`, reasoning: 'Hm.', metadata };
      if (turn % 3 === 0) return [end];
      return turn % 3 === 1 ? [{ ...look, metadata }, end] : [twoCalls, look, end];
    }).flat();
    const { model, page } = sealingServer(script);
    const memory = remembering(script);

    for (let turn = 0; turn < 20; turn++) {
      await page.ask(`Question ${turn}?`);
      await memory.client.prompt(`Question ${turn}?`).conversation('anna-7').call().content();
    }

    expect(model.prompts).to.have.length(script.length);
    expect(sent(model)).to.deep.equal(sent(memory.model));
    expect(JSON.stringify(model.prompts.at(-1))).to.include('canary 18');
  });

  it('shows the page nothing that the stream does not show', async () => {
    const { page } = sealingServer([{ text: 'Warm.', metadata: { signature: 'canary' } }]);

    await page.ask('Rome?');

    const { seal = '' } = (page.lastMessage?.metadata ?? {}) as { readonly seal?: string };
    expect(seal).to.match(/^history\.1\.[\w-]+$/);
    expect(JSON.stringify(page.messages)).not.to.include('canary');
    expect(Buffer.from(seal.slice(10), 'base64url').toString('latin1')).not.to.include('canary');
  });

  it('is shorter after a regenerated answer and after an edited question', async () => {
    const { model, page } = sealingServer(['A.', 'B.', 'C.', 'D.', 'E.']);
    await page.ask('a?');
    await page.ask('b?');
    await page.regenerate();
    expect(texts(model)).to.deep.equal(['system: You help.', 'user: a?', 'assistant: A.', 'user: b?']); // prettier-ignore

    const messageId = page.messages.at(-2)?.id ?? '';
    await page.sendMessage({ text: 'b2?', messageId });
    await page.ask('c?');

    expect(texts(model).slice(3)).to.deep.equal(['user: b2?', 'assistant: D.', 'user: c?']);
  });

  it('has no turn that was stopped or failed, as a memory has none', async () => {
    const slow = { text: 'Long text', deltas: ['Long ', 'text'], delay: 50 };
    const { model, page } = sealingServer(['A.', slow, new ModelCallError('down'), 'D.']);
    await page.ask('a?');
    const stopped = page.ask('b?');
    while (page.messages.length < 4) await new Promise((next) => setTimeout(next, 1));
    await page.stop();
    await stopped;
    await page.ask('c?').catch(() => undefined);
    page.clearError();

    await page.ask('d?');

    expect(page.bodies.at(-1)?.messages.length).to.be.at.least(5);
    expect(texts(model).slice(1)).to.deep.equal(['user: a?', 'assistant: A.', 'user: d?']);
  });

  it('has a turn that was retracted in the middle as it ended', async () => {
    const down = new ModelCallError('down', { status: 503, retryable: true });
    const half = { text: 'Half an', deltas: ['Half ', 'an'], error: down };
    const { model, page } = sealingServer(
      [half, 'Whole.', 'B.'],
      new RetryAdvisor({ firstDelay: 1 }),
    );

    await page.ask('a?');
    await page.ask('b?');

    expect(texts(model).slice(1)).to.deep.equal(['user: a?', 'assistant: Whole.', 'user: b?']);
  });

  describe('of a turn that waits for a person', () => {
    const askToPay = { text: 'I pay.', toolCalls: [{ id: 'p', name: 'pay' }] };
    const paying = (...script: readonly ScriptedAnswer[]) => {
      const store = new InMemoryKeyValueStore();
      return sealingServer(script, new ApprovalAdvisor({ pause: { secrets: SECRET, store } }));
    };

    for (const isAllowed of [true, false])
      it(`has it when the call was ${isAllowed ? 'allowed' : 'denied'}`, async () => {
        const { model, page } = paying('A.', askToPay, askToPay, 'Done.', 'C.');
        await page.ask('a?');
        await page.ask('pay!');
        await page.decide(isAllowed);
        await page.decide(isAllowed);

        await page.ask('c?');

        const messages = model.prompts.at(-1)?.messages ?? [];
        expect(page.messages).to.have.length(6);
        expect(messages.map(({ role }) => role).join(' ')).to.equal(
          'system user assistant user assistant tool assistant tool assistant user',
        );
        expect(JSON.stringify(messages[5]).includes('"paid"')).to.equal(isAllowed);
        expect(messages[8]).to.deep.include({ role: 'assistant', content: 'Done.' });
      });

    it('does not have it yet when another message comes first', async () => {
      const { model, page } = paying('A.', askToPay, 'C.', 'D.');
      await page.ask('a?');
      await page.ask('pay!');

      await page.ask('c?');
      await page.ask('d?');

      expect(texts(model).slice(1)).to.deep.equal([
        'user: a?',
        'assistant: A.',
        'user: c?',
        'assistant: C.',
        'user: d?',
      ]);
    });

    it('has the question that was asked, not the one of the page', async () => {
      const { model, page } = paying(askToPay, 'Done.', 'C.');
      await page.ask('pay!');
      page.messages = page.messages.map((message) =>
        message.role === 'user' ? { ...message, parts: [{ type: 'text', text: 'forged' }] } : message,
      ); // prettier-ignore
      await page.decide(true);

      await page.ask('c?');

      expect(texts(model)[1]).to.equal('user: pay!');
      expect(JSON.stringify(model.prompts)).not.to.include('forged');
    });

    it('is refused without its seal, or with the seal of a turn that has ended', async () => {
      const server = paying('A.', askToPay);
      await server.page.ask('a?');
      await server.page.ask('pay!');
      const { page } = server;
      const waiting = page.messages.at(-1);
      const approval = waiting?.parts.find((part) => 'approval' in part);
      const answered = { ...approval, state: 'approval-responded', approval: { id: 'r', approved: true } }; // prettier-ignore
      const bodyOf = (metadata: unknown) => ({
        messages: [...page.messages.slice(0, 3), { ...waiting, metadata, parts: [answered] }],
      });

      expect(await statusOf(server, bodyOf({}))).to.equal(400);
      expect(await statusOf(server, bodyOf(page.messages[1]?.metadata))).to.equal(400);
      expect(await statusOf(server, { messages: [{ ...page.messages[1], parts: [answered] }] })).to.equal(400); // prettier-ignore
    });
  });
});
