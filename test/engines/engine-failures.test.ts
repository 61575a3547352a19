import { expect } from 'chai';
import {
  defineTool,
  DurableTurnError,
  InMemoryDurableEngine,
  toolResult,
  type DurableEngine,
} from '../../src/index.js';
import type { JsonValue } from '../../src/core/internal/json.js';
import { DurableRun } from '../../src/engines/recorder/durable-run.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../src/testing/index.js';
import { durableSpec, finish, type DurableTurn } from '../support/durable.js';
import { failureOf, MODES } from '../support/modes.js';

const ANSWERS: readonly ScriptedAnswer[] = [
  { toolCalls: [{ name: 'look', id: 'c1', arguments: {} }] },
  'Done.',
];

function turnOf(execute: () => unknown): DurableTurn & { readonly model: ScriptedChatModel } {
  const model = new ScriptedChatModel(ANSWERS);
  return { model, tools: [defineTool({ name: 'look', effect: 'read', execute })] };
}

/** An engine whose database does not take the record of a step. */
class FailingEngine extends InMemoryDurableEngine implements DurableEngine {
  constructor(private readonly failing: string) {
    super();
  }

  override async step<T extends JsonValue>(name: string, run: () => Promise<T>): Promise<T> {
    return super.step(name, async () => {
      const value = await run();
      if (name === this.failing) throw new Error('the database is away');
      return value;
    });
  }
}

describe('the engine of a durable turn', () => {
  it('has failed if it loses a step whose second try has succeeded', async () => {
    const engine = new InMemoryDurableEngine();
    engine.step = async (_name, run) => {
      await run().catch(() => run());
      throw new Error('the database is away');
    };
    const run = new DurableRun(engine);
    const ends = [Promise.reject(new Error('busy')), Promise.resolve(1)];
    ends[0]?.catch(() => undefined);

    const error = await failureOf(run.stepOf('count', () => ends.shift() ?? Promise.resolve(2)));

    expect(error).to.be.instanceOf(Error).with.property('message', 'the database is away');
    expect(run.isLost).to.equal(true);
  });
});

for (const mode of MODES)
  describe(`a durable turn (${mode})`, () => {
    for (const step of ['model 0', 'tool look c1', 'model 1'])
      it(`ends, and shows the model nothing, if its engine cannot record "${step}"`, async () => {
        const turn = turnOf(() => 'found');
        const { error } = await finish(durableSpec(turn, new FailingEngine(step)), mode);

        expect(String((error as Error).cause ?? error)).to.include('the database is away');
        expect(turn.model.prompts).to.have.length(step === 'model 1' ? 2 : 1);
      });

    it('ends with a DurableTurnError if JSON cannot hold the result of a tool', async () => {
      const turn = turnOf(() =>
        toolResult({ content: [{ type: 'raw', value: { at: new Map() } } as never] }),
      );
      const { error } = await finish(durableSpec(turn, new InMemoryDurableEngine()), mode);

      expect(error).to.be.instanceOf(DurableTurnError);
      expect(String(error)).to.include('the result of the tool "look"');
      expect(turn.model.prompts).to.have.length(1);
    });

    it('ends with a DurableTurnError if JSON cannot hold an answer', async () => {
      const model = new ScriptedChatModel([{ text: 'Hi.', metadata: { at: new Map() } as never }]);
      const { error } = await finish(durableSpec({ model }, new InMemoryDurableEngine()), mode);

      expect(error).to.be.instanceOf(DurableTurnError);
      expect(String(error)).to.include('metadata.at is');
    });
  });
