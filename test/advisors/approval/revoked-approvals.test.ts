import { expect } from 'chai';
import {
  ApprovalAdvisor,
  ChatClient,
  CONVERSATION_ID,
  InMemoryKeyValueStore,
  type Decision,
  type ChatResponse,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { Remover, rm } from '../../support/approval.js';
import { MODES, runSpec } from '../../support/modes.js';
import { SECRET } from '../../support/paused-turns.js';

const store = (): InMemoryKeyValueStore => new InMemoryKeyValueStore();
const OF = { owner: 'anna', conversationId: 'c1' };

for (const mode of MODES)
  describe(`remembered decisions (${mode})`, () => {
    const allowing = (scope: 'conversation' | 'always') => {
      let asked = 0;
      const decide = (): Decision => (asked++, { type: 'allow', scope, by: 'bob' });
      const approval = new ApprovalAdvisor({ decide, scope: () => 'anna', store: store() });
      const run = (...paths: readonly string[]): Promise<ChatResponse> =>
        runSpec(
          mode,
          ChatClient.builder(new ScriptedChatModel([rm(...paths), 'Done.']))
            .defaultTools(new Remover().tool)
            .defaultAdvisors(approval)
            .build()
            .prompt('?')
            .advisors((a) => a.param(CONVERSATION_ID, 'c1')),
        );
      return { approval, run, asked: () => asked };
    };

    for (const scope of ['conversation', 'always'] as const)
      it(`[D91] are listed, and asked for again once revoked: ${scope}`, async () => {
        const { approval, run, asked } = allowing(scope);
        await run('a', 'b');

        const listed = await approval.remembered(OF);
        const isRevoked = await approval.revoke(OF, listed[0]?.id ?? '');
        await run('a', 'b');

        expect(
          listed.map(({ at, id, ...rest }) => (at > 0 && id ? rest : undefined)),
        ).to.have.deep.members(
          ['a', 'b'].map((path) => ({
            scope,
            toolName: 'rm',
            arguments: `{"path":"${path}"}`,
            by: 'bob',
          })),
        );
        expect([isRevoked, asked()]).to.deep.equal([true, 3]);
        expect(await approval.revoke(OF, 'other')).to.equal(false);
        expect(await approval.remembered({ owner: 'eve', conversationId: 'c1' })).to.deep.equal([]);
      });

    it('[D91] stay revoked when the turn of the decision is resumed', async () => {
      const remover = new Remover();
      const pause = { secrets: SECRET, store: store() };
      const approval = new ApprovalAdvisor({ pause, scope: () => 'anna' });
      const client = ChatClient.builder(new ScriptedChatModel([rm('a', 'b'), 'Done.']))
        .defaultTools(remover.tool)
        .defaultAdvisors(approval)
        .build();
      const allow: Decision = { type: 'allow', scope: 'always' };
      const first = await runSpec(mode, client.prompt('?'));
      const [a, b] = first.paused?.requests ?? [];
      const second = await runSpec(mode, client.resume(first.paused?.state ?? '', { [a?.id ?? '']: allow })); // prettier-ignore
      const [listed] = await approval.remembered({ owner: 'anna' });
      await approval.revoke({ owner: 'anna' }, listed?.id ?? '');

      await runSpec(mode, client.resume(second.paused?.state ?? '', { [b?.id ?? '']: { type: 'allow' } })); // prettier-ignore

      expect(remover.removed).to.deep.equal(['a', 'b']);
      expect(await approval.remembered({ owner: 'anna' })).to.deep.equal([]);
    });
  });
