import { expect } from 'chai';
import { throwError } from 'rxjs';
import {
  AdvisorOrder,
  ChatClient,
  defineTool,
  InvalidArgumentError,
  SimulatedStreamingAdvisor,
  type ChatEvent,
  type ChatModel,
} from '../../src/index.js';
import { ScriptedChatModel, type Script } from '../../src/testing/index.js';
import { MODES, runSpec } from '../support/modes.js';
import { recorder, summary } from '../support/turn.js';

const noop = defineTool({ name: 'noop', execute: () => 'ok' });
const SCRIPT: Script = [
  { text: 'Wait.', toolCalls: [{ id: 'c1', name: 'noop', arguments: {} }] },
  { text: 'Yes, two.', reasoning: 'Hm.' },
];

/** A model whose streams fail. */
function withoutStreams(script: Script): ChatModel & { readonly scripted: ScriptedChatModel } {
  const scripted = new ScriptedChatModel(script);
  return {
    scripted,
    defaultOptions: { model: 'whole' },
    call: (prompt, run) => scripted.call(prompt, run),
    stream: () => throwError(() => new Error('no streams')),
  };
}

describe('SimulatedStreamingAdvisor', () => {
  it('rejects a condition that is no function', () => {
    expect(() => new SimulatedStreamingAdvisor({ when: true as never })).to.throw(
      InvalidArgumentError,
      'SimulatedStreamingAdvisor: when must be a function, not true',
    );
  });

  it('streams each iteration of a model that cannot, with reasoning, tool calls and one ledger', async () => {
    const events: ChatEvent[] = [];
    const client = ChatClient.builder(withoutStreams(SCRIPT))
      .defaultTools(noop)
      .defaultAdvisors(recorder(events), new SimulatedStreamingAdvisor())
      .build();

    const { ledger } = await runSpec('stream', client.prompt('?'));

    expect(summary(events)).to.deep.equal([
      'text-delta Wait.',
      'tool-call-delta 0 noop',
      'iteration 0 noop',
      'tool-call c1 noop',
      'tool-result c1 "ok"',
      'step 0',
      'reasoning-delta Hm.',
      'text-delta Yes, two.',
      'response Yes, two.',
    ]);
    expect(ledger).to.have.lengthOf(2);
  });

  it('streams the answer alone left of the loop', async () => {
    const events: ChatEvent[] = [];
    const left = new SimulatedStreamingAdvisor({ order: AdvisorOrder.GUARD });
    const client = ChatClient.builder(withoutStreams(SCRIPT)).defaultTools(noop).build();

    await runSpec('stream', client.prompt('?').advisors(recorder(events), left));

    const deltas = events.flatMap((event) => (event.type === 'text-delta' ? event.text : []));
    expect(deltas).to.deep.equal(['Yes, two.']);
  });

  it('leaves streams alone that `when` does not name', async () => {
    const deltas: string[] = [];
    const when = (): boolean => false;
    const model = new ScriptedChatModel([{ text: 'Yes, two.', deltas: ['Yes, ', 'two.'] }]);
    const spec = ChatClient.create(model).prompt('?');

    for await (const text of spec.advisors(new SimulatedStreamingAdvisor({ when })).stream())
      deltas.push(text);

    expect(deltas).to.deep.equal(['Yes, ', 'two.']);
  });

  for (const mode of MODES) {
    it(`${mode}: gives the same answer as without it`, async () => {
      const run = (advised: boolean) =>
        runSpec(
          mode,
          ChatClient.create(new ScriptedChatModel(SCRIPT))
            .prompt('?')
            .tools(noop)
            .advisors(...(advised ? [new SimulatedStreamingAdvisor()] : [])),
        );

      const [simulated, own] = await Promise.all([run(true), run(false)]);

      expect(simulated.message).to.deep.equal(own.message);
      expect(simulated.usage).to.deep.equal(own.usage);
    });
  }

  it('ends the call when its stream is left', async () => {
    const model = withoutStreams(() => ({ text: 'Yes.', delay: 60_000 }));
    const spec = ChatClient.create(model).prompt('?').advisors(new SimulatedStreamingAdvisor());

    const subscription = spec.stream().events().subscribe();
    subscription.unsubscribe();

    expect(model.scripted.prompts).to.have.lengthOf(1);
    expect(model.scripted.cancelled).to.equal(1);
  });
});
