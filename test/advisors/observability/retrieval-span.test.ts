import { expect } from 'chai';
import {
  ChatClient,
  knowledgeTool,
  ObservabilityAdvisor,
  RetrievalAdvisor,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { failureOf, MODES, runSpec, type Mode } from '../../support/modes.js';
import { recordSpans } from '../../support/recorded-spans.js';
import { REFUNDS, WordRetriever } from '../../support/word-retriever.js';

const shop = new WordRetriever({ shop: [REFUNDS] });
const broken = { name: 'wiki', retrieve: () => Promise.reject(new TypeError('no')) };

async function spansOf(mode: Mode, captureContent: boolean, retrievers = [shop]) {
  const recording = recordSpans();
  const spec = ChatClient.create(new ScriptedChatModel(['So.']))
    .prompt('refund?')
    .advisors(
      new ObservabilityAdvisor({ tracer: recording.tracer, captureContent }),
      new RetrievalAdvisor({ retriever: retrievers, scope: () => 'shop' }),
    );
  await failureOf(runSpec(mode, spec));
  const { spans, problems } = recording;
  const names = new Map(spans.map((span) => [span.spanContext().spanId, span.name]));
  const retrievals = spans.filter(({ name }) => name.startsWith('retrieval '));
  const parentOf = (span: (typeof spans)[number]): string | undefined =>
    names.get(span.parentSpanContext?.spanId ?? '');
  return { retrievals, problems, parentOf };
}

describe('ObservabilityAdvisor, retrieval', () => {
  for (const mode of MODES) {
    it(`${mode}: has a span for each search, within the advisor's`, async () => {
      const { retrievals, problems, parentOf } = await spansOf(mode, false);

      expect(problems).to.deep.equal([]);
      expect(retrievals.map(({ name }) => name)).to.deep.equal(['retrieval handbook']);
      expect(retrievals.map(parentOf)).to.deep.equal(['advisor retrieval']);
      expect(retrievals[0]?.attributes).to.deep.equal({
        'gen_ai.operation.name': 'retrieval',
        'gen_ai.data_source.id': 'handbook',
        'advisor_chain.outcome': 'success',
      });
    });

    it(`${mode}: has the query and the ids of the documents, if content is recorded`, async () => {
      const { retrievals } = await spansOf(mode, true);

      expect(retrievals[0]?.attributes).to.include({
        'gen_ai.retrieval.query.text': 'refund?',
        'gen_ai.retrieval.documents': '[{"id":"handbook#3","score":1}]',
      });
    });

    it(`${mode}: has a span for a search by the model`, async () => {
      const recording = recordSpans();
      const spec = ChatClient.create(
        new ScriptedChatModel([
          { toolCalls: [{ name: 'search_knowledge', arguments: '{"query":"refund"}' }] },
          'So.',
        ]),
      )
        .prompt('?')
        .tools(knowledgeTool({ retriever: shop, scope: () => 'shop' }))
        .advisors(new ObservabilityAdvisor({ tracer: recording.tracer }));

      await runSpec(mode, spec);

      expect(recording.problems).to.deep.equal([]);
      expect(recording.spans.map(({ name }) => name)).to.include('retrieval handbook');
    });

    it(`${mode}: has the error of a retriever`, async () => {
      const { retrievals, problems } = await spansOf(mode, false, [broken as never]);

      expect(problems).to.deep.equal([]);
      expect(retrievals[0]?.attributes).to.include({ 'error.type': 'TypeError' });
    });
  }
});
