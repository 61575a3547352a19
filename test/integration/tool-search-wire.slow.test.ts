import { expect } from 'chai';
import { lastValueFrom } from 'rxjs';
import {
  AdvisorOrder,
  ChatClient,
  CONVERSATION_ID,
  defineTool,
  InMemoryChatMemoryRepository,
  KeywordToolIndex,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  RegexToolIndex,
  ToolCallingAdvisor,
  ToolSearchAdvisor,
  type Advisor,
  type Tool,
} from '../../src/index.js';
import { normalizeSchema } from '../../src/core/json-schema/index.js';
import { OpenAIChatModel } from '../../src/models/openai/index.js';
import { serveOffline, type OfflineServer } from '../../src/testing/index.js';
import { readTools, requireToolsets } from '../support/toolsets.js';
import { MODES } from '../support/modes.js';

/** Questions for tools of real MCP servers, and the expected call. */
const QUESTIONS = [
  ['Get the current stock price of "AAPL".', 'get_current_stock_price', { symbol: 'AAPL' }],
  ['Search Wikipedia for "Alan Turing".', 'search_wikipedia', { query: 'Alan Turing' }],
  ['Search for icons that show an "arrow".', 'search_icons', { query: 'arrow' }],
  [
    'Write a note with the title "Ideas" and the content "none" in the folder "inbox".',
    'write_note',
    { title: 'Ideas', content: 'none', folder: 'inbox' },
  ],
] as const;

/** The tools of 70 MCP servers with unique names; they record their calls. */
function catalogue(called: unknown[]): readonly Tool[] {
  const taken = new Set<string>();
  return readTools('livemcp').map(({ name: published, server, description, inputSchema }) => {
    const plain = published.replaceAll(/[^A-Za-z0-9_-]/g, '_');
    const name = (
      taken.has(plain) ? `${server}_${plain}`.replaceAll(/[^A-Za-z0-9_-]/g, '_') : plain
    ).slice(0, 64);
    taken.add(name);
    return defineTool({
      name,
      description,
      input: normalizeSchema(inputSchema, name).schema,
      execute: (args) => {
        called.push([name, args]);
        return `done by ${name}`;
      },
    });
  });
}

/** Positions of the memory, with and without a history of the loop. */
const STACKS: Readonly<Record<string, () => readonly Advisor[]>> = {
  'without memory': () => [],
  'memory outside the loop': () => [memory(AdvisorOrder.MEMORY)],
  'memory inside the loop': () => [
    memory(AdvisorOrder.TOOL_CALLING + 1),
    new ToolCallingAdvisor({ keepHistory: false }),
  ],
};

function memory(order: number): Advisor {
  const repository = new InMemoryChatMemoryRepository();
  return new MessageChatMemoryAdvisor({
    chatMemory: new MessageWindowChatMemory({ repository, maxMessages: 100 }),
    order,
  });
}

describe('tool search over the wire, with 527 tools of real MCP servers', function () {
  let server: OfflineServer;

  before(async function () {
    requireToolsets(this);
    server = await serveOffline();
  });

  after(() => server?.close());

  const offeredBy = ({ body }: OfflineServer['requests'][number]): readonly string[] =>
    ((body as { tools?: { function: { name: string } }[] }).tools ?? []).map(
      (tool) => tool.function.name,
    );

  for (const mode of MODES)
    for (const [stack, advisorsOf] of Object.entries(STACKS))
      it(`finds, unlocks and runs the right tool: ${mode}, ${stack}`, async () => {
        const called: unknown[] = [];
        const tools = catalogue(called);
        const client = ChatClient.builder(
          new OpenAIChatModel({ model: 'offline', baseURL: server.baseURL }),
        )
          .defaultTools(...tools)
          .defaultAdvisors(
            new ToolSearchAdvisor({ toolIndex: new KeywordToolIndex() }),
            ...advisorsOf(),
          )
          .build();
        const ask = (question: string): Promise<string | null> => {
          const spec = client
            .prompt(question)
            // one for each question: the offline model takes any tool with "search" that it is offered
            .advisors((a) => a.param(CONVERSATION_ID, question));
          return mode === 'call'
            ? spec.call().content()
            : lastValueFrom(spec.stream().chatResponse()).then(({ text }) => text);
        };

        expect(tools).to.have.length(527);
        for (const [question, name, args] of QUESTIONS) {
          const before = server.requests.length;
          const text = await ask(question);

          expect(called.splice(0), question).to.deep.equal([[name, args]]);
          expect(text).to.include(`done by ${name}`);
          const offered = server.requests.slice(before).map(offeredBy);
          // what was found is there until the turn ends: before the call, and after it
          for (const names of offered.slice(1))
            expect(names, question).to.include.members(['toolSearchTool', name]);
          for (const names of offered)
            expect(names.length, 'a handful in the prompt').to.be.at.most(1 + 5);
        }
      });

  it('finds only tools of the request', async () => {
    const called: unknown[] = [];
    const [first, ...others] = catalogue(called);
    const advisor = new ToolSearchAdvisor({ toolIndex: new RegexToolIndex() });
    const run = (tools: readonly Tool[]) =>
      ChatClient.create(new OpenAIChatModel({ model: 'offline', baseURL: server.baseURL }))
        .prompt('Search Wikipedia for "Alan Turing".')
        .tools(...tools)
        .advisors(advisor)
        .call()
        .content();
    await run(others);
    const before = server.requests.length;
    await run([first as Tool]);

    const names = server.requests.slice(before).flatMap(offeredBy);
    expect(new Set(names).size).to.be.at.most(2);
    expect(names).not.to.include('search_wikipedia');
  });
});
