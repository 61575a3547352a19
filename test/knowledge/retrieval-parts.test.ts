import { expect } from 'chai';
import {
  ChatClient,
  InMemoryVectorStore,
  RetrievalAdvisor,
  type Message,
  type RetrievalAdvisorOptions,
} from '../../src/index.js';
import {
  compressQuery,
  expandQuery,
  limitTokens,
  minimumScore,
  rerankDocuments,
  rewriteQuery,
  withNeighbours,
  type Document,
  type DocumentRetriever,
  type Reranker,
} from '../../src/knowledge/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { MODES, runSpec } from '../support/modes.js';
import { idsOf } from '../support/queries.js';

const SENTENCES = ['Rome is old. ', 'Romulus founded it. ', 'It has hills. ', 'Paris has none. '];
let end = 0;
const CHUNKS = SENTENCES.map((text, chunk): Document => {
  const start = end;
  end += text.length;
  return { id: `guide#${chunk}`, text, metadata: { document: 'guide', chunk, start, end } };
});

/** Finds the chunks with a word of the query; knows the texts that it was asked. */
class WordRetriever implements DocumentRetriever {
  readonly asked: string[] = [];

  async retrieve({ text }: { readonly text: string }): Promise<readonly Document[]> {
    this.asked.push(text);
    const words = text.split(' ');
    return CHUNKS.filter((chunk) => words.some((word) => chunk.text.includes(word)));
  }
}

const HISTORY: readonly Message[] = [
  { role: 'user', content: 'Where is Rome?' },
  { role: 'assistant', content: 'In Italy.' },
];
const reranker: Reranker = {
  rerank: async (_query, texts) => ({
    scores: texts.map((text) =>
      text.includes('founded') ? 0.9 : text.includes('Rome') ? 0.5 : 0.1,
    ),
    model: 'reranker',
  }),
};

for (const mode of MODES)
  describe(`parts of a retrieval in a turn (${mode})`, () => {
    const turn = async (options: Partial<RetrievalAdvisorOptions>) => {
      const retriever = new WordRetriever();
      const model = new ScriptedChatModel([{ text: 'In 753 BC.', model: 'chat' }]);
      const client = ChatClient.builder(model)
        .defaultAdvisors(new RetrievalAdvisor({ retriever, scope: () => 'docs', ...options }))
        .build();
      const spec = client
        .prompt()
        .messages(...HISTORY)
        .user('And its foundation?');
      const response = await runSpec(mode, spec);
      const documents = response.metadata?.['documents'] as readonly Document[];
      return { asked: retriever.asked, documents, ledger: response.run?.ledger, model };
    };

    it('[RAG-05] searches by the transformed and expanded queries, and joins what they find', async () => {
      const small = new ScriptedChatModel(
        ['foundation of Rome', 'founded Rome', 'hills\nParis'].map((text) => ({
          text,
          model: 'small',
        })),
      );

      const { asked, documents, ledger, model } = await turn({
        transformers: [compressQuery({ model: small }), rewriteQuery({ model: small })],
        expander: expandQuery({ model: small, count: 2 }),
      });

      expect(asked).to.deep.equal(['founded Rome', 'hills', 'Paris']);
      expect(documents.map(({ id }) => id)).to.have.members(idsOf(CHUNKS));
      expect(ledger?.map((call) => call.model)).to.deep.equal(['small', 'small', 'small', 'chat']);
      expect(model.prompts[0]?.userMessage?.content).to.equal('And its foundation?');
    });

    it('[RAG-05] passes what was found through the post-processors in order', async () => {
      const store = new InMemoryVectorStore();
      await store.upsert(
        'docs',
        CHUNKS.map((chunk) => ({ ...chunk, vector: Float32Array.of(1) })),
      );

      const { documents, ledger } = await turn({
        transformers: [(query) => ({ ...query, text: 'founded Rome Paris' })],
        postProcessors: [
          rerankDocuments({ reranker, topK: 2 }),
          minimumScore(0.6),
          withNeighbours({ store }),
          limitTokens({ maxTokens: 100 }),
        ],
      });

      expect(documents).to.have.lengthOf(1);
      expect(documents[0]).to.deep.include({
        id: 'guide#1',
        text: 'Rome is old. Romulus founded it. It has hills. ',
        score: 0.9,
      });
      expect(ledger?.map(({ kind }) => kind)).to.deep.equal(['rerank', 'chat']);
    });

    it('ends the turn with the error of a part', async () => {
      const failure = new Error('unavailable');
      const transformers = [rewriteQuery({ model: new ScriptedChatModel([failure]) })];

      const error: unknown = await turn({ transformers }).catch((thrown: unknown) => thrown);

      expect(error).to.equal(failure);
    });
  });
