import { expect } from 'chai';
import {
  InMemoryChatMemoryRepository,
  ModelCallError,
  SummarizingChatMemory,
  textOf,
  type ChatMemoryRepository,
  type ChatModel,
  type Message,
  type Prompt,
  type SummarizingChatMemoryOptions,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { assistant, calls, invalidReason, turn, user } from '../../support/conversation.js';
import { addTurn } from '../../support/summaries.js';

const charactersOf = ({ messages }: Prompt): number =>
  messages.reduce((sum, each) => sum + JSON.stringify(each).length, 0);

const overflow = (): ModelCallError =>
  new ModelCallError('too long', { status: 400, providerCode: 'context_length_exceeded' });

/** Numbers of the questions in a request or a summary: each question is `Q<number>.`. */
const questionsIn = (text: string): readonly number[] =>
  [...text.matchAll(/Q(\d+)\./g)].map(([, number]) => Number(number));

/** A model whose summaries name the summarized questions, with a context of a number of characters. */
function summarizer(context = Infinity) {
  const lengths: number[] = [];
  const state = { fails: (_request: number): boolean => false };
  const model = new ScriptedChatModel((prompt: Prompt) => {
    lengths.push(charactersOf(prompt));
    if (state.fails(lengths.length)) throw new ModelCallError('down', { status: 503 });
    if (charactersOf(prompt) > context) throw overflow();
    const request = textOf((prompt.messages[1] as Extract<Message, { role: 'user' }>).content);
    return {
      text:
        questionsIn(request)
          .map((number) => `Q${number}.`)
          .join('') || 'Nothing.',
    };
  });
  return { model, lengths, state };
}

function make(model: ChatModel, options: Partial<SummarizingChatMemoryOptions> = {}) {
  const repository = new InMemoryChatMemoryRepository();
  const errors: unknown[] = [];
  const memoryOf = (stored: ChatMemoryRepository): SummarizingChatMemory =>
    new SummarizingChatMemory({
      repository: stored,
      model,
      maxMessages: 4,
      onSummaryError: (error) => errors.push(error),
      ...options,
    });
  return { repository, errors, chatMemory: memoryOf(repository), other: memoryOf(repository) };
}

/** A turn of about 2,000 characters. */
const longTurn = (number: number): readonly Message[] => [
  user(`Q${number}. ${'q'.repeat(1_000)}`),
  assistant('a'.repeat(1_000)),
];

const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);

/** The questions that the model gets, in summaries or unchanged. */
async function known(chatMemory: SummarizingChatMemory): Promise<readonly number[]> {
  const messages = await chatMemory.get('c');
  const texts = messages.map((each) => (each.role === 'user' ? textOf(each.content) : ''));
  return questionsIn(texts.join(''));
}

for (const keepOriginals of [true, false])
  describe(`requests of a SummarizingChatMemory (keepOriginals: ${keepOriginals})`, () => {
    it('[D103] summarize a long conversation in pieces, of which none is lost', async () => {
      const { model, lengths } = summarizer();
      const { repository, chatMemory, errors } = make(model, { keepOriginals });
      for (const at of range(1, 60)) await repository.append('c', longTurn(at));

      await addTurn(chatMemory, 'c', longTurn(61));

      expect(errors).to.have.length(0);
      expect(lengths).to.have.length.within(5, 7);
      expect(Math.max(...lengths)).to.be.at.most(32_000);
      expect(await known(chatMemory)).to.deep.equal(range(1, 61));
      expect(await chatMemory.get('c')).to.have.length(3);
    });

    it('[D103] are halved until they fit into the context of the model', async () => {
      const { model, lengths } = summarizer(8_000);
      const { repository, chatMemory, errors } = make(model, { keepOriginals });
      for (const at of range(1, 30)) await repository.append('c', longTurn(at));

      await addTurn(chatMemory, 'c', longTurn(31));

      expect(errors).to.have.length(0);
      expect(lengths.filter((length) => length > 8_000)).to.have.length(2);
      expect(await known(chatMemory)).to.deep.equal(range(1, 31));
      expect(await chatMemory.get('c')).to.have.length(3);
    });

    it('[D103] report a model that refuses the shortest piece', async () => {
      const { model, lengths } = summarizer(10);
      const { repository, chatMemory, errors } = make(model, { keepOriginals });
      for (const at of range(1, 30)) await repository.append('c', longTurn(at));

      await addTurn(chatMemory, 'c', longTurn(31));

      expect(errors).to.have.length(1);
      expect(errors[0]).to.have.property('contextOverflow', true);
      expect(lengths.length).to.be.at.most(10);
      expect(await known(chatMemory)).to.deep.equal(range(1, 31));
    });

    it('[D103] continue after a failure with what is not summarized', async () => {
      const { model, lengths, state } = summarizer();
      const { repository, chatMemory, errors } = make(model, { keepOriginals });
      for (const at of range(1, 60)) await repository.append('c', longTurn(at));
      state.fails = (request) => request === 3;
      await addTurn(chatMemory, 'c', longTurn(61));
      const left = (await chatMemory.get('c')).length;

      for (const at of range(62, 64)) await addTurn(chatMemory, 'c', longTurn(at));

      expect(errors).to.have.length(1);
      expect(left).to.be.within(70, 90);
      expect(lengths.length).to.be.within(6, 8);
      expect(await known(chatMemory)).to.deep.equal(range(1, 64));
      expect(await chatMemory.get('c')).to.have.length(3);
    });

    it('[D103] keep calls with their results, also in a turn that is longer than a piece', async () => {
      const { model, lengths, state } = summarizer();
      const { repository, chatMemory } = make(model, { keepOriginals });
      const steps = range(1, 20).flatMap((at): readonly Message[] => [
        calls(`${at}a`, `${at}b`),
        ...[`${at}a`, `${at}b`].map((id): Message => ({
          role: 'tool',
          toolCallId: id,
          toolName: 'tool',
          content: 'r'.repeat(4_000),
        })),
      ]);
      await repository.append('c', [user('Q1.'), ...steps, assistant('done')], { turnId: 't' });
      state.fails = (request) => request === 4;

      await addTurn(chatMemory, 'c', turn(2));

      const messages = await chatMemory.get('c');
      expect(lengths).to.have.length(4);
      expect(messages).to.have.length.within(40, 50);
      expect(invalidReason(messages)).to.equal(undefined);
    });

    it('[D103] cut the middle of a message that is longer than a piece', async () => {
      const { model, lengths } = summarizer();
      const { chatMemory, errors } = make(model, { keepOriginals, maxMessages: 2 });
      await addTurn(chatMemory, 'c', [user(`Q1. ${'q'.repeat(200_000)}`), assistant('a')]);
      await addTurn(chatMemory, 'c', [user('Q2.'), assistant('b')]);

      expect(errors).to.have.length(0);
      expect(Math.max(...lengths)).to.be.at.most(32_000);
      expect(await known(chatMemory)).to.deep.equal([1, 2]);
    });

    it('[D103] lose nothing if several processes summarize a conversation', async () => {
      const { model } = summarizer();
      const { chatMemory, other } = make(model, { keepOriginals });

      for (const at of range(1, 40))
        await Promise.all([
          addTurn(chatMemory, 'c', longTurn(2 * at - 1)),
          addTurn(other, 'c', longTurn(2 * at)),
        ]);

      const questions = await known(chatMemory);
      expect(questions.toSorted((a, b) => a - b)).to.deep.equal(range(1, 80));
      expect((await chatMemory.get('c')).length).to.be.at.most(12);
    });
  });

describe('a SummarizingChatMemory whose model is down', () => {
  it('[D103] tries again after 2, 4, 8 and at most 64 turns', async () => {
    const { model, state } = summarizer();
    const { chatMemory, errors } = make(model);
    state.fails = () => true;
    const failedAt: number[] = [];

    for (const at of range(1, 250)) {
      const before = errors.length;
      await addTurn(chatMemory, 'c', turn(at));
      if (errors.length > before) failedAt.push(at);
    }

    const gaps = failedAt.slice(1).map((at, index) => at - (failedAt[index] as number) - 1);
    expect(gaps).to.deep.equal([2, 4, 8, 16, 32, 64, 64]);
  });

  it('[D103] counts failures again from the beginning after a summary', async () => {
    const { model, lengths, state } = summarizer();
    const { chatMemory } = make(model);
    state.fails = (request) => request !== 3;

    for (const at of range(1, 3)) await addTurn(chatMemory, 'c', turn(at)); // fails
    for (const at of range(4, 6)) await addTurn(chatMemory, 'c', turn(at)); // 2 are skipped
    for (const at of range(7, 11)) await addTurn(chatMemory, 'c', turn(at)); // 4 are skipped
    expect(await chatMemory.get('c')).to.have.length(3);
    for (const at of range(12, 13)) await addTurn(chatMemory, 'c', turn(at)); // fails
    for (const at of range(14, 16)) await addTurn(chatMemory, 'c', turn(at)); // 2 are skipped

    expect(lengths).to.have.length(5);
  });
});
