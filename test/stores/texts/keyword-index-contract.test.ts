import { KeywordIndex } from '../../../src/stores/texts/keyword-index.js';
import { InMemoryVectorStore } from '../../../src/stores/vectors/in-memory-vector-store.js';
import type { VectorStore } from '../../../src/stores/vectors/vector-store.js';
import { itBehavesLikeAVectorStore } from '../../../src/testing/index.js';

/** Documents of a keyword index, with the vectors of another store: so the contract of stores applies to the index. */
function withVectors(index: KeywordIndex): VectorStore {
  const vectors = new InMemoryVectorStore();
  return {
    upsert: async (...args) => {
      await vectors.upsert(...args); // rejects vectors that do not fit, which the index does not keep
      await index.upsert(...args);
    },
    list: async (namespace, query) => (query?.withVectors ? vectors : index).list(namespace, query),
    search: async (...args) => vectors.search(...args),
    delete: async (...args) => {
      await Promise.all([index.delete(...args), vectors.delete(...args)]);
    },
    clear: async (namespace) => {
      await Promise.all([index.clear(namespace), vectors.clear(namespace)]);
    },
  };
}

const store = withVectors(new KeywordIndex());

itBehavesLikeAVectorStore({ name: 'KeywordIndex', create: () => store });
