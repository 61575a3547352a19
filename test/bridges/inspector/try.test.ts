import { expect } from 'chai';
import type { InspectedTurn } from '../../../src/bridges/inspector/inspected-turn.js';
import {
  ApprovalAdvisor,
  ChatClient,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  defineToolProvider,
  InMemoryChatMemoryRepository,
  InMemoryKeyValueStore,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  RetryAdvisor,
  type Advisor,
} from '../../../src/index.js';
import { Inspector } from '../../../src/bridges/inspector/inspector.js';
import { textOf } from '../../../src/core/chat/message.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { InspectedClient } from '../../support/inspected-client.js';
import { failureOf } from '../../support/modes.js';
import { SECRET } from '../../support/paused-turns.js';
import { until } from '../../support/promises.js';
import { withoutVariable } from '../../support/without-variable.js';

/** Adds a text to the system message, so that a request shows which of them ran, in order. */
const marking = (name: string, order: number): Advisor =>
  defineAdvisor({
    name,
    order,
    before: (request) =>
      request.withMessages([...request.prompt.messages, { role: 'user', content: name }]),
  });

function chainClient(...advisors: readonly Advisor[]) {
  const model = new ScriptedChatModel(({ messages }) => `Answer ${messages.length}`);
  const client = ChatClient.builder(model).defaultSystem('Be brief.').defaultAdvisors(...advisors).build(); // prettier-ignore
  const sent = (at = -1): readonly string[] => (model.prompts.at(at)?.messages ?? []).map(textOf);
  return { model, client, sent, page: new InspectedClient(client) };
}

function memoryClient() {
  const repository = new InMemoryChatMemoryRepository();
  const chatMemory = new MessageWindowChatMemory({ repository });
  return { chatMemory, ...chainClient(new MessageChatMemoryAdvisor({ chatMemory })) };
}

const namesOf = ({ chain }: InspectedTurn): readonly string[] =>
  chain.advisors.map(({ name }) => name);

describe('a turn that the page of an inspector tries', () => {
  withoutVariable('NODE_ENV');

  for (const mode of ['call', 'stream'] as const)
    it(`runs on the client, with options and a conversation (${mode})`, async () => {
      const { page, model } = chainClient();

      const turn = await page.try({
        text: 'Hello',
        conversationId: 'c1',
        mode,
        options: { temperature: 0.3 },
      });

      expect(turn).to.include({ source: 'page', mode, outcome: 'answered', conversationId: 'c1' });
      expect(turn.answerText).to.equal('Answer 2');
      expect(model.prompts[0]?.options.temperature).to.equal(0.3);
    });

  it('has a conversation of its own without an id, for memories', async () => {
    const { page, chatMemory } = memoryClient();

    const { conversationId = '' } = await page.try({ text: 'Hello' });

    expect(conversationId).to.match(/^inspector-[\da-f]{12}$/);
    expect((await chatMemory.get(conversationId)).map(textOf)).to.deep.equal(['Hello', 'Answer 2']);
  });

  it('leaves an advisor out, or moves it, and leaves the client unchanged', async () => {
    const { page, sent, client } = chainClient(marking('first', 100), marking('second', 200));
    const before = client.explain().toString();

    await page.try({ text: 'Q', advisors: [{ name: 'first', isPresent: false }] });
    const without = sent();
    await page.try({ text: 'Q', advisors: [{ name: 'first', order: 300 }] });
    const moved = sent();
    await page.try({ text: 'Q' });

    expect(without).to.deep.equal(['Be brief.', 'Q', 'second']);
    expect(moved).to.deep.equal(['Be brief.', 'Q', 'second', 'first']);
    expect(sent()).to.deep.equal(['Be brief.', 'Q', 'first', 'second']);
    expect(client.explain().toString()).to.equal(before);
  });

  it('changes the options of an advisor, and keeps those that are no JSON', async () => {
    const when = (): boolean => true;
    const retry = new RetryAdvisor({ maxRetries: 0, firstDelay: 0, maxDelay: 0, when });
    const model = new ScriptedChatModel((_, at) => (at < 2 ? new Error('away') : 'There.'));
    const page = new InspectedClient(ChatClient.builder(model).defaultAdvisors(retry).build());

    const changed = await page.try({
      text: 'Q',
      advisors: [{ name: 'retry', options: { maxRetries: 2 } }],
    });
    const calls = model.prompts.length;

    expect(changed).to.include({ outcome: 'answered', answerText: 'There.' });
    expect(calls).to.equal(3);
  });

  it('leaves out, moves or changes the tool loop that the client adds', async () => {
    const { page } = chainClient();

    const without = await page.try({ text: 'Q', advisors: [{ name: 'tool-calling', isPresent: false }] }); // prettier-ignore
    const moved = await page.try({ text: 'Q', advisors: [{ name: 'tool-calling', order: 4_000 }] });
    const changed = await page.try({ text: 'Q', advisors: [{ name: 'tool-calling', options: { maxIterations: 1 } }] }); // prettier-ignore

    expect(namesOf(without)).to.deep.equal([]);
    expect(moved.chain.advisors).to.have.nested.property('[0].order', 4_000);
    expect(changed).to.include({ outcome: 'answered' });
  });

  it('is refused with what can be changed', async () => {
    const { page, model } = chainClient(marking('first', 100), new RetryAdvisor());
    for (const [body, text] of [
      [{}, 'it needs a text, or the id of a turn to repeat'],
      [{ text: ' ' }, 'text must be a non-blank string'],
      [{ text: 'Q', txt: 1 }, 'there is no option `txt`'],
      [{ text: 'Q', mode: 'push' }, "mode must be 'call' or 'stream'"],
      [{ text: 'Q', conversationId: 'a\0b' }, 'conversationId must be'],
      [{ text: 'Q', options: { temperature: 'hot' } }, 'temperature must be'],
      [{ text: 'Q', options: { tools: [] } }, 'options.tools cannot be set by the page'],
      [{ text: 'Q', advisors: [1] }, 'advisors[0] must be a plain object'],
      [{ text: 'Q', advisors: [{}] }, 'advisors[0].name must be a non-blank string'],
      [{ text: 'Q', advisors: [{ name: 'x' }] }, 'there is no advisor "x" to change; there is "first", "retry", "tool-calling"'],
      [{ text: 'Q', advisors: [{ name: 'inspector', isPresent: false }] }, 'the inspector itself cannot be changed'],
      [{ text: 'Q', advisors: [{ name: 'first' }, { name: 'first' }] }, 'two changes of one advisor'],
      [{ text: 'Q', advisors: [{ name: 'first', options: { a: 1 } }] }, 'Change its order, or leave it out'],
      [{ text: 'Q', advisors: [{ name: 'retry', options: { maxRetries: -1 } }] }, 'maxRetries must be an integer >= 0'],
      [{ text: 'Q', advisors: [{ name: 'retry', options: { maxRetris: 1 } }] }, 'there is no option `maxRetris`'],
    ] as const) {
      const answer = await page.post('/api/try', body);
      expect(answer.status, answer.text).to.equal(400);
      expect((answer.json as { error: { message: string } }).error.message).to.include(text);
    } // prettier-ignore
    expect((await page.post('/api/try', { repeat: 'unknown' })).status).to.equal(404);
    expect((await new InspectedClient().post('/api/try', { text: 'Q' })).status).to.equal(409);
    expect(model.prompts).to.have.length(0);
  });

  it('is refused if it cannot begin, with the error of the library', async () => {
    const fail = (): never => {
      throw new Error('no access with sk-canary-0123456789abcdef');
    };
    const provider = defineToolProvider({ name: 'mail', tools: fail });
    const client = ChatClient.builder(new ScriptedChatModel('x')).defaultTools(provider).build();

    const { status, text } = await new InspectedClient(client).post('/api/try', { text: 'Q' });

    expect(status).to.equal(422);
    expect(text).to.include('mail').and.not.include('canary');
  });

  it('is cancelled by the page, and so is a turn of the application', async () => {
    const inspector = new Inspector();
    const model = new ScriptedChatModel(() => new Promise(() => undefined));
    const client = ChatClient.builder(model).defaultAdvisors(inspector).build();
    const page = new InspectedClient(client, {}, inspector);
    const failure = failureOf(client.prompt('Q').call().content());
    const { id } = (await page.post('/api/try', { text: 'Q' })).json as { readonly id: string };
    await until(() => inspector.turns().length === 2);
    const ids = [inspector.turns()[0]?.id ?? '', id];

    const cancelled = await Promise.all(
      ids.map((each) => page.post(`/api/turns/${each}/cancel`, {})),
    );

    expect(cancelled.map(({ status }) => status)).to.deep.equal([200, 200]);
    expect(inspector.turns().map(({ outcome }) => outcome)).to.deep.equal([
      'cancelled',
      'cancelled',
    ]);
    const error = await failure;
    expect(error).to.include({ code: 'cancelled' });
    expect(String(error)).to.include('cancelled in the inspector');
    expect((await page.post(`/api/turns/${id}/cancel`, {})).status).to.equal(409);
  });
});

describe('a turn that is tried in production', () => {
  it('has an error if the inspector records nothing', async () => {
    const client = ChatClient.create(new ScriptedChatModel(() => 'fine'));
    const page = new InspectedClient(client, { allowInProduction: true }, new Inspector());

    const { status, text } = await page.post('/api/try', { text: 'Q' });

    expect(status, text).to.equal(422);
    expect(text).to.include('set allowInProduction of the inspector, too');
  });
});

describe('a turn that the page of an inspector repeats', () => {
  withoutVariable('NODE_ENV');

  it('has the messages, options and values of the first one, also of the application', async () => {
    const inspector = new Inspector();
    const model = new ScriptedChatModel(() => ({ toolCalls: [{ name: 'look', arguments: {} }] }));
    const seen: unknown[] = [];
    const look = defineTool({
      name: 'look',
      returnDirect: true,
      execute: (_input, { values }) => {
        seen.push(values);
        return 'It is there.';
      },
    });
    const client = ChatClient.builder(model).defaultAdvisors(inspector).build();
    await client
      .prompt('Q')
      .system('Be {mood}.', { mood: 'kind' })
      .tools(look)
      .toolContext({ tenant: 'acme' })
      .options({ temperature: 1 })
      .advisors(marking('own', 10))
      .call()
      .content();
    const page = new InspectedClient(client, {}, inspector);

    const repeated = await page.try({ repeat: inspector.turns()[0]?.id ?? '' });
    const changed = await page.try({ repeat: repeated.id, text: 'And?', options: { seed: 7 } });

    expect(repeated).to.include({ source: 'page', mode: 'call', outcome: 'answered' });
    expect(model.prompts[1]?.messages.map(textOf)).to.deep.equal(['Be kind.', 'Q', 'own']);
    expect(model.prompts[1]?.options.temperature).to.equal(1);
    expect(seen).to.deep.equal(Array(3).fill({ tenant: 'acme' }));
    expect(model.prompts[2]?.messages.map(textOf)).to.deep.equal(['Be kind.', 'And?', 'own']);
    expect(model.prompts[2]?.options).to.include({ temperature: 1, seed: 7 });
    expect(changed.turnId).not.to.equal(repeated.turnId);
  });

  it('reads the history that the first one had, and is not stored', async () => {
    const { page, sent, chatMemory } = memoryClient();
    const ask = (text: string): Promise<InspectedTurn> => page.try({ text, conversationId: 'c' });
    await ask('One');
    const second = await ask('Two');
    const asked = sent();
    await ask('Three');
    const stored = await chatMemory.get('c');

    const repeated = await page.try({ repeat: second.id });
    const again = await page.try({ repeat: repeated.id, advisors: [{ name: 'chat-memory', options: { storeToolMessages: true } }] }); // prettier-ignore

    expect(sent(-2)).to.deep.equal(asked);
    expect(sent()).to.deep.equal(asked);
    expect([repeated, again].map(({ conversationId }) => conversationId)).to.deep.equal(['c', 'c']);
    expect(await chatMemory.get('c')).to.deep.equal(stored);
  });

  it('is added to the conversation that the page names', async () => {
    const { page, chatMemory } = memoryClient();
    const first = await page.try({ text: 'One', conversationId: 'c' });

    await page.try({ repeat: first.id, conversationId: 'd' });

    expect((await chatMemory.get('d')).map(textOf)).to.deep.equal(['One', 'Answer 2']);
    expect(await chatMemory.get('c')).to.have.length(2);
  });

  it('has a new conversation if its memory is of another kind', async () => {
    const stored: unknown[] = [];
    const memory: Advisor = {
      name: 'own-memory',
      order: 3_000,
      role: 'chat-memory',
      before: ({ context }) => void stored.push(context.get(CONVERSATION_ID)),
    };
    const { page } = chainClient(memory);
    const first = await page.try({ text: 'One', conversationId: 'c' });

    await page.try({ repeat: first.id });

    expect(stored[0]).to.equal('c');
    expect(stored[1]).to.match(/^inspector-/);
  });
});

describe('decisions in the page of an inspector', () => {
  withoutVariable('NODE_ENV');

  const payClient = (paid: unknown[]): ChatClient => {
    const pay = defineTool({
      name: 'pay',
      effect: 'write',
      execute: () => {
        paid.push('paid');
        return 'Paid.';
      },
    });
    const model = new ScriptedChatModel(({ messages }) =>
      messages.at(-1)?.role === 'tool' ? 'Done.' : { toolCalls: [{ name: 'pay', arguments: {} }] },
    );
    const pause = { secrets: SECRET, store: new InMemoryKeyValueStore() };
    return ChatClient.builder(model).defaultTools(pay).defaultAdvisors(new ApprovalAdvisor({ pause })).build(); // prettier-ignore
  };

  for (const mode of ['call', 'stream'] as const)
    it(`resume a paused turn (${mode})`, async () => {
      const paid: unknown[] = [];
      const page = new InspectedClient(payClient(paid));
      const paused = await page.try({ text: 'Pay', mode });
      const [request] = paused.pending;
      const decisions = { [request?.id ?? '']: { type: 'allow' } } as const;

      const resumed = await page.decide(paused.id, decisions);
      const again = await page.post(`/api/turns/${paused.id}/decisions`, decisions);

      expect(paused.outcome).to.equal('paused');
      expect(paid).to.deep.equal(['paid']);
      expect(resumed).to.include({
        outcome: 'answered',
        answerText: 'Done.',
        source: 'page',
        mode,
      });
      expect(resumed.turnId).to.equal(paused.turnId);
      expect(resumed.id).not.to.equal(paused.id);
      expect(again.status, again.text).to.be.within(400, 499);
      const repeated = await page.try({ repeat: resumed.id });
      expect(repeated).to.include({ outcome: 'paused', questionText: 'Pay' });
      expect(repeated.turnId).not.to.equal(paused.turnId);
      expect(paid).to.deep.equal(['paid']);
    });

  it('are refused for a turn that does not wait, and in a wrong form', async () => {
    const paid: unknown[] = [];
    const page = new InspectedClient(payClient(paid));
    const paused = await page.try({ text: 'Pay' });
    const path = `/api/turns/${paused.id}/decisions`;
    const id = paused.pending[0]?.id ?? '';

    for (const body of [
      { [id]: true },
      { [id]: { type: 'pay' } },
      { [id]: { type: 'edit', arguments: 'x' } },
      { [id]: { type: 'allow', scope: 'ever' } },
    ])
      expect((await page.post(path, body)).status).to.equal(400);
    expect((await page.post('/api/turns/unknown/decisions', {})).status).to.equal(404);
    expect(paid).to.deep.equal([]);
    const denied = await page.decide(paused.id, { [id]: { type: 'deny', reason: 'Too much.' } });
    expect(denied).to.include({ outcome: 'answered' });
    expect(paid).to.deep.equal([]);
    expect((await page.post(`/api/turns/${denied.id}/decisions`, {})).status).to.equal(409);
  });
});
