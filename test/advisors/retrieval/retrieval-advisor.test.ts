import { expect } from 'chai';
import {
  AdvisorOrder,
  ChatClient,
  ContextKey,
  CONVERSATION_ID,
  defineTool,
  InMemoryChatMemoryRepository,
  InvalidArgumentError,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  RETRIEVAL_FILTER,
  RETRIEVED_DOCUMENTS,
  RetrievalAdvisor,
  RetryAdvisor,
  textOf,
  type ChatModel,
  type Message,
  type RetrievalAdvisorOptions,
  type Source,
} from '../../../src/index.js';
import { concatenateDocuments } from '../../../src/knowledge/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { failureOf, MODES, runSpec, type Mode } from '../../support/modes.js';
import { REFUNDS, SHIPPING, WordRetriever } from '../../support/word-retriever.js';

const QUESTION = 'How long does a refund take?';
const noop = defineTool({ name: 'noop', execute: () => 'ok' });
const TENANT = new ContextKey<string | undefined>('tenant');

const shop = (): WordRetriever => new WordRetriever({ shop: [REFUNDS, SHIPPING] });

function advisor(options: Partial<RetrievalAdvisorOptions> = {}): RetrievalAdvisor {
  return new RetrievalAdvisor({ retriever: shop(), scope: () => 'shop', ...options });
}

function ask(
  mode: Mode,
  model: ChatModel,
  options?: Partial<RetrievalAdvisorOptions>,
  question = QUESTION,
) {
  return runSpec(mode, ChatClient.create(model).prompt(question).advisors(advisor(options)));
}

const texts = (messages: readonly Message[] = []): readonly string[] =>
  messages.map((message) => textOf(message.content ?? ''));
const idsOf = (sources: unknown): readonly string[] =>
  (sources as readonly Source[]).map(({ id }) => id);

describe('RetrievalAdvisor', () => {
  describe('options', () => {
    for (const [problem, options] of [
      [
        'retriever must be a DocumentRetriever with retrieve, or several, not undefined',
        { retriever: undefined },
      ],
      [
        'retriever must be a DocumentRetriever with retrieve, or several, not an array of 0',
        { retriever: [] },
      ],
      ['scope must be a function, not undefined', { scope: undefined }],
      ['transformers must be an array of functions, not an array of 1', { transformers: [null] }],
      ['joiner must be a function, not "rank"', { joiner: 'rank' }],
      ["onEmpty must be 'answer', 'refuse' or 'tell', not \"ask\"", { onEmpty: 'ask' }],
      ['maxCharacters must be an integer >= 1, not 0', { maxCharacters: 0 }],
    ] as const)
      // prettier-ignore
      it(`[RAG-04] [RAG-05] are checked: ${problem}`, () => {
        const create = (): unknown =>
          new RetrievalAdvisor({ retriever: shop(), scope: () => 'shop', ...options } as never);

        expect(create).to.throw(InvalidArgumentError, `RetrievalAdvisor: ${problem}`);
      });
  });

  for (const mode of MODES) {
    describe(mode, () => {
      it('[RAG-05] puts documents beside the question, into context and metadata', async () => {
        const model = new ScriptedChatModel(['14 days.']);

        const response = await ask(mode, model);

        const [context, question] = texts(model.prompts[0]?.messages);
        expect(context).to.include('A refund takes 14 days.').and.include('"title":"Refunds"');
        expect(question).to.equal(QUESTION);
        expect(idsOf(response.metadata?.['documents'])).to.deep.equal(['handbook#3']);
        expect(response.context.get(RETRIEVED_DOCUMENTS)).to.deep.equal(
          response.metadata?.['documents'],
        );
        expect(response.text).to.equal('14 days.');
      });

      it('[RAG-02] searches for the rendered text of the user, after its history', async () => {
        const retriever = shop();
        const model = new ScriptedChatModel(['So.']);
        const spec = ChatClient.create(model)
          .prompt()
          .messages({ role: 'user', content: 'Hi.' }, { role: 'assistant', content: 'Hello.' })
          .system('Be brief.')
          .user((user) => user.text('How long does a {what} take?').param('what', 'refund'))
          .advisors(advisor({ retriever }));

        await runSpec(mode, spec);

        expect(retriever.queries).to.have.length(1);
        expect(retriever.queries[0]).to.include({ text: QUESTION, namespace: 'shop' });
        expect(texts(retriever.queries[0]?.history)).to.deep.equal(['Hi.', 'Hello.']);
      });

      it('searches once in a turn of ten iterations, and each has the documents', async () => {
        const retriever = shop();
        const model = new ScriptedChatModel([
          ...Array.from({ length: 9 }, (_, at) => ({
            toolCalls: [{ name: 'noop', arguments: `{"at":${at}}` }],
          })),
          'Done.',
        ]);
        const spec = ChatClient.create(model)
          .prompt(QUESTION)
          .tools(noop)
          .advisors(advisor({ retriever }));

        await runSpec(mode, spec);

        const counts = model.prompts.map(
          ({ messages }) => texts(messages).filter((text) => text.includes('14 days')).length,
        );
        expect(retriever.queries).to.have.length(1);
        expect(counts).to.deep.equal(Array.from({ length: 10 }, () => 1));
      });

      it('leaves the question alone in the memory, and in later turns', async () => {
        const repository = new InMemoryChatMemoryRepository();
        const chatMemory = new MessageWindowChatMemory({ repository });
        const model = new ScriptedChatModel(['14 days.', 'No.']);
        const client = ChatClient.builder(model)
          .defaultAdvisors(advisor(), new MessageChatMemoryAdvisor({ chatMemory }), (a) =>
            a.param(CONVERSATION_ID, 'anna'),
          )
          .build();

        await runSpec(mode, client.prompt(QUESTION));
        await runSpec(mode, client.prompt('Also a refund of gift cards?'));

        const { messages } = await repository.read('anna');
        expect(texts(messages.map(({ message }) => message))).to.deep.equal([
          QUESTION,
          '14 days.',
          'Also a refund of gift cards?',
          'No.',
        ]);
        const sent = texts(model.prompts[1]?.messages);
        expect(sent).to.have.length(4);
        expect(sent.filter((text) => text.includes('A refund takes'))).to.have.length(1);
      });

      it('keeps images, and searches nothing for a question without text', async () => {
        const image = { type: 'image', url: 'https://x.example/a.png' } as const;
        const retriever = shop();
        const model = new ScriptedChatModel(() => 'So.');
        const client = ChatClient.builder(model).defaultAdvisors(advisor({ retriever })).build();

        await runSpec(mode, client.prompt().user([image]));
        await runSpec(mode, client.prompt().user([{ type: 'text', text: QUESTION }, image]));

        expect(model.prompts[0]?.messages).to.have.length(1);
        expect(model.prompts[1]?.messages).to.have.length(2);
        expect(model.prompts[1]?.userMessage?.content).to.deep.equal([
          { type: 'text', text: QUESTION },
          image,
        ]);
        expect(retriever.queries).to.have.length(1);
      });

      it('[RAG-06] asks the model to decline a question without documents', async () => {
        const model = new ScriptedChatModel(['Sorry.']);

        const response = await ask(mode, model, {}, 'Weather?');

        const [context, question] = texts(model.prompts[0]?.messages);
        expect(context).to.match(/^No document was found .* Decline politely/);
        expect(question).to.equal('Weather?');
        expect(response.metadata?.['documents']).to.deep.equal([]);
      });

      it('[RAG-06] leaves the request unchanged without documents, if it may', async () => {
        const model = new ScriptedChatModel(['Sunny.']);

        await ask(mode, model, { onEmpty: 'answer' }, 'Weather?');

        expect(texts(model.prompts[0]?.messages)).to.deep.equal(['Weather?']);
      });

      it('refuses without a model call, if it is to', async () => {
        const model = new ScriptedChatModel([]);

        const response = await ask(
          mode,
          model,
          { onEmpty: 'refuse', refusal: 'Ask the shop.' },
          'Weather?',
        );

        expect(response.text).to.equal('Ask the shop.');
        expect(model.prompts).to.deep.equal([]);
      });

      it('has the text of a template, and refuses one that is blank', async () => {
        const model = new ScriptedChatModel(['So.']);
        const template = (sources: readonly Source[]): string => `Read: ${sources[0]?.text}`;

        await ask(mode, model, { template });
        const failure = await failureOf(ask(mode, model, { template: () => ' ' }));

        expect(texts(model.prompts[0]?.messages)[0]).to.equal(`Read: ${REFUNDS.text}`);
        expect(failure).to.be.instanceOf(InvalidArgumentError);
      });

      it('runs transformers in order, then the expander, then post-processors', async () => {
        const retriever = shop();
        const model = new ScriptedChatModel(['So.']);

        const response = await ask(mode, model, {
          retriever,
          transformers: [
            (query) => ({ ...query, text: `${query.text} A` }),
            async (query) => ({ ...query, text: `${query.text} B` }),
          ],
          expander: (query) => [query, { ...query, text: 'shipping' }],
          joiner: concatenateDocuments,
          postProcessors: [(documents) => documents.toReversed(), (all) => all.slice(0, 1)],
        });

        expect(retriever.queries.map(({ text }) => text)).to.deep.equal([
          `${QUESTION} A B`,
          'shipping',
        ]);
        expect(idsOf(response.metadata?.['documents'])).to.deep.equal(['shipping']);
      });

      it('asks several retrievers at the same time, and joins their results by rank', async () => {
        const model = new ScriptedChatModel(['So.']);
        let open = 0;
        let most = 0;
        const retriever = (...ids: readonly string[]) => ({
          retrieve: async () => {
            most = Math.max(most, ++open);
            await new Promise((resolve) => setImmediate(resolve));
            open--;
            return ids.map((id) => ({ id, text: id }));
          },
        });

        const response = await ask(mode, model, {
          retriever: [retriever('a', 'b', 'c'), retriever('b', 'd')],
        });

        expect(most).to.equal(2);
        expect(idsOf(response.metadata?.['documents'])[0]).to.equal('b');
        expect(idsOf(response.metadata?.['documents'])).to.have.members(['a', 'b', 'c', 'd']);
      });

      it('searches nothing without a scope', async () => {
        const retriever = shop();
        const model = new ScriptedChatModel([]);
        const scope = (): undefined => undefined;

        const failure = await failureOf(ask(mode, model, { retriever, scope }));

        expect(failure).to.include({ code: 'retrieval', reason: 'no-scope' });
        expect(retriever.queries).to.deep.equal([]);
      });

      it('keeps to its scope, and to the filter of the request, whatever the parts want', async () => {
        const retriever = shop();
        const model = new ScriptedChatModel(() => 'So.');
        const spec = ChatClient.create(model)
          .prompt(QUESTION)
          .advisors(
            advisor({
              retriever,
              scope: (context) => context.get(TENANT),
              transformers: [(query) => ({ ...query, namespace: 'other', filter: { page: 7 } })],
              expander: (query) => [{ ...query, namespace: '*', filter: undefined }],
            }),
            (a) => a.param(TENANT, 'shop').param(RETRIEVAL_FILTER, { lang: 'en' }),
          );

        await runSpec(mode, spec);

        expect(retriever.queries[0]).to.deep.include({
          namespace: 'shop',
          filter: { lang: 'en' },
        });
      });

      it('ends the turn with the name of a retriever that fails', async () => {
        const model = new ScriptedChatModel([]);
        const cause = new Error('connection refused.');
        const broken = { name: 'wiki', retrieve: () => Promise.reject(cause) };

        const failure = await failureOf(ask(mode, model, { retriever: [shop(), broken] }));

        expect(failure).to.include({ code: 'retrieval', retriever: 'wiki', cause });
        expect((failure as Error).message).to.include('"wiki" failed: connection refused. ');
        expect(model.prompts).to.deep.equal([]);
      });

      it('refuses a result without documents', async () => {
        const model = new ScriptedChatModel([]);
        for (const result of [
          undefined,
          [{ id: 1 }],
          [{ id: 'a', text: 'b', metadata: { at: new Date(0) } }],
        ]) {
          const retriever = { retrieve: () => Promise.resolve(result as never) };

          const failure = await failureOf(ask(mode, model, { retriever }));

          expect(failure).to.include({ code: 'retrieval', retriever: 'retriever 1' });
        }
      });

      it('ends at once when the run is cancelled', async () => {
        const model = new ScriptedChatModel([]);
        const controller = new AbortController();
        const signals: AbortSignal[] = [];
        const retriever = {
          retrieve: ({ signal }: { readonly signal: AbortSignal }) => {
            signals.push(signal);
            setImmediate(() => controller.abort());
            return new Promise<never>(() => undefined);
          },
        };
        const spec = ChatClient.create(model)
          .prompt(QUESTION)
          .advisors(advisor({ retriever }))
          .signal(controller.signal);

        const failure = await failureOf(runSpec(mode, spec));

        expect(failure).to.include({ code: 'cancelled' });
        expect(signals[0]?.aborted).to.equal(true);
      });

      it('has the documents in each attempt of a retry, inside and outside', async () => {
        for (const order of [AdvisorOrder.RESILIENCE, AdvisorOrder.RETRIEVAL - 1]) {
          const model = new ScriptedChatModel([new Error('once'), '14 days.']);
          const spec = ChatClient.create(model)
            .prompt(QUESTION)
            .advisors(
              advisor(),
              new RetryAdvisor({ order, firstDelay: 0, when: (error) => error !== undefined }),
            );

          const response = await runSpec(mode, spec);

          expect(response.text).to.equal('14 days.');
          expect(idsOf(response.metadata?.['documents'])).to.deep.equal(['handbook#3']);
          expect(model.prompts.map(({ messages }) => messages.length)).to.deep.equal([2, 2]);
        }
      });

      it('keeps two runs apart', async () => {
        const model = new ScriptedChatModel(() => 'So.');
        const retriever = new WordRetriever({ a: [REFUNDS], b: [SHIPPING] });
        const client = ChatClient.builder(model)
          .defaultAdvisors(advisor({ retriever, scope: (context) => context.get(TENANT) }))
          .build();
        const of = (tenant: string) =>
          client.prompt('refund shipping').advisors((a) => a.param(TENANT, tenant));

        const [a, b] = await Promise.all([runSpec(mode, of('a')), runSpec(mode, of('b'))]);

        expect(idsOf(a.metadata?.['documents'])).to.deep.equal(['handbook#3']);
        expect(idsOf(b.metadata?.['documents'])).to.deep.equal(['shipping']);
      });

      it('adds the documents of two advisors', async () => {
        const model = new ScriptedChatModel(['So.']);
        const other = new WordRetriever({ shop: [SHIPPING] });
        const spec = ChatClient.create(model)
          .prompt('refund shipping')
          .advisors(
            advisor({ retriever: new WordRetriever({ shop: [REFUNDS] }) }),
            advisor({ retriever: other, name: 'second' }),
          );

        const response = await runSpec(mode, spec);

        expect(idsOf(response.metadata?.['documents'])).to.deep.equal(['handbook#3', 'shipping']);
        expect(model.prompts[0]?.messages).to.have.length(3);
      });
    });
  }

  it('emits its sources before the first text of a stream, with scores and without vectors', async () => {
    const retriever = {
      retrieve: async () => [{ ...REFUNDS, score: 0.5, vector: new Float32Array([1]) }],
    };
    const model = new ScriptedChatModel(['14 days.']);
    const types: string[] = [];
    const sources: unknown[] = [];

    await new Promise<void>((resolve, reject) => {
      ChatClient.create(model)
        .prompt(QUESTION)
        .advisors(advisor({ retriever }))
        .stream()
        .events()
        .subscribe({
          next: (event) => {
            types.push(event.type === 'custom' ? event.name : event.type);
            if (event.type === 'custom' && event.name === 'sources') sources.push(event.data);
          },
          complete: resolve,
          error: reject,
        });
    });

    expect(types[0]).to.equal('sources');
    expect(types.filter((type) => type === 'sources')).to.have.length(1);
    expect(sources).to.have.length(1);
    expect(sources[0]).to.deep.include({ origin: 'retrieval' });
    const [first] = (sources[0] as { documents: readonly Source[] }).documents;
    expect(first).to.include({ id: 'handbook#3', score: 0.5 }).and.not.to.have.property('vector');
    expect(first?.key).to.match(/^s[\da-f]{7}$/);
  });
});
