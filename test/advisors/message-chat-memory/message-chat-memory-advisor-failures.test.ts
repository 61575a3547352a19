import { expect } from 'chai';
import { retry } from 'rxjs';
import {
  AdvisorOrder,
  defineAdvisor,
  InvalidArgumentError,
  MemoryConflictError,
  MemoryReadError,
  MemoryWriteError,
  ModelCallError,
  type ChatClientResponse,
  type ChatMemoryRepository,
} from '../../../src/index.js';
import type { Script } from '../../../src/testing/index.js';
import { assistant, user } from '../../support/conversation.js';
import {
  callOf,
  failingMemory,
  inConversation,
  look,
  sentTexts,
  setUpMemory,
  storedTexts,
  type MemorySetting,
} from '../../support/memory-advisor.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { unhandledErrorsOf } from '../../support/unhandled-errors.js';

describe('MessageChatMemoryAdvisor', () => {
  for (const mode of MODES)
    describe(mode, () => {
      describe('when a turn fails', () => {
        it('[F61] stores nothing when the model fails, so that the question can be repeated', async () => {
          const { client, model, repository } = setUpMemory([new Error('down'), '1!']);
          expect(
            await failureOf(runSpec(mode, inConversation(client.prompt('1?')))),
          ).to.have.property('message', 'down');
          expect(await storedTexts(repository)).to.deep.equal([]);
          await runSpec(mode, inConversation(client.prompt('1?')));

          expect(sentTexts(model)[1]).to.deep.equal(['[s]', '1?']);
          expect(await storedTexts(repository)).to.deep.equal(['1?', '1!']);
        });

        it('stores the partial answer with onIncomplete: keep-partial', async () => {
          const cut = new ModelCallError('cut', { partialText: 'half an' });
          const { client, model, repository } = setUpMemory(
            [{ deltas: ['half', ' an'], error: cut }, '2!'],
            {
              onIncomplete: 'keep-partial',
            },
          );
          expect(await failureOf(runSpec(mode, inConversation(client.prompt('1?'))))).to.equal(cut);
          const { messages } = await repository.read('c');

          expect(messages.map(({ message }) => message)).to.deep.equal([
            user('1?'),
            { ...assistant('half an'), metadata: { incomplete: true } },
          ]);
          await runSpec(mode, inConversation(client.prompt('2?')));
          expect(sentTexts(model)[1]).to.deep.equal(['[s]', '1?', 'half an', '2?']);
        });

        it('keeps an error that cannot be inspected, with keep-partial', async () => {
          const getPrototypeOf = (): never => {
            throw new Error('no prototype');
          };
          const error: unknown = new Proxy({}, { getPrototypeOf });
          const { client, repository } = setUpMemory([{ text: 'half', error }], {
            onIncomplete: 'keep-partial',
          });
          let thrown: unknown;
          await runSpec(mode, inConversation(client.prompt('1?'))).catch((e: unknown) => {
            thrown = e;
          });

          expect(thrown === error).to.equal(true);
          const stored = mode === 'stream' ? ['1?', 'half'] : [];
          expect(await storedTexts(repository)).to.deep.equal(stored);
        });

        it('stores nothing of a turn without text or tool results', async () => {
          const { client, repository } = setUpMemory([new Error('down')], {
            onIncomplete: 'keep-partial',
          });
          await failureOf(runSpec(mode, inConversation(client.prompt('1?'))));

          expect(await storedTexts(repository)).to.deep.equal([]);
        });

        it('stores tool messages of a failed turn with keep-partial and storeToolMessages', async () => {
          const options = { onIncomplete: 'keep-partial', storeToolMessages: true } as const;
          const { client, model, repository } = setUpMemory(
            [{ toolCalls: [callOf('a')] }, new Error('down'), '2!'],
            options,
          );
          await failureOf(runSpec(mode, inConversation(client.prompt('1?').tools(look))));
          expect(await storedTexts(repository)).to.deep.equal(['1?', '>a', '<a', '']);
          await runSpec(mode, inConversation(client.prompt('2?')));

          expect(sentTexts(model).at(-1)).to.deep.equal(['[s]', '1?', '>a', '<a', '2?']);
        });

        it('stores the partial text of the last iteration, without the tool messages', async () => {
          const cut = new ModelCallError('cut', { partialText: 'half' });
          const { client, repository } = setUpMemory(
            [
              { text: 'Let me see.', toolCalls: [callOf('a')] },
              { deltas: ['half'], error: cut },
            ],
            { onIncomplete: 'keep-partial' },
          );
          await failureOf(runSpec(mode, inConversation(client.prompt('1?').tools(look))));

          expect(await storedTexts(repository)).to.deep.equal(['1?', 'half']);
        });

        it('stores the partial text of the last attempt', async () => {
          const cut = new ModelCallError('cut', { partialText: 'second' });
          const { client, repository } = setUpMemory(
            [
              { deltas: ['first'], error: new Error('busy') },
              { deltas: ['sec', 'ond'], error: cut },
            ],
            { onIncomplete: 'keep-partial' },
            {
              name: 'again',
              order: AdvisorOrder.RESILIENCE,
              advise: (request, chain) => chain.next(request).pipe(retry(1)),
            },
          );
          await failureOf(runSpec(mode, inConversation(client.prompt('1?'))));

          expect(await storedTexts(repository)).to.deep.equal(['1?', 'second']);
        });

        it('stores no partial text that is blank', async () => {
          const cut = new ModelCallError('cut', { partialText: ' \n' });
          const { client, repository } = setUpMemory([{ deltas: [' \n'], error: cut }], {
            onIncomplete: 'keep-partial',
          });
          await failureOf(runSpec(mode, inConversation(client.prompt('1?'))));

          expect(await storedTexts(repository)).to.deep.equal([]);
        });

        it('fails with the error of a memory that rejects its arguments', async () => {
          const invalid = new InvalidArgumentError('no such conversation');
          const { client } = setUpMemory(['1!'], { chatMemory: failingMemory({ load: invalid }) });

          expect(await failureOf(runSpec(mode, inConversation(client.prompt('1?'))))).to.equal(
            invalid,
          );
        });

        it('describes a failure of the store that is no error', async () => {
          const chatMemory = { ...failingMemory({}), load: () => Promise.reject(null as unknown) };
          const { client } = setUpMemory(['1!'], { chatMemory });

          expect(
            await failureOf(runSpec(mode, inConversation(client.prompt('1?')))),
          ).to.have.property(
            'message',
            'The conversation could not be read: null. No model was called.',
          );
        });

        it('fails before the model is called when the store cannot be read', async () => {
          const broken = new Error('no connection');
          const { client, model } = setUpMemory(['1!'], {
            chatMemory: failingMemory({ load: broken }),
          });
          const failure = await failureOf(runSpec(mode, inConversation(client.prompt('1?'))));

          expect(failure).to.be.instanceOf(MemoryReadError);
          expect(failure).to.include({ conversationId: 'c', cause: broken, code: 'memory_read' });
          expect(model.prompts).to.have.length(0);
        });

        it('attaches the answer to the error when the store cannot be written', async () => {
          const broken = new Error('disk full');
          const { client } = setUpMemory(['1!'], { chatMemory: failingMemory({ add: broken }) });
          const failure = (await failureOf(
            runSpec(mode, inConversation(client.prompt('1?'))),
          )) as MemoryWriteError<ChatClientResponse>;

          expect(failure).to.be.instanceOf(MemoryWriteError);
          expect(failure.response?.text).to.equal('1!');
          expect(failure).to.include({ conversationId: 'c', cause: broken, outcome: 'unknown' });
          expect(failure.message).to.equal(
            `It is unknown whether the messages were stored: disk full. Look for messages with this \`turnId\` in the conversation before you store them again. The answer is in \`response\`.`,
          );
        });

        it('needs no onWriteError', async () => {
          const { client } = setUpMemory([{ toolCalls: [callOf('a')] }, new Error('down')], {
            chatMemory: failingMemory({ add: new Error('disk full') }),
            onIncomplete: 'keep-partial',
            storeToolMessages: true,
          });

          const unhandled = await unhandledErrorsOf(async () => {
            const turn = runSpec(mode, inConversation(client.prompt('1?').tools(look)));
            expect(await failureOf(turn)).to.have.property('message', 'down');
          });

          expect(unhandled).to.deep.equal([]);
        });

        it('notifies onWriteError of a partial turn that could not be stored', async () => {
          const reported: unknown[] = [];
          const { client } = setUpMemory([{ toolCalls: [callOf('a')] }, new Error('down')], {
            chatMemory: failingMemory({ add: new Error('disk full') }),
            onIncomplete: 'keep-partial',
            storeToolMessages: true,
            onWriteError: (error) => reported.push(error.message),
          });
          const failure = await failureOf(
            runSpec(mode, inConversation(client.prompt('1?').tools(look))),
          );

          expect(failure).to.have.property('message', 'down');
          expect(reported).to.have.length(1);
        });
      });

      describe('when another turn was stored concurrently', () => {
        const meanwhile =
          (repository: () => ChatMemoryRepository): Script =>
          () => {
            void repository().append('c', [user('0?'), assistant('0!')]); // done when it returns
            return '1!';
          };

        it('[F64] keeps both turns', async () => {
          const setting: MemorySetting = setUpMemory(meanwhile(() => setting.repository));
          await runSpec(mode, inConversation(setting.client.prompt('1?')));

          expect(await storedTexts(setting.repository)).to.deep.equal(['0?', '0!', '1?', '1!']);
        });

        it('[F64] [F74] fails with the answer under onConflict: fail', async () => {
          const setting: MemorySetting = setUpMemory(
            meanwhile(() => setting.repository),
            { onConflict: 'fail' },
          );
          const failure = (await failureOf(
            runSpec(mode, inConversation(setting.client.prompt('1?'))),
          )) as MemoryWriteError<ChatClientResponse>;

          expect(failure).to.be.instanceOf(MemoryWriteError);
          expect(failure.cause).to.be.instanceOf(MemoryConflictError);
          expect(failure.response?.text).to.equal('1!');
          expect(await storedTexts(setting.repository)).to.deep.equal(['0?', '0!']);
        });
      });
    });

  it('stores the partial text of a stream with other events in between', async () => {
    const { client, repository } = setUpMemory(
      [{ deltas: ['half', ' an'], error: new Error('cut') }],
      { onIncomplete: 'keep-partial' },
      defineAdvisor({
        name: 'noting',
        order: AdvisorOrder.RESILIENCE,
        around: (request, next, { emit }) =>
          next(request, ({ type }) => {
            if (type === 'text-delta')
              emit({ type: 'custom', name: 'test.note', data: { text: type } });
          }),
      }),
    );
    await failureOf(runSpec('stream', inConversation(client.prompt('1?'))));

    expect(await storedTexts(repository)).to.deep.equal(['1?', 'half an']);
  });

  describe('when a stream is cancelled', () => {
    for (const onIncomplete of ['discard', 'keep-partial'] as const)
      it(`[F61] stores ${onIncomplete === 'discard' ? 'nothing' : 'the partial answer after the subscriber has left'}`, async () => {
        const { client, repository } = setUpMemory(
          [{ deltas: ['half', ' an', ' answer'], delay: 1 }],
          {
            onIncomplete,
          },
        );
        await new Promise<void>((resolve) => {
          const subscription = inConversation(client.prompt('1?'))
            .stream()
            .events()
            .subscribe((event) => {
              if (event.type !== 'text-delta') return;
              queueMicrotask(() => (subscription.unsubscribe(), resolve()));
            });
        });
        for (let tick = 0; tick < 20; tick++) await new Promise((resolve) => setImmediate(resolve));

        const log = await storedTexts(repository);
        if (onIncomplete === 'discard') expect(log).to.deep.equal([]);
        else {
          expect(log[0]).to.equal('1?');
          expect('half an answer'.startsWith(log[1] ?? '-')).to.equal(true);
        }
      });
  });
});
