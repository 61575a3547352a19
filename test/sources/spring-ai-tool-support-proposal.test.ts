/** A proposal for the tools of Spring AI: registration and invocation, as this library has them. */
import { expect } from 'chai';
import { z } from 'zod';
import {
  ChatClient,
  defineTool,
  defineToolProvider,
  filterTools,
  ObservabilityAdvisor,
  Tool,
  ToolCallingManager,
  toolsFrom,
} from '../../src/index.js';
import { mcpTools, serveMcp } from '../../src/bridges/mcp/index.js';
import { RecordingTracer, ScriptedChatModel } from '../../src/testing/index.js';
import { runBatch } from '../support/batch.js';
import { linked } from '../support/mcp.js';
import { calls, namesOf, resultsIn } from '../support/tool-search.js';

const SHELF: Readonly<Record<string, readonly string[]>> = { Verne: ['Nemo', 'Fogg'] };

/** A library whose methods are tools. */
class Library {
  @Tool({
    description: 'Titles of an author that the library has.',
    input: z.object({ author: z.string().describe('Family name of the author') }),
  })
  titlesBy({ author }: { author: string }): readonly string[] {
    return SHELF[author] ?? [];
  }

  @Tool({ description: 'Opening hours.' })
  static hours(): string {
    return '9 to 5';
  }
}

const ASK = { toolCalls: [{ name: 'titlesBy', arguments: { author: 'Verne' } }] };
const VERNE = '["Nemo","Fogg"]';

describe('source: a proposal for tools', () => {
  describe('registration', () => {
    it('a tool has name, description and input schema; result format and direct return are options', () => {
      const tool = defineTool({
        name: 'loan',
        description: 'Lends a book.',
        input: z.object({ title: z.string() }),
        returnDirect: true,
        resultConverter: String,
        execute: ({ title }) => title,
      });

      expect(Object.keys(tool.definition)).to.deep.equal(['name', 'description', 'inputSchema']);
      expect(tool.metadata).to.include({ returnDirect: true });
    });

    it('parameters have descriptions', () => {
      const [titles] = toolsFrom(new Library());

      expect(titles?.definition.inputSchema).to.have.nested.property(
        'properties.author.description',
        'Family name of the author',
      );
    });

    it('an object is offered: its methods are tools', async () => {
      const model = new ScriptedChatModel([ASK, 'Two.']);

      await ChatClient.create(model).prompt('Verne?').tools(new Library()).call().content();

      expect(model.prompts.map(namesOf)[0]).to.deep.equal(['titlesBy', 'hours']);
      expect(model.prompts.map(resultsIn)[1]).to.deep.equal([VERNE]);
    });

    it('a class is offered: its static methods are tools', async () => {
      const model = new ScriptedChatModel([calls('hours'), 'Until five.']);

      await ChatClient.create(model).prompt('When?').tools(Library).call().content();

      expect(model.prompts.map(namesOf)[0]).to.deep.equal(['hours']);
      expect(model.prompts.map(resultsIn)[1]).to.deep.equal(['9 to 5']);
    });

    it('tools of a catalogue are offered by their names', async () => {
      const catalogue = [
        ...toolsFrom(new Library()),
        defineTool({ name: 'buy', execute: () => 0 }),
      ];
      const model = new ScriptedChatModel([ASK, 'Two.']);

      await ChatClient.create(model)
        .prompt('Verne?')
        .tools(filterTools(catalogue, ['titlesBy']))
        .call()
        .content();

      expect(model.prompts.map(namesOf)[0]).to.deep.equal(['titlesBy']);
      expect(model.prompts.map(resultsIn)[1]).to.deep.equal([VERNE]);
    });

    it('function objects are tools: from input to output, with context, without either', async () => {
      const titlesOf = ({ author }: { author: string }) => SHELF[author] ?? [];
      const input = z.object({ author: z.string() });
      const bought: string[] = [];
      const tools = [
        defineTool({ name: 'fn', input, execute: titlesOf }),
        defineTool({
          name: 'bi',
          input,
          execute: ({ author }, { values }) => `${author} ${String(values['floor'])}`,
        }),
        defineTool({ name: 'supplier', execute: () => Object.keys(SHELF) }),
        defineTool({ name: 'consumer', input, execute: ({ author }) => void bought.push(author) }),
      ];
      const args = { author: 'Verne' };

      const { contents } = await runBatch(
        tools,
        [{ name: 'fn', args }, { name: 'bi', args }, 'supplier', { name: 'consumer', args }],
        { run: { toolContext: { floor: 2 } } },
      );

      expect(contents).to.deep.equal([VERNE, 'Verne 2', '["Verne"]', 'Done']);
      expect(bought).to.deep.equal(['Verne']);
    });

    it('a provider supplies several tools: of an object, of a function, of an MCP server', async () => {
      const mcp = mcpTools({
        servers: {
          archive: {
            transport: linked(() =>
              serveMcp([defineTool({ name: 'scan', execute: () => 'scanned' })]),
            ),
          },
        },
      });
      const library = defineToolProvider({ name: 'library', tools: toolsFrom(new Library()) });
      const perRequest = defineToolProvider({
        name: 'branch',
        tools: ({ toolContext }) => [
          defineTool({ name: `rooms_of_${String(toolContext['branch'])}`, execute: () => 4 }),
        ],
      });
      const model = new ScriptedChatModel(['ok']);

      try {
        await ChatClient.create(model)
          .prompt('?')
          .tools(library, perRequest, mcp)
          .toolContext({ branch: 'north' })
          .call()
          .content();
      } finally {
        await mcp.close();
      }

      const [offered = []] = model.prompts.map(namesOf);
      expect(offered.slice(0, 3)).to.deep.equal(['titlesBy', 'hours', 'rooms_of_north']);
      expect(offered[3]).to.match(/scan$/);
    });
  });

  describe('invocation', () => {
    it('input is built from the text of the model, also lists', async () => {
      const order = defineTool({
        name: 'order',
        input: z.object({ titles: z.array(z.string()), due: z.coerce.date().optional() }),
        execute: ({ titles, due }) => [titles.length, due instanceof Date],
      });

      const { contents } = await runBatch(
        [order],
        [{ name: 'order', args: '{"titles":["Nemo","Fogg"],"due":"2030-01-01"}' }],
      );

      expect(contents).to.deep.equal(['[2,true]']);
    });

    it('tools run synchronously or asynchronously; several at the same time unless a key orders them', async () => {
      const log: string[] = [];
      const step = (name: string, effect: 'read' | 'write') =>
        defineTool({
          name,
          effect,
          concurrencyKey: 'shelf',
          execute: async () => {
            log.push(`+${name}`);
            await Promise.resolve();
            log.push(`-${name}`);
          },
        });
      const now = defineTool({ name: 'sync', execute: () => 'at once' });
      const tools = [now, step('a', 'read'), step('b', 'read'), step('c', 'write')];

      const { contents } = await runBatch(tools, ['sync', 'a', 'b', 'c']);

      expect(contents[0]).to.equal('at once');
      expect(log.slice(0, 2)).to.deep.equal(['+a', '+b']);
      expect(log.slice(-2)).to.deep.equal(['+c', '-c']);
    });

    it('results are written for the model by a converter, else by the default', async () => {
      const plain = defineTool({ name: 'plain', execute: () => SHELF });
      const own = defineTool({
        name: 'own',
        resultConverter: (value) => Object.keys(value as object).join(),
        execute: () => SHELF,
      });

      const { contents } = await runBatch([plain, own], ['plain', 'own']);

      expect(contents).to.deep.equal([`{"Verne":${VERNE}}`, 'Verne']);
    });

    it('a call ends with a message for the model, or with the answer of the turn', async () => {
      const tool = (returnDirect: boolean): Tool =>
        defineTool({ name: 'end', returnDirect, execute: () => 'the end' });
      const run = async (returnDirect: boolean) => {
        const model = new ScriptedChatModel([calls('end'), 'The model continues.']);
        const text = await ChatClient.create(model)
          .prompt('?')
          .tools(tool(returnDirect))
          .call()
          .content();
        return [text, model.prompts.length];
      };

      expect(await run(false)).to.deep.equal(['The model continues.', 2]);
      expect(await run(true)).to.deep.equal(['the end', 1]);
    });

    it('calls are observed', async () => {
      const tracer = new RecordingTracer();

      await ChatClient.create(new ScriptedChatModel([ASK, 'Two.']))
        .prompt('?')
        .tools(new Library())
        .advisors(new ObservabilityAdvisor({ tracer }))
        .call()
        .content();

      expect(tracer.spans.map(({ name }) => name)).to.include('execute_tool titlesBy');
    });

    it('a manager lists the definitions and runs the calls outside of a client', async () => {
      const tools = toolsFrom(new Library());

      const definitions = new ToolCallingManager().resolveToolDefinitions({ tools });
      const { contents } = await runBatch(tools, [{ name: 'titlesBy', args: { author: 'Poe' } }]);

      expect(definitions.map(({ name }) => name)).to.deep.equal(['titlesBy', 'hours']);
      expect(contents).to.deep.equal(['[]']);
    });
  });
});
