import fc from 'fast-check';
import { expect } from 'chai';
import {
  AdvisorOrder,
  defineAdvisor,
  InMemoryKeyValueStore,
  ModelCallError,
  textOf,
  type Advisor,
  type ChatModel,
  type Prompt,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { brokenPair, longTurn, tokensOf } from '../../support/compacted-turn.js';
import { assistant, user } from '../../support/conversation.js';
import { fuzz } from '../../support/fuzz.js';

const MAX = 2_500;

const WRITERS = {
  none: () => undefined,
  brief: () => new ScriptedChatModel(() => 'All fine so far.'),
  failing: () => new ScriptedChatModel(() => new ModelCallError('down')),
  talkative: () => new ScriptedChatModel(() => 'so '.repeat(1_800)),
} satisfies Readonly<Record<string, () => ChatModel | undefined>>;

const turn = fc.record({
  mode: fc.constantFrom('call', 'stream'),
  sizes: fc.array(
    fc.oneof(
      { weight: 8, arbitrary: fc.nat({ max: 400 }) },
      { weight: 2, arbitrary: fc.nat({ max: 3_000 }) },
      { weight: 1, arbitrary: fc.nat({ max: 60_000 }) },
    ),
    { maxLength: 90 },
  ),
  batch: fc.integer({ min: 1, max: 4 }),
  history: fc.array(fc.nat({ max: 1_500 }), { maxLength: 20 }),
  writer: fc.constantFrom(...(Object.keys(WRITERS) as (keyof typeof WRITERS)[])),
  clearTo: fc.constantFrom(0.2, 0.5, 0.8),
  keepIterations: fc.integer({ min: 1, max: 6 }),
  keepsResults: fc.boolean(),
  notes: fc.uniqueArray(fc.nat({ max: 30 }), { maxLength: 3 }),
});

const texts = ({ messages }: Prompt): readonly string[] =>
  messages.map((message) => textOf(message));

/** Adds messages of the user before some model calls. */
function notesBefore(calls: readonly number[]): Advisor {
  let count = 0;
  return defineAdvisor({
    name: 'notes',
    order: AdvisorOrder.STEERING,
    before: (request) => {
      const at = count++;
      return calls.includes(at)
        ? request.withTranscript((messages) => [...messages, user(`note ${at}`)])
        : request;
    },
  });
}

describe('CompactionAdvisor', () => {
  it('keeps any turn under the limit, with whole pairs and all that the user writes in it', async () => {
    const property = fc.asyncProperty(turn, async (drawn) => {
      const { mode, sizes, batch, history, writer, clearTo, keepIterations, keepsResults } = drawn;
      let page = 0;
      const answer = () => {
        if (page >= sizes.length) return 'Done.';
        const ids = Array.from({ length: Math.min(batch, sizes.length - page) }, () => page++);
        return {
          toolCalls: ids.map((id) => ({ id: `call_${id}`, name: 'read', arguments: { page: id } })),
        };
      };

      const { response, prompts, reports } = await longTurn(
        mode as 'call' | 'stream',
        sizes,
        {
          maxTokens: MAX,
          clearTo,
          keepIterations,
          model: WRITERS[writer](),
          ...(keepsResults && { offload: { store: new InMemoryKeyValueStore(), over: 4_000 } }),
        },
        {
          answer,
          messages: history.flatMap((size, at) => [
            user(`earlier ${at}`),
            assistant('a'.repeat(size)),
          ]),
          advisors: [notesBefore(drawn.notes)],
        },
      );

      expect(response?.text).to.equal('Done.');
      expect(Math.max(...prompts.map(tokensOf))).to.be.at.most(MAX);
      expect(brokenPair(prompts)).to.equal(undefined);
      prompts.forEach((prompt, at) => {
        const present = texts(prompt);
        expect(present).to.include('Read all pages.');
        for (const note of drawn.notes) if (note <= at) expect(present).to.include(`note ${note}`);
        const lastResult = prompt.messages.findLastIndex(({ role }) => role === 'tool');
        if (lastResult >= 0) expect(present[lastResult]).not.to.match(/^\[This result/);
      });
      for (const { before, after } of reports) expect(after).to.be.lessThan(before);
    });
    await fc.assert(property, fuzz('compaction', 500));
  });
});
