import { expect } from 'chai';
import {
  ChatClient,
  defineTool,
  InvalidArgumentError,
  type Tool,
  type ToolMetadata,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { offered, provider, tool } from '../../support/providers.js';

class Orders {
  static count(): number {
    return 1;
  }

  state(): string {
    return 'open';
  }
}

const model = new ScriptedChatModel([]);

/** Every way to give tools by hand. */
const WAYS: readonly ((value: unknown) => unknown)[] = [
  (value) =>
    ChatClient.create(model)
      .prompt()
      .tools(value as Tool),
  (value) =>
    ChatClient.create(model)
      .prompt()
      .tools([tool('a'), [value as Tool]]),
  (value) => ChatClient.builder(model).defaultTools(value as Tool),
];

const good = tool('t');
const withDefinition = (change: object): unknown => ({
  ...good,
  definition: { ...good.definition, ...change },
});
const withMetadata = (change: object): unknown => ({
  ...good,
  metadata: { ...good.metadata, ...change },
});

const EXPECTED =
  'expected a tool with definition, metadata and call, such as defineTool({ … }) returns, not';
const TIME = 'a number of milliseconds > 0 and < 2 ** 31, or Infinity';

const BAD: readonly (readonly [title: string, value: unknown, message: string])[] = [
  ['undefined', undefined, `${EXPECTED} undefined`],
  [
    'a text',
    'search',
    `${EXPECTED} "search"; to offer some of several tools pass filterTools(tools, ["search"])`,
  ],
  ['a function', () => 'ok', `${EXPECTED} a function; pass defineTool({ name, execute }) with it`],
  ['a definition', good.definition, `${EXPECTED} an object`],
  [
    'a record of tools',
    { a: good },
    `${EXPECTED} an object of tools; each has its name already: tools(t)`,
  ],
  [
    'a record of many tools',
    { a: good, b: tool('b'), c: tool('c'), d: tool('d') },
    `${EXPECTED} an object of tools; each has its name already: tools(t, b, c, …)`,
  ],
  ['a record with something else', { a: good, b: 7 }, `${EXPECTED} an object`],
  ['an object without prototype', Object.create(null), `${EXPECTED} an object`],
  ['a tool without call', { ...good, call: undefined }, `${EXPECTED} an object`],
  ['a tool without metadata', { ...good, metadata: null }, `${EXPECTED} an object`],
  ['a tool with a list as metadata', { ...good, metadata: [] }, `${EXPECTED} an object`],
  [
    'an instance',
    new Orders(),
    `${EXPECTED} an instance of Orders; decorate its methods with @Tool({ … }) and pass toolsFrom(instance)`,
  ],
  [
    'a class',
    Orders,
    `${EXPECTED} the class Orders; decorate its methods with @Tool({ … }) and pass toolsFrom(new Orders(…))`,
  ],
  [
    'a class without a name',
    class {},
    `${EXPECTED} a class; decorate its methods with @Tool({ … }) and pass toolsFrom(instance)`,
  ],
  [
    'a promise of tools',
    Promise.resolve([good]),
    `${EXPECTED} an instance of Promise; await it, or pass a tool provider`,
  ],
  [
    'a name of its own',
    withDefinition({ name: 'new' }),
    'tool "new": name must be left out, or the same as definition.name, not "t"; renameTools changes both',
  ],
  [
    'a blank name',
    withDefinition({ name: ' ' }),
    'tool " ": definition.name must be a non-blank string, not " "',
  ],
  [
    'no description',
    withDefinition({ description: undefined }),
    'tool "t": definition.description must be a string, not undefined',
  ],
  [
    'no schema',
    withDefinition({ inputSchema: undefined }),
    'tool "t": definition.inputSchema must be a JSON Schema object, not undefined',
  ],
  [
    'true as schema',
    withDefinition({ inputSchema: true }),
    'tool "t": definition.inputSchema must be a JSON Schema object, not true',
  ],
  [
    'a list as schema',
    withDefinition({ inputSchema: [] }),
    'tool "t": definition.inputSchema must be a JSON Schema object, not an array of 0',
  ],
  [
    'a schema of no object',
    withDefinition({ inputSchema: {} }),
    `tool "t": definition.inputSchema.type must be 'object', not undefined`,
  ],
  [
    'a schema of several types',
    withDefinition({ inputSchema: { type: ['object', 'null'] } }),
    `tool "t": definition.inputSchema.type must be 'object', not an array of 2`,
  ],
  [
    'a strictness of no kind',
    withDefinition({ strict: 'yes' }),
    'tool "t": definition.strict must be true or false, not "yes"',
  ],
  [
    'a check that is no function',
    { ...good, validate: {} },
    'tool "t": validate must be a function, not an object',
  ],
  [
    'a conversion that is no function',
    { ...good, toContent: 'json' },
    'tool "t": toContent must be a function, not "json"',
  ],
  [
    'returnDirect of no kind',
    withMetadata({ returnDirect: 1 }),
    'tool "t": metadata.returnDirect must be true or false, not 1',
  ],
  [
    'deferred of no kind',
    withMetadata({ deferred: 'no' }),
    'tool "t": metadata.deferred must be true or false, not "no"',
  ],
  ['no time', withMetadata({ timeout: 0 }), `tool "t": metadata.timeout must be ${TIME}, not 0`],
  [
    'an unknown effect',
    withMetadata({ effect: 'delete' }),
    "tool \"t\": metadata.effect must be 'read', 'idempotent' or 'write', not \"delete\"",
  ],
  [
    'a key that is no function',
    withMetadata({ concurrencyKey: 'account' }),
    'tool "t": metadata.concurrencyKey must be a function, not "account"',
  ],
  [
    'no calls at the same time',
    withMetadata({ maxConcurrency: 0 }),
    'tool "t": metadata.maxConcurrency must be an integer >= 1 or Infinity, not 0',
  ],
  [
    'half a retry',
    withMetadata({ effect: 'read', retries: 0.5 }),
    'tool "t": metadata.retries must be an integer >= 0, not 0.5',
  ],
  [
    'retries of what may do something',
    withMetadata({ effect: 'write', retries: 1 }),
    'tool "t": retries needs the effect \'read\' or \'idempotent\', not "write"',
  ],
  [
    'retries without a declared effect',
    withMetadata({ retries: 1 }),
    "tool \"t\": retries needs the effect 'read' or 'idempotent', not undefined",
  ],
  [
    'an unknown policy',
    withMetadata({ onToolError: 'ignore' }),
    'tool "t": metadata.onToolError must be \'send-to-model\', \'throw\' or a function, not "ignore"',
  ],
  [
    'a provider without a name',
    { tools: () => [] },
    'the name of a tool provider must be a non-blank string, not undefined',
  ],
  [
    'a provider without time',
    { ...provider('P', () => []), timeout: NaN },
    `tool provider "P": timeout must be ${TIME}, not NaN`,
  ],
];

describe('the tool setters', () => {
  for (const [title, value, message] of BAD) {
    it(`[CLI-41] reject ${title} immediately`, () => {
      for (const give of WAYS)
        expect(() => give(value)).to.throw(InvalidArgumentError, `tools(…): ${message}`);
    });
  }

  it('reject the same values and providers in options(…)', () => {
    const options = (value: unknown) => () =>
      ChatClient.create(model)
        .prompt()
        .options({ tools: [value as Tool] });

    expect(options(withMetadata({ timeout: 0 }))).to.throw(
      InvalidArgumentError,
      'tools(…): tool "t": metadata.timeout must be',
    );
    expect(options(provider('P', () => []))).to.throw(
      InvalidArgumentError,
      'options(…): tools must be an array of tools',
    );
  });

  it('accept all settings of a tool', () => {
    const metadata: Required<ToolMetadata> = {
      returnDirect: true,
      deferred: true,
      alwaysLoaded: true,
      findsTools: true,
      category: 'calendar',
      timeout: Infinity,
      effect: 'read',
      concurrencyKey: () => 'key',
      maxConcurrency: 1,
      retries: 3,
      polls: true,
      cacheable: false,
      untrusted: true,
      onToolError: () => 'no',
    };
    const absent = Object.fromEntries(Object.keys(metadata).map((name) => [name, undefined]));

    for (const give of WAYS)
      for (const change of [
        metadata,
        absent,
        {},
        { maxConcurrency: Infinity, onToolError: 'throw' },
      ])
        expect(() =>
          give({ ...good, metadata: change, toContent: String, validate: () => ({ value: 1 }) }),
        ).not.to.throw();
  });

  it('accept instances of classes as tools and providers', async () => {
    class Echo implements Tool {
      readonly metadata = {};
      get definition() {
        return { name: 'echo', description: 'Echoes.', inputSchema: { type: 'object' } };
      }
      call(): string {
        return 'echo';
      }
    }
    class Shop {
      readonly name = 'shop';
      private readonly stock = [tool('lamp')];
      tools(): readonly Tool[] {
        return this.stock;
      }
    }
    const asked = new ScriptedChatModel(['ok']);

    await ChatClient.create(asked).prompt('?').tools(new Echo(), new Shop()).call().content();

    expect(offered(asked)).to.deep.equal([['echo', 'lamp']]);
  });

  it('[F23] reject two tools with the same name, also of the client and the request', () => {
    const client = ChatClient.builder(model)
      .defaultTools(
        provider('P', () => [tool('a')]),
        tool('a'),
      )
      .build();

    expect(() =>
      client
        .prompt()
        .tools(provider('Q', () => []))
        .tools([[tool('a')]]),
    ).to.throw(
      InvalidArgumentError,
      'two tools have the same name: a. Rename one of them or leave it out.',
    );
    expect(() =>
      client.prompt().options({ tools: [defineTool({ name: 'a', execute: () => 1 })] }),
    ).to.throw(InvalidArgumentError);
  });
});
