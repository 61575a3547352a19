import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A set of documents, and questions with the ids of their relevant documents. */
export interface RetrievalSet {
  readonly name: string;
  readonly documents: readonly {
    readonly id: string;
    readonly title: string;
    readonly text: string;
  }[];
  readonly questions: readonly { readonly text: string; readonly relevant: readonly string[] }[];
}

/** Public sets of questions are not part of the package: they lie beside the repository. */
export const RETRIEVAL_SETS = fileURLToPath(
  new URL('../../../shared/retrieval/data/', import.meta.url),
);

/** The sets of the folder; where it is missing the test is skipped, with a printed reason, but never in CI. */
export function loadRetrievalSets(test: Mocha.Context): readonly RetrievalSet[] {
  if (!existsSync(RETRIEVAL_SETS)) {
    const reason = 'no questions: ../shared/retrieval/data is missing';
    if (process.env['CI'] === 'true') throw new Error(reason);
    console.log(`skipped: ${reason}`);
    test.skip();
  }
  return readRetrievalSets();
}

export function readRetrievalSets(folder = RETRIEVAL_SETS): readonly RetrievalSet[] {
  const read = <T>(file: string): T[] =>
    readFileSync(`${folder}/${file}`, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as T);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.queries.jsonl'))
    .sort()
    .map((file) => {
      const name = file.replace('.queries.jsonl', '');
      return { name, documents: read(`${name}.docs.jsonl`), questions: read(file) };
    });
}

/** The texts as an ingest embeds them: below their titles, which some of these texts begin with. */
export function embeddedTexts({ documents }: RetrievalSet): readonly string[] {
  return documents.map(({ title, text }) => (text.startsWith(title) ? text : `${title}\n${text}`));
}

/** nDCG@10 of one result, from 0 to 1: whether the relevant documents are found, and come first. */
export function ndcgOf(found: readonly string[], relevant: readonly string[]): number {
  const gain = (at: number): number => 1 / Math.log2(at + 2);
  const relevantIds = new Set(relevant);
  let [reached, best] = [0, 0];
  for (const [at, id] of found.slice(0, 10).entries()) if (relevantIds.has(id)) reached += gain(at);
  for (let at = 0; at < Math.min(10, relevantIds.size); at++) best += gain(at);
  return best === 0 ? 0 : reached / best;
}
