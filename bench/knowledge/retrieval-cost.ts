import { EMPTY } from 'rxjs';
import {
  AdvisorContext,
  ChatClient,
  ChatResponse,
  RetrievalAdvisor,
  type ChatModel,
} from '../../src/index.js';
import { KeywordIndex, KeywordRetriever, type Document } from '../../src/knowledge/index.js';
import { Random } from '../../test/support/random.js';
import { cpuOf, mebibytes, median, memory } from './measures.js';

const WORDS = 90;
const VOCABULARY = 20_000;
const TURNS = 500;
const ROUNDS = 15;
const BATCH = 1_000;
const namespace = 'n';

/** Words as frequent as in a language: the n-th with a probability of about 1 / n. */
function textOf(random: Random, words: number): string {
  const word = (): string => `word${Math.floor(VOCABULARY ** random.next()).toString(36)}`;
  return Array.from({ length: words }, word).join(' ');
}

function documentsOf(count: number): readonly Document[] {
  const random = new Random(1);
  return Array.from({ length: count }, (_, at) => {
    const metadata = { title: `document ${at}`, document: `file ${Math.floor(at / 10)}` };
    return { id: `document ${at}`, text: textOf(random, WORDS), metadata };
  });
}

async function indexOf(documents: readonly Document[]): Promise<KeywordIndex> {
  const index = new KeywordIndex();
  for (let from = 0; from < documents.length; from += BATCH)
    await index.upsert(namespace, documents.slice(from, from + BATCH));
  return index;
}

const response = ChatResponse.ofText('word');
const model: ChatModel = {
  defaultOptions: { model: 'bench' },
  call: () => Promise.resolve(response),
  stream: () => EMPTY,
};

/** The cost of a turn with a RetrievalAdvisor, beside the same turn without it and beside its search. */
export async function measureRetrieval(count: number): Promise<void> {
  const retriever = new KeywordRetriever({ index: await indexOf(documentsOf(count)) });
  const advisor = new RetrievalAdvisor({ retriever, scope: () => namespace });
  const bare = ChatClient.builder(model).build();
  const augmented = ChatClient.builder(model).defaultAdvisors(advisor).build();
  const { signal } = new AbortController();
  const query = { namespace, history: [], context: AdvisorContext.empty, signal };
  const works: readonly ((text: string) => Promise<unknown>)[] = [
    (text) => bare.prompt(text).call().content(),
    (text) => augmented.prompt(text).call().content(),
    (text) => retriever.retrieve({ ...query, text }),
  ];
  const rounds: (readonly number[])[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const times: number[] = [];
    for (const work of works) {
      const random = new Random(round); // the same questions for each
      const turns = async (): Promise<void> => {
        for (let turn = 0; turn < TURNS; turn++) await work(textOf(random, 6));
      };
      times.push(((await cpuOf(turns)) * 1_000) / TURNS);
    }
    rounds.push(times);
  }
  const warm = rounds.slice(ROUNDS / 3);
  const [without, whole, search] = works.map((_, at) => median(warm.map((each) => each[at] ?? 0)));
  const rest = median(warm.map(([a = 0, b = 0, c = 0]) => b - a - c));
  console.log(
    `a turn without documents ${without?.toFixed(0)} µs, with retrieval from ${count} documents ${whole?.toFixed(0)} µs,`,
    `of which the search ${search?.toFixed(0)} µs and the advisor ${rest.toFixed(0)} µs`,
  );
}

/** Memory of an index beside the texts, and the CPU time that fills it. */
export async function measureKeywordIndex(count: number): Promise<void> {
  const documents = documentsOf(count);
  const before = await memory();
  let index: KeywordIndex | undefined;
  const time = await cpuOf(async () => {
    index = await indexOf(documents);
  });
  const used = (await memory()) - before;
  const random = new Random(2);
  const times: number[] = [];
  for (let search = 0; search < 60; search++) {
    const text = textOf(random, 6);
    times.push(await cpuOf(() => index?.search(namespace, { text, topK: 4 })));
  }
  console.log(
    `keyword index of ${documents.length} documents of ${WORDS} words: ${mebibytes(used)} MiB beside their texts,`,
    `filled in ${(time / 1_000).toFixed(1)} s, a search ${median(times.slice(5)).toFixed(1)} ms`,
  );
}
