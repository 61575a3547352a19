import { expect } from 'chai';
import {
  defineAdvisor,
  InMemoryChatMemoryRepository,
  MessageWindowChatMemory,
  ModelCallError,
  toolCallingAutoRegister,
  type MessageChatMemoryAdvisorOptions,
  type PromptSpec,
} from '../../../src/index.js';
import type { Script } from '../../../src/testing/index.js';
import { result, user } from '../../support/conversation.js';
import {
  callOf,
  inConversation,
  INSIDE,
  look,
  setUpMemory,
  storedTexts,
} from '../../support/memory-advisor.js';
import { failureOf, MODES, runSpec, type Mode } from '../../support/modes.js';

/** Gives each turn the same id, like an engine that runs a turn again. */
const sameTurn = defineAdvisor({
  name: 'same-turn',
  order: 0,
  before: (request) => request.with({ turnId: 'turn 7' }),
});

function setUp(script: Script, options: Partial<MessageChatMemoryAdvisorOptions> = {}) {
  const { client, repository } = setUpMemory(script, options, sameTurn);
  const ask = (mode: Mode, change: (spec: PromptSpec) => PromptSpec = (spec) => spec) =>
    runSpec(mode, change(inConversation(client.prompt('1?'))));
  return { repository, ask, client };
}

describe('MessageChatMemoryAdvisor and a turn that runs again under its id', () => {
  for (const mode of MODES)
    describe(mode, () => {
      it('[D44] stores it once', async () => {
        const { repository, ask } = setUp(['1!', 'one!']);
        await ask(mode);
        await ask(mode);

        expect(await storedTexts(repository)).to.deep.equal(['1?', '1!']);
      });

      it('stores the continuation of a turn with open calls', async () => {
        const { repository, ask, client } = setUp([{ toolCalls: [callOf('a')] }, '1!']);
        const byHand = (spec: PromptSpec): PromptSpec =>
          spec.advisors(toolCallingAutoRegister(false)).tools(look);
        await ask(mode, byHand);
        await runSpec(mode, byHand(inConversation(client.prompt().messages(result('a')))));

        expect(await storedTexts(repository)).to.deep.equal(['1?', '>a', '<a', '1!']);
      });

      it('[D73] stores the answer in place of a partial one', async () => {
        const cut = new ModelCallError('cut', { partialText: 'half' });
        const script: Script = [{ deltas: ['half'], error: cut }, '1!'];
        const { repository, ask } = setUp(script, { onIncomplete: 'keep-partial' });
        await failureOf(ask(mode));
        await ask(mode);

        expect(await storedTexts(repository)).to.deep.equal(['1?', '1!']);
      });

      it('[D74] stores all iterations of a memory inside the loop, once', async () => {
        const script: Script = [{ toolCalls: [callOf('a')] }, '1!', '2!'];
        const { repository, ask } = setUp(script, { order: INSIDE });
        await ask(mode, (spec) => spec.tools(look));
        await ask(mode);

        expect(await storedTexts(repository)).to.deep.equal(['1?', '>a', '<a', '1!']);
      });
    });

  it('stores each answer of an advisor that runs the rest of the chain twice', async () => {
    const twice = defineAdvisor({
      name: 'twice',
      order: 0,
      around: async (request, next) => {
        await next(request);
        return next(request);
      },
    });
    const { client, repository } = setUpMemory(['1!', 'one!'], {}, twice);
    await runSpec('call', inConversation(client.prompt('1?')));

    expect(await storedTexts(repository)).to.deep.equal(['1?', '1!', '1?', 'one!']);
  });
});

describe('A chat memory whose store lost a write', () => {
  it('[D44] [F74] reports that another turn was stored instead', async () => {
    const repository = new InMemoryChatMemoryRepository();
    const append = repository.append.bind(repository);
    repository.append = async (id, messages) => {
      repository.append = append;
      await repository.append(id, [user('another')]);
      throw new Error(`the connection of ${messages.length} messages broke`);
    };
    const memory = new MessageWindowChatMemory({ repository });
    const failure = await failureOf(memory.add('c', [user('1?')], { expectedVersion: 0 }));

    expect(failure).to.have.property('code', 'memory_conflict');
    expect(await storedTexts(repository)).to.deep.equal(['another']);
  });
});
