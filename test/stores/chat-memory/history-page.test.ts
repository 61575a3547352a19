import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import {
  InMemoryChatMemoryRepository,
  InvalidArgumentError,
  MemoryReadError,
  MessageWindowChatMemory,
  SummarizingChatMemory,
  textOf,
  type ChatMemoryRepository,
  type Message,
} from '../../../src/index.js';
import type {
  HistoryMessage,
  HistoryOptions,
  ReadOptions,
} from '../../../src/stores/chat-memory/index.js';
import { INVALID_IDS } from '../../../src/testing/memory-contract/samples.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { assistant, calls, result, system, turn, user } from '../../support/conversation.js';
import { SERVER_OF } from '../../support/key-value-stores.js';
import { openStore, type OpenStore } from '../../support/memory-stores.js';
import { failureOf } from '../../support/modes.js';
import { hasServer } from '../../support/servers.js';

/** A memory in which these messages were stored, each in a write of its own. */
async function memoryOf(
  messages: readonly Message[],
  repository: ChatMemoryRepository = new InMemoryChatMemoryRepository(),
): Promise<MessageWindowChatMemory> {
  for (const message of messages) await repository.append('c', [message]);
  return new MessageWindowChatMemory({ repository });
}

const shown = ({ role, content, calls: made, isIncomplete }: HistoryMessage): string => {
  const called = made.map(({ call, result: got }) => ` >${call.id}=${got ? textOf(got.content) : '?'}`); // prettier-ignore
  return `${role}: ${textOf(content)}${called.join('')}${isIncomplete ? ' (incomplete)' : ''}`;
};
const shownOf = (messages: readonly HistoryMessage[]): readonly string[] => messages.map(shown);

/** All pages, the newest first. */
async function pagesOf(
  memory: MessageWindowChatMemory,
  options: HistoryOptions,
): Promise<readonly (readonly HistoryMessage[])[]> {
  const pages: (readonly HistoryMessage[])[] = [];
  for (let before = options.before; ;) {
    const page = await memory.history('c', { ...options, before });
    pages.push(page.messages);
    if (page.before === undefined) return pages;
    before = page.before;
  }
}

describe('history of a chat memory', () => {
  it('has the messages of people and answers in order, calls with their results', async () => {
    const memory = await memoryOf([
      system('secret rules'),
      user('Where?'),
      calls('a', 'b'),
      result('b'),
      { ...result('a'), isError: true } as Message,
      assistant('Here.'),
    ]);

    const { messages, before } = await memory.history('c');

    expect(shownOf(messages)).to.deep.equal([
      'user: Where?',
      'assistant:  >a=result of a >b=result of b',
      'assistant: Here.',
    ]);
    expect(messages[1]?.calls[0]).to.deep.equal({
      call: { id: 'a', name: 'look', arguments: '{"id":"a"}' },
      result: { content: 'result of a', isError: true },
    });
    expect(messages.map(({ version }) => version)).to.deep.equal([2, 3, 6]);
    expect(before).to.equal(undefined);
  });

  it('has reasoning and refusals, and no data of providers', async () => {
    const metadata = { signature: 'of a provider' };
    const toolCalls = [{ id: 'a', wireId: 'call_1', name: 'look', arguments: '{}', metadata }];
    const answer = { reasoning: 'Hm.', refusal: 'No.', metadata, toolCalls };
    const memory = await memoryOf([user('?'), { ...assistant('!'), ...answer } as Message]);

    const { messages } = await memory.history('c');

    expect(messages[1]).to.deep.equal({
      role: 'assistant',
      content: '!',
      reasoning: 'Hm.',
      refusal: 'No.',
      calls: [{ call: { id: 'a', name: 'look', arguments: '{}' } }],
      isIncomplete: false,
      turnId: undefined,
      version: 2,
    });
  });

  it('marks incomplete answers, and shows a call that has no result', async () => {
    const partial = { ...assistant('Half'), metadata: { incomplete: true } } as Message;
    const memory = await memoryOf([user('?'), calls('a'), user('And?'), partial]);

    const { messages } = await memory.history('c');

    expect(shownOf(messages)).to.deep.equal([
      'user: ?',
      'assistant:  >a=?',
      'user: And?',
      'assistant: Half (incomplete)',
    ]);
  });

  it('marks summaries by their role, without the heading for the model, or leaves them out', async () => {
    const repository = new InMemoryChatMemoryRepository();
    const model = new ScriptedChatModel(['They met.']);
    const errors: unknown[] = [];
    const onSummaryError = (error: unknown): void => void errors.push(error);
    const memory = new SummarizingChatMemory({ repository, model, maxMessages: 4, onSummaryError });
    for (const name of [1, 2, 3]) await memory.add('c', turn(name));
    while ((await repository.read('c')).version < 7) await new Promise(setImmediate);

    const all = await memory.history('c');
    const own = await memory.history('c', { summaries: false });

    expect(shownOf(all.messages).at(-1)).to.equal('summary: They met.');
    expect(shownOf(own.messages)).to.deep.equal(shownOf(all.messages).slice(0, -1));
    expect([own.messages.length, errors]).to.deep.equal([6, []]);
  });

  it('shows the whole log of a memory that sends a part of it', async () => {
    const repository = new InMemoryChatMemoryRepository();
    const memory = new MessageWindowChatMemory({ repository, maxMessages: 2 });
    for (const name of [1, 2, 3]) await memory.add('c', turn(name));

    expect((await memory.get('c')).length).to.equal(2);
    expect((await memory.history('c')).messages.length).to.equal(6);
  });

  it('never begins a page between a call and its result, also of turns at the same time', async () => {
    const memory = await memoryOf([
      ...turn(0),
      user('A?'),
      calls('a'),
      user('B?'),
      calls('b'),
      result('a'),
      assistant('A!'),
      result('b'),
      assistant('B!'),
    ]);

    const pages = await pagesOf(memory, { limit: 2 });

    expect(pages.map(shownOf)).to.deep.equal([
      [
        'assistant:  >a=result of a',
        'user: B?',
        'assistant:  >b=result of b',
        'assistant: A!',
        'assistant: B!',
      ],
      ['assistant: 0!', 'user: A?'],
      ['user: 0?'],
    ]);
  });

  it('looks for the call of a result not further than 2,000 messages', async () => {
    const repository = new InMemoryChatMemoryRepository();
    const reads: number[] = [];
    const watched = watchedReads(repository, reads);
    const many = Array.from({ length: 10_000 }, (_, at) => user(`${at}`));
    await repository.append('c', [...many, result('lost'), assistant('!')]);

    const { messages } = await new MessageWindowChatMemory({ repository: watched }).history('c', {
      limit: 2,
    });

    expect(shownOf(messages)).to.deep.equal(['user: 9999', 'assistant: !']);
    expect(reads.reduce((sum, count) => sum + count, 0)).to.be.lessThan(4_000);
  });

  it('refuses options and ids that are not valid, with their names', async () => {
    const memory = await memoryOf([]);

    for (const options of [
      { limit: 0 },
      { limit: 1_001 },
      { limit: 2.5 },
      { limit: '20' },
      { before: 0 },
      { before: 'x' },
      { summaries: 'no' },
      { cursor: 1 },
    ]) {
      const error = await failureOf(memory.history('c', options as HistoryOptions));
      expect(error).to.be.instanceOf(InvalidArgumentError);
      expect(String(error)).to.match(/ChatMemory\.history: .*(limit|before|summaries|cursor)/);
    }
    for (const id of INVALID_IDS)
      expect(await failureOf(memory.history(id as string))).to.be.instanceOf(InvalidArgumentError);
  });

  it('reports the failure of a store as a MemoryReadError', async () => {
    const cause = new Error('down');
    const repository = new InMemoryChatMemoryRepository();
    repository.read = () => Promise.reject(cause);

    const error = await failureOf(new MessageWindowChatMemory({ repository }).history('c'));

    expect(error).to.be.instanceOf(MemoryReadError);
    expect(error).to.have.property('cause', cause);
  });
});

/** The repository, and the numbers of the messages that its reads return. */
function watchedReads(repository: ChatMemoryRepository, counts: number[]): ChatMemoryRepository {
  const read = async (id: string, options?: ReadOptions) => {
    const log = await repository.read(id, options);
    counts.push(log.messages.length);
    return log;
  };
  return Object.assign(Object.create(repository) as ChatMemoryRepository, { read });
}

for (const kind of ['memory', 'sqlite', 'postgres', 'redis'] as const)
  describe(`history in the store ${kind}`, () => {
    let open: OpenStore | undefined;
    before(async function () {
      const server = SERVER_OF[kind];
      if (server && !(await hasServer(this, server))) return;
      const location = kind === 'sqlite' ? ':memory:' : `history_${randomUUID().slice(0, 8)}`;
      const repository = new InMemoryChatMemoryRepository({ maxMessages: Infinity });
      const inMemory = { repository, close: async () => 0 };
      open = kind === 'memory' ? inMemory : await openStore(kind, location);
    });
    after(async () => {
      await open?.repository.delete('c');
      await open?.close();
    });

    it('reads pages of 10,000 messages without the others, while messages arrive', async () => {
      const { repository } = open as OpenStore;
      await repository.delete('c');
      for (let at = 0; at < 10_000; at += 1_000)
        await repository.append(
          'c',
          Array.from({ length: 1_000 }, (_, n) => user(`${at + n}`)),
        );
      const counts: number[] = [];
      const memory = new MessageWindowChatMemory({ repository: watchedReads(repository, counts) });

      const first = await memory.history('c', { limit: 20 });
      await repository.append('c', [user('new'), assistant('newer')]);
      const second = await memory.history('c', { limit: 20, before: first.before });
      const early = await memory.history('c', { limit: 20, before: 11 });

      const texts = [first, second, early].map((page) =>
        [page.messages[0], page.messages.at(-1)].map((each) => textOf(each?.content ?? null)),
      );
      expect(texts).to.deep.equal([
        ['9980', '9999'],
        ['9960', '9979'],
        ['0', '9'],
      ]);
      expect([first.before, second.before, early.before]).to.deep.equal([9_981, 9_961, undefined]);
      expect(Math.max(...counts)).to.equal(21);
    });

    it('leaves out what a later attempt of a turn has replaced, and keeps the cursor right', async () => {
      const { repository } = open as OpenStore;
      await repository.delete('c');
      const memory = new MessageWindowChatMemory({ repository });
      await memory.add('c', turn(1));
      await memory.add('c', [user('2?'), assistant('Half')], { turnId: 't' });
      const { before } = await memory.history('c', { limit: 2 });
      await memory.add('c', turn(2), { turnId: 't', supersedesAfter: 0 });

      const pages = await pagesOf(memory, { limit: 3 });
      const earlier = await memory.history('c', { before });

      expect(pages.map(shownOf)).to.deep.equal([
        ['assistant: 1!', 'user: 2?', 'assistant: 2!'],
        ['user: 1?'],
      ]);
      expect(pages[0]?.at(-1)?.turnId).to.equal('t');
      expect(shownOf(earlier.messages)).to.deep.equal(['user: 1?', 'assistant: 1!']);
    });
  });
