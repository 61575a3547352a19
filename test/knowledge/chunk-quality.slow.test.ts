import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Document } from '../../src/index.js';
import { KeywordIndex, TextSplitter } from '../../src/knowledge/index.js';
import { Random } from '../support/random.js';

const QUESTIONS = 100;
const docs = new URL('../../docs/', import.meta.url);
const pages = readdirSync(docs)
  .filter((file) => file.endsWith('.md'))
  .map((file): Document => ({ id: file, text: readFileSync(new URL(file, docs), 'utf8') }));

interface Question {
  readonly text: string;
  readonly page: string;
  /** Offset of the sentence that it is made of. */
  readonly at: number;
}

/** Questions of two thirds of the words of a sentence, whose place is known. */
function questionsOf(random: Random): readonly Question[] {
  const sentences = pages.flatMap(({ id, text }) =>
    [...text.matchAll(/(?<=^|[.:]\s)[A-Z][^.|`[\]\n]{60,200}\./gm)].map(
      ({ 0: sentence, index }) => {
        const words = sentence.split(' ').filter((_, place) => place % 3 !== 0);
        return { text: words.join(' '), page: id, at: index };
      },
    ),
  );
  return Array.from({ length: QUESTIONS }, () => random.pick(sentences));
}

/** Number of questions that have a document in the first five that fits. */
async function countFound(
  documents: readonly Document[],
  questions: readonly Question[],
  fits: (document: Document, question: Question) => boolean,
): Promise<number> {
  const index = new KeywordIndex();
  await index.upsert('docs', documents);
  let found = 0;
  for (const question of questions) {
    const best = await index.search('docs', { text: question.text, topK: 5 });
    if (best.some((document) => fits(document, question))) found++;
  }
  return found;
}

describe('chunks of the documentation', () => {
  it(`have the right passage in the first five for most of ${QUESTIONS} questions, as whole pages do`, async () => {
    const questions = questionsOf(new Random(5));
    const splitter = new TextSplitter();
    const chunks = pages.flatMap((page) => splitter.split(page));

    const before = await countFound(pages, questions, ({ id }, { page }) => id === page);
    const after = await countFound(chunks, questions, ({ metadata = {} }, { page, at }) => {
      const { document, start, end } = metadata;
      return document === page && Number(start) <= at && at < Number(end);
    });

    // measured: 86 and 92
    expect(before, 'pages').to.be.at.least(80);
    expect(after, 'chunks').to.be.at.least(85);
  });
});
