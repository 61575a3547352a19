import { expect } from 'chai';
import { textOf } from '../../../src/core/chat/message.js';
import {
  type Advisor,
  AdvisorOrder,
  ChatClient,
  DurableAdvisor,
  defineTool,
  InMemoryChatMemoryRepository,
  InvalidArgumentError,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  SafeGuardAdvisor,
  ToolCallingAdvisor,
  toolCallingAutoRegister,
  VectorMemoryAdvisor,
  type VectorMemoryAdvisorOptions,
} from '../../../src/index.js';
import { explainChain } from '../../../src/core/advisor/explain.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { asUser, memoryParts, textsIn, USER } from '../../support/vector-memory.js';

const noop = defineTool({ name: 'noop', execute: () => 'ok' });
const EXCHANGE = 'User: My dog is called Rex.\nAssistant: Nice.';

describe('VectorMemoryAdvisor', () => {
  const { store, embeddingModel } = memoryParts();
  const valid = { store, embeddingModel, scope: () => 'anna' };
  for (const [name, value] of [
    ['store', undefined],
    ['store', null],
    ['embeddingModel', undefined],
    ['scope', undefined],
    ['scope', 'anna'],
    ['template', null],
    ['template', '{memories}'],
    ['topK', 0],
    ['topK', -1],
    ['topK', 1.5],
    ['minScore', 2],
    ['extract', {}],
    ['maxLength', 0],
  ] as const)
    it(`[MEM-35] rejects ${name}: ${JSON.stringify(value)}`, () => {
      const options = { ...valid, [name]: value } as VectorMemoryAdvisorOptions;

      expect(() => new VectorMemoryAdvisor(options)).to.throw(InvalidArgumentError, name);
    });

  it('[MEM-36] makes two instances of one object of options', () => {
    const [first, second] = [new VectorMemoryAdvisor(valid), new VectorMemoryAdvisor(valid)];

    expect(first).not.to.equal(second);
    expect(first).to.include({ name: 'vector-memory', order: AdvisorOrder.RETRIEVAL - 200 });
  });

  for (const mode of MODES) {
    it(`${mode}: stores an exchange, and adds it to a later question of the same user`, async () => {
      const { memory, store } = memoryParts();
      const model = new ScriptedChatModel(['Nice.', 'Rex.', 'No idea.']);

      await runSpec(mode, asUser('anna', 'My dog is called Rex.', model, memory));
      await runSpec(mode, asUser('anna', 'How is my dog called?', model, memory));
      await runSpec(mode, asUser('bert', 'How is my dog called?', model, memory));

      const [first, second, third] = model.prompts.map(({ messages }) => messages);
      expect(await textsIn(store, 'anna'))
        .to.include(EXCHANGE)
        .and.have.length(2);
      expect(first).to.have.length(1);
      expect(second?.map(({ role }) => role)).to.deep.equal(['user', 'user']);
      expect(second?.[0]?.content).to.match(
        /<memories>\n<memory type="exchange" date="\d{4}-\d\d-\d\d">User: My dog is called Rex\.\nAssistant: Nice\.<\/memory>\n<\/memories>$/,
      );
      expect(second?.[1]?.content).to.equal('How is my dog called?');
      expect(third).to.have.length(1);
    });

    it(`${mode}: searches once in a turn of several iterations, and stores once`, async () => {
      const { memory, store, embeddingModel } = memoryParts();
      const model = new ScriptedChatModel([
        { text: 'Wait.', toolCalls: [{ name: 'noop' }] },
        { toolCalls: [{ name: 'noop' }] },
        'Done.',
      ]);

      await runSpec(mode, asUser('anna', 'Do it.', model, memory).tools(noop));

      expect(embeddingModel.texts).to.deep.equal(['Do it.', 'User: Do it.\nAssistant: Done.']);
      expect(await textsIn(store, 'anna')).to.deep.equal(['User: Do it.\nAssistant: Done.']);
    });

    it(`${mode}: leaves the chat memory without what it adds, and adds nothing that it has`, async () => {
      const repository = new InMemoryChatMemoryRepository();
      const chat = new MessageChatMemoryAdvisor({
        chatMemory: new MessageWindowChatMemory({ repository }),
        storeToolMessages: true,
      });
      const { memory } = memoryParts();
      const model = new ScriptedChatModel(() => 'Nice.');
      const ask = (conversation: string, question: string): Promise<unknown> =>
        runSpec(mode, asUser('anna', question, model, memory, chat).conversation(conversation));

      await ask('first', 'My dog is called Rex.');
      await ask('first', 'Is my dog called Rex?');
      await ask('second', 'Is my dog called Max?');

      const { messages } = await repository.read('second');
      expect(messages.map(({ message }) => message.content)).to.deep.equal([
        'Is my dog called Max?',
        'Nice.',
      ]);
      expect(JSON.stringify(model.prompts[1])).not.to.include('<memory');
      expect(JSON.stringify(model.prompts[2])).to.include('called Rex.').and.include('<memory');
    });

    it(`${mode}: refuses a request without an owner before a model is called`, async () => {
      const { memory } = memoryParts();
      const model = new ScriptedChatModel(() => 'Nice.');

      const client = ChatClient.builder(model).defaultAdvisors(memory).build();

      const missing = await failureOf(runSpec(mode, client.prompt('Hi')));
      const blank = await failureOf(runSpec(mode, asUser(' ', 'Hi', model, memory)));

      expect(missing).to.be.instanceOf(InvalidArgumentError);
      expect(String(missing)).to.include('scope returned no owner');
      expect(blank).to.be.instanceOf(InvalidArgumentError);
      expect(model.prompts).to.deep.equal([]);
    });

    it(`${mode}: adds at most topK memories of at least minScore, the most similar first`, async () => {
      const model = new ScriptedChatModel(() => 'Ok.');
      const { memory, store } = memoryParts();
      for (const text of ['red apple', 'red apple pie', 'blue sea', 'red'])
        await runSpec(mode, asUser('anna', text, model, memory));
      const few = memoryParts({ topK: 2 }, store).memory;
      const near = memoryParts({ minScore: 0.99 }, store).memory;

      await runSpec(mode, asUser('anna', 'red apple pie', model, few));
      await runSpec(mode, asUser('anna', 'green', model, near));

      const [fewer, none] = model.prompts.slice(-2).map(({ messages }) => messages);
      const found = [...textOf(fewer?.[0]?.content ?? '').matchAll(/>User: (.*)/g)].map(
        ([, q]) => q,
      );
      expect(found).to.deep.equal(['red apple pie', 'red apple']);
      expect(none).to.have.length(1);
    });

    it(`${mode}: stores a turn that ended with open calls when their results complete it`, async () => {
      const { memory, store } = memoryParts();
      const call = { id: 'c', name: 'noop', arguments: '{}' } as const;
      const model = new ScriptedChatModel([{ toolCalls: [call] }, 'Done.']);
      const result = { role: 'tool', toolCallId: 'c', toolName: 'noop', content: 'ok' } as const;
      const client = ChatClient.builder(model)
        .defaultTools(noop)
        .defaultAdvisors(memory, toolCallingAutoRegister(false), (a) => a.param(USER, 'anna'))
        .build();
      const messages = [
        { role: 'user', content: 'Do it.' },
        { role: 'assistant', content: null, toolCalls: [call] },
        result,
      ] as const;

      await runSpec(mode, client.prompt('Do it.'));
      const open = await textsIn(store, 'anna');
      await runSpec(mode, client.prompt().messages(...messages));

      expect(open).to.deep.equal([]);
      expect(await textsIn(store, 'anna')).to.deep.equal(['User: Do it.\nAssistant: Done.']);
    });
  }

  it('adds nothing to a message without text, and remembers its answer', async () => {
    const { memory, store, embeddingModel } = memoryParts();
    const model = new ScriptedChatModel(() => 'A dog.');
    const image = { type: 'image', url: 'https://x.example/a.png' } as const;
    const client = ChatClient.builder(model).defaultAdvisors(memory).build();

    await client
      .prompt()
      .user([image])
      .advisors((a) => a.param(USER, 'anna'))
      .call()
      .content();

    expect(embeddingModel.texts).to.deep.equal(['Assistant: A dog.']);
    expect(await textsIn(store, 'anna')).to.deep.equal(['Assistant: A dog.']);
  });

  it('warns of places where it does harm', () => {
    const { memory, store, embeddingModel } = memoryParts();
    const scope = (): string => 'anna';
    const inside = new VectorMemoryAdvisor({ store, embeddingModel, scope, order: 6_000 });
    const first = new VectorMemoryAdvisor({ store, embeddingModel, scope, order: 1 });
    const chat = new MessageChatMemoryAdvisor({
      chatMemory: new MessageWindowChatMemory({ repository: new InMemoryChatMemoryRepository() }),
    });
    const guard = new SafeGuardAdvisor({ sensitiveWords: ['x'] });
    const warningsOf = (...advisors: readonly Advisor[]): readonly string[] =>
      explainChain([...advisors, new ToolCallingAdvisor()]).warnings;

    expect(warningsOf(memory, chat, guard)).to.deep.equal([]);
    expect(warningsOf(inside).join()).to.include('retrieves inside the tool loop');
    expect(warningsOf(first, chat).join()).to.include('left of "chat-memory"');
    expect(warningsOf(memory, new DurableAdvisor({ engine: () => undefined }))).to.deep.equal([]);
    expect(warningsOf(first, guard).join()).to.include('left of the input guard "safe-guard"');
  });
});
