import { expect } from 'chai';
import { InvalidArgumentError } from '../../src/index.js';
import { diversifyDocuments, type Document } from '../../src/knowledge/index.js';
import { cpuTime } from '../support/cpu-time.js';
import { idsOf, queryOf } from '../support/queries.js';

const QUERY = queryOf('Where is Rome?');
const DOCUMENTS: readonly Document[] = [
  { id: 'rome', text: 'Rome is the capital of Italy.', score: 0.9 },
  { id: 'rome again', text: 'Rome is the capital city of Italy.', score: 0.85 },
  { id: 'founding', text: 'Romulus founded the city on a hill.', score: 0.6 },
];

describe('diversifyDocuments', () => {
  it('prefers another document to one that repeats a better one', async () => {
    const kept = await diversifyDocuments({ topK: 2 })(DOCUMENTS, QUERY);

    expect(idsOf(kept)).to.deep.equal(['rome', 'founding']);
  });

  it('keeps the best scores with lambda: 1', async () => {
    const documents = DOCUMENTS.toReversed();

    const kept = await diversifyDocuments({ topK: 2, lambda: 1 })(documents, QUERY);

    expect(idsOf(kept)).to.deep.equal(['rome', 'rome again']);
  });

  it('compares with all documents that are kept, not with the last one alone', async () => {
    const documents: readonly Document[] = [
      { id: '1', text: 'ROME CAPITAL ITALY', score: 0.9 },
      { id: '2', text: 'seven hills river', score: 0.8 },
      { id: '3', text: 'Rome capital Italy', score: 0.7 },
      { id: '4', text: 'Paris France Seine', score: 0.5 },
    ];

    const kept = await diversifyDocuments({ topK: 3 })(documents, QUERY);

    expect(idsOf(kept)).to.deep.equal(['1', '2', '4']);
  });

  it('counts a score below 0 as 0', async () => {
    const documents = [-0.2, -0.9].map((score) => ({ id: `${score}`, text: `${score}`, score }));

    const kept = await diversifyDocuments({ topK: 2 })(documents, QUERY);

    expect(idsOf(kept)).to.deep.equal(['-0.2', '-0.9']);
  });

  it('begins with the best score with lambda: 0, too', async () => {
    const documents = DOCUMENTS.toReversed();

    const kept = await diversifyDocuments({ topK: 2, lambda: 0 })(documents, QUERY);

    expect(idsOf(kept)).to.deep.equal(['rome', 'founding']);
  });

  for (const factor of [0.02, 30])
    it(`gives the same order for scores ${factor} times as high`, async () => {
      const scaled = DOCUMENTS.map((each) => ({ ...each, score: (each.score ?? 0) * factor }));

      const kept = await diversifyDocuments({ topK: 3 })(scaled, QUERY);

      expect(idsOf(kept)).to.deep.equal(['rome', 'founding', 'rome again']);
    });

  it('keeps the order of documents without scores that have nothing in common', async () => {
    const documents = ['a', 'b', 'c'].map((id) => ({ id, text: id }));

    const kept = await diversifyDocuments({ topK: 3 })(documents, QUERY);

    expect(idsOf(kept)).to.deep.equal(['a', 'b', 'c']);
  });

  it('compares scripts without spaces', async () => {
    const documents = [
      { id: '1', text: 'ローマはイタリアの首都です。', score: 0.9 },
      { id: '2', text: 'イタリアの首都はローマである。', score: 0.8 },
      { id: '3', text: '丘の上に都市が築かれた。', score: 0.6 },
    ];

    const kept = await diversifyDocuments({ topK: 2 })(documents, QUERY);

    expect(idsOf(kept)).to.deep.equal(['1', '3']);
  });

  it('compares by a function', async () => {
    const similarity = (a: Document, b: Document): number => (a.id[0] === b.id[0] ? 0 : 1);

    const kept = await diversifyDocuments({ topK: 2, similarity })(DOCUMENTS, QUERY);

    expect(idsOf(kept)).to.deep.equal(['rome', 'rome again']);
  });

  it('refuses a similarity that is no number', () => {
    const diversify = diversifyDocuments({ topK: 2, similarity: () => NaN });

    expect(() => diversify(DOCUMENTS, QUERY)).to.throw(
      InvalidArgumentError,
      'diversifyDocuments: the result of similarity must be a finite number, not NaN',
    );
  });

  it('keeps nothing of nothing', async () => {
    expect(await diversifyDocuments({ topK: 2 })([], QUERY)).to.deep.equal([]);
  });

  it('takes under 200 ms for 100 documents of 100,000 characters', async () => {
    const documents = Array.from({ length: 100 }, (_, at): Document => {
      return { id: `${at}`, text: `word${at % 7} and another `.repeat(5_000), score: 1 / (at + 1) };
    });
    const time = cpuTime();

    await diversifyDocuments({ topK: 20 })(documents, QUERY);

    expect(time()).to.be.below(200);
  });

  for (const options of [{}, { topK: 0 }, { topK: 1, lambda: 1.5 }])
    it(`refuses ${JSON.stringify(options)}`, () => {
      expect(() => diversifyDocuments(options as never)).to.throw(
        InvalidArgumentError,
        'diversifyDocuments: ',
      );
    });
});
