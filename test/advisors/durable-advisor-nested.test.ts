import { expect } from 'chai';
import {
  agentTool,
  ChatClient,
  defineTool,
  DurableAdvisor,
  InMemoryDurableEngine,
  type DurableEngine,
  type DurableEntries,
} from '../../src/index.js';
import { ScriptedChatModel, type Script, type ScriptedAnswer } from '../../src/testing/index.js';
import { durableSpec, finish, KilledEngine, type Finished } from '../support/durable.js';
import { MODES, type Mode } from '../support/modes.js';

const USAGE = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };

/** Answers by the iteration, also in a process that continues a turn. */
const byIteration =
  (answers: readonly ScriptedAnswer[]): Script =>
  ({ messages }) =>
    answers[messages.filter(({ role }) => role === 'assistant').length] as ScriptedAnswer;

const outer = (): ScriptedChatModel =>
  new ScriptedChatModel(
    byIteration([
      {
        usage: USAGE,
        toolCalls: [
          { name: 'agent', id: 'a1', arguments: { message: 'one' } },
          { name: 'agent', id: 'a2', arguments: { message: 'two' } },
        ],
      },
      { text: 'Done.', usage: USAGE },
    ]),
  );
const inner = (): ScriptedChatModel =>
  new ScriptedChatModel(
    byIteration([
      { usage: USAGE, toolCalls: [{ name: 'look', id: 'c1' }] },
      { text: 'Found.', usage: USAGE },
    ]),
  );

/** A turn whose tool is an agent with a durable client of its own, or a plain one. */
class Agents {
  looked = 0;
  readonly models = { outer: outer(), inner: inner() };

  constructor(private readonly isDurable: boolean) {}

  run(mode: Mode, engine: DurableEngine): Promise<Finished> {
    const look = defineTool({
      name: 'look',
      effect: 'read',
      execute: () => `look ${++this.looked}`,
    });
    // without an outer turn its engine would fail
    const durable = this.isDurable ? [new DurableAdvisor({ engine: () => undefined })] : [];
    const client = ChatClient.builder(this.models.inner)
      .defaultTools(look)
      .defaultAdvisors(...durable)
      .build();
    const agent = agentTool(client, { name: 'agent', effect: 'read' });
    return finish(durableSpec({ model: this.models.outer, tools: [agent] }, engine), mode);
  }
}

const names = (entries: DurableEntries): readonly string[] => entries.map(([name]) => name).sort();

for (const mode of MODES)
  describe(`agents in a durable turn (${mode})`, () => {
    it('steps of an agent with a DurableAdvisor are steps of the outer turn', async () => {
      const engine = new InMemoryDurableEngine();
      await new Agents(true).run(mode, engine);

      expect(names(engine.entries())).to.deep.equal([
        'model 0',
        'model 1',
        'tool agent a1/model 0',
        'tool agent a1/model 1',
        'tool agent a1/tool look c1',
        'tool agent a2/model 0',
        'tool agent a2/model 1',
        'tool agent a2/tool look c1',
      ]);
    });

    it('the call of an agent without one is a step', async () => {
      const engine = new InMemoryDurableEngine();
      await new Agents(false).run(mode, engine);

      expect(names(engine.entries())).to.deep.equal([
        'model 0',
        'model 1',
        'tool agent a1',
        'tool agent a2',
      ]);
    });

    for (const isDurable of [true, false])
      it(`ends as if it was not killed, at whichever step, agent durable: ${isDurable}`, async () => {
        const whole = new KilledEngine([]);
        const { response: expected } = await new Agents(isDurable).run(mode, whole);

        for (let at = 0; at < whole.ran.length; at++) {
          const killed = new KilledEngine([], { at, place: 'after' });
          await new Agents(isDurable).run(mode, killed);
          const second = new Agents(isDurable);
          const engine = new KilledEngine(killed.inner.entries());
          const { response } = await second.run(mode, engine);

          expect(response?.run?.transcript).to.deep.equal(expected?.run?.transcript);
          expect(response?.usage, killed.ran[at]).to.deep.equal(expected?.usage);
          const made = response?.run?.ledger.map(({ outcome, usage }) => [outcome, usage]);
          expect(made).to.deep.equal(
            expected?.run?.ledger.map(({ outcome, usage }) => [outcome, usage]),
          );
          const asked = engine.ran.filter((name) => name.includes('model')).length;
          if (isDurable)
            expect(
              second.models.outer.prompts.length + second.models.inner.prompts.length,
            ).to.equal(asked);
        }
      });
  });
