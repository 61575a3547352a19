// Questions about the documentation of this package: a folder of Markdown, a keyword index, an answer with citations. No key, no network.
//   npx tsx examples/knowledge.ts "What does a guard do with a document?"
import { readdir, readFile } from 'node:fs/promises';
import { ChatClient, RetrievalAdvisor, textOf } from '../src/index.js';
import { ingest, KeywordIndex, KeywordRetriever, type Document } from '../src/knowledge/index.js';
import { ScriptedChatModel } from '../src/testing/index.js';

const question = process.argv[2] ?? 'How is a paused turn resumed in another process?';

async function* pages(): AsyncGenerator<Document> {
  for (const file of await readdir('docs'))
    if (file.endsWith('.md')) yield { id: file, text: await readFile(`docs/${file}`, 'utf8') };
}

const index = new KeywordIndex();
const report = await ingest(pages(), { store: index, namespace: 'docs' }).report();
console.log(`${report.failed.length} of ${report.added} pages failed`);
const again = await ingest(pages(), { store: index, namespace: 'docs' }).report();
console.log(`again: ${again.added + again.changed + again.deleted} changes`);

// in place of a model: it quotes the first document that it gets, and cites it
const model = new ScriptedChatModel(({ messages }) => {
  const context = messages
    .map((message) => textOf(message))
    .find((text) => text.startsWith('<documents>'));
  const [first] = (context ?? '').split('\n').filter((line) => line.startsWith('{'));
  if (first === undefined) return 'I do not know.';
  const { id, text } = JSON.parse(first) as { readonly id: string; readonly text: string };
  const words = text.split(/\s+/).slice(0, 5).join(' ');
  return `The documentation has "${words}" [${id}].`;
});

const client = ChatClient.builder(model)
  .defaultAdvisors(
    new RetrievalAdvisor({ retriever: new KeywordRetriever({ index }), scope: () => 'docs' }),
  )
  .build();

for await (const event of client.prompt(question).stream().events()) {
  if (event.type === 'custom' && event.name === 'sources')
    for (const { metadata = {} } of event.data.documents)
      console.log('found:', metadata['document'], metadata['headings']);
  if (event.type === 'response') {
    const { text, citations } = event.response;
    console.log(`${text}\n${citations.length} citation, of ${citations[0]?.document?.chunkOf}`);
  }
}
