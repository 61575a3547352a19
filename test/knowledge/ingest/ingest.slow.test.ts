import { expect } from 'chai';
import { ingest } from '../../../src/knowledge/ingest/ingest.js';
import { InMemoryVectorStore } from '../../../src/stores/vectors/in-memory-vector-store.js';
import { CountingEmbeddingModel } from '../../support/counting-embedding-model.js';
import { stateOf } from '../../support/knowledge.js';

describe('ingest of many documents', () => {
  it('embeds the chunks of 10 changed documents of 5,000 alone', async () => {
    const store = new InMemoryVectorStore();
    const embeddingModel = new CountingEmbeddingModel();
    const run = (documents: readonly { readonly id: string; readonly text: string }[]) =>
      ingest(documents, { store, namespace: 'n', embeddingModel }).report();
    const paragraph = (text: string): string => `${`${text} `.repeat(40)}\n\n`;
    const documents = Array.from({ length: 5_000 }, (_, at) => ({
      id: `docs/${at}.md`,
      text: `# Page ${at}\n\n${paragraph(`one ${at}`)}${paragraph(`two ${at}`)}`,
    }));
    const first = await run(documents);
    const before = new Set((await stateOf(store)).map(({ id }) => id));
    embeddingModel.requests.length = 0;
    const changed = documents.map((document, at) =>
      at % 500 === 7
        ? { ...document, text: `${document.text}${paragraph(`new ${at}`)}` }
        : document,
    );

    const second = await run(changed);

    const added = (await stateOf(store)).filter(({ id }) => !before.has(id));
    expect(first).to.include({ added: 5_000, deleted: 0 });
    expect(second).to.include({ changed: 10, unchanged: 4_990, deleted: 0 });
    expect(embeddingModel.texts).to.have.length(added.length);
    for (const text of embeddingModel.texts) expect(text).to.match(/(?:one|two|new) \d*7 /);
  });
});
