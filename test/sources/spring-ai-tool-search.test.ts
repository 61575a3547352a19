/** Tools that are found on demand: the pages of Spring AI on the tool search. */
import { expect } from 'chai';
import {
  ChatClient,
  ContextKey,
  HybridToolIndex,
  KeywordToolIndex,
  RegexToolIndex,
  ToolSearchAdvisor,
  VectorToolIndex,
  type ToolIndex,
} from '../../src/index.js';
import { OpenAIEmbeddingModel } from '../../src/models/openai/index.js';
import {
  AlwaysEviction,
  CompositeEviction,
  LruEviction,
  NeverEviction,
  TtlEviction,
  type EvictionStrategy,
  type ToolReference,
} from '../../advisors/tool-search/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { MODES } from '../support/modes.js';
import { calls, namesOf, runSearch, searches, tool, TOOLS } from '../support/tool-search.js';
import { sendJson, WireServer } from '../support/wire-server.js';

const SEARCH = 'toolSearchTool';
const referenceOf = (name: string, description: string): ToolReference => ({
  name,
  description,
  inputSchema: { type: 'object' },
});
const REFERENCES = [
  referenceOf('get_forecast', 'Weather of the next days.'),
  referenceOf('get_invoice', 'Bill of a customer.'),
  referenceOf('send_invoice', 'Mails a bill.'),
];

/** Searches the references in a session of its own. */
async function find(index: ToolIndex, query: string, maxResults = 5): Promise<readonly string[]> {
  await index.index({ session: 's', references: REFERENCES });
  const { references } = await index.search({ session: 's', query, maxResults });
  return references.map(({ name }) => name);
}

/** A search of a first turn, and the tools that the second turn of the conversation begins with. */
async function rememberedBy(eviction: EvictionStrategy) {
  const advisor = new ToolSearchAdvisor({ toolIndex: new KeywordToolIndex(), eviction });
  await runSearch('call', [searches('weather'), 'ok'], { advisor, conversation: 'ida' });
  const other = (conversation: string) =>
    runSearch('call', ['ok'], { advisor, conversation }).then(({ offered }) => offered[0]);
  return { advisor, other, next: () => other('ida') };
}

describe('source: searching tools', () => {
  for (const mode of MODES)
    it(`all tools are indexed, one is offered; what a search finds is offered next, and runs (${mode})`, async () => {
      const { response, offered } = await runSearch(mode, [
        searches('weather'),
        calls('get_weather'),
        'Sunny.',
      ]);

      expect(response.text).to.equal('Sunny.');
      expect(offered).to.deep.equal([[SEARCH], [SEARCH, 'get_weather'], [SEARCH, 'get_weather']]);
      expect(response.steps[1]?.toolCalls[0]?.result?.value).to.equal('result of get_weather');
    });

  it('a client has it with its default tools', async () => {
    const model = new ScriptedChatModel(['No tool is needed.']);
    const client = ChatClient.builder(model)
      .defaultTools(TOOLS)
      .defaultAdvisors(new ToolSearchAdvisor({ toolIndex: new KeywordToolIndex() }))
      .build();

    await client.prompt('Hello').call().content();

    expect(model.prompts.map(namesOf)).to.deep.equal([[SEARCH]]);
  });

  describe('strategies', () => {
    it('words: names and terms', async () => {
      expect(await find(new KeywordToolIndex(), 'mails a bill')).to.include('send_invoice');
      expect((await find(new KeywordToolIndex(), 'get_forecast'))[0]).to.equal('get_forecast');
    });

    it('words: a minimum score leaves weak matches out', async () => {
      const strict = new KeywordToolIndex({ minRelativeScore: 1 });

      expect(await find(new KeywordToolIndex(), 'mail invoice bill')).to.have.lengthOf(2);
      expect(await find(strict, 'mail invoice bill')).to.deep.equal(['send_invoice']);
    });

    it('patterns: names', async () => {
      expect(await find(new RegexToolIndex(), '^get_.*')).to.deep.equal([
        'get_forecast',
        'get_invoice',
      ]);
    });

    it('meaning: embeddings of a provider in a store of vectors', async () => {
      const about = (text: string): number[] =>
        /weather|umbrella/i.test(text) ? [1, 0.1] : [0.1, 1];
      const server = await WireServer.start((exchange) => {
        const texts = exchange.body['input'] as readonly string[];
        sendJson(exchange, {
          data: texts.map((text, index) => ({ index, embedding: about(text) })),
        });
      });
      const embeddingModel = new OpenAIEmbeddingModel({
        model: 'e',
        apiKey: 'k',
        baseURL: server.baseURL,
      });

      try {
        const found = await find(
          new VectorToolIndex({ embeddingModel, minScore: 0.5 }),
          'umbrella',
        );

        expect(found).to.deep.equal(['get_forecast']);
      } finally {
        await server.close();
      }
    });

    it('several at once, by rank', async () => {
      const index = new HybridToolIndex({
        indexes: [new KeywordToolIndex(), new RegexToolIndex()],
      });

      expect((await find(index, 'forecast'))[0]).to.equal('get_forecast');
    });

    it('tools of a session come and go one by one', async () => {
      const index = new KeywordToolIndex();
      const found = () =>
        index.search({ session: 's', query: 'parcel' }).references.map(({ name }) => name);
      await find(index, 'bill');

      index.add({ session: 's', references: [referenceOf('track', 'Follows a parcel.')] });
      const added = found();
      index.remove({ session: 's', names: ['track'] });

      expect([added, found()]).to.deep.equal([['track'], []]);
    });

    it('sessions do not find the tools of others', async () => {
      const index = new KeywordToolIndex();
      await find(index, 'bill');

      const { references } = index.search({ session: 'another', query: 'bill' });
      index.clear('s');

      expect(references).to.deep.equal([]);
      expect(index.search({ session: 's', query: 'bill' }).references).to.deep.equal([]);
    });

    it('an index of the application', async () => {
      const sessions = new Map<string, readonly ToolReference[]>();
      const longest: ToolIndex = {
        index: ({ session, references }) => void sessions.set(session, references),
        search: ({ session }) => ({
          references: (sessions.get(session) ?? [])
            .toSorted((a, b) => b.name.length - a.name.length)
            .slice(0, 1),
        }),
        clear: (session) => void sessions.delete(session),
      };

      const { offered } = await runSearch('call', [searches('anything'), 'ok'], {
        search: { toolIndex: longest },
      });

      expect(offered[1]).to.deep.equal([SEARCH, 'get_translation']);
    });
  });

  describe('options', () => {
    it('a search returns at most a number of tools; the model may ask for fewer', async () => {
      const script = [searches('get'), 'ok'];
      const [two, one] = await Promise.all([
        runSearch('call', script, { search: { maxResults: 2 } }),
        runSearch('call', [searches({ query: 'get', maxResults: 1 }), 'ok']),
      ]);

      expect(two.offered[1]).to.have.lengthOf(3);
      expect(one.offered[1]).to.have.lengthOf(2);
    });

    it('the text after the system message is one of the application', async () => {
      const { model } = await runSearch('call', ['ok'], {
        system: 'Be brief.',
        search: { systemMessageSuffix: ' Search first.' },
      });

      expect(model.prompts[0]?.systemMessage?.content).to.equal('Be brief. Search first.');
    });

    for (const [accumulate, last] of [
      [true, [SEARCH, 'get_weather', 'get_invoice']],
      [false, [SEARCH, 'get_invoice']],
    ] as const)
      it(`later searches ${accumulate ? 'add to' : 'replace'} what was found (accumulate: ${accumulate})`, async () => {
        const { offered } = await runSearch(
          'call',
          [searches('weather'), searches('invoice'), 'ok'],
          { search: { accumulate } },
        );

        expect(offered[2]).to.deep.equal(last);
      });

    it('the session is named by a key of the application', async () => {
      const sessionKey = new ContextKey<string | undefined>('app.session');
      const advisor = new ToolSearchAdvisor({ toolIndex: new KeywordToolIndex(), sessionKey });
      const ask = async (model: ScriptedChatModel, session: string) => {
        await ChatClient.create(model)
          .prompt('?')
          .tools(...TOOLS)
          .advisors(advisor, (a) => a.param(sessionKey, session))
          .call()
          .content();
        return namesOf(model.prompts[0] ?? expect.fail());
      };

      await ask(new ScriptedChatModel([searches('weather'), 'ok']), 'a');

      expect(await ask(new ScriptedChatModel(['ok']), 'a')).to.deep.equal([SEARCH, 'get_weather']);
      expect(await ask(new ScriptedChatModel(['ok']), 'b')).to.deep.equal([SEARCH]);
    });

    it('tools that every turn needs are never hidden', async () => {
      const { offered } = await runSearch('call', ['ok'], {
        tools: [...TOOLS, tool('get_clock', { alwaysLoaded: true })],
      });

      expect(offered[0]).to.have.members([SEARCH, 'get_clock']);
    });

    it('with few tools the search is left out', async () => {
      const { offered } = await runSearch('call', ['ok'], { search: { minTools: 10 } });

      expect(offered[0]).to.deep.equal(TOOLS.map(({ definition }) => definition.name));
    });
  });

  describe('eviction of sessions', () => {
    it('never: a session keeps what it found until it is evicted explicitly', async () => {
      const { advisor, next } = await rememberedBy(new NeverEviction());

      expect(await next()).to.deep.equal([SEARCH, 'get_weather']);
      await advisor.evictSession('ida');
      expect(await next()).to.deep.equal([SEARCH]);
    });

    it('always: each turn starts again', async () => {
      const { next } = await rememberedBy(new AlwaysEviction());

      expect(await next()).to.deep.equal([SEARCH]);
    });

    it('least recently used: above a number of sessions', async () => {
      const { next, other } = await rememberedBy(new LruEviction(1));

      await other('eve');

      expect(await next()).to.deep.equal([SEARCH]);
    });

    it('idle: after a time, when a turn of another session starts', async () => {
      let now = 0;
      const { next, other } = await rememberedBy(new TtlEviction(1_000, () => now));

      now += 999;
      await other('eve');
      expect(await next()).to.deep.equal([SEARCH, 'get_weather']);
      now += 1_000;
      await other('eve');
      expect(await next()).to.deep.equal([SEARCH]);
    });

    it('several strategies: whichever applies first', async () => {
      const { next, other } = await rememberedBy(
        new CompositeEviction(new TtlEviction(1_000, () => 0), new LruEviction(1)),
      );

      await other('eve');

      expect(await next()).to.deep.equal([SEARCH]);
    });
  });
});
