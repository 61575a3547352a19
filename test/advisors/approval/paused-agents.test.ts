import { expect } from 'chai';
import {
  agentTool,
  ChatClient,
  defineTool,
  TurnPausedError,
  type ChatResponse,
  type PausedTurn,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import {
  asking,
  decideAll,
  pauseOptions,
  pausingClient,
  pausingParts,
} from '../../support/paused-turns.js';

const calls = (...names: readonly string[]): ScriptedAnswer => ({
  toolCalls: names.map((name, at) => ({
    id: `c${at}`,
    name,
    arguments: name === 'agent' ? { message: 'Pay.' } : {},
  })),
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
});
const stateOf = ({ paused }: ChatResponse): string => (paused as PausedTurn).state;

/** An agent whose turn looks, then pays twice, and counts what runs. */
function agent(advisors = [...pausingParts(undefined), asking]) {
  const ran: string[] = [];
  const tool = (name: string, effect: 'read' | 'write') =>
    defineTool({ name, effect, execute: () => `${name} ${ran.push(name)}` });
  const note = defineTool({ name: 'note', execute: () => `noted ${ran.push('note')}` });
  const model = new ScriptedChatModel([calls('note', 'pay'), calls('pay'), 'Paid by agent.']);
  const client = ChatClient.builder(model)
    .defaultTools(tool('pay', 'write'), note)
    .defaultAdvisors(...advisors)
    .build();
  return { ran, model, tool: agentTool(client, { name: 'agent', description: 'Pays.' }) };
}

describe('a turn within a turn that pauses', () => {
  for (const mode of MODES)
    it(`pauses the outer turn, which reaches it when resumed (${mode})`, async () => {
      const { ran, model, tool } = agent();
      const outer = new ScriptedChatModel([calls('agent'), 'All done.']);
      const client = pausingClient(outer, [tool], pauseOptions());
      const first = await runSpec(mode, client.prompt('Go'));
      const ranAtFirst = [...ran];
      const second = await runSpec(mode, client.resume(stateOf(first), decideAll(first)));

      const end = await runSpec(mode, client.resume(stateOf(second), decideAll(second)));

      expect(first.paused?.requests.map(({ toolName }) => toolName)).to.deep.equal(['pay']);
      expect(ranAtFirst).to.deep.equal(['note']);
      expect(second.finishReason).to.equal('paused');
      expect(end.text).to.equal('All done.');
      expect(ran).to.deep.equal(['note', 'pay', 'pay']);
      expect([outer.prompts.length, model.prompts.length]).to.deep.equal([2, 3]);
    });

  it('has its requests beside the requests of the outer turn, in one state', async () => {
    const { ran, tool } = agent();
    const pay = defineTool({
      name: 'pay',
      effect: 'write',
      execute: () => `outer ${ran.push('outer pay')}`,
    });
    const outer = new ScriptedChatModel([calls('agent', 'pay'), 'All done.']);
    const client = pausingClient(outer, [tool, pay], pauseOptions());
    const first = await client.prompt('Go').call().chatResponse();
    const second = await client.resume(stateOf(first), decideAll(first)).call().chatResponse();

    const end = await client.resume(stateOf(second), decideAll(second)).call().content();

    expect(first.paused?.requests).to.have.length(2);
    expect(second.paused?.requests).to.have.length(1);
    expect(end).to.equal('All done.');
    expect(ran.toSorted()).to.deep.equal(['note', 'outer pay', 'pay', 'pay']);
  });

  it('fails the outer turn with a clear error if that cannot pause', async () => {
    const { tool } = agent([...pausingParts(pauseOptions()), asking]);
    const outer = ChatClient.builder(new ScriptedChatModel([calls('agent'), 'Done.']))
      .defaultTools(tool)
      .build();

    const error = await failureOf(outer.prompt('Go').call().content());

    expect(error).to.be.instanceOf(TurnPausedError);
    expect((error as TurnPausedError).paused).to.equal(undefined);
    expect((error as Error).message).to.include('the agent "agent" waits');
  });
});
