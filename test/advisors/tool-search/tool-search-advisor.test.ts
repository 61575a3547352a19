import { expect } from 'chai';
import {
  AdvisorOrder,
  ChatClient,
  ContextKey,
  CONVERSATION_ID,
  HybridToolIndex,
  InMemoryChatMemoryRepository,
  InvalidArgumentError,
  KeywordToolIndex,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  RegexToolIndex,
  ToolCallingAdvisor,
  ToolSearchAdvisor,
  toolCallingAutoRegister,
  VectorToolIndex,
  type EmbeddingModel,
  type Message,
  type ToolIndex,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import {
  calls,
  namesOf,
  RecordingIndex,
  resultsIn,
  runSearch,
  searches,
  tool,
  TOOLS,
} from '../../support/tool-search.js';
import { MODES } from '../../support/modes.js';

const toolIndex = new KeywordToolIndex();

/** Embeds texts with a common word as similar vectors. */
const embeddingModel: EmbeddingModel = {
  embed: (texts) => {
    const vectors = texts.map((text) =>
      Float32Array.of(/weather/i.test(text) ? 1 : 0, /calendar/i.test(text) ? 1 : 0, 0.1),
    );
    return Promise.resolve({ vectors, usage: undefined, model: undefined });
  },
};

const INDEXES: Readonly<Record<string, () => ToolIndex>> = {
  keywords: () => new KeywordToolIndex(),
  patterns: () => new RegexToolIndex(),
  vectors: () => new VectorToolIndex({ embeddingModel }),
  'several of them': () =>
    new HybridToolIndex({
      indexes: [new KeywordToolIndex(), new VectorToolIndex({ embeddingModel })],
    }),
};

describe('ToolSearchAdvisor', () => {
  describe('options', () => {
    it('[TSA-01] require an index', () => {
      const message =
        'ToolSearchAdvisor: toolIndex must be a ToolIndex, such as new KeywordToolIndex(), not undefined';
      expect(() => new ToolSearchAdvisor({} as never)).to.throw(InvalidArgumentError, message);
      expect(() => new ToolSearchAdvisor(undefined as never)).to.throw(
        InvalidArgumentError,
        message,
      );
      expect(() => new ToolSearchAdvisor({ toolIndex: { search() {} } as never })).to.throw(
        InvalidArgumentError,
        'toolIndex must be',
      );
    });

    it('[TSA-02] default to an order between memory and the tool loop', () => {
      const advisor = new ToolSearchAdvisor({ toolIndex });

      expect(advisor.name).to.equal('tool-search');
      expect(advisor.order).to.equal(AdvisorOrder.TOOL_SEARCH);
      expect(advisor.order).to.be.within(AdvisorOrder.MEMORY + 1, AdvisorOrder.TOOL_CALLING - 1);
    });

    for (const [option, value] of [
      ['maxResults', 0],
      ['maxResults', 1.5],
      ['maxResults', '5'],
      ['maxResults', null],
      ['searchToolName', 'search tools'],
      ['searchToolName', ''],
      ['systemMessageSuffix', ' '],
      ['systemMessageSuffix', 1],
      ['accumulate', 'yes'],
      ['rememberDiscovered', 1],
      ['maxRemembered', 0],
      ['sessionKey', 'id'],
      ['eviction', {}],
      ['minTools', -1],
      ['searchFirst', 'yes'],
      ['order', NaN],
    ] as const)
      it(`[TSA-03] reject ${option}: ${JSON.stringify(value)}`, () => {
        expect(() => new ToolSearchAdvisor({ toolIndex, [option]: value })).to.throw(
          InvalidArgumentError,
          `ToolSearchAdvisor: ${option} must be`,
        );
      });
  });

  for (const mode of MODES)
    describe(mode, () => {
      it('offers a search tool first, then the tools it has found', async () => {
        const { offered, response, model } = await runSearch(mode, [
          searches('what will the weather be?'),
          calls('get_weather'),
          'Sunny.',
        ]);

        expect(offered).to.deep.equal([
          ['toolSearchTool'],
          ['toolSearchTool', 'get_weather'],
          ['toolSearchTool', 'get_weather'],
        ]);
        expect(resultsIn(model.prompts[2]!)).to.deep.equal([
          '[{"name":"get_weather","description":"Gives the weather."}]',
          'result of get_weather',
        ]);
        expect(response.text).to.equal('Sunny.');
      });

      it('[TSA-05] [TSA-22] appends the suffix to the system message unchanged', async () => {
        const search = { systemMessageSuffix: ' Search!' };
        const { model } = await runSearch(mode, ['Hi.'], { system: 'Be brief.', search });

        expect(model.prompts[0]?.systemMessage?.content).to.equal('Be brief. Search!');
      });

      it('explains the search in the system message, with or without one in the request', async () => {
        const withMessage = await runSearch(mode, ['Hi.'], {
          system: 'Be brief.',
          search: { searchToolName: 'find_tools' },
        });
        const without = await runSearch(mode, ['Hi.']);

        expect(withMessage.model.prompts[0]?.systemMessage?.content).to.match(
          /^Be brief\.\n\nMost of your tools .*"find_tools"/,
        );
        expect(without.model.prompts[0]?.systemMessage?.content).to.match(
          /^Most of your tools .*"toolSearchTool"/,
        );
      });

      it('describes the search tool with maxResults', async () => {
        const { model } = await runSearch(mode, ['Hi.'], { search: { maxResults: 3 } });
        const [definition] = (model.prompts[0]?.options.tools ?? []).map(
          (offered) => offered.definition,
        );

        expect(definition?.description)
          .to.include('one need for each search')
          .and.include('can be called from then on');
        expect(definition?.inputSchema).to.deep.equal({
          type: 'object',
          properties: {
            query: {
              type: 'string',
              description: 'What the tool is to do, such as "send an e-mail with an attachment".',
            },
            maxResults: { type: 'integer', description: 'Most tools to find, 1 to 3. Default 3.' },
          },
          required: ['query'],
        });
      });

      it('[TSA-04] [TSA-06] [TSA-21] [TSA-23] indexes all tools at once, in order, before the model call', async () => {
        const index = new RecordingIndex();
        await runSearch(mode, () => (index.log.push('model'), { text: 'Hi.' }), {
          search: { toolIndex: index },
          conversation: 'c',
        });

        expect(index.log).to.deep.equal([
          `index c: ${TOOLS.map(({ definition }) => definition.name).join(' ')}`,
          'model',
        ]);
      });

      it('[TSA-07] indexes equal tools of a session once', async () => {
        const index = new RecordingIndex();
        const advisor = new ToolSearchAdvisor({ toolIndex: index });
        const same = () => ['get_weather', 'get_invoice'].map((name) => tool(name));
        for (let turn = 0; turn < 3; turn++)
          await runSearch(mode, ['Hi.'], { advisor, conversation: 'c', tools: same() });

        expect(index.log).to.deep.equal(['index c: get_weather get_invoice']);
      });

      it('[TSA-08] indexes again when the tools of a session change', async () => {
        const index = new RecordingIndex();
        const advisor = new ToolSearchAdvisor({ toolIndex: index });
        for (const names of [['a_weather'], ['b_weather'], ['b_weather', 'c_weather']])
          await runSearch(mode, ['Hi.'], {
            advisor,
            conversation: 'c',
            tools: names.map((name) => tool(name)),
          });

        expect(index.log).to.deep.equal([
          'index c: a_weather',
          'index c: b_weather',
          'index c: b_weather c_weather',
        ]);
      });

      it('indexes again when a schema or a description changes', async () => {
        const index = new RecordingIndex();
        const advisor = new ToolSearchAdvisor({ toolIndex: index });
        const schema = (name: string) => ({
          type: 'object',
          properties: { [name]: { type: 'string' } },
        });
        for (const changed of [
          tool('a'),
          tool('a', { input: schema('x') }),
          tool('a', { input: schema('x'), description: 'Other.' }),
        ])
          await runSearch(mode, ['Hi.'], { advisor, conversation: 'c', tools: [changed] });

        expect(index.indexed).to.have.length(3);
      });

      it('[TSA-12] [TSA-25] searches in the session of the conversation', async () => {
        const index = new RecordingIndex();
        await runSearch(mode, [searches('weather'), 'Hi.'], {
          search: { toolIndex: index },
          conversation: 'anna-7',
        });

        expect(
          index.searched.map(({ session, query, maxResults }) => ({ session, query, maxResults })),
        ).to.deep.equal([{ session: 'anna-7', query: 'weather', maxResults: 5 }]);
      });

      it('reads the session from sessionKey', async () => {
        const index = new RecordingIndex();
        const key = new ContextKey<string | undefined>('test.tenant');
        const model = new ScriptedChatModel(['Hi.']);
        const run = ChatClient.create(model)
          .prompt('Go.')
          .tools(...TOOLS)
          .advisors(new ToolSearchAdvisor({ toolIndex: index, sessionKey: key }), (a) =>
            a.param(key, 't-1').param(CONVERSATION_ID, 'c'),
          );
        await run.call().content();

        expect(index.indexed.map(({ session }) => session)).to.deep.equal(['t-1']);
      });

      it('uses a session for each turn without a conversation', async () => {
        const index = new RecordingIndex();
        const advisor = new ToolSearchAdvisor({ toolIndex: index });
        const first = await runSearch(mode, [searches('weather'), 'Hi.'], { advisor });
        const second = await runSearch(mode, ['Hi.'], { advisor });

        const sessions = index.indexed.map(({ session }) => session);
        expect(new Set(sessions).size).to.equal(2);
        expect(index.log.filter((line) => line.startsWith('clear'))).to.deep.equal(
          sessions.map((session) => `clear ${session}`),
        );
        expect(first.offered[1]).to.deep.equal(['toolSearchTool', 'get_weather']);
        expect(second.offered[0]).to.deep.equal(['toolSearchTool']);
      });

      it('rejects an empty session id', async () => {
        const failed = runSearch(mode, ['Hi.'], { conversation: '' });

        expect(await failed.catch((error: unknown) => error))
          .to.be.instanceOf(InvalidArgumentError)
          .with.property('message')
          .that.includes('param chat_memory_conversation_id must be a non-blank string');
      });

      it('offers found tools until the turn ends, in order of discovery', async () => {
        const script = [
          searches('invoice'),
          searches('weather'),
          calls('get_weather'),
          searches('calendar'),
          'Done.',
        ];
        const { offered } = await runSearch(mode, script);

        expect(offered.at(-1)).to.deep.equal([
          'toolSearchTool',
          'get_invoice',
          'get_weather',
          'get_calendar',
        ]);
        for (const [at, names] of offered.entries())
          expect(offered.at(-1)?.slice(0, names.length), `request ${at}`).to.deep.equal(names);
      });

      it('[F83] keeps a found tool after a call with invalid arguments', async () => {
        const strict = tool('get_weather', {
          input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        });
        const call = (args: Readonly<Record<string, unknown>>) => ({
          toolCalls: [{ name: 'get_weather', arguments: args }],
        });
        const { offered, model, response } = await runSearch(
          mode,
          [searches('weather'), call({}), call({ city: 'Oslo' }), 'Sunny.'],
          {
            tools: [...TOOLS.slice(1), strict],
          },
        );

        expect(offered.slice(1)).to.deep.equal(
          Array.from({ length: 3 }, () => ['toolSearchTool', 'get_weather']),
        );
        expect(resultsIn(model.prompts[3]!)[1]).to.include('not valid');
        expect(resultsIn(model.prompts[3]!)[2]).to.equal('result of get_weather');
        expect(response.text).to.equal('Sunny.');
      });

      it('[TSA-18] offers the tools of all searches of a batch', async () => {
        for (const accumulate of [true, false]) {
          const script = [searches('weather', 'invoice', 'calendar'), 'Done.'];
          const { offered } = await runSearch(mode, script, { search: { accumulate } });

          expect(offered[1], `accumulate ${accumulate}`).to.deep.equal([
            'toolSearchTool',
            'get_weather',
            'get_invoice',
            'get_calendar',
          ]);
        }
      });

      it('offers only the last tools found without accumulate', async () => {
        const script = [
          searches('weather', 'invoice'),
          calls('get_weather'),
          searches('calendar'),
          calls('get_calendar'),
          'Done.',
        ];
        const { offered } = await runSearch(mode, script, { search: { accumulate: false } });

        expect(offered).to.deep.equal([
          ['toolSearchTool'],
          ['toolSearchTool', 'get_weather', 'get_invoice'],
          ['toolSearchTool', 'get_weather', 'get_invoice'],
          ['toolSearchTool', 'get_calendar'],
          ['toolSearchTool', 'get_calendar'],
        ]);
      });

      it('[TSA-20] remembers found tools in a session, [TSA-19] without accumulate the last ones', async () => {
        for (const [accumulate, remembered] of [
          [true, ['get_weather', 'get_invoice', 'get_calendar']],
          [false, ['get_calendar']],
        ] as const) {
          const advisor = new ToolSearchAdvisor({ toolIndex: new KeywordToolIndex(), accumulate });
          await runSearch(mode, [searches('weather', 'invoice'), 'Done.'], {
            advisor,
            conversation: 'c',
          });
          const second = await runSearch(mode, [searches('calendar'), 'Done.'], {
            advisor,
            conversation: 'c',
          });
          const third = await runSearch(mode, ['Done.'], { advisor, conversation: 'c' });
          const other = await runSearch(mode, ['Done.'], { advisor, conversation: 'd' });

          expect(second.offered[0]).to.deep.equal(['toolSearchTool', 'get_weather', 'get_invoice']);
          expect(third.offered[0]).to.deep.equal(['toolSearchTool', ...remembered]);
          expect(other.offered[0]).to.deep.equal(['toolSearchTool']);
        }
      });

      it('remembers the last maxRemembered tools', async () => {
        const advisor = new ToolSearchAdvisor({
          toolIndex: new KeywordToolIndex(),
          maxRemembered: 2,
        });
        await runSearch(mode, [searches('weather', 'invoice', 'calendar'), 'Done.'], {
          advisor,
          conversation: 'c',
        });
        const { offered } = await runSearch(mode, ['Done.'], { advisor, conversation: 'c' });

        expect(offered[0]).to.deep.equal(['toolSearchTool', 'get_invoice', 'get_calendar']);
      });

      it('remembers nothing with rememberDiscovered: false', async () => {
        const advisor = new ToolSearchAdvisor({
          toolIndex: new KeywordToolIndex(),
          rememberDiscovered: false,
        });
        const first = await runSearch(mode, [searches('weather'), 'Done.'], {
          advisor,
          conversation: 'c',
        });
        const messages =
          first.model.prompts.at(-1)?.messages.filter(({ role }) => role !== 'system') ?? [];
        const { offered } = await runSearch(mode, ['Done.'], {
          advisor,
          conversation: 'c',
          messages,
        });

        expect(offered[0]).to.deep.equal(['toolSearchTool']);
      });

      it('[TSA-14] [TSA-24] reads found and called tools from the history of an unknown conversation', async () => {
        const first = await runSearch(mode, [
          searches('weather', 'invoice'),
          calls('get_calendar'),
          'Done.',
        ]);
        const history: readonly Message[] =
          first.model.prompts.at(-1)?.messages.filter(({ role }) => role !== 'system') ?? [];
        const foreign: readonly Message[] = [
          {
            role: 'assistant',
            content: null,
            toolCalls: [{ id: 'x', name: 'toolSearchTool', arguments: '{}' }],
          },
          {
            role: 'tool',
            toolCallId: 'x',
            toolName: 'toolSearchTool',
            content: '[{"name":"rm_rf"},{"name":1},null]',
          },
        ];
        const { offered } = await runSearch(mode, ['Done.'], {
          messages: [...history, { role: 'assistant', content: 'Done.' }, ...foreign],
        });

        expect(offered[0]).to.deep.equal([
          'toolSearchTool',
          'get_weather',
          'get_invoice',
          'get_calendar',
        ]);
      });

      it('offers a tool that is always loaded and does not find it', async () => {
        const tools = [...TOOLS, tool('get_time', { alwaysLoaded: true })];
        const { offered, model } = await runSearch(mode, [searches('time weather'), 'Done.'], {
          tools,
        });

        expect(offered).to.deep.equal([
          ['toolSearchTool', 'get_time'],
          ['toolSearchTool', 'get_time', 'get_weather'],
        ]);
        expect(resultsIn(model.prompts[1]!)[0]).not.to.include('get_time');
      });

      it('offers all tools if there are fewer than minTools', async () => {
        const few = await runSearch(mode, ['Hi.'], { search: { minTools: 7 } });
        const enough = await runSearch(mode, ['Hi.'], { search: { minTools: 6 } });

        expect(few.offered[0]).to.deep.equal(TOOLS.map(({ definition }) => definition.name));
        expect(few.model.prompts[0]?.systemMessage).to.equal(undefined);
        expect(enough.offered[0]).to.deep.equal(['toolSearchTool']);
      });

      it('passes a request without searchable tools unchanged', async () => {
        const none = await runSearch(mode, ['Hi.'], { tools: [] });
        const loaded = await runSearch(mode, ['Hi.'], {
          tools: [tool('get_time', { alwaysLoaded: true })],
        });

        expect(none.offered[0]).to.deep.equal([]);
        expect(loaded.offered[0]).to.deep.equal(['get_time']);
      });

      it('finds and unlocks tools that are deferred already', async () => {
        const tools = [...TOOLS, tool('get_secret', { deferred: true })];
        const { offered } = await runSearch(mode, [searches('secret'), 'Done.'], { tools });

        expect(offered[1]).to.deep.equal(['toolSearchTool', 'get_secret']);
      });

      it('runs no tool that the model names before a search has found it', async () => {
        const { model, offered } = await runSearch(mode, [
          calls('get_invoice'),
          searches('invoice'),
          calls('get_invoice'),
          'Done.',
        ]);

        const [refused, , result] = resultsIn(model.prompts[3]!);

        expect(offered[1]).to.deep.equal(['toolSearchTool']);
        expect(refused).to.match(
          /^There is no tool "get_invoice"\. Tools you can call: toolSearchTool/,
        );
        expect(result).to.equal('result of get_invoice');
      });

      it('offers a required tool after the known ones and remembers it', async () => {
        const advisor = new ToolSearchAdvisor({ toolIndex: new KeywordToolIndex() });
        await runSearch(mode, [searches('weather'), 'Done.'], { advisor, conversation: 'c' });
        const options = { toolChoice: { tool: 'get_invoice' } };
        const forced = await runSearch(mode, [calls('get_invoice'), 'Done.'], {
          advisor,
          conversation: 'c',
          options,
        });
        const { offered } = await runSearch(mode, ['Done.'], { advisor, conversation: 'c' });

        expect(forced.offered[0]).to.deep.equal(['toolSearchTool', 'get_weather', 'get_invoice']);
        expect(offered[0]).to.deep.equal(['toolSearchTool', 'get_weather', 'get_invoice']);
      });

      it('adds nothing to a request with toolChoice none', async () => {
        const { model, offered } = await runSearch(mode, ['Done.'], {
          options: { toolChoice: 'none' },
        });

        expect(offered[0]).to.deep.equal([]);
        expect(model.prompts[0]?.systemMessage).to.equal(undefined);
      });

      it('offers a deferred tool that is always loaded', async () => {
        const { offered } = await runSearch(mode, ['Done.'], {
          tools: [...TOOLS, tool('get_time', { alwaysLoaded: true, deferred: true })],
        });

        expect(offered[0]).to.deep.equal(['toolSearchTool', 'get_time']);
      });

      it('rejects a tool with the name of the search tool', async () => {
        const failed = runSearch(mode, ['Hi.'], { tools: [tool('toolSearchTool')] });

        expect(await failed.catch((error: unknown) => error))
          .to.be.instanceOf(InvalidArgumentError)
          .with.property(
            'message',
            'ToolSearchAdvisor: the request has another tool named "toolSearchTool"; set searchToolName',
          );
        const { offered } = await runSearch(mode, ['Hi.'], {
          tools: [tool('toolSearchTool')],
          search: { minTools: 2 },
        });
        expect(offered[0]).to.deep.equal(['toolSearchTool']);
      });

      it('rejects an order inside the tool loop', async () => {
        const failed = runSearch(mode, ['Hi.'], {
          search: { order: AdvisorOrder.TOOL_CALLING + 1 },
        });

        expect(await failed.catch((error: unknown) => error))
          .to.be.instanceOf(InvalidArgumentError)
          .with.property('message')
          .that.includes('the order must be lower than the order of the tool loop');
      });

      describe('search tool', () => {
        const asked = async (
          args: Readonly<Record<string, unknown>>,
          index: ToolIndex = new KeywordToolIndex(),
          tools = TOOLS,
        ) => {
          const { model, offered } = await runSearch(mode, [searches(args), 'Done.'], {
            tools,
            search: { toolIndex: index, maxResults: 2 },
          });
          return { result: resultsIn(model.prompts[1]!)[0], offered: offered[1]?.slice(1) };
        };

        for (const [maxResults, found] of [
          [1, 1],
          [2, 2],
          [50, 2],
          [0, 1],
          [-3, 1],
          [undefined, 2],
        ] as const)
          it(`[F86] finds ${found} for maxResults ${maxResults}, at most 2`, async () => {
            const { offered } = await asked({ query: 'weather forecast calendar', maxResults });

            expect(offered).to.have.length(found);
          });

        it('limits the results of an index that returns too many', async () => {
          const generous: ToolIndex = {
            index: () => undefined,
            search: () => ({ references: TOOLS.map(({ definition }) => definition) }),
            clear: () => undefined,
          };
          const { offered, result } = await asked({ query: 'all' }, generous);

          expect(offered).to.deep.equal(['get_weather', 'get_forecast']);
          expect(JSON.parse(result ?? '')).to.have.length(2);
        });

        it('filters by category, ignoring case', async () => {
          const tools = [
            tool('read_mail', { category: 'Mail' }),
            tool('read_news', { category: 'News' }),
            tool('read_book'),
          ];

          expect(
            (await asked({ query: 'read', categoryFilter: 'news' }, undefined, tools)).offered,
          ).to.deep.equal(['read_news']);
          expect(
            (await asked({ query: '', categoryFilter: 'Mail' }, undefined, tools)).offered,
          ).to.deep.equal(['read_mail']);
          expect(
            (await asked({ query: 'read mail', categoryFilter: ' ' }, undefined, tools)).offered,
          ).to.include('read_mail');
          expect(
            (await asked({ query: 'read', categoryFilter: 'sport' }, undefined, tools)).result,
          ).to.equal('There is no category "sport". There are: Mail, News.');
        });

        it('lists up to 50 categories for the model', async () => {
          const definition = async (count: number) => {
            const tools = Array.from({ length: count }, (_, at) =>
              tool(`tool_${at}`, { category: `c${at}` }),
            );
            const { model } = await runSearch(
              mode,
              [searches({ query: 'x', categoryFilter: 'C7' }), 'Hi.'],
              { tools },
            );
            const properties = model.prompts[0]?.options.tools?.[0]?.definition.inputSchema[
              'properties'
            ] as Record<string, unknown>;
            return {
              filter: properties['categoryFilter'],
              result: resultsIn(model.prompts[1]!)[0],
            };
          };

          expect((await definition(8)).filter).to.deep.equal({
            type: 'string',
            enum: ['c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7'],
            description: 'Only tools of this category.',
          });
          expect((await definition(51)).filter).to.deep.equal({
            type: 'string',
            description: 'Only tools of this category.',
          });
          expect((await definition(51)).result).not.to.include('There is no category');
        });

        for (const query of ['', '   ', '\n'])
          it(`[F86] asks for a description: ${JSON.stringify(query)}`, async () => {
            const { result, offered } = await asked({ query });

            expect(result).to.equal('Describe in `query` what the tool is to do.');
            expect(offered).to.deep.equal([]);
          });

        it('explains what to do without a match', async () => {
          const { result, offered } = await asked({ query: 'xylophone' });

          expect(result).to.equal(
            'No tool fits. Describe in other words what the tool is to do, or continue without one.',
          );
          expect(offered).to.deep.equal([]);
        });

        it('returns one short line for each tool', async () => {
          const long = tool('get_weather', {
            description: `Gives\n\n the   weather ${'of a city '.repeat(60)}`,
          });
          const { result } = await asked({ query: 'weather' }, undefined, [long]);
          const [found] = JSON.parse(result ?? '') as { description: string }[];

          expect(found?.description).to.match(/^Gives the weather of a city .*…$/);
          expect(found?.description.length).to.be.at.most(201);
        });

        for (const [what, index] of [
          ['throws', { search: () => void raise() }],
          ['rejects', { search: () => Promise.reject(new Error('no')) }],
          ['cannot index', { index: () => Promise.reject(new Error('no')) }],
          ['returns nothing', { search: () => undefined }],
          ['returns no list', { search: () => ({ references: 'all' }) }],
          ['returns invalid references', { search: () => ({ references: [{ name: 1 }] }) }],
        ] as const)
          it(`reports a failed search to the model: the index ${what}`, async () => {
            const plain: ToolIndex = {
              index: () => undefined,
              search: () => ({ references: [] }),
              clear: () => undefined,
            };
            const { result, offered } = await asked(
              { query: 'weather' },
              { ...plain, ...(index as Partial<ToolIndex>) },
            );

            expect(result).to.match(/fail/i);
            expect(offered).to.deep.equal([]);
          });
      });

      for (const [kind, toolIndex] of Object.entries(INDEXES))
        it(`[TSA-26] [TSA-29] calls a found tool for three cities, with ${kind}`, async () => {
          const weather = tool('current_weather', {
            description: 'The weather of a city right now.',
            input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
            execute: ({ city }) => `${String(city)}: ${String(city).length} degrees`,
          });
          const cities = ['Oslo', 'Rome', 'Athens'].map((city) => ({
            name: 'current_weather',
            arguments: { city },
          }));
          const { response } = await runSearch(
            mode,
            (prompt, index) =>
              [searches('weather'), { toolCalls: cities }][index] ?? {
                text: resultsIn(prompt).slice(1).join(', '),
              },
            { tools: [...TOOLS.slice(1), weather], search: { toolIndex: toolIndex() } },
          );

          expect(response.text).to.equal('Oslo: 4 degrees, Rome: 4 degrees, Athens: 6 degrees');
        });

      it('adds neither suffix nor search to the memory', async () => {
        const repository = new InMemoryChatMemoryRepository();
        const memory = new MessageChatMemoryAdvisor({
          chatMemory: new MessageWindowChatMemory({ repository }),
        });
        await runSearch(mode, [searches('weather'), calls('get_weather'), 'Sunny.'], {
          conversation: 'c',
          advisors: [memory],
        });

        const { messages } = await repository.read('c');
        expect(messages.map(({ message }) => message)).to.deep.equal([
          { role: 'user', content: 'Go.' },
          { role: 'assistant', content: 'Sunny.' },
        ]);
      });

      for (const place of ['outside', 'inside'] as const)
        for (const keepHistory of place === 'inside' ? [true, false] : [true])
          it(`[TSA-30] finds tools with memory ${place} the loop${keepHistory ? '' : ', without a history of the loop'}`, async () => {
            const order = place === 'inside' ? AdvisorOrder.TOOL_CALLING + 1 : AdvisorOrder.MEMORY;
            const chatMemory = new MessageWindowChatMemory({
              repository: new InMemoryChatMemoryRepository(),
            });
            const advisors = [
              new MessageChatMemoryAdvisor({ chatMemory, order }),
              new ToolCallingAdvisor({ keepHistory }),
            ];
            const script = [
              searches('weather'),
              calls('get_weather'),
              searches('invoice'),
              calls('get_weather', 'get_invoice'),
              'Done.',
            ];
            const { offered, response } = await runSearch(mode, script, {
              advisors: place === 'inside' && keepHistory ? advisors.slice(0, 1) : advisors,
              conversation: 'c',
            });

            expect(offered.at(-1)).to.deep.equal(['toolSearchTool', 'get_weather', 'get_invoice']);
            expect(offered[2]).to.deep.equal(['toolSearchTool', 'get_weather']);
            expect(response.text).to.equal('Done.');
          });

      it('leaves only the unlocked tools in the context of the response', async () => {
        const { response } = await runSearch(mode, [searches('weather'), 'Done.']);

        expect(
          [...response.context.entries()].filter(([, value]) => value !== undefined),
        ).to.deep.equal([['advisor-chain.unlocked-tools', ['get_weather']]]);
      });
    });

  it('is reported by explain() without a tool loop after it', () => {
    const client = (order: number | undefined, loop: boolean) =>
      ChatClient.builder(new ScriptedChatModel([]))
        .defaultAdvisors(new ToolSearchAdvisor({ toolIndex, order }), toolCallingAutoRegister(loop))
        .build()
        .explain();

    expect(client(undefined, true).warnings).to.deep.equal([]);
    expect(client(undefined, false).warnings).to.deep.equal([
      '"tool-search" is not left of a tool loop: what it finds cannot be called; give it a lower order, or add the loop',
    ]);
    expect(client(AdvisorOrder.LOGGER, true).warnings.join()).to.include(
      '"tool-search" is not left of a tool loop',
    );
  });

  it('offers a tool once that is found twice', async () => {
    const { model } = await runSearch('call', [searches('weather', 'weather'), 'Done.']);

    expect(namesOf(model.prompts[1]!)).to.deep.equal(['toolSearchTool', 'get_weather']);
  });
});

function raise(): never {
  throw new Error('no');
}
