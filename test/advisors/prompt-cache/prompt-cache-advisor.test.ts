import { inspect } from 'node:util';
import { expect } from 'chai';
import {
  AdvisorOrder,
  BudgetAdvisor,
  ChatClient,
  ChatResponse,
  CompactionAdvisor,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  FallbackAdvisor,
  InMemoryChatMemoryRepository,
  InvalidArgumentError,
  KeywordToolIndex,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ModelCallError,
  PromptCacheAdvisor,
  RetryAdvisor,
  ToolSearchAdvisor,
  type Advisor,
  type ChatModel,
  type PromptCacheAdvisorOptions,
  type PromptCacheBreak,
  type PromptSpec,
  type Tool,
} from '../../../src/index.js';
import { AnthropicChatModel } from '../../../src/models/anthropic/index.js';
import {
  ScriptedChatModel,
  type ScriptedAnswer,
  type ScriptedParts,
} from '../../../src/testing/index.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { settle, settled } from '../../support/promises.js';
import { searches } from '../../support/tool-search.js';
import { sendEvents, sendJson, WireServer, type Exchange } from '../../support/wire-server.js';
import { eventsOf, message } from '../../models/anthropic/message-events.js';

const LONG = 'A rule that every answer follows. '.repeat(300); // about 2,550 tokens
const asks = (at = 0): ScriptedParts => ({ toolCalls: [{ name: 'look', arguments: { at } }] });
const tool = (name: string, description = `Looks up ${name}.`): Tool =>
  defineTool({ name, description, execute: () => 'something' });
const look = tool('look');

/** An advisor that changes the system text. */
const systemText = (name: string, order: number, change: (text: string) => string): Advisor =>
  defineAdvisor({
    name,
    order,
    before: (request) => request.withPrompt(request.prompt.augmentSystemMessage(change)),
  });

/** An advisor with the time in the system text, which runs at an order. */
const clock = (order: number): Advisor => {
  let time = 0;
  return systemText('clock', order, (text) => `It is ${time++} o'clock.\n${text}`);
};

const memory = (maxMessages = 100): Advisor =>
  new MessageChatMemoryAdvisor({
    chatMemory: new MessageWindowChatMemory({
      repository: new InMemoryChatMemoryRepository(),
      maxMessages,
    }),
  });

interface Setup {
  /** Answers of a scripted model, or another model. */
  readonly script: readonly ScriptedAnswer[] | ChatModel;
  readonly advisors?: readonly Advisor[];
  readonly options?: PromptCacheAdvisorOptions;
  readonly tools?: readonly Tool[];
  readonly system?: string;
}

/** A client whose breaks are recorded. */
function clientOf({ script, advisors = [], options, tools = [look], system = LONG }: Setup): {
  readonly client: ChatClient;
  readonly model: ScriptedChatModel;
  readonly breaks: PromptCacheBreak[];
} {
  const breaks: PromptCacheBreak[] = [];
  const recorder = defineAdvisor({
    name: 'recorder',
    order: 0,
    onEvent: (event) => {
      if (event.type === 'custom' && event.name === 'prompt-cache-break') breaks.push(event.data);
    },
  });
  const model = new ScriptedChatModel('call' in script ? [] : script);
  const client = ChatClient.builder('call' in script ? script : model)
    .defaultSystem(system)
    .defaultTools(...tools)
    .defaultAdvisors(recorder, new PromptCacheAdvisor(options), ...advisors)
    .build();
  return { client, model, breaks };
}

const within = (spec: PromptSpec, id = 'c'): PromptSpec =>
  spec.advisors((a) => a.param(CONVERSATION_ID, id));
const shown = (breaks: readonly PromptCacheBreak[]): readonly unknown[] =>
  breaks.map(({ part, index, name, change, advisor }) => [part, index, name, change, advisor]);

for (const mode of MODES)
  describe(`PromptCacheAdvisor (${mode})`, () => {
    let turns = 0;
    const turn = (client: ChatClient, id?: string) =>
      runSpec(mode, within(client.prompt(`Question ${turns++}?`), id));

    it('reports nothing for a growing loop and a next turn', async () => {
      const script = [asks(1), asks(2), 'one', asks(3), 'two'];
      const { client, breaks } = clientOf({ script, advisors: [memory()] });

      await turn(client);
      await turn(client);

      expect(breaks).to.deep.equal([]);
    });

    it('names a clock in the system text, once per turn (home-generative-agent#617)', async () => {
      const { client, breaks } = clientOf({
        script: [asks(), 'one', asks(), 'two'],
        advisors: [clock(AdvisorOrder.GUARD), memory()],
      });

      await turn(client);
      await turn(client);

      expect(shown(breaks)).to.deep.equal([['system', 0, 'system', 'text', 'clock']]);
      expect(breaks[0]?.lostTokens).to.be.within(2_500, 2_800);
    });

    it('names a clock that runs in each iteration, right of the advisor too (clawbolt#1420, PraisonAI#3352)', async () => {
      for (const order of [AdvisorOrder.RESILIENCE, AdvisorOrder.LOGGER]) {
        const { client, breaks } = clientOf({
          script: [asks(1), asks(2), 'done'],
          advisors: [clock(order)],
        });

        await turn(client);

        const expected = ['system', 0, 'system', 'text', 'clock'];
        expect(shown(breaks)).to.deep.equal([expected, expected]);
      }
    });

    it('names the clock, not an advisor that adds the same to what the clock has written', async () => {
      const { client, breaks } = clientOf({
        script: ['one', 'two'],
        advisors: [
          clock(AdvisorOrder.GUARD),
          systemText('rules', AdvisorOrder.RETRIEVAL, (text) => `Be brief.\n${text}`),
          memory(),
        ],
      });

      await turn(client);
      await turn(client);

      expect(shown(breaks)).to.deep.equal([['system', 0, 'system', 'text', 'clock']]);
    });

    it('names no advisor if the application has changed its request', async () => {
      const { client, breaks } = clientOf({ script: ['one', 'two'], advisors: [memory()] });

      await turn(client);
      await runSpec(mode, within(client.prompt('And now?').system(`${LONG} Be brief.`)));

      expect(shown(breaks)).to.deep.equal([['system', 0, 'system', 'text', undefined]]);
    });

    it('names the advisor that reorders tools (hermes#27339)', async () => {
      let isReversed = false;
      const shuffle = defineAdvisor({
        name: 'shuffle',
        order: AdvisorOrder.GUARD,
        before: (request) => {
          const tools = isReversed ? request.tools.toReversed() : request.tools;
          isReversed = !isReversed;
          return request.withTools(tools);
        },
      });
      const tools = [look, tool('read'), tool('write')];
      const script = ['one', 'two'];
      const { client, breaks } = clientOf({ script, tools, advisors: [shuffle, memory()] });

      await turn(client);
      await turn(client);

      expect(shown(breaks)).to.deep.equal([['tools', 0, 'write', 'order', 'shuffle']]);
    });

    it('names the field of a tool that was made again with another description', async () => {
      const { client, breaks } = clientOf({
        script: ['one', 'two', 'three'],
        advisors: [memory()],
      });
      const ask = (description: string) =>
        runSpec(mode, within(client.prompt('And now?')).tools(tool('date', description)));

      await ask('Today is Monday.');
      await ask('Today is Monday.');
      await ask('Today is Tuesday.');

      expect(shown(breaks)).to.deep.equal([['tools', 1, 'date', 'description', undefined]]);
    });

    it('names tool search, with its price: tools come before the conversation (daiv#1171)', async () => {
      const search = new ToolSearchAdvisor({ toolIndex: new KeywordToolIndex() });
      const tools = [tool('weather', 'The weather of a city.')];
      const { client, breaks } = clientOf({
        script: [searches('weather'), { toolCalls: [{ name: 'weather' }] }, 'done'],
        tools,
        advisors: [search],
      });

      await turn(client);

      expect(shown(breaks)).to.deep.equal([['tools', 1, 'weather', 'added', 'tool-search']]);
      expect(breaks[0]?.lostTokens).to.be.greaterThan(2_500);
    });

    it('names the advisor that compacts the conversation', async () => {
      const compact = defineAdvisor({
        name: 'compact',
        order: AdvisorOrder.COMPACTION,
        before: (request) =>
          request.iteration === 2
            ? request.withTranscript((messages) => messages.toSpliced(2, 2))
            : request,
      });
      const { client, breaks } = clientOf({
        script: [asks(1), asks(2), asks(3), 'done'],
        options: { minTokens: 1 },
        advisors: [compact],
      });

      await turn(client);

      expect(shown(breaks)).to.deep.equal([['messages', 1, 'assistant', 'toolCalls', 'compact']]);
    });

    it('names the advisor that rewrites what it has rewritten before', async () => {
      let count = 0;
      const outline = defineAdvisor({
        name: 'outline',
        order: AdvisorOrder.COMPACTION,
        before: (request) =>
          request.withTranscript((messages) =>
            messages.with(1, { role: 'user', content: `Version ${count++}` }),
          ),
      });
      const { client, breaks } = clientOf({
        script: [asks(1), asks(2), 'done'],
        options: { minTokens: 1 },
        advisors: [outline],
      });

      await turn(client);

      const expected = ['messages', 0, 'user', 'content', 'outline'];
      expect(shown(breaks)).to.deep.equal([expected, expected]);
    });

    it('names the compaction, each time, also of what it has compacted before', async () => {
      const large = defineTool({ name: 'look', execute: () => 'a result '.repeat(700) });
      const { client, breaks } = clientOf({
        script: [1, 2, 3, 4, 5, 6].map(asks).concat({ text: 'done' }),
        tools: [large],
        advisors: [new CompactionAdvisor({ maxTokens: 8_000, keepIterations: 2 })],
      });

      await turn(client);

      expect(breaks.length).to.be.greaterThan(1);
      expect(new Set(breaks.map(({ part, advisor }) => `${part} ${advisor}`))).to.deep.equal(
        new Set(['messages compaction']),
      );
    });

    it('names the memory whose window has moved', async () => {
      const { client, breaks } = clientOf({
        script: ['one', 'two', 'three'],
        options: { minTokens: 1 },
        advisors: [memory(2)],
      });

      await turn(client);
      await turn(client);
      await turn(client);

      expect(breaks.map(({ part, advisor }) => [part, advisor])).to.deep.equal([
        ['messages', 'chat-memory'],
      ]);
    });

    it('names the advisor that has switched to another model, once', async () => {
      const breaks: PromptCacheBreak[] = [];
      const recorder = defineAdvisor({
        name: 'recorder',
        order: 0,
        onEvent: (event) =>
          void (
            event.type === 'custom' &&
            event.name === 'prompt-cache-break' &&
            breaks.push(event.data)
          ),
      });
      const down = new ModelCallError('overloaded', { retryable: true });
      const main = new ScriptedChatModel([asks(1), down, asks(3), down, 'done'], { model: 'main' });
      const other = new ScriptedChatModel([asks(2), 'done'], { model: 'other' });
      const client = ChatClient.builder(main)
        .defaultSystem(LONG)
        .defaultTools(look)
        .defaultAdvisors(
          recorder,
          new FallbackAdvisor({ models: [other] }),
          new PromptCacheAdvisor(),
        )
        .build();

      await runSpec(mode, client.prompt('?'));

      expect(shown(breaks)).to.deep.equal([['model', 0, 'other', 'replaced', 'fallback']]);
      expect(breaks[0]?.lostTokens).to.be.greaterThan(2_500);
    });

    it('reports a last call without tools, and not the next turn, whose beginning is in the cache', async () => {
      const { client, breaks } = clientOf({
        script: [asks(1), asks(2), 'one', asks(3), 'two'],
        advisors: [memory(), new BudgetAdvisor({ maxModelCalls: 3 })],
      });

      await turn(client);
      await turn(client);

      expect(shown(breaks)).to.deep.equal([['tools', 0, 'look', 'removed', 'budget']]);
    });

    it('sees another image of the same size, also as data URL, and does not count media', async () => {
      const ask = (client: ChatClient, end: string) => {
        const url = `data:image/png;base64,${'A'.repeat(19_999)}${end}`;
        const content = [{ type: 'image', url }] as const;
        return runSpec(mode, within(client.prompt().messages({ role: 'user', content })));
      };
      const { client, model, breaks } = clientOf({
        script: ['one', 'two'],
        system: 'Be brief.',
        options: { minTokens: 20 },
      });

      await ask(client, 'A');
      await ask(client, 'B');

      expect(shown(breaks)).to.deep.equal([['messages', 0, 'user', 'content', undefined]]);
      expect(breaks[0]?.lostTokens).to.be.below(100);
      expect(model.prompts[0]?.options.promptCache?.messages).to.equal('5m');
    });

    it('reports what the provider reports of its cache (claude-code#92033)', async () => {
      const usage = (cachedInputTokens: number, cacheWriteTokens: number) => ({
        inputTokens: 3_000,
        outputTokens: 1,
        totalTokens: 3_001,
        cachedInputTokens,
        cacheWriteTokens,
      });
      const { client, breaks } = clientOf({
        script: [
          { ...asks(1), usage: usage(100, 2_700) },
          { text: 'done', usage: usage(20, 2_800) },
        ],
        advisors: [clock(AdvisorOrder.LOGGER)],
      });

      await turn(client);

      expect(breaks[0]).to.include({ cachedBefore: 2_800, cachedNow: 20 });
    });

    it('reports a break once, with the attempt that was answered', async () => {
      const down = new ModelCallError('overloaded', { retryable: true });
      const { client, breaks } = clientOf({
        script: ['one', down, asks(), 'two'],
        advisors: [clock(AdvisorOrder.GUARD), memory(), new RetryAdvisor({ firstDelay: 0 })],
      });

      await turn(client);
      await turn(client);

      expect(breaks).to.have.length(1);
    });

    it('neither marks nor reports a prefix that is too short for a cache', async () => {
      const { client, model, breaks } = clientOf({
        script: [asks(), 'done'],
        system: 'Be brief.',
        advisors: [clock(AdvisorOrder.LOGGER)],
      });

      await turn(client);

      expect([breaks, model.prompts[1]?.options.promptCache]).to.deep.equal([[], undefined]);
    });

    it('marks all parts for 5 minutes: an hour costs twice the price to write (daiv#1171)', async () => {
      const { client, model } = clientOf({ script: ['one'] });

      await turn(client);

      const marks = { tools: '5m', system: '5m', messages: '5m' };
      expect(model.prompts[0]?.options.promptCache).to.deep.equal(marks);
    });

    it('marks the parts that the options name, unless the application has', async () => {
      const own = { messages: '1h' } as const;
      const { client, model } = clientOf({
        script: ['one', 'two'],
        options: { marks: { tools: '1h' } },
      });

      await turn(client);
      await runSpec(mode, client.prompt('?').options({ promptCache: own }));

      expect(model.prompts.map(({ options }) => options.promptCache)).to.deep.equal([
        { tools: '1h' },
        own,
      ]);
    });

    it('compares nothing if another advisor answers', async () => {
      let count = 0;
      const cache = defineAdvisor({
        name: 'cache',
        order: AdvisorOrder.LOGGER,
        around: (request, next) => (count++ === 1 ? ChatResponse.ofText('cached') : next(request)),
      });
      const { client, breaks } = clientOf({
        script: ['one', 'two'],
        advisors: [clock(AdvisorOrder.GUARD), cache, memory()],
      });

      for (let time = 0; time < 3; time++) await turn(client);

      expect(breaks).to.have.length(1);
    });
  });

describe('PromptCacheAdvisor', () => {
  it('compares no turn with one that runs at the same time', async () => {
    const pause = defineTool({ name: 'look', execute: () => settle() });
    const options = { minTokens: 1 };
    const { client, breaks } = clientOf({ script: [asks(), 'b', 'a'], tools: [pause], options });

    const first = within(client.prompt('first?')).call().content();
    await settled();
    await within(client.prompt('second?')).call().content();
    await first;

    expect(breaks).to.deep.equal([]);
  });

  it('compares a nested turn with itself alone', async () => {
    const advisor = new PromptCacheAdvisor();
    const breaks: unknown[] = [];
    const recorder = defineAdvisor({
      name: 'recorder',
      order: 0,
      onEvent: (event) => void (event.type === 'custom' && breaks.push(event)),
    });
    const build = (model: ChatModel, system: string, agent: Tool) =>
      ChatClient.builder(model)
        .defaultSystem(system)
        .defaultTools(agent)
        .defaultAdvisors(advisor, recorder)
        .build();
    const child = build(
      new ScriptedChatModel([asks(), 'found', 'found again']),
      `Research.\n${LONG}`,
      look,
    );
    const agent = defineTool({
      name: 'look',
      execute: (_args, { signal }) => within(child.prompt('?').signal(signal)).call().content(),
    });
    const client = build(new ScriptedChatModel([asks(1), 'done', asks(2), 'again']), LONG, agent);

    await within(client.prompt('?')).call().content();
    await within(client.prompt('?')).call().content();

    expect(breaks).to.deep.equal([]);
  });

  it('forgets the conversation that was used least recently', async () => {
    const script = Array.from({ length: 6 }, () => 'fine');
    const setup = { script, advisors: [clock(AdvisorOrder.GUARD)], options: { conversations: 2 } };
    const { client, breaks } = clientOf(setup);
    const turn = (id: string) => within(client.prompt('?'), id).call().content();

    for (const id of ['a', 'b', 'a', 'c', 'b', 'c']) await turn(id);

    expect(breaks).to.have.length(2); // the second turns of a and c
  });

  it('keeps no request of a model that has failed before the end of the turn', async () => {
    const advisor = new PromptCacheAdvisor();
    const down = new ModelCallError('overloaded', { retryable: true });
    const client = ChatClient.builder(new ScriptedChatModel([asks(), down], { model: 'main' }))
      .defaultTools(look)
      .defaultAdvisors(
        advisor,
        new FallbackAdvisor({ models: [new ScriptedChatModel(['done'], { model: 'other' })] }),
      )
      .build();

    await within(client.prompt('secret-question')).call().content();

    const kept = inspect([...Reflect.get(advisor, 'conversations').values()], { depth: 20 });
    expect(kept).to.include('main').and.include('other').and.not.include('secret');
  });

  it('keeps no text of a conversation', async () => {
    const advisor = new PromptCacheAdvisor();
    const client = ChatClient.builder(new ScriptedChatModel([asks(), 'done']))
      .defaultSystem(`${LONG} secret-system`)
      .defaultTools(look)
      .defaultAdvisors(advisor)
      .build();

    await within(client.prompt('secret-question')).call().content();

    const kept = JSON.stringify([...Reflect.get(advisor, 'conversations').values()]);
    expect(kept).to.include('hashes').and.not.include('secret');
  });

  for (const options of [
    { marks: { tools: '2h' } },
    { marks: { all: '5m' } },
    { marks: 'all' },
    { marks: { tools: '5m', messages: '1h' } }, // which the API refuses
    { minTokens: -1 },
    { conversations: 0.5 },
    { name: '' },
    { order: NaN },
  ])
    it(`rejects ${JSON.stringify(options)}`, () => {
      expect(() => new PromptCacheAdvisor(options as never)).to.throw(
        InvalidArgumentError,
        'PromptCacheAdvisor: ',
      );
    });

  it('stands inside the tool loop; explain() warns left of it', () => {
    const warningsAt = (order?: number) =>
      clientOf({ script: [], options: { order } }).client.explain().warnings;

    expect(warningsAt()).to.deep.equal([]);
    expect(warningsAt(AdvisorOrder.GUARD).join()).to.include('compares model calls left of the');
  });

  it('passes the error of the model on', async () => {
    const error = new ModelCallError('down');
    const { client } = clientOf({ script: [error] });

    expect(await failureOf(client.prompt('?').call().content())).to.equal(error);
  });
});

describe('PromptCacheAdvisor with AnthropicChatModel', () => {
  let server: WireServer;
  let answer: (exchange: Exchange) => unknown;
  beforeEach(async () => {
    answer = (exchange) => {
      const content = [{ type: 'text', text: 'Hello' }];
      return exchange.body['stream']
        ? sendEvents(exchange, eventsOf(message(content)))
        : sendJson(exchange, message(content));
    };
    server = await WireServer.start((exchange) => answer(exchange));
  });
  afterEach(() => server.close());

  it('reports the price that the API reports, of iterations whose system text has a clock', async () => {
    const tokens = [
      { cache_creation_input_tokens: 2_600, cache_read_input_tokens: 0 },
      { cache_creation_input_tokens: 2_650, cache_read_input_tokens: 90 },
    ];
    const call = { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} };
    answer = (exchange) => {
      const [at, usage] = [server.exchanges.length, tokens.shift()];
      const content = at === 1 ? [call] : [{ type: 'text', text: 'Hello' }];
      const more = { usage: { input_tokens: 3, output_tokens: 5, ...usage } };
      sendJson(exchange, message(content, at === 1 ? 'tool_use' : 'end_turn', more));
    };
    const { client, breaks } = clientOf({
      script: new AnthropicChatModel({
        model: 'claude',
        apiKey: 'sk-test',
        baseURL: server.baseURL,
      }),
      advisors: [clock(AdvisorOrder.LOGGER)],
    });

    await client.prompt('Hi').call().content();

    expect(breaks).to.have.length(1);
    expect(breaks[0]).to.include({ advisor: 'clock', cachedBefore: 2_600, cachedNow: 90 });
  });

  for (const mode of MODES)
    it(`${mode}: sends the marks of tools, system text and conversation`, async () => {
      const { baseURL } = server;
      const model = new AnthropicChatModel({ model: 'claude', apiKey: 'sk-test', baseURL });
      const client = ChatClient.builder(model)
        .defaultSystem(LONG)
        .defaultTools(look)
        .defaultAdvisors(
          new PromptCacheAdvisor({ marks: { tools: '1h', system: '1h', messages: '5m' } }),
        )
        .build();

      await runSpec(mode, client.prompt('Hi'));

      const mark = (ttl: string) => ({ cache_control: { type: 'ephemeral', ttl } });
      const { tools, system, messages } = server.exchanges[0]?.body ?? {};
      expect((tools as readonly object[]).at(-1)).to.deep.include(mark('1h'));
      expect(system).to.deep.equal([{ type: 'text', text: LONG, ...mark('1h') }]);
      expect(messages).to.deep.equal([
        { role: 'user', content: [{ type: 'text', text: 'Hi', ...mark('5m') }] },
      ]);
    });
});
