import { expect } from 'chai';
import { ChatClient, RetrievalAdvisor, textOf } from '../../../src/index.js';
import {
  ingest,
  KeywordIndex,
  KeywordRetriever,
  TextSplitter,
  withNeighbours,
} from '../../../src/knowledge/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { MODES, runSpec } from '../../support/modes.js';

const SECTIONS = Array.from(
  { length: 12 },
  (_, at) =>
    `## Topic ${at}\n\nThe rule of topic ${at} is number ${at * 37}, 😀 since year ${1900 + at}.\nIt has an "exception" for guests.\n`,
);
const HANDBOOK = `# Handbook\n\n${SECTIONS.join('\n')}`;
const QUOTE = 'The rule of topic 7 is number 259, 😀 since year 1907';

/** Quotes the document that has the words. */
const quoting = () =>
  new ScriptedChatModel(({ messages }) => {
    const line = textOf(messages[0] ?? '')
      .split('\n')
      .find((each) => each.startsWith('{') && each.includes('number 259'));
    const { id } = JSON.parse(line ?? '{}') as { readonly id: string };
    return `"${QUOTE}" [${id}]`;
  });

describe('RetrievalAdvisor, over ingested documents', () => {
  for (const mode of MODES)
    it(`${mode}: a quotation leads to its place in the whole document`, async () => {
      const store = new KeywordIndex();
      const splitter = new TextSplitter({ size: 120, unit: 'characters' });
      const source = [{ id: 'handbook.md', text: HANDBOOK, metadata: { title: 'Handbook' } }];
      await ingest(source, { store, namespace: 'shop', splitter }).report();
      const advisor = new RetrievalAdvisor({
        retriever: new KeywordRetriever({ index: store }),
        scope: () => 'shop',
      });

      const { citations, metadata } = await runSpec(
        mode,
        ChatClient.create(quoting()).prompt('The rule of topic 7?').advisors(advisor),
      );

      expect(metadata).not.to.have.property('citationProblems');
      const { document, title, text } = citations[0] ?? {};
      expect({ title, text, of: document?.chunkOf }).to.deep.equal({
        title: 'Handbook',
        text: QUOTE,
        of: 'handbook.md',
      });
      expect(HANDBOOK.slice(document?.start, document?.end)).to.equal(QUOTE);
    });

  for (const mode of MODES)
    it(`${mode}: a quotation of a chunk with its neighbours is within the place of them`, async () => {
      const store = new KeywordIndex();
      const splitter = new TextSplitter({ size: 120, unit: 'characters' });
      await ingest([{ id: 'handbook.md', text: HANDBOOK }], {
        store,
        namespace: 'shop',
        splitter,
      }).report();
      const advisor = new RetrievalAdvisor({
        retriever: new KeywordRetriever({ index: store, topK: 1 }),
        postProcessors: [withNeighbours({ store })],
        scope: () => 'shop',
      });

      const { citations, metadata } = await runSpec(
        mode,
        ChatClient.create(quoting()).prompt('The rule of topic 7?').advisors(advisor),
      );

      expect(metadata).not.to.have.property('citationProblems');
      const { document } = citations[0] ?? {};
      expect(HANDBOOK.slice(document?.start, document?.end)).to.include(QUOTE);
    });
});
