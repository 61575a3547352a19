import { expect } from 'chai';
import {
  DefaultsAdvisor,
  defineTool,
  InMemoryDurableEngine,
  RetrievalAdvisor,
  textOf,
  type Document,
} from '../../../src/index.js';
import { ScriptedChatModel, type Script } from '../../../src/testing/index.js';
import { askModel } from '../../../src/core/observation/ask-model.js';
import { Prompt } from '../../../src/core/chat/prompt.js';
import { durableSpec, finish, KilledEngine, type DurableTurn } from '../../support/durable.js';
import { MODES } from '../../support/modes.js';
import { REFUNDS, WordRetriever } from '../../support/word-retriever.js';

const SCRIPT: Script = ({ messages }) =>
  messages.some(({ role }) => role === 'tool')
    ? '14 days.'
    : { toolCalls: [{ name: 'look', id: 'c1' }] };

function turn(documents: readonly Document[] = [REFUNDS]) {
  const model = new ScriptedChatModel(SCRIPT);
  const small = new ScriptedChatModel(() => ({
    text: 'refund',
    usage: { inputTokens: 7, outputTokens: 1, totalTokens: 8 },
  }));
  const retriever = new WordRetriever({ shop: documents });
  const look = defineTool({ name: 'look', effect: 'read', execute: () => 'found' });
  const rewrite = new RetrievalAdvisor({
    retriever,
    scope: () => 'shop',
    transformers: [
      async (query) => {
        const { text } = await askModel(small, new Prompt(query.text), query.signal);
        return { ...query, text: text ?? '' };
      },
    ],
  });
  const parts: DurableTurn = {
    model,
    tools: [look],
    advisors: [rewrite, new DefaultsAdvisor({})],
    spec: (spec) => spec.user('How long does it take?'),
  };
  return { parts, model, small, retriever };
}

describe('RetrievalAdvisor, durable', () => {
  for (const mode of MODES) {
    it(`${mode}: asks no store and no model again in a replay, and counts their usage`, async () => {
      const engine = new InMemoryDurableEngine();
      const first = turn();
      const whole = await finish(durableSpec(first.parts, engine), mode);
      const again = turn([]);

      const replayed = await finish(
        durableSpec(again.parts, new InMemoryDurableEngine(engine.entries())),
        mode,
      );

      expect(engine.entries()[0]?.[0]).to.equal('retrieval');
      expect(first.retriever.queries).to.have.length(1);
      expect(again.retriever.queries).to.have.length(0);
      expect([again.model.prompts, again.small.prompts]).to.deep.equal([[], []]);
      expect(replayed.response?.text).to.equal('14 days.');
      expect(replayed.response?.metadata).to.deep.equal(whole.response?.metadata);
      expect(replayed.response?.usage).to.deep.equal(whole.response?.usage);
    });

    for (const at of [0, 1, 2, 3])
      it(`${mode}: continues with the same documents after a kill at step ${at}`, async () => {
        const killed = new KilledEngine([], { at, place: 'after' });
        await finish(durableSpec(turn().parts, killed), mode);
        // the index has changed meanwhile
        const next = turn(at === 0 ? [REFUNDS] : []);

        const { response, error } = await finish(
          durableSpec(next.parts, new InMemoryDurableEngine(killed.inner.entries())),
          mode,
        );

        expect(error).to.equal(undefined);
        expect(response?.text).to.equal('14 days.');
        expect(next.retriever.queries).to.have.length(at === 0 ? 1 : 0);
        for (const { messages } of next.model.prompts)
          expect(messages.map((each) => textOf(each)).join('\n')).to.include(
            'A refund takes 14 days',
          );
      });
  }
});
