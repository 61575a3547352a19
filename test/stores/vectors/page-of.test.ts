import { expect } from 'chai';
import type { Document } from '../../../src/core/chat/document.js';
import { pageOf, type ListedDocuments } from '../../../src/stores/vectors/page-of.js';
import { TextCorpus } from '../../../src/stores/texts/text-corpus.js';
import { VectorTable } from '../../../src/stores/vectors/vector-table.js';

const vector = new Float32Array([1]);
const words = { occurrences: new Map([['a', 1]]), length: 1 };

/** A namespace of each store in memory, which adds and deletes documents. */
const NAMESPACES = {
  VectorTable: () => {
    const table = new VectorTable(1);
    return {
      documents: table,
      add: (id: string) => table.set({ id, text: id }, vector),
      delete: (id: string) => table.delete(id),
    };
  },
  TextCorpus: () => {
    const corpus = new TextCorpus();
    return {
      documents: corpus,
      add: (id: string) => corpus.add({ id, text: id }, words),
      delete: (id: string) => corpus.remove(id),
    };
  },
};

function pagesOf(documents: ListedDocuments, limit: number): readonly string[] {
  const ids: string[] = [];
  let page: readonly Document[];
  do {
    page = pageOf(documents, {
      condition: undefined,
      after: ids.at(-1),
      limit,
      withVectors: false,
    });
    ids.push(...page.map(({ id }) => id));
  } while (page.length === limit);
  return ids;
}

for (const [name, create] of Object.entries(NAMESPACES))
  describe(`pages of a ${name}`, () => {
    it('read each document once and sort the ids once, until a document changes', () => {
      const { documents, add } = create();
      const ids = Array.from({ length: 100 }, (_, at) => `${(at * 37) % 100}`);
      ids.forEach(add);
      const read: string[] = [];
      const counted: ListedDocuments = {
        sortedIds: () => documents.sortedIds(),
        get: (id) => {
          read.push(id);
          return documents.get(id);
        },
      };
      const sorted = documents.sortedIds();

      const listed = pagesOf(counted, 7);

      expect(listed).to.deep.equal(ids.toSorted());
      expect(read).to.deep.equal(listed);
      expect(documents.sortedIds()).to.equal(sorted);
    });

    it('have what was added and lack what was deleted between two of them', () => {
      const { documents, add, ...namespace } = create();
      ['b', 'd', 'f', '__proto__'].forEach(add);
      expect(pagesOf(documents, 2)).to.deep.equal(['__proto__', 'b', 'd', 'f']);

      add('a');
      add('d');
      namespace.delete('f');
      namespace.delete('missing');

      expect(pagesOf(documents, 3)).to.deep.equal(['__proto__', 'a', 'b', 'd']);
      expect(documents.get('f')).to.equal(undefined);
    });
  });
