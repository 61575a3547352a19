import { expect } from 'chai';
import {
  AdvisorContext,
  ChatClient,
  ChatClientRequest,
  CONVERSATION_ID,
  InvalidArgumentError,
  Prompt,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';

const RULE = 'must be a non-blank string of at most 512 characters, without NUL and unpaired';
const INVALID = { 'too long': 'x'.repeat(513), 'with NUL': 'a\0b', 'half an emoji': 'a\ud83d' };

describe('ids of a request', () => {
  for (const [what, id] of Object.entries(INVALID))
    it(`[D107] [D89] are refused when the request is made: ${what}`, () => {
      const spec = ChatClient.create(new ScriptedChatModel([])).prompt('Refund it.');
      const makers = [
        () => spec.turnId(id),
        () => spec.conversation(id),
        () => spec.advisors((a) => a.param(CONVERSATION_ID, id)),
        () => new ChatClientRequest({ prompt: new Prompt('x'), mode: 'call', turnId: id }),
      ];

      for (const make of makers) expect(make).to.throw(InvalidArgumentError, RULE);
    });

  it('[D107] may have 512 characters of any language', async () => {
    const id = '東'.repeat(512);
    const spec = ChatClient.create(new ScriptedChatModel(['ok']))
      .prompt('?')
      .turnId(id);

    const { context } = await spec.conversation(id).call().chatClientResponse();

    expect(context).to.be.instanceOf(AdvisorContext);
    expect(context.get(CONVERSATION_ID)).to.equal(id);
  });
});
