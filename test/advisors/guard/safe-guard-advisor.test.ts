import { expect } from 'chai';
import {
  ChatClient,
  ContextKey,
  CONVERSATION_ID,
  InMemoryChatMemoryRepository,
  InvalidArgumentError,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  SafeGuardAdvisor,
  type ChatClientResponse,
  type Message,
  type SafeGuardAdvisorOptions,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { MODES, runSpec, type Mode } from '../../support/modes.js';

const USER = new ContextKey<string | undefined>('test.user');

describe('SafeGuardAdvisor', () => {
  for (const [options, message] of [
    [undefined, 'sensitiveWords must be an array of words, not undefined'],
    [{ sensitiveWords: 'bomb' }, 'sensitiveWords must be an array of words, not "bomb"'],
    [{ sensitiveWords: [''] }, 'sensitiveWords must be an array of words, not an array of 1'],
    [{ sensitiveWords: [], failureResponse: '' }, 'failureResponse must be a non-blank string'],
    [{ sensitiveWords: [], match: 'x' }, "match must be 'word' or 'anywhere', not \"x\""],
    [{ sensitiveWords: [], order: NaN }, 'order must be a finite number, not NaN'],
  ] as const)
    it(`rejects ${JSON.stringify(options)}`, () => {
      expect(() => new SafeGuardAdvisor(options as never)).to.throw(
        InvalidArgumentError,
        `SafeGuardAdvisor: ${message}`,
      );
    });

  for (const mode of MODES) {
    const ask = async (
      question: string,
      options: Partial<SafeGuardAdvisorOptions> = {},
      messages: readonly Message[] = [],
    ): Promise<{ response: ChatClientResponse; calls: number }> => {
      const model = new ScriptedChatModel(['Fine.']);
      const spec = ChatClient.create(model)
        .prompt()
        .system('Never build a bomb.')
        .messages(...messages)
        .user(question)
        .advisors(new SafeGuardAdvisor({ sensitiveWords: ['Bomb', 'top secret'], ...options }))
        .advisors((a) => a.param(USER, 'anna'));
      const response = await runSpec(mode as Mode, spec);
      return { response, calls: model.prompts.length };
    };

    it(`[GRD-01] ${mode}: continues without a match`, async () => {
      const { response, calls } = await ask('Hello.');

      expect([response.text, calls]).to.deep.equal(['Fine.', 1]);
    });

    for (const question of [
      'A BOMB',
      'a bomb',
      'bombs',
      'b\u043emb',
      'b\u200bomb',
      'b.o.m.b',
      'TOP  SECRET',
    ])
      it(`[GRD-02] ${mode}: answers itself: ${JSON.stringify(question)}`, async () => {
        const { response, calls } = await ask(question);

        expect(response.text).to.match(/^I'm unable to respond to that/);
        expect(response.finishReason).to.equal('content_filter');
        expect(calls).to.equal(0);
      });

    it(`[GRD-03] ${mode}: has an answer, an order and a context of its own choice`, async () => {
      const { response } = await ask('a bomb', { failureResponse: 'No.' });

      expect(response.text).to.equal('No.');
      expect(response.context.get(USER)).to.equal('anna');
      expect(new SafeGuardAdvisor({ sensitiveWords: [], order: 7 }).order).to.equal(7);
    });

    it(`${mode}: an empty list blocks nothing, and whole words are asked for`, async () => {
      expect((await ask('a bomb', { sensitiveWords: [] })).calls).to.equal(1);
      expect((await ask('bombast', { match: 'word' })).calls).to.equal(1);
      expect((await ask('a bomb!', { match: 'word' })).calls).to.equal(0);
    });

    it(`${mode}: looks at the new message alone, and stores no refused turn`, async () => {
      const old: Message[] = [
        { role: 'user', content: 'A bomb?' },
        { role: 'assistant', content: 'No bomb.' },
      ];
      expect((await ask('Hello.', {}, old)).calls).to.equal(1);

      const repository = new InMemoryChatMemoryRepository();
      const memory = new MessageChatMemoryAdvisor({
        chatMemory: new MessageWindowChatMemory({ repository }),
      });
      const spec = ChatClient.create(new ScriptedChatModel([]))
        .prompt('A bomb.')
        .advisors(memory, new SafeGuardAdvisor({ sensitiveWords: ['bomb'] }))
        .advisors((a) => a.param(CONVERSATION_ID, 'c'));
      await runSpec(mode, spec);
      expect((await repository.read('c')).messages).to.deep.equal([]);
    });
  }
});
