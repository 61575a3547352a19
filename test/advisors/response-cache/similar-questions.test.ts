import { expect } from 'chai';
import {
  ChatClientRequest,
  defineTool,
  InMemoryDurableEngine,
  InMemoryKeyValueStore,
  InMemoryVectorStore,
  InvalidArgumentError,
  Prompt,
  ResponseCacheAdvisor,
  type ChatClient,
  type PromptSpec,
  type SemanticCacheOptions,
} from '../../../src/index.js';
import { SimilarQuestions } from '../../../advisors/response-cache/similar-questions.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { durableSpec, finish } from '../../support/durable.js';
import { MODES } from '../../support/modes.js';
import {
  DIFFERENT_PAIRS,
  PARAPHRASES,
  SimilarEmbedding,
  type QuestionPair,
} from '../../support/question-pairs.js';
import { BY_USER, cachedClient, COUNTING, turnOf, USER } from '../../support/response-cache.js';

function semanticClient(options: Partial<SemanticCacheOptions> = {}, more: object = {}) {
  const embeddingModel = new SimilarEmbedding();
  const cached = cachedClient({ semantic: { embeddingModel, ...options }, ...more });
  return { ...cached, embeddingModel };
}

/** The pairs whose second question gets the answer to the first one. */
async function hitsOf(
  pairs: readonly QuestionPair[],
  options: Partial<SemanticCacheOptions> = {},
): Promise<readonly QuestionPair[]> {
  const { client } = semanticClient(options, BY_USER);
  const hits: QuestionPair[] = [];
  for (const [at, pair] of pairs.entries()) {
    const texts = [];
    for (const question of pair) {
      const spec = client.prompt(question).advisors((a) => a.param(USER, `user ${at}`));
      texts.push(await spec.call().content());
    }
    if (texts[0] === texts[1]) hits.push(pair);
  }
  return hits;
}

const yes = (): boolean => true;

describe('ResponseCacheAdvisor with similar questions', () => {
  for (const [semantic, message] of [
    [{}, 'semantic.embeddingModel must be an EmbeddingModel, not undefined'],
    [
      { embeddingModel: new SimilarEmbedding(), threshold: 2 },
      'semantic.threshold must be a number from 0 to 1, not 2',
    ],
    [
      { embeddingModel: new SimilarEmbedding(), agrees: 'yes' },
      'semantic.agrees must be a chat model with call and stream or a function, not "yes"',
    ],
    [
      { embeddingModel: new SimilarEmbedding(), treshold: 1 },
      'there is no option `semantic.treshold`',
    ],
  ] as const)
    // prettier-ignore
    it(`rejects ${message}`, () => {
      expect(() => cachedClient({ semantic: semantic as never })).to.throw(
        InvalidArgumentError,
        `ResponseCacheAdvisor: ${message}`,
      );
    });

  it('gives no answer to 200 questions that differ in one number, name, date or negation', async () => {
    expect(DIFFERENT_PAIRS).to.have.length(200);

    expect(await hitsOf(DIFFERENT_PAIRS)).to.deep.equal([]);
  });

  it('asks a judge about 10 of them alone: names without a capital letter', async () => {
    const wrong = await hitsOf(DIFFERENT_PAIRS, { agrees: yes });

    expect(wrong).to.have.length(10);
    expect(wrong.every(([question]) => /paris|北京/.test(question))).to.equal(true);
  });

  it('answers 140 of 200 paraphrases, with the same words, and 196 with a judge that agrees', async () => {
    expect(PARAPHRASES).to.have.length(200);

    const [alone, judged] = [await hitsOf(PARAPHRASES), await hitsOf(PARAPHRASES, { agrees: yes })];

    expect([alone.length, judged.length]).to.deep.equal([140, 196]);
  });

  for (const mode of MODES) {
    it(`${mode}: reports a hit with its similarity`, async () => {
      const { client, model, embeddingModel } = semanticClient();

      await turnOf(client.prompt('What is love?'), mode);
      const { response, text } = await turnOf(client.prompt("what's love"), mode);
      const { reports } = await turnOf(client.prompt('Hello, what is love?'));

      expect(text).to.equal('Answer 0.');
      expect(response?.metadata?.['responseCache']).to.have.keys('storedAt', 'similarity');
      expect(response?.usage?.totalTokens).to.equal(1);
      expect(reports[0]?.similarity).to.be.within(0.95, 1);
      expect(model.prompts).to.have.length(1);
      expect(embeddingModel.texts).to.have.length(3);
    });

    it(`[GRD-06] ${mode}: compares within the scope, and an equal rest of the request alone`, async () => {
      const tool = defineTool({ name: 'look', execute: () => 'seen' });
      const { client } = semanticClient({ agrees: yes }, BY_USER);
      const specs: readonly ((question: string) => PromptSpec)[] = [
        (question) => client.prompt(question),
        (question) => client.prompt(question).system('You are a cook.'),
        (question) => client.prompt(question).system('You are a geographer.'),
        (question) => client.prompt(question).options({ model: 'other' }),
        (question) => client.prompt(question).tools(tool),
        (question) =>
          client
            .prompt()
            .messages(
              { role: 'user', content: 'Hello' },
              { role: 'assistant', content: 'Hello!' },
              { role: 'user', content: question },
            ),
      ];
      const ask = async (user: string, question: string): Promise<unknown[]> => {
        const texts = [];
        for (const spec of specs)
          texts.push((await turnOf(spec(question).advisors((a) => a.param(USER, user)), mode)).text); // prettier-ignore
        return texts;
      };

      const first = await ask('anna', 'what is love');
      const second = await ask('anna', 'what is love, my friend');
      const other = await ask('ben', 'what is love, my friend');

      expect(new Set([...first, ...other]).size).to.equal(2 * specs.length);
      expect(second).to.deep.equal(first);
    });
  }

  it('misses below the threshold', async () => {
    const { client } = semanticClient({ threshold: 1 });

    await turnOf(client.prompt('What is love?'));
    const { outcomes } = await turnOf(client.prompt("What's love?"));

    expect(outcomes).to.deep.equal(['miss', 'stored']);
  });

  it('a judge decides on each hit that is not exact', async () => {
    const asked: unknown[] = [];
    const agrees = (...questions: [string, string, AbortSignal]): boolean => {
      asked.push(questions.slice(0, 2));
      return false;
    };
    const { client } = semanticClient({ agrees });

    await turnOf(client.prompt('What is love?'));
    const { outcomes } = await turnOf(client.prompt("What's love?"));
    await turnOf(client.prompt('What is love?'));

    expect(outcomes).to.deep.equal(['miss', 'stored']);
    expect(asked).to.deep.equal([["What's love?", 'What is love?']]);
  });

  for (const [answer, outcome] of [
    ['SAME', 'hit'],
    ['DIFFERENT', 'miss'],
    ['It is the same.', 'failed'],
  ] as const)
    it(`a model as a judge: ${answer} is a ${outcome}, and is in the ledger`, async () => {
      const judge = new ScriptedChatModel([answer]);
      const { client } = semanticClient({ agrees: judge });

      await turnOf(client.prompt('What is love?'));
      const { outcomes, response } = await turnOf(client.prompt('What does love mean?'));

      expect(outcomes[0]).to.equal(outcome);
      expect(response?.ledger.slice(0, 2).map(({ kind }) => kind)).to.deep.equal([
        'embedding',
        'chat',
      ]);
      expect(judge.prompts[0]?.userMessage?.content).to.equal(
        '{"question":"What does love mean?","cachedQuestion":"What is love?"}',
      );
    });

  it('a tag that was invalidated, and an answer that is gone, are no hits', async () => {
    const store = new InMemoryKeyValueStore();
    const { client, cache } = semanticClient({}, { store, tags: () => ['a'] });
    await turnOf(client.prompt('What is love?'));
    expect((await turnOf(client.prompt("What's love?"))).outcomes).to.deep.equal(['hit']);

    await cache.invalidate('a');

    expect((await turnOf(client.prompt("What's love?"))).outcomes).to.deep.equal([
      'miss',
      'stored',
    ]);
  });

  it('shares questions by a store', async () => {
    const shared = { store: new InMemoryKeyValueStore() };
    const vectorStore = new InMemoryVectorStore();
    const [one, other] = [1, 2].map(() => semanticClient({ vectorStore }, shared).client);

    await turnOf((one as ChatClient).prompt('What is love?'));
    const { outcomes } = await turnOf((other as ChatClient).prompt("What's love?"));

    expect(outcomes).to.deep.equal(['hit']);
  });

  it('an embedding model that fails costs the hit, not the turn', async () => {
    const embed = () => Promise.reject(new Error('the model is down'));
    const { client } = semanticClient({ embeddingModel: { embed } });

    const { text, reports } = await turnOf(client.prompt('What is love?'));

    expect(text).to.equal('Answer 0.');
    expect(reports.map(({ outcome }) => outcome)).to.deep.equal(['failed']);
  });

  it('questions with media, and long ones, are found exactly alone', async () => {
    const { client, embeddingModel } = semanticClient();
    const image = { type: 'image', url: 'https://example.org/a.png' } as const;
    const ask = (text: string) =>
      client.prompt().messages({ role: 'user', content: [{ type: 'text', text }, image] });

    const turns = [];
    for (const text of ['What is it?', "What's it?", 'What is it?']) turns.push(await turnOf(ask(text))); // prettier-ignore
    const long = await turnOf(client.prompt('why '.repeat(300)));

    expect(turns.map(({ outcomes }) => outcomes[0])).to.deep.equal(['miss', 'miss', 'hit']);
    expect(long.outcomes).to.deep.equal(['miss', 'stored']);
    expect(embeddingModel.texts).to.deep.equal([]);
  });

  it('a durable turn that runs again embeds nothing and asks no judge', async () => {
    const [store, vectorStore] = [new InMemoryKeyValueStore(), new InMemoryVectorStore()];
    const turn = (semantic: Partial<SemanticCacheOptions>, script = COUNTING) => ({
      model: new ScriptedChatModel(script),
      advisors: [
        new ResponseCacheAdvisor({
          scope: () => 'everyone',
          store,
          semantic: { embeddingModel: new SimilarEmbedding(), vectorStore, ...semantic },
        }),
      ],
    });
    const judged = turn({ agrees: new ScriptedChatModel(['SAME']) });
    await finish(durableSpec(turn({}), new InMemoryDurableEngine()).user('what is love'), 'call');
    const engine = new InMemoryDurableEngine();
    const first = await finish(durableSpec(judged, engine).user('what is love, friend'), 'call');

    const embed = () => Promise.reject(new Error('not called'));
    const again = turn({ embeddingModel: { embed }, agrees: new ScriptedChatModel([]) }, []);
    const replay = new InMemoryDurableEngine(engine.entries());
    const second = await finish(durableSpec(again, replay).user('what is love, friend'), 'call');

    expect(first.response?.text).to.equal('Answer 0.');
    expect(second.response?.text).to.equal('Answer 0.');
    expect(second.response?.usage).to.deep.equal(first.response?.usage);
    expect(second.response?.ledger.map(({ isReplayed }) => isReplayed)).to.deep.equal([true, true]);
  });
});

describe('SimilarQuestions', () => {
  it('keeps the last 1,000 questions in its default store', async () => {
    const questions = new SimilarQuestions({ embeddingModel: new SimilarEmbedding() }, 60_000);
    const settings = { scope: 'a', withToolContext: false };
    const requestOf = (content: string) =>
      new ChatClientRequest({ prompt: new Prompt([{ role: 'user', content }]), mode: 'call' });
    const found = async (content: string) => {
      const keys: string[] = [];
      await questions.find(requestOf(content), settings, async (key) => void keys.push(key));
      return keys;
    };

    for (let at = 0; at <= 1_000; at++)
      await questions.add(requestOf(`w${at}w`), settings, `key ${at}`);

    expect([await found('w0w'), await found('w1w')]).to.deep.equal([[], ['key 1']]);
  });
});
