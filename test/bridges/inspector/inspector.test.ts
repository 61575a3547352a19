import { expect } from 'chai';
import { Inspector } from '../../../src/bridges/inspector/index.js';
import { ChatClient, defineTool, ModelCallError, RetryAdvisor } from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { MODES, runSpec } from '../../support/modes.js';

const names = (turn: { readonly timeline: readonly { kind: string; name: string }[] }): string[] =>
  turn.timeline.map(({ kind, name }) => `${kind} ${name}`);

describe('Inspector', () => {
  for (const mode of MODES)
    it(`records a turn with three tools, a retry and a retract (${mode})`, async () => {
      const { inspector, client } = inspectedClient();

      const response = await runSpec(mode, client.prompt('Weather in three towns?'));

      const [summary] = inspector.turns();
      expect(summary).to.deep.include({
        source: 'application',
        mode,
        outcome: 'answered',
        question: 'Weather in three towns?',
        answer: response.text,
        iterations: 2,
        toolCalls: 3,
        model: 'scripted',
      });
      const turn = inspector.turn(summary?.id ?? '');
      expect(turn?.chain.advisors.map(({ name, place }) => `${place} ${name}`)).to.deep.equal([
        'loop tool-calling',
        'iteration retry',
      ]);
      expect(turn && names(turn)).to.deep.equal([
        'advisor tool-calling',
        'advisor retry',
        'model-call scripted',
        'tool-call weather',
        'tool-call weather',
        'tool-call weather',
        'advisor retry',
        'model-call scripted',
        'retry retry',
        'model-call scripted',
        ...(mode === 'stream' ? ['retract retract'] : []),
      ]);
      expect(turn?.requests.map(({ iteration, attempt }) => [iteration, attempt])).to.deep.equal([
        [0, 1],
        [1, 1],
        [1, 2],
      ]);
      const since = turn?.requests.map(({ sincePrevious }) =>
        sincePrevious?.map(({ advisor, change }) => `${advisor} ${change.type}`),
      );
      const loop = 'tool-calling message-added';
      expect(since).to.deep.equal([undefined, [loop, loop, loop, loop], []]);
    });
});

/** A client whose second iteration fails in the middle of its answer, once. */
function inspectedClient(): { readonly inspector: Inspector; readonly client: ChatClient } {
  const inspector = new Inspector({ allowInProduction: true });
  const weather = defineTool({
    name: 'weather',
    input: { type: 'object', properties: { town: { type: 'string' } } },
    execute: ({ town }: { readonly town?: string }) => `sun in ${town}`,
  });
  const towns = ['Ulm', 'Bonn', 'Kiel'];
  const model = new ScriptedChatModel([
    { toolCalls: towns.map((town) => ({ name: 'weather', arguments: { town } })) },
    { text: 'Sun in', error: new ModelCallError('overloaded', { status: 503, retryable: true }) },
    { text: 'Sun everywhere.', usage: { inputTokens: 9, outputTokens: 3, totalTokens: 12 } },
  ]);
  const client = ChatClient.builder(model)
    .defaultTools(weather)
    .defaultAdvisors(new RetryAdvisor({ firstDelay: 0 }), inspector)
    .build();
  return { inspector, client };
}
