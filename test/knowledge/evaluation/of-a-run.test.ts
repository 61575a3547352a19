import { expect } from 'chai';
import { ChatClient, RetrievalAdvisor, type DocumentRetriever } from '../../../src/index.js';
import { checkCitations, evaluationInput } from '../../../src/knowledge/evaluation/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { MODES, runSpec } from '../../support/modes.js';

const QUESTION = 'When was Rome founded?';
const retriever: DocumentRetriever = {
  retrieve: async () => [{ id: 'a', text: 'Rome was founded in April 753 BC, by Romulus.' }],
};

for (const mode of MODES)
  describe(`evaluation of a run with retrieval (${mode})`, () => {
    /** The problems of an answer in which KEY is the key of the document. */
    const problemsOf = async (answer: string) => {
      const model = new ScriptedChatModel((prompt) => {
        const [, key = ''] = /"(s[\da-f]{7})\\?"/.exec(JSON.stringify(prompt)) ?? [];
        return answer.replaceAll('KEY', key);
      });
      const client = ChatClient.builder(model)
        .defaultAdvisors(new RetrievalAdvisor({ retriever, scope: () => 'docs' }))
        .build();
      const response = await runSpec(mode, client.prompt(QUESTION));
      return checkCitations(evaluationInput(QUESTION, response)).sentences.map(
        (each) => each.problem,
      );
    };

    it('confirms a sentence that cites a document of the run and quotes it', async () => {
      const problems = await problemsOf('It was "founded in April 753 BC" [KEY]. [KEY]');

      expect(problems).to.deep.equal([undefined]);
    });

    it('finds a quotation that is wrong, and a sentence without a source', async () => {
      const problems = await problemsOf('It was "founded in April 754 BC" [KEY]. It is nice.');

      expect(problems).to.deep.equal(['quote-not-found', 'no-citation']);
    });

    it('finds a key that the model has made up', async () => {
      expect(await problemsOf('It was founded in 753 BC [s0123456].')).to.deep.equal([
        'no-citation',
      ]);
    });
  });
