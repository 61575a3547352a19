import { callsOf } from '../../../src/core/chat/message.js';
import { expect } from 'chai';
import { retry } from 'rxjs';
import {
  AdvisorOrder,
  defineAdvisor,
  InMemoryChatMemoryRepository,
  MessageWindowChatMemory,
  ToolCallingAdvisor,
  toolCallingAutoRegister,
  type Advisor,
  type ChatMemory,
  type PromptSpec,
} from '../../../src/index.js';
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
import { MODES, runSpec } from '../../support/modes.js';

describe('MessageChatMemoryAdvisor and the tool loop', () => {
  for (const mode of MODES)
    describe(mode, () => {
      it('[MEM-27] [MEM-29] stores calls and results of a user-controlled loop', async () => {
        const { client, model, repository } = setUpMemory([
          { toolCalls: [callOf('a')] },
          '1!',
          '2!',
        ]);
        const byHand = (spec: PromptSpec): PromptSpec =>
          inConversation(spec).advisors(toolCallingAutoRegister(false)).tools(look);
        await runSpec(mode, byHand(client.prompt('1?')));
        expect(await storedTexts(repository)).to.deep.equal(['1?', '>a']);
        await runSpec(mode, byHand(client.prompt().messages(user('1?'), calls('a'), result('a'))));
        expect(await storedTexts(repository)).to.deep.equal(['1?', '>a', '<a', '1!']);
        await runSpec(mode, byHand(client.prompt('2?')));

        expect(sentTexts(model)).to.deep.equal([
          ['[s]', '1?'],
          ['[s]', '1?', '>a', '<a'],
          ['[s]', '1?', '>a', '<a', '1!', '2?'],
        ]);
      });

      it('completes the history of a user-controlled loop that sends only the results', async () => {
        const { client, model } = setUpMemory([{ toolCalls: [callOf('a')] }, '1!']);
        const byHand = (spec: PromptSpec): PromptSpec =>
          inConversation(spec).advisors(toolCallingAutoRegister(false)).tools(look);
        await runSpec(mode, byHand(client.prompt('1?')));
        await runSpec(mode, byHand(client.prompt().messages(result('a'))));

        expect(sentTexts(model)[1]).to.deep.equal(['[s]', '1?', '>a', '<a']);
      });

      describe('outside the tool loop', () => {
        const script = [
          { text: 'Let me see.', toolCalls: [callOf('a'), callOf('b')] },
          { toolCalls: [callOf('c')] },
          '1!',
          '2!',
        ];

        it('stores only the question and the answer', async () => {
          const { client, model, repository } = setUpMemory(script);
          await runSpec(mode, inConversation(client.prompt('1?').tools(look)));
          await runSpec(mode, inConversation(client.prompt('2?')));

          expect(await storedTexts(repository)).to.deep.equal(['1?', '1!', '2?', '2!']);
          expect(sentTexts(model).at(-1)).to.deep.equal(['[s]', '1?', '1!', '2?']);
        });

        it('stores the tool messages that the model received with storeToolMessages', async () => {
          const { client, model, repository } = setUpMemory(script, { storeToolMessages: true });
          await runSpec(mode, inConversation(client.prompt('1?').tools(look)));
          const { messages } = await repository.read('c');

          expect(messages.map(({ message }) => message)).to.deep.equal([
            ...(model.prompts[2]?.messages.slice(1) ?? []),
            assistant('1!'),
          ]);
          await runSpec(mode, inConversation(client.prompt('2?')));
          expect(sentTexts(model).at(-1)).to.deep.equal([
            '[s]',
            '1?',
            '>a>b',
            '<a',
            '<b',
            '>c',
            '<c',
            '1!',
            '2?',
          ]);
        });

        it('stores error results of invalid calls', async () => {
          const calls = [
            { id: 'a', name: 'look', arguments: '{"id":' },
            { id: 'b', name: 'nothing', arguments: {} },
            callOf('c'),
          ];
          const { client, model, repository } = setUpMemory([{ toolCalls: calls }, '!'], {
            storeToolMessages: true,
          });
          await runSpec(mode, inConversation(client.prompt('?').tools(look)));

          expect(await storedTexts(repository)).to.deep.equal([
            '?',
            '>a>b>c',
            '<a',
            '<b',
            '<c',
            '!',
          ]);
          expect(
            (await repository.read('c')).messages.map(({ message }) => message).slice(0, -1),
          ).to.deep.equal(model.prompts[1]?.messages.slice(1));
        });

        it('stores return-direct results as one answer', async () => {
          const direct = { ...look, metadata: { ...look.metadata, returnDirect: true } };
          const { client, repository } = setUpMemory([{ toolCalls: [callOf('a'), callOf('b')] }]);
          await runSpec(mode, inConversation(client.prompt('?').tools(direct)));

          expect(await storedTexts(repository)).to.deep.equal(['?', 'result of a\nresult of b']);
        });

        it('stores the final answer when an advisor retries', async () => {
          let failures = 1;
          const tryAgain = defineAdvisor({
            name: 'retry',
            order: AdvisorOrder.MEMORY + 1,
            around: async (request, next) => {
              const response = await next(request);
              return failures-- > 0 ? next(request) : response;
            },
          });
          const { client, repository } = setUpMemory(
            [{ toolCalls: [callOf('a')] }, 'bad', { toolCalls: [callOf('b')] }, 'good'],
            { storeToolMessages: true },
            tryAgain,
          );
          await runSpec(mode, inConversation(client.prompt('?').tools(look)));

          expect(await storedTexts(repository)).to.deep.equal(['?', '>b', '<b', 'good']);
        });
      });

      it('[F61] stores only the successful run when the Observable is subscribed again', async () => {
        const again: Advisor = {
          name: 'again',
          order: 1,
          advise: (request, chain) => chain.next(request).pipe(retry(1)),
        };
        const { client, repository } = setUpMemory(
          [{ toolCalls: [callOf('a')] }, new Error('down'), { toolCalls: [callOf('b')] }, 'good'],
          { storeToolMessages: true },
          again,
        );
        await runSpec(mode, inConversation(client.prompt('?').tools(look)));

        expect(await storedTexts(repository)).to.deep.equal(['?', '>b', '<b', 'good']);
      });

      describe('[D16] a turn that ends with open calls', () => {
        const paused = new ToolCallingAdvisor({
          toolExecutionEligibilityChecker: ({ message }) =>
            callsOf(message).length > 0 && callsOf(message).every(({ id }) => !id.startsWith('p')),
        });
        const script = [
          { toolCalls: [callOf('a')] },
          { text: 'May I?', toolCalls: [callOf('p1'), callOf('p2')] },
          'Done!',
          'Bye!',
        ];
        const answered = ['1?', '>a', '<a', '>p1>p2', '<p1', '<p2', 'Done!'];

        for (const storeToolMessages of [false, true])
          it(`continues when the results come, storeToolMessages ${storeToolMessages}`, async () => {
            const { client, model, repository } = setUpMemory(
              script,
              { storeToolMessages },
              paused,
            );
            const spec = inConversation(client.prompt().tools(look));
            const response = await runSpec(mode, inConversation(client.prompt('1?').tools(look)));

            expect(response.hasToolCalls()).to.equal(true);
            expect([response.text, response.finishReason]).to.deep.equal(['May I?', 'tool_calls']);
            expect(response.steps.map(({ toolCalls }) => toolCalls[0]?.status)).to.deep.equal([
              'finished',
              'requested',
            ]);
            expect(await storedTexts(repository)).to.deep.equal(['1?', '>a', '<a', '>p1>p2']);

            await runSpec(mode, spec.messages(result('p1'), result('p2')));
            expect(sentTexts(model)[2]).to.deep.equal(['[s]', ...answered.slice(0, -1)]);
            await runSpec(mode, spec.user('2?'));
            expect(sentTexts(model)[3]).to.deep.equal(['[s]', ...answered, '2?']);
          });

        it('takes results and a question in one request, in any order', async () => {
          const { client, model } = setUpMemory(script, {}, paused);
          const spec = inConversation(client.prompt().tools(look));
          await runSpec(mode, spec.user('1?'));
          await runSpec(mode, spec.messages(result('p2'), result('p1')).user('And?'));

          expect(sentTexts(model)[2]?.slice(-4)).to.deep.equal(['>p1>p2', '<p1', '<p2', 'And?']);
          expect(model.prompts[2]?.messages.some((each) => 'isError' in each)).to.equal(false);
        });

        it('answers the calls that the next request leaves open', async () => {
          const { client, model } = setUpMemory(script, {}, paused);
          const spec = inConversation(client.prompt().tools(look));
          await runSpec(mode, spec.user('1?'));
          await runSpec(mode, spec.messages(result('p2')).user('Stop.'));

          expect(sentTexts(model)[2]?.slice(-4)).to.deep.equal(['>p1>p2', '<p1', '<p2', 'Stop.']);
          expect(
            model.prompts[2]?.messages.filter((each) => each.role === 'tool' && each.isError),
          ).to.have.length(1);
        });

        it('continues with a memory inside the loop', async () => {
          const pausing = new ToolCallingAdvisor({
            keepHistory: false,
            toolExecutionEligibilityChecker: ({ message }) => callsOf(message)[0]?.id === 'a',
          });
          const { client, model, repository } = setUpMemory(script, { order: INSIDE }, pausing);
          const spec = inConversation(client.prompt().tools(look));
          await runSpec(mode, spec.user('1?'));
          expect(await storedTexts(repository)).to.deep.equal(['1?', '>a', '<a', '>p1>p2']);
          await runSpec(mode, spec.messages(result('p1'), result('p2')));

          expect(sentTexts(model)[2]).to.deep.equal(['[s]', ...answered.slice(0, -1)]);
          expect(await storedTexts(repository)).to.deep.equal(answered);
        });

        it('stores the text alone in a store that drops tool messages', async () => {
          const repository = new InMemoryChatMemoryRepository();
          const stored = new MessageWindowChatMemory({ repository });
          const chatMemory: ChatMemory = {
            capabilities: { ...stored.capabilities, storesToolMessages: false },
            add: (...added) => stored.add(...added),
            get: (id) => stored.get(id),
            load: (...wanted) => stored.load(...wanted),
            clear: (id) => stored.clear(id),
          };
          const { client } = setUpMemory(script, { chatMemory }, paused);
          await runSpec(mode, inConversation(client.prompt('1?').tools(look)));

          expect(await storedTexts(repository)).to.deep.equal(['1?', 'May I?']);
        });

        it('continues without a memory from the messages of the application', async () => {
          const { client, model } = setUpMemory(['Done!'], {}, paused);
          const messages = [user('1?'), calls('p1'), result('p1')];
          await runSpec(mode, inConversation(client.prompt().messages(messages).tools(look)));

          expect(sentTexts(model)[0]).to.deep.equal(['[s]', '1?', '>p1', '<p1']);
        });
      });

      describe('inside the tool loop', () => {
        const script = [
          { toolCalls: [callOf('a'), callOf('b')] },
          { toolCalls: [callOf('c')] },
          '1!',
          '2!',
        ];
        const log = ['1?', '>a>b', '<a', '<b', '>c', '<c', '1!'];

        it('stores every iteration and provides the history of the loop', async () => {
          const { client, model, repository } = setUpMemory(script, { order: INSIDE });
          await runSpec(mode, inConversation(client.prompt('1?').tools(look)));
          await runSpec(mode, inConversation(client.prompt('2?')));

          expect(sentTexts(model)).to.deep.equal([
            ['[s]', '1?'],
            ['[s]', ...log.slice(0, 4)],
            ['[s]', ...log.slice(0, 6)],
            ['[s]', ...log, '2?'],
          ]);
          expect(await storedTexts(repository)).to.deep.equal([...log, '2?', '2!']);
        });

        it('[F60] sends messages once when the loop keeps its history too, and explain() warns', async () => {
          const { client, model, repository } = setUpMemory(
            script,
            { order: INSIDE },
            new ToolCallingAdvisor({ keepHistory: true }),
          );
          await runSpec(mode, inConversation(client.prompt('1?').tools(look)));

          expect(sentTexts(model)[2]).to.deep.equal(['[s]', ...log.slice(0, 6)]);
          expect(await storedTexts(repository)).to.deep.equal(log);
          expect(client.explain().warnings).to.have.length(1);
        });

        it('[F59] keeps the turn in progress whole', async () => {
          const repository = new InMemoryChatMemoryRepository();
          const chatMemory = new MessageWindowChatMemory({ repository, maxMessages: 2 });
          const { client, model } = setUpMemory(['0!', ...script], { order: INSIDE, chatMemory });
          await runSpec(mode, inConversation(client.prompt('0?')));
          await runSpec(mode, inConversation(client.prompt('1?').tools(look)));

          expect(sentTexts(model).at(-1)).to.deep.equal(['[s]', ...log.slice(0, 6)]);
          expect(await storedTexts(repository)).to.deep.equal(['0?', '0!', ...log]);
        });

        it('[F64] keeps concurrent turns whole', async () => {
          const { client, model, repository } = setUpMemory(
            ({ messages }) => {
              const name =
                shortTexts(messages)
                  .findLast((text) => text.endsWith('?'))
                  ?.slice(0, -1) ?? '';
              const steps = messages.filter(
                (message) =>
                  message.role === 'assistant' && callsOf(message)[0]?.id.startsWith(`${name}.`),
              ).length;
              return steps < 3 ? { toolCalls: [callOf(`${name}.${steps}`)] } : `${name}!`;
            },
            { order: INSIDE, chatMemory: undefined as never },
          );
          const names = Array.from({ length: 12 }, (_, at) => `${at}`);
          await Promise.all(
            names.map((name) =>
              runSpec(mode, inConversation(client.prompt(`${name}?`).tools(look))),
            ),
          );

          for (const { messages } of model.prompts)
            expect(invalidReason(messages)).to.equal(undefined);
          const { messages } = await repository.read('c');
          expect(messages).to.have.length(12 * 8);
          const whole = shortTexts(
            await new MessageWindowChatMemory({ repository, maxMessages: 100 }).get('c'),
          );
          for (const name of names) {
            const at = whole.indexOf(`${name}?`);
            const [a, b, c] = [0, 1, 2].map((step) => `${name}.${step}`);
            expect(whole.slice(at, at + 8)).to.deep.equal([
              `${name}?`,
              `>${a}`,
              `<${a}`,
              `>${b}`,
              `<${b}`,
              `>${c}`,
              `<${c}`,
              `${name}!`,
            ]);
          }
        });
      });
    });
});
