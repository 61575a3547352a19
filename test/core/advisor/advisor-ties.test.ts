import { expect } from 'chai';
import {
  AdvisorOrder,
  ChatClient,
  CONVERSATION_ID,
  defineAdvisor,
  GuardAdvisor,
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  secretRule,
  type Advisor,
  type AdvisorTrait,
} from '../../../src/index.js';
import { explainChain } from '../../../src/core/advisor/explain.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { MODES, runSpec } from '../../support/modes.js';

const KEY = `ghp_${'a1B2'.repeat(9)}`;
const place = { name: '', order: 5_100, before: () => undefined } as const;
const plain = (name: string): Advisor => defineAdvisor({ ...place, name });
const withTraits = (...traits: readonly AdvisorTrait[]): Advisor =>
  defineAdvisor({ ...place, name: traits.join('+'), traits });
const memory = defineAdvisor({ ...place, name: 'memory', role: 'chat-memory' });

describe('advisors of one order', () => {
  for (const [what, given, expected] of [
    ['keep their registration order', [plain('b'), plain('a')], 'b a'],
    [
      'stand left of the memory if they guard questions',
      [memory, withTraits('guards-input')],
      'guards-input memory',
    ],
    [
      'stand right of the memory if they guard answers',
      [withTraits('guards-output'), memory],
      'memory guards-output',
    ],
    [
      'stand right of the memory if they rewrite texts',
      [withTraits('rewrites-answers'), withTraits('rewrites-question'), memory],
      'memory rewrites-answers rewrites-question',
    ],
    [
      'keep the places of the others',
      [withTraits('guards-output'), plain('x'), memory],
      'memory x guards-output',
    ],
  ] as const)
    it(`[D95] ${what}`, () => {
      expect(explainChain(given).oncePerTurn.join(' ')).to.equal(expected);
    });

  for (const mode of MODES)
    for (const isGuardFirst of [true, false])
      it(`[D95] a memory inside the loop has no secret, guard ${isGuardFirst ? 'first' : 'last'} (${mode})`, async () => {
        const repository = new InMemoryChatMemoryRepository();
        const guard = new GuardAdvisor({ output: [{ rules: secretRule(), action: 'redact' }] });
        const inside = new MessageChatMemoryAdvisor({
          chatMemory: new MessageWindowChatMemory({ repository }),
          order: AdvisorOrder.TOOL_CALLING + 100,
        });
        const client = ChatClient.builder(new ScriptedChatModel([`The key is ${KEY}`]))
          .defaultAdvisors(...(isGuardFirst ? [guard, inside] : [inside, guard]))
          .build();

        const spec = client.prompt('Which key?').advisors((a) => a.param(CONVERSATION_ID, 'anna'));
        const { text } = await runSpec(mode, spec);

        expect(text).to.equal('The key is [github-token]');
        const stored = JSON.stringify((await repository.read('anna')).messages);
        expect(stored).to.include('The key is').and.not.include(KEY);
        expect(client.explain().warnings).to.deep.equal([]);
      });
});
