import { expect } from 'chai';
import fc from 'fast-check';
import {
  InMemoryChatMemoryRepository,
  InvalidArgumentError,
  MessageWindowChatMemory,
  repairHistory,
  type ChatMemoryRepository,
  type Message,
  type MessageWindowChatMemoryOptions,
  type OversizedTurn,
  type ReadOptions,
} from '../../src/index.js';
import { BAD_IDS } from '../../src/testing/memory-messages.js';
import { unhandledErrorsOf } from '../unhandled-errors.js';
import { assistant, calls, refusal, result, system, turn, user, words } from './conversation.js';

function memory(options: Partial<MessageWindowChatMemoryOptions> = {}): MessageWindowChatMemory {
  return new MessageWindowChatMemory({ repository: new InMemoryChatMemoryRepository(), ...options });
}

/** The window after these writes, one after another. */
async function windowOf(
  options: Partial<MessageWindowChatMemoryOptions>,
  ...writes: readonly (readonly Message[])[]
): Promise<readonly string[]> {
  const chatMemory = memory(options);
  for (const messages of writes) await chatMemory.add('c', messages);
  return words(await chatMemory.get('c'));
}

describe('MessageWindowChatMemory', () => {
  for (const [option, value] of [
    ['maxMessages', 0],
    ['maxMessages', -1],
    ['maxMessages', 1.5],
    ['maxTokens', 0],
    ['maxTokens', '9'],
    ['tokenCounter', 1],
    ['onOversizedTurn', 'log'],
    ['trim', true],
    ['repository', undefined],
    ['repository', {}],
  ] as const)
    it(`[MEM-01] refuses ${option}: ${JSON.stringify(value)}`, () => {
      expect(() => memory({ [option]: value } as never)).to.throw(InvalidArgumentError, `MessageWindowChatMemory: ${option} must be`);
    });

  it('refuses to be made of nothing', () => {
    expect(() => new MessageWindowChatMemory(undefined as never)).to.throw(InvalidArgumentError, 'repository must be');
  });

  it('[F58] [F59] reads on for the beginning of each turn of the window, not of the oldest alone', async () => {
    const chatMemory = memory({ maxMessages: 20 });
    await chatMemory.add('c', [user('start slow job'), calls('slow')], { turnId: 'slow' });
    for (let at = 0; at < 11; at++) await chatMemory.add('c', turn(at), { turnId: `quick ${at}` });
    await chatMemory.add('c', [result('slow'), assistant('slow job is finished')], { turnId: 'slow' });

    const messages = await chatMemory.get('c');

    // The slow turn began first, so it is the oldest: it leaves the window whole, and leaves no rest behind.
    expect(words(messages)).to.not.include.oneOf(['start slow job', '>slow', '<slow', 'slow job is finished']);
    expect(words(messages).at(-1)).to.equal(words(turn(10)).at(-1));
    expect(refusal(messages)).to.equal(undefined);
  });

  it('loads what it has whatever onOversizedTurn throws', async () => {
    const failure = new Error('hook');
    const options = { maxMessages: 2, onOversizedTurn: () => { throw failure; } }; // prettier-ignore

    const reported = await unhandledErrorsOf(async () => {
      expect(await windowOf(options, [user('a'), calls('x'), result('x'), assistant('b')])).to.have.length(4);
    });

    expect(reported).to.deep.equal([failure]);
  });

  it('[MEM-03] remembers a message, and a list of them', async () => {
    const chatMemory = memory();
    await chatMemory.add('c', user('a'));
    await chatMemory.add('c', [assistant('b'), user('c')]);

    expect(words(await chatMemory.get('c'))).to.deep.equal(['a', 'b', 'c']);
    expect(await chatMemory.get('another')).to.deep.equal([]);
  });

  it('[MEM-04] [F66] refuses what is no id, for add, get and clear', async () => {
    for (const id of BAD_IDS as readonly string[])
      for (const attempt of [memory().add(id, user('a')), memory().get(id), memory().clear(id)])
        expect(await attempt.catch((error: unknown) => error)).to.be.instanceOf(InvalidArgumentError);
  });

  it('refuses what is no message, and says which', async () => {
    const failure = await memory()
      .add('c', [user('a'), { role: 'user' } as Message])
      .catch((error: unknown) => error);

    expect(failure).to.be.instanceOf(InvalidArgumentError).with.property('message').that.contains('messages[1]: a user message needs');
  });

  it('forgets a conversation', async () => {
    const chatMemory = memory();
    await chatMemory.add('c', turn(1));
    await chatMemory.add('d', turn(2));
    await chatMemory.clear('c');

    expect(await chatMemory.get('c')).to.deep.equal([]);
    expect(words(await chatMemory.get('d'))).to.deep.equal(['2?', '2!']);
  });

  it('[MEM-06] cuts between the turns of one write', async () => {
    expect(await windowOf({ maxMessages: 2 }, [user('a'), assistant('b'), user('c'), assistant('d'), user('e')])).to.deep.equal(['e']);
  });

  it('[MEM-07] keeps what is just as many as the maximum', async () => {
    expect(await windowOf({ maxMessages: 3 }, [user('a'), assistant('b')], [user('c')])).to.deep.equal(['a', 'b', 'c']);
  });

  it('[MEM-08] keeps the last turn', async () => {
    expect(await windowOf({ maxMessages: 2 }, turn(1), turn(2))).to.deep.equal(['2?', '2!']);
  });

  it('[MEM-12] never keeps a part of a turn', async () => {
    expect(await windowOf({ maxMessages: 3 }, turn(1), turn(2), turn(3))).to.deep.equal(['3?', '3!']);
  });

  it('[MEM-13] drops a turn of several answers as a whole', async () => {
    const long = [user('1?'), assistant('a'), assistant('b'), assistant('c')];

    expect(await windowOf({ maxMessages: 4 }, long, turn(2))).to.deep.equal(['2?', '2!']);
  });

  it('[MEM-14] keeps as many turns as fit', async () => {
    expect(await windowOf({ maxMessages: 4 }, turn(1), turn(2), turn(3))).to.deep.equal(['2?', '2!', '3?', '3!']);
  });

  it('[MEM-15] [MEM-17] [F59] keeps the last turn beside system messages that fill the window', async () => {
    const messages = [system('a'), system('b'), ...turn(1), ...turn(2)];

    expect(await windowOf({ maxMessages: 2 }, messages)).to.deep.equal(['[a]', '[b]', '2?', '2!']);
  });

  it('[MEM-16] has the last system messages take the place of all before', async () => {
    expect(await windowOf({}, [system('a'), system('b'), ...turn(1)], [system('c')])).to.deep.equal(['[c]', '1?', '1!']);
  });

  it('keeps system messages that are said again as they are, and once', async () => {
    const chatMemory = memory();
    await chatMemory.add('c', [system('a'), system('b'), user('1?')]);
    const version = await chatMemory.add('c', [system('b')]);
    await chatMemory.add('c', [system('a'), system('b'), user('2?')]);

    expect(version).to.equal(3);
    expect(words(await chatMemory.get('c'))).to.deep.equal(['[a]', '[b]', '1?', '2?']);
  });

  it('keeps system messages however old they are', async () => {
    const writes = Array.from({ length: 50 }, (_, at) => turn(at));

    expect(await windowOf({ maxMessages: 5 }, [system('a')], ...writes)).to.deep.equal(['[a]', '48?', '48!', '49?', '49!']);
  });

  it('looks behind system messages that were replaced', async () => {
    const replaced = Array.from({ length: 30 }, (_, at) => [system(`${at}`)]);

    expect(await windowOf({ maxMessages: 5 }, turn(1), turn(2), ...replaced)).to.deep.equal(['[29]', '1?', '1!', '2?', '2!']);
    expect(await windowOf({ maxMessages: 5 }, turn(1), turn(2), ...replaced.slice(0, 4), turn(3))).to.deep.equal([
      '[3]',
      '2?',
      '2!',
      '3?',
      '3!',
    ]);
  });

  it('[F59] keeps a turn that is longer than the window, and tells', async () => {
    const told: OversizedTurn[] = [];
    const long = [user('long?'), ...Array.from({ length: 30 }, (_, at) => [calls(`c${at}`), result(`c${at}`)]).flat(), assistant('long!')];
    const messages = await windowOf({ maxMessages: 20, onOversizedTurn: (each) => told.push(each) }, turn(1), long);

    expect(messages).to.deep.equal(words(long));
    expect(told).to.deep.equal([{ conversationId: 'c', messages: 62, tokens: undefined }]);
  });

  it('tells nothing of turns that fit', async () => {
    const told: OversizedTurn[] = [];
    await windowOf({ maxMessages: 2, onOversizedTurn: (each) => told.push(each) }, turn(1), turn(2));

    expect(told).to.deep.equal([]);
  });

  it('keeps within a number of tokens', async () => {
    const options = { maxTokens: 30, tokenCounter: (message: Message) => ('content' in message ? 10 : 5) };

    expect(await windowOf(options, turn(1), turn(2), turn(3))).to.deep.equal(['2?', '2!', '3?', '3!']);
    expect(await windowOf(options, [system('s')], turn(2), turn(3))).to.deep.equal(['[s]', '3?', '3!']);
  });

  it('counts tokens by the characters, if it is not told how', async () => {
    const long = (name: string): readonly Message[] => [user(name.repeat(400)), assistant(name)];

    expect((await windowOf({ maxTokens: 240 }, long('a'), long('b'), long('c'))).map((text) => text[0])).to.deep.equal([
      'b',
      'b',
      'c',
      'c',
    ]);
  });

  it('puts turns together that were written at the same time', async () => {
    const chatMemory = memory();
    await chatMemory.add('c', [user('1?'), calls('a')], { turnId: 't1' });
    await chatMemory.add('c', [user('2?'), calls('b')], { turnId: 't2' });
    await chatMemory.add('c', [result('a'), assistant('1!')], { turnId: 't1' });
    await chatMemory.add('c', [result('b'), assistant('2!')], { turnId: 't2' });

    expect(words(await chatMemory.get('c'))).to.deep.equal(['1?', '>a', '<a', '1!', '2?', '>b', '<b', '2!']);
    const running = await chatMemory.load('c', { turnId: 't1', since: 0 });
    expect(words(running.messages)).to.deep.equal(['2?', '>b', '<b', '2!', '1?', '>a', '<a', '1!']);
    expect(running.version).to.equal(8);
  });

  it('[F61] joins what follows without the user to the turn before', async () => {
    const chatMemory = memory({ maxMessages: 3 });
    await chatMemory.add('c', turn(1));
    await chatMemory.add('c', [user('2?'), calls('a')], { turnId: 't1' });
    await chatMemory.add('c', [result('a'), assistant('2!')], { turnId: 't2' });

    expect(words(await chatMemory.get('c'))).to.deep.equal(['2?', '>a', '<a', '2!']);
  });

  it('reads a few messages of a long conversation only', async () => {
    const repository = new InMemoryChatMemoryRepository();
    const reads: ReadOptions[] = [];
    const watched: ChatMemoryRepository = Object.assign(Object.create(repository) as ChatMemoryRepository, {
      read: (id: string, options: ReadOptions) => (reads.push(options), repository.read(id, options)),
    });
    for (let at = 0; at < 500; at++) await repository.append('c', turn(at));
    await memory({ repository: watched, maxMessages: 10 }).get('c');

    expect(reads).to.deep.equal([{ limit: 11 }]);
  });

  it('trims what it gives, and nothing of what is stored', async () => {
    const repository = new InMemoryChatMemoryRepository();
    const chatMemory = memory({ repository, trim: (messages) => messages.slice(1) });
    await chatMemory.add('c', turn(1));

    expect(words(await chatMemory.get('c'))).to.deep.equal(['1!']);
    expect((await repository.read('c')).messages).to.have.length(2);
  });

  it('[F58] [F59] gives whole turns that fit, and the last one, for any history and window (500 cases)', async () => {
    const steps = fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 4 });
    const turns = fc.array(
      fc.record({ steps, hasSystem: fc.integer({ min: 0, max: 9 }).map((number) => number === 0), split: fc.nat(6) }),
      {
        minLength: 1,
        maxLength: 12,
      },
    );
    await fc.assert(
      fc.asyncProperty(turns, fc.integer({ min: 1, max: 30 }), async (plans, maxMessages) => {
        const chatMemory = memory({ maxMessages });
        const written: (readonly Message[])[] = [];
        let systemMessages: readonly Message[] = [];
        for (const [at, { steps, hasSystem, split }] of plans.entries()) {
          const messages = [user(`${at}?`), ...steps.flatMap((count, step) => batch(`${at}.${step}`, count)), assistant(`${at}!`)];
          if (hasSystem) systemMessages = [system(`${at}`)];
          written.push(messages);
          await chatMemory.add('c', [...(hasSystem ? systemMessages : []), ...messages.slice(0, split + 1)], { turnId: `${at}` });
          if (messages.length > split + 1) await chatMemory.add('c', messages.slice(split + 1), { turnId: `${at}` });
        }
        const got = await chatMemory.get('c');

        const kept = fitting(written, maxMessages - systemMessages.length);
        expect(words(got)).to.deep.equal(words([...systemMessages, ...kept.flat()]));
        expect(refusal(got)).to.equal(undefined);
        expect(repairHistory(got)).to.equal(got);
      }),
      { numRuns: 500 },
    );
  });
});

function batch(name: string, count: number): readonly Message[] {
  const ids = Array.from({ length: count }, (_, at) => `${name}.${at}`);
  return [calls(...ids), ...ids.map((id) => result(id))];
}

/** The last turns that fit into a number of messages, and the last one in any case. */
function fitting(turns: readonly (readonly Message[])[], max: number): readonly (readonly Message[])[] {
  let count = turns.at(-1)?.length ?? 0;
  let first = turns.length - 1;
  while (first > 0 && count + (turns[first - 1]?.length ?? 0) <= max) count += turns[--first]?.length ?? 0;
  return turns.slice(first);
}
