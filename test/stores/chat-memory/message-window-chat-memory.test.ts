import { expect } from 'chai';
import fc from 'fast-check';
import {
  InMemoryChatMemoryRepository,
  InvalidArgumentError,
  MessageWindowChatMemory,
  type ChatMemoryRepository,
  type Message,
  type MessageWindowChatMemoryOptions,
} from '../../../src/index.js';
import {
  repairHistory,
  type OversizedTurn,
  type ReadOptions,
} from '../../../src/stores/chat-memory/index.js';
import { INVALID_IDS } from '../../../src/testing/memory-contract/samples.js';
import { unhandledErrorsOf } from '../../support/unhandled-errors.js';
import {
  assistant,
  calls,
  invalidReason,
  result,
  system,
  turn,
  user,
  shortTexts,
} from '../../support/conversation.js';
import { sweep } from '../../support/sweep.js';

const WINDOWS = sweep(2_500);

function memory(options: Partial<MessageWindowChatMemoryOptions> = {}): MessageWindowChatMemory {
  return new MessageWindowChatMemory({
    repository: new InMemoryChatMemoryRepository(),
    ...options,
  });
}

/** A repository and the options of its reads. */
function watchedRepository(): { repository: ChatMemoryRepository; reads: ReadOptions[] } {
  const stored = new InMemoryChatMemoryRepository();
  const reads: ReadOptions[] = [];
  const repository: ChatMemoryRepository = Object.assign(
    Object.create(stored) as ChatMemoryRepository,
    { read: (id: string, options: ReadOptions) => (reads.push(options), stored.read(id, options)) },
  );
  return { repository, reads };
}

/** Short texts of the window after these writes. */
async function windowOf(
  options: Partial<MessageWindowChatMemoryOptions>,
  ...writes: readonly (readonly Message[])[]
): Promise<readonly string[]> {
  const chatMemory = memory(options);
  for (const messages of writes) await chatMemory.add('c', messages);
  return shortTexts(await chatMemory.get('c'));
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
    it(`[MEM-01] rejects ${option}: ${JSON.stringify(value)}`, () => {
      expect(() => memory({ [option]: value } as never)).to.throw(
        InvalidArgumentError,
        `MessageWindowChatMemory: ${option} must be`,
      );
    });

  it('rejects missing options', () => {
    expect(() => new MessageWindowChatMemory(undefined as never)).to.throw(
      InvalidArgumentError,
      'repository must be',
    );
  });

  it('[F58] [F59] loads previous pages until every turn of the window is complete', async () => {
    const chatMemory = memory({ maxMessages: 20 });
    await chatMemory.add('c', [user('start slow job'), calls('slow')], { turnId: 'slow' });
    for (let at = 0; at < 11; at++) await chatMemory.add('c', turn(at), { turnId: `quick ${at}` });
    await chatMemory.add('c', [result('slow'), assistant('slow job is finished')], {
      turnId: 'slow',
    });

    const messages = await chatMemory.get('c');

    // the slow turn began first, so it is the oldest and is dropped whole
    expect(shortTexts(messages)).to.not.include.oneOf([
      'start slow job',
      '>slow',
      '<slow',
      'slow job is finished',
    ]);
    expect(shortTexts(messages).at(-1)).to.equal(shortTexts(turn(10)).at(-1));
    expect(invalidReason(messages)).to.equal(undefined);
  });

  it('returns the messages when onOversizedTurn throws', async () => {
    const failure = new Error('hook');
    const options = { maxMessages: 2, onOversizedTurn: () => { throw failure; } }; // prettier-ignore

    const reported = await unhandledErrorsOf(async () => {
      expect(
        await windowOf(options, [user('a'), calls('x'), result('x'), assistant('b')]),
      ).to.have.length(4);
    });

    expect(reported).to.deep.equal([failure]);
  });

  it('[MEM-03] stores a single message and a list', async () => {
    const chatMemory = memory();
    await chatMemory.add('c', user('a'));
    await chatMemory.add('c', [assistant('b'), user('c')]);

    expect(shortTexts(await chatMemory.get('c'))).to.deep.equal(['a', 'b', 'c']);
    expect(await chatMemory.get('another')).to.deep.equal([]);
  });

  it('[MEM-04] [F66] rejects an invalid id in add, get and clear', async () => {
    for (const id of INVALID_IDS as readonly string[])
      for (const attempt of [memory().add(id, user('a')), memory().get(id), memory().clear(id)])
        expect(await attempt.catch((error: unknown) => error)).to.be.instanceOf(
          InvalidArgumentError,
        );
  });

  it('rejects a malformed message with its index', async () => {
    const failure = await memory()
      .add('c', [user('a'), { role: 'user' } as Message])
      .catch((error: unknown) => error);

    expect(failure)
      .to.be.instanceOf(InvalidArgumentError)
      .with.property('message')
      .that.contains('messages[1]: a user message needs');
  });

  it('clears a conversation and no other', async () => {
    const chatMemory = memory();
    await chatMemory.add('c', turn(1));
    await chatMemory.add('d', turn(2));
    await chatMemory.clear('c');

    expect(await chatMemory.get('c')).to.deep.equal([]);
    expect(shortTexts(await chatMemory.get('d'))).to.deep.equal(['2?', '2!']);
  });

  it('[MEM-06] splits the turns of one write', async () => {
    expect(
      await windowOf({ maxMessages: 2 }, [
        user('a'),
        assistant('b'),
        user('c'),
        assistant('d'),
        user('e'),
      ]),
    ).to.deep.equal(['e']);
  });

  it('[MEM-07] keeps exactly the maximum number of messages', async () => {
    expect(
      await windowOf({ maxMessages: 3 }, [user('a'), assistant('b')], [user('c')]),
    ).to.deep.equal(['a', 'b', 'c']);
  });

  it('[MEM-08] keeps the latest turn', async () => {
    expect(await windowOf({ maxMessages: 2 }, turn(1), turn(2))).to.deep.equal(['2?', '2!']);
  });

  it('[MEM-12] never keeps part of a turn', async () => {
    expect(await windowOf({ maxMessages: 3 }, turn(1), turn(2), turn(3))).to.deep.equal([
      '3?',
      '3!',
    ]);
  });

  it('[MEM-13] drops a turn of several answers whole', async () => {
    const long = [user('1?'), assistant('a'), assistant('b'), assistant('c')];

    expect(await windowOf({ maxMessages: 4 }, long, turn(2))).to.deep.equal(['2?', '2!']);
  });

  it('[MEM-14] keeps as many turns as fit', async () => {
    expect(await windowOf({ maxMessages: 4 }, turn(1), turn(2), turn(3))).to.deep.equal([
      '2?',
      '2!',
      '3?',
      '3!',
    ]);
  });

  it('[MEM-15] [MEM-17] [F59] keeps the latest turn when system messages fill the window', async () => {
    const messages = [system('a'), system('b'), ...turn(1), ...turn(2)];

    expect(await windowOf({ maxMessages: 2 }, messages)).to.deep.equal(['[a]', '[b]', '2?', '2!']);
  });

  it('[MEM-16] replaces all system messages by the last ones', async () => {
    expect(await windowOf({}, [system('a'), system('b'), ...turn(1)], [system('c')])).to.deep.equal(
      ['[c]', '1?', '1!'],
    );
  });

  it('keeps repeated system messages once', async () => {
    const chatMemory = memory();
    await chatMemory.add('c', [system('a'), system('b'), user('1?')]);
    const version = await chatMemory.add('c', [system('b')]);
    await chatMemory.add('c', [system('a'), system('b'), user('2?')]);

    expect(version).to.equal(3);
    expect(shortTexts(await chatMemory.get('c'))).to.deep.equal(['[a]', '[b]', '1?', '2?']);
  });

  it('keeps system messages of any age', async () => {
    const writes = Array.from({ length: 50 }, (_, at) => turn(at));

    expect(await windowOf({ maxMessages: 5 }, [system('a')], ...writes)).to.deep.equal([
      '[a]',
      '48?',
      '48!',
      '49?',
      '49!',
    ]);
  });

  it('loads turns before replaced system messages', async () => {
    const replaced = Array.from({ length: 30 }, (_, at) => [system(`${at}`)]);

    expect(await windowOf({ maxMessages: 5 }, turn(1), turn(2), ...replaced)).to.deep.equal([
      '[29]',
      '1?',
      '1!',
      '2?',
      '2!',
    ]);
    expect(
      await windowOf({ maxMessages: 5 }, turn(1), turn(2), ...replaced.slice(0, 4), turn(3)),
    ).to.deep.equal(['[3]', '2?', '2!', '3?', '3!']);
  });

  it('[F59] keeps a turn that exceeds the window and notifies onOversizedTurn', async () => {
    const notified: OversizedTurn[] = [];
    const long = [
      user('long?'),
      ...Array.from({ length: 30 }, (_, at) => [calls(`c${at}`), result(`c${at}`)]).flat(),
      assistant('long!'),
    ];
    const messages = await windowOf(
      { maxMessages: 20, onOversizedTurn: (each) => notified.push(each) },
      turn(1),
      long,
    );

    expect(messages).to.deep.equal(shortTexts(long));
    expect(notified).to.deep.equal([{ conversationId: 'c', messages: 62, tokens: undefined }]);
  });

  it('does not notify onOversizedTurn of turns that fit', async () => {
    const notified: OversizedTurn[] = [];
    await windowOf(
      { maxMessages: 2, onOversizedTurn: (each) => notified.push(each) },
      turn(1),
      turn(2),
    );

    await windowOf({ maxMessages: 1, onOversizedTurn: (each) => notified.push(each) }, [
      system('a'),
    ]);

    expect(notified).to.deep.equal([]);
  });

  it('notifies onOversizedTurn of the tokens of a turn that exceeds maxTokens', async () => {
    const notified: OversizedTurn[] = [];
    await windowOf(
      {
        maxTokens: 30,
        tokenCounter: () => 20,
        onOversizedTurn: (each) => notified.push(each),
      },
      turn(1),
      turn(2),
    );

    expect(notified).to.deep.equal([{ conversationId: 'c', messages: 2, tokens: 40 }]);
  });

  it('limits the tokens', async () => {
    const options = {
      maxTokens: 30,
      tokenCounter: (message: Message) => (message.role === 'user' ? 10 : 5),
    };

    expect(await windowOf(options, turn(1), turn(2), turn(3))).to.deep.equal([
      '2?',
      '2!',
      '3?',
      '3!',
    ]);
    expect(await windowOf(options, [system('s')], turn(2), turn(3))).to.deep.equal([
      '[s]',
      '3?',
      '3!',
    ]);
  });

  it('estimates tokens by the characters without a tokenCounter', async () => {
    const long = (name: string): readonly Message[] => [user(name.repeat(400)), assistant(name)];

    expect(
      (await windowOf({ maxTokens: 240 }, long('a'), long('b'), long('c'))).map((text) => text[0]),
    ).to.deep.equal(['b', 'b', 'c', 'c']);
  });

  it('groups the messages of turns that were stored concurrently', async () => {
    const chatMemory = memory();
    await chatMemory.add('c', [user('1?'), calls('a')], { turnId: 't1' });
    await chatMemory.add('c', [user('2?'), calls('b')], { turnId: 't2' });
    await chatMemory.add('c', [result('a'), assistant('1!')], { turnId: 't1' });
    await chatMemory.add('c', [result('b'), assistant('2!')], { turnId: 't2' });

    expect(shortTexts(await chatMemory.get('c'))).to.deep.equal([
      '1?',
      '>a',
      '<a',
      '1!',
      '2?',
      '>b',
      '<b',
      '2!',
    ]);
  });

  it('has no end of a turn whose start is before pages of another one', async () => {
    const chatMemory = memory({ maxMessages: 4 });
    await chatMemory.add('c', [user('1?'), calls('a')], { turnId: 't1' });
    const other = [user('2?'), calls('b'), result('b'), calls('d'), result('d'), assistant('2!')];
    await chatMemory.add('c', other, { turnId: 't2' });
    await chatMemory.add('c', [result('a'), assistant('1!')], { turnId: 't1' });
    await chatMemory.add('c', [user('3?'), calls('e')], { turnId: 't3' });

    expect(shortTexts(await chatMemory.get('c'))).to.deep.equal(['3?', '>e']);
  });

  it('[D74] has the messages of a running turn last, in place of an earlier attempt', async () => {
    const chatMemory = memory({ maxMessages: 4 });
    await chatMemory.add('c', [user('1?'), calls('a')], { turnId: 't1' });
    await chatMemory.add('c', turn(2), { turnId: 't2' });
    const messages = [user('1?'), calls('b'), result('b')];

    const running = await chatMemory.load('c', { turnId: 't1', messages });
    const next = await chatMemory.load('c', { turnId: 't1', messages: [] });

    expect(shortTexts(running.messages)).to.deep.equal(['1?', '>b', '<b']);
    expect(running.version).to.equal(4);
    expect(shortTexts(next.messages)).to.deep.equal(['2?', '2!']);
  });

  it('continues a turn with the results of a running one', async () => {
    const chatMemory = memory({ maxMessages: 5 });
    await chatMemory.add('c', turn(1));
    await chatMemory.add('c', [user('2?'), calls('a')], { turnId: 't2' });

    const { messages } = await chatMemory.load('c', {
      turnId: 't2 a',
      messages: [result('a'), calls('b')],
    });

    expect(shortTexts(messages)).to.deep.equal(['2?', '>a', '<a', '>b']);
  });

  it('[F61] adds a tool result of another turn id to the turn of its call', async () => {
    const chatMemory = memory({ maxMessages: 3 });
    await chatMemory.add('c', turn(1));
    await chatMemory.add('c', [user('2?'), calls('a')], { turnId: 't1' });
    await chatMemory.add('c', [result('a'), assistant('2!')], { turnId: 't2' });

    expect(shortTexts(await chatMemory.get('c'))).to.deep.equal(['2?', '>a', '<a', '2!']);
  });

  it('reads only the last page of a long conversation', async () => {
    const { repository, reads } = watchedRepository();
    for (let at = 0; at < 500; at++) await repository.append('c', turn(at));
    await memory({ repository, maxMessages: 10 }).get('c');

    expect(reads).to.deep.equal([{ limit: 11, beforeVersion: undefined, signal: undefined }]);
  });

  it('reads one page before a turn that does not begin with a user message', async () => {
    const { repository, reads } = watchedRepository();
    for (let at = 0; at < 100; at++) await repository.append('c', turn(at), { turnId: `${at}` });
    await repository.append('c', [assistant('reminder')], { turnId: 'reminder' });
    const messages = await memory({ repository, maxMessages: 3 }).get('c');

    expect(shortTexts(messages)).to.deep.equal(['99?', '99!', 'reminder']);
    expect(reads).to.deep.equal([
      { limit: 4, beforeVersion: undefined, signal: undefined },
      { limit: 4, beforeVersion: 198, signal: undefined },
    ]);
  });

  it('trims the returned messages and not the stored ones', async () => {
    const repository = new InMemoryChatMemoryRepository();
    const chatMemory = memory({ repository, trim: (messages) => messages.slice(1) });
    await chatMemory.add('c', turn(1));

    expect(shortTexts(await chatMemory.get('c'))).to.deep.equal(['1!']);
    expect((await repository.read('c')).messages).to.have.length(2);
  });

  it(`[F58] [F59] returns the latest whole turns that fit, for any history and window (${WINDOWS} cases)`, async () => {
    const steps = fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 4 });
    const turns = fc.array(
      fc.record({
        steps,
        hasSystem: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
        split: fc.nat(6),
      }),
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
          const messages = [
            user(`${at}?`),
            ...steps.flatMap((count, step) => batch(`${at}.${step}`, count)),
            assistant(`${at}!`),
          ];
          if (hasSystem) systemMessages = [system(`${at}`)];
          written.push(messages);
          await chatMemory.add(
            'c',
            [...(hasSystem ? systemMessages : []), ...messages.slice(0, split + 1)],
            { turnId: `${at}` },
          );
          if (messages.length > split + 1)
            await chatMemory.add('c', messages.slice(split + 1), { turnId: `${at}` });
        }
        const got = await chatMemory.get('c');

        const kept = fitting(written, maxMessages - systemMessages.length);
        expect(shortTexts(got)).to.deep.equal(shortTexts([...systemMessages, ...kept.flat()]));
        expect(invalidReason(got)).to.equal(undefined);
        expect(repairHistory(got)).to.equal(got);
      }),
      { numRuns: WINDOWS },
    );
  });
});

function batch(name: string, count: number): readonly Message[] {
  const ids = Array.from({ length: count }, (_, at) => `${name}.${at}`);
  return [calls(...ids), ...ids.map((id) => result(id))];
}

/** The latest turns that fit into a number of messages, at least one. */
function fitting(
  turns: readonly (readonly Message[])[],
  max: number,
): readonly (readonly Message[])[] {
  let count = turns.at(-1)?.length ?? 0;
  let first = turns.length - 1;
  while (first > 0 && count + (turns[first - 1]?.length ?? 0) <= max)
    count += turns[--first]?.length ?? 0;
  return turns.slice(first);
}
