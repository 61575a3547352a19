import { expect } from 'chai';
import { InvalidArgumentError, ToolCallingAdvisor, type Message } from '../../../src/index.js';
import {
  assistant,
  calls,
  invalidReason,
  result,
  shortTexts,
  user,
} from '../../support/conversation.js';
import {
  callOf,
  inConversation,
  INSIDE,
  look,
  sentTexts,
  setUpMemory,
  storedTexts,
} from '../../support/memory-advisor.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';

const WITH_TOOLS = {
  'with storeToolMessages': { storeToolMessages: true },
  'inside the loop': { order: INSIDE },
};

/** Messages of a request with an unfinished piece of a loop, and those that are stored, without the answer. */
const PIECES: readonly (readonly [
  title: string,
  sent: readonly Message[],
  withTools: readonly string[],
  withoutTools: readonly string[],
])[] = [
  [
    'a call, its result and a question',
    [calls('p'), result('p'), user('1?')],
    ['>p', '<p', '1?'],
    ['1?'],
  ],
  [
    'a question, its call and the result',
    [user('1?'), calls('p'), result('p')],
    ['1?', '>p', '<p'],
    ['1?'],
  ],
  [
    'two iterations after an answer',
    [user('0?'), assistant('0!'), user('1?'), calls('p'), result('p'), calls('q'), result('q')],
    ['1?', '>p', '<p', '>q', '<q'],
    ['1?'],
  ],
  ['a result whose call is nowhere', [result('p'), user('1?')], ['1?'], ['1?']],
  [
    'a result whose call has only the id of a remembered one',
    [
      { ...calls('a'), toolCalls: [{ id: 'a', name: 'look', arguments: '{}' }] } as Message,
      result('a'),
      user('1?'),
    ],
    ['>a', '<a', '1?'],
    ['1?'],
  ],
];

describe('MessageChatMemoryAdvisor and the messages of a request', () => {
  for (const mode of MODES)
    describe(mode, () => {
      for (const [title, messages, withTools, withoutTools] of PIECES) {
        for (const [where, options] of Object.entries(WITH_TOOLS))
          it(`[D61] stores ${title}, ${where}`, async () => {
            const script = [{ toolCalls: [callOf('a')] }, '0!', '1!', '2!'];
            const { client, model, repository } = setUpMemory(script, options);
            await runSpec(mode, inConversation(client.prompt('0?').tools(look)));
            await runSpec(
              mode,
              inConversation(
                client
                  .prompt()
                  .messages(...messages)
                  .tools(look),
              ),
            );

            const before = ['0?', '>a', '<a', '0!'];
            expect(await storedTexts(repository)).to.deep.equal([...before, ...withTools, '1!']);
            await runSpec(mode, inConversation(client.prompt('2?')));
            const sent = model.prompts.at(-1)?.messages ?? [];
            expect(invalidReason(sent)).to.equal(undefined);
            expect(shortTexts(sent)).to.deep.equal(['[s]', ...before, ...withTools, '1!', '2?']);
          });

        it(`[D61] stores the questions of ${title}, without tool messages`, async () => {
          const { client, repository } = setUpMemory(['1!']);
          await runSpec(mode, inConversation(client.prompt().messages(...messages)));

          expect(await storedTexts(repository)).to.deep.equal([...withoutTools, '1!']);
        });
      }

      it('[D61] stores the result of a call that is remembered, once', async () => {
        const paused = new ToolCallingAdvisor({ toolExecutionEligibilityChecker: () => false });
        const script = [{ toolCalls: [callOf('p')] }, '1!'];
        const { client, repository } = setUpMemory(script, {}, paused);
        const spec = inConversation(client.prompt().tools(look));
        await runSpec(mode, spec.user('1?'));
        await runSpec(mode, spec.messages(user('1?'), calls('p'), result('p')));

        expect(await storedTexts(repository)).to.deep.equal(['1?', '>p', '<p', '1!']);
      });

      it('[D61] stores a piece together with a partial answer', async () => {
        const script = [{ deltas: ['half'], error: new Error('cut') }];
        const options = { storeToolMessages: true, onIncomplete: 'keep-partial' } as const;
        const { client, repository } = setUpMemory(script, options);
        const spec = client.prompt().messages(calls('p'), result('p'), user('1?'));
        await failureOf(runSpec('stream', inConversation(spec)));

        expect(await storedTexts(repository)).to.deep.equal(['>p', '<p', '1?', 'half']);
      });

      for (const [title, message] of Object.entries({
        'a blank text': user(' \n'),
        'no text': user(''),
        'no parts': { role: 'user', content: [] },
        'a blank part': { role: 'user', content: [{ type: 'text', text: ' ' }] },
      } satisfies Readonly<Record<string, Message>>))
        it(`[D59] [F73] refuses a user message of ${title}, before a model is called`, async () => {
          const { client, model, repository } = setUpMemory(['0!', '1!']);
          await runSpec(mode, inConversation(client.prompt('0?')));
          const spec = inConversation(client.prompt().messages(message));
          const error = await failureOf(runSpec(mode, spec));

          expect(error).to.be.instanceOf(InvalidArgumentError);
          expect(error).to.have.property('message').that.includes('the user message is blank');
          expect(sentTexts(model)).to.have.length(1);
          expect(await storedTexts(repository)).to.deep.equal(['0?', '0!']);
        });

      it('[D59] takes a blank message beside the result of a tool, and media without a text', async () => {
        const { client, repository } = setUpMemory(['1!', '2!'], { storeToolMessages: true });
        const image: Message = {
          role: 'user',
          content: [{ type: 'image', url: 'http://a/b.png' }],
        };
        await runSpec(
          mode,
          inConversation(client.prompt().messages(calls('p'), result('p'), user(''))),
        );
        await runSpec(mode, inConversation(client.prompt().messages(image)));

        expect(await storedTexts(repository)).to.deep.equal(['>p', '<p', '1!', '…', '2!']);
      });
    });
});
