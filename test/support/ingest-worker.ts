/**
 * A process that ingests and searches, for tests with several processes.
 *
 * `node ingest-worker.js <location> <seed>` ingests states of a source in random order until its standard
 * input ends. After each ingest it searches, and prints `broken` with the reason if a document is lost or not whole.
 */
import { ingest } from '../../src/knowledge/ingest/ingest.js';
import { TextSplitter } from '../../src/knowledge/splitters/text-splitter.js';
import { CountingEmbeddingModel } from './counting-embedding-model.js';
import { brokenDocuments, STATES, stateOfSource } from './ingested-states.js';
import { Random } from './random.js';
import { openVectorStore } from './vector-stores.js';

const [location = '', seed = '0'] = process.argv.slice(2);
const random = new Random(Number(seed));
const { store, close } = await openVectorStore(location);
const embeddingModel = new CountingEmbeddingModel();
const splitter = new TextSplitter({ size: 110, unit: 'characters' });
let ended = false;
process.stdin.on('end', () => (ended = true));

process.stdout.write('ready\n');
await new Promise((resolve) => process.stdin.once('data', resolve));
while (!ended) {
  const source = stateOfSource(random.below(STATES));
  await ingest(source, { store, embeddingModel, splitter, namespace: 'n', batchSize: 5 }).report();
  const broken = brokenDocuments(await store.list('n'));
  for (const reason of broken) process.stdout.write(`broken ${reason}\n`);
  const { vectors } = await embeddingModel.embed(['a question']);
  await store.search('n', { vector: vectors[0] as Float32Array, topK: 5 });
  process.stdout.write('ingested\n');
}
await close();
