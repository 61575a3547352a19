import { expect } from 'chai';
import {
  ChatClient,
  DurableAdvisor,
  InMemoryDurableEngine,
  KeywordToolIndex,
  prefixTools,
  RegexToolIndex,
  renameTools,
  ToolSearchAdvisor,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import {
  calls,
  RecordingIndex,
  resultsIn,
  runSearch,
  searches,
  TOOLS,
} from '../../support/tool-search.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';

const FIRST = { searchFirst: true, maxResults: 1 };

for (const mode of MODES)
  describe(`ToolSearchAdvisor with searchFirst, ${mode}`, () => {
    it('offers what the words of the user find before the first model call', async () => {
      const { offered, model } = await runSearch(mode, [calls('get_weather'), 'Sunny.'], {
        user: 'Weather in Oslo?',
        search: FIRST,
      });

      expect(offered).to.deep.equal([
        ['toolSearchTool', 'get_weather'],
        ['toolSearchTool', 'get_weather'],
      ]);
      expect(resultsIn(model.prompts[1]!)).to.deep.equal(['result of get_weather']);
    });

    it('adds no message, and leaves the search tool to the model', async () => {
      const { model, offered } = await runSearch(mode, [searches('calendar'), 'Done.'], {
        user: 'Weather?',
        search: FIRST,
      });

      expect(model.prompts[0]!.messages.map(({ role }) => role)).to.deep.equal(['system', 'user']);
      expect(offered[1]).to.deep.equal(['toolSearchTool', 'get_weather', 'get_calendar']);
    });

    it('searches in the last message of the user, with its turn', async () => {
      const toolIndex = new RecordingIndex();
      await runSearch(mode, ['Done.'], {
        messages: [{ role: 'user', content: 'Calendar!' }],
        user: 'Weather?',
        search: { toolIndex, searchFirst: true },
      });

      expect(toolIndex.searched.map(({ query, maxResults }) => [query, maxResults])).to.deep.equal([
        ['Weather?', 5],
      ]);
    });

    it('keeps what it found in the next turn, without accumulate only the last', async () => {
      for (const accumulate of [true, false]) {
        const advisor = new ToolSearchAdvisor({
          toolIndex: new KeywordToolIndex(),
          ...FIRST,
          accumulate,
        });
        const turn = (user: string) =>
          runSearch(mode, ['Done.'], { advisor, conversation: 'anna', user });
        await turn('Weather?');
        const { offered } = await turn('Calendar?');

        expect(offered[0]?.slice(1)).to.deep.equal(
          accumulate ? ['get_weather', 'get_calendar'] : ['get_calendar'],
        );
      }
    });

    it('does not search by default, or if no tool may be called', async () => {
      for (const [user, search, options] of [
        ['Weather?', {}, {}],
        ['Weather?', FIRST, { toolChoice: 'none' }],
      ] as const) {
        const toolIndex = new RecordingIndex();
        await runSearch(mode, ['Done.'], { user, search: { toolIndex, ...search }, options });

        expect(toolIndex.searched, JSON.stringify([user, search, options])).to.deep.equal([]);
      }
    });

    it('does not search for a message without text', async () => {
      const toolIndex = new RecordingIndex();
      const url = 'https://example.com/map.png';
      const spec = ChatClient.create(new ScriptedChatModel(['Done.']))
        .prompt()
        .messages({ role: 'user', content: [{ type: 'image', url }] })
        .tools(...TOOLS)
        .advisors(new ToolSearchAdvisor({ toolIndex, searchFirst: true }));
      await runSpec(mode, spec);

      expect([toolIndex.indexed.length, toolIndex.searched.length]).to.deep.equal([1, 0]);
    });

    it('finds nothing for words that are no valid pattern', async () => {
      const { offered } = await runSearch(mode, ['Done.'], {
        user: '[weather|(',
        search: { toolIndex: new RegexToolIndex(), searchFirst: true },
      });

      expect(offered).to.deep.equal([['toolSearchTool']]);
    });

    it('fails with the error of the index', async () => {
      const failure = new Error('out of order');
      const toolIndex = new KeywordToolIndex();
      toolIndex.search = () => {
        throw failure;
      };

      expect(
        await failureOf(runSearch(mode, ['Done.'], { search: { toolIndex, searchFirst: true } })),
      ).to.equal(failure);
    });

    it('[D34] names tools that were renamed or prefixed as the model sees them, in result and offer', async () => {
      const tools = renameTools(prefixTools(TOOLS, 'home_'), { home_get_invoice: 'bill' });
      const { offered, model } = await runSearch(
        mode,
        [searches('invoice'), calls('bill', 'home_get_weather'), 'Done.'],
        { tools, user: 'Weather?', search: FIRST },
      );

      expect(offered[1]).to.deep.equal(['toolSearchTool', 'home_get_weather', 'bill']);
      expect(resultsIn(model.prompts[1]!)).to.deep.equal([
        '[{"name":"bill","description":"Gives the invoice."}]',
      ]);
      expect(resultsIn(model.prompts[2]!).slice(1)).to.deep.equal([
        'result of get_invoice',
        'result of get_weather',
      ]);
    });
  });

describe('ToolSearchAdvisor with searchFirst in a durable turn', () => {
  it('offers what it has offered before when the turn runs again, without a search', async () => {
    const first = new InMemoryDurableEngine();
    const run = async (engine: InMemoryDurableEngine) => {
      const toolIndex = new RecordingIndex();
      const model = new ScriptedChatModel(['Done.']);
      const response = await ChatClient.builder(model)
        .defaultAdvisors(
          new DurableAdvisor({ engine }),
          new ToolSearchAdvisor({ toolIndex, ...FIRST }),
        )
        .defaultTools(...TOOLS)
        .build()
        .prompt()
        .user('Weather in Oslo?')
        .call()
        .chatResponse();
      return { searches: toolIndex.searched.length, text: response.text };
    };

    expect(await run(first)).to.deep.equal({ searches: 1, text: 'Done.' });
    const again = new InMemoryDurableEngine(first.entries());
    expect(await run(again)).to.deep.equal({ searches: 0, text: 'Done.' });
  });
});
