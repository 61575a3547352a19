import { expect } from 'chai';
import {
  AdvisorOrder,
  ChatClient,
  InvalidArgumentError,
  ProviderToolSearchAdvisor,
  type Tool,
} from '../../../src/index.js';
import { OpenAIChatModel } from '../../../src/models/openai/index.js';
import { ScriptedChatModel, serveOffline } from '../../../src/testing/index.js';
import { calls, namesOf, resultsIn, tool, TOOLS } from '../../support/tool-search.js';

const searchTool = { type: 'openrouter:tool_search' };

describe('ProviderToolSearchAdvisor', () => {
  for (const [options, message] of [
    [{ searchTool: undefined }, 'searchTool must be a plain object, not undefined'],
    [{ searchTool: 'tool_search' }, 'searchTool must be a plain object, not "tool_search"'],
    [{ searchTool, order: NaN }, 'order must be a finite number, not NaN'],
  ] as const)
    it(`rejects ${JSON.stringify(options)}`, () => {
      expect(() => new ProviderToolSearchAdvisor(options as never)).to.throw(
        InvalidArgumentError,
        `ProviderToolSearchAdvisor: ${message}`,
      );
    });

  it('has the order of a tool search', () => {
    expect(new ProviderToolSearchAdvisor({ searchTool }).order).to.equal(AdvisorOrder.TOOL_SEARCH);
  });

  it('sends all tools, with defer_loading unless they are always loaded, and the search tool of the provider', async () => {
    const server = await serveOffline();
    try {
      const model = new OpenAIChatModel({ model: 'offline', baseURL: server.baseURL });
      await ChatClient.create(model)
        .prompt('Go.')
        .tools(tool('get_weather'), tool('get_time', { alwaysLoaded: true }))
        .advisors(new ProviderToolSearchAdvisor({ searchTool }))
        .call()
        .content();

      const { tools } = (server.requests[0]?.body ?? {}) as {
        tools: { function?: { name: string }; defer_loading?: boolean; type: string }[];
      };
      expect(
        tools.map(({ type, function: named, defer_loading: deferred }) => [
          type,
          named?.name,
          deferred,
        ]),
      ).to.deep.equal([
        ['function', 'get_weather', true],
        ['function', 'get_time', undefined],
        ['openrouter:tool_search', undefined, undefined],
      ]);
    } finally {
      await server.close();
    }
  });

  it('runs tools that the provider has found and sends the same tools in each iteration', async () => {
    const model = new ScriptedChatModel([calls('get_weather'), 'Sunny.']);
    const text = await ChatClient.create(model)
      .prompt('Go.')
      .tools(...TOOLS, tool('get_secret', { deferred: true }))
      .advisors(new ProviderToolSearchAdvisor({ searchTool }))
      .call()
      .content();

    expect(text).to.equal('Sunny.');
    expect(resultsIn(model.prompts[1]!)).to.deep.equal(['result of get_weather']);
    expect(namesOf(model.prompts[0]!)).to.deep.equal([
      ...TOOLS.map(({ definition }) => definition.name),
      'get_secret',
    ]);
    expect(model.prompts[1]?.options.tools).to.deep.equal(model.prompts[0]?.options.tools);
    expect(model.prompts[1]?.options.providerTools).to.deep.equal([searchTool]);
  });

  it('does not defer a required tool or one that is always loaded', async () => {
    const model = new ScriptedChatModel(['Done.']);
    await ChatClient.create(model)
      .prompt('Go.')
      .tools(...TOOLS, tool('get_time', { alwaysLoaded: true, deferred: true }))
      .options({ toolChoice: { tool: 'get_invoice' } })
      .advisors(new ProviderToolSearchAdvisor({ searchTool }))
      .call()
      .content();

    const deferred = model.prompts[0]?.options.tools?.filter(
      ({ definition }) => definition.deferLoading !== true,
    );
    expect(deferred?.map(({ definition }) => definition.name)).to.deep.equal([
      'get_invoice',
      'get_time',
    ]);
  });

  it('passes a request without tools to defer unchanged', async () => {
    const asked = async (...tools: readonly Tool[]) => {
      const model = new ScriptedChatModel(['Hi.']);
      const advisor = new ProviderToolSearchAdvisor({ searchTool });
      await ChatClient.create(model)
        .prompt('Go.')
        .tools(...tools)
        .advisors(advisor)
        .call()
        .content();
      return model.prompts[0]?.options.providerTools;
    };

    expect(await asked()).to.equal(undefined);
    expect(await asked(tool('get_time', { alwaysLoaded: true }))).to.equal(undefined);
    expect(await asked(tool('get_time'))).to.deep.equal([searchTool]);
  });
});
