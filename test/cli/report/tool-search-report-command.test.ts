import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { InvalidArgumentError } from '../../../src/index.js';
import { runCommandLine } from '../../support/command-line.js';
import { failureOf } from '../../support/modes.js';

const TOOLS = [
  {
    name: 'read_weather',
    description: 'Reads the weather.',
    inputSchema: { type: 'object', properties: { town: { type: 'string' } } },
  },
  { name: 'send_email', description: 'Sends an email.', inputSchema: { type: 'object' } },
];
const OPENAI = TOOLS.map(({ inputSchema, ...rest }) => ({
  type: 'function',
  function: { ...rest, parameters: inputSchema },
}));
const QUERIES = [
  { query: 'weather', relevant: ['read_weather'] },
  { query: 'write an email', relevant: ['send_email'] },
];

const lines = (items: readonly unknown[], end = '\n'): string =>
  items.map((item) => `${JSON.stringify(item)}${end}`).join('');

/** The output; a failure is what it writes on errors. */
async function reportCommand(args: readonly string[]): Promise<string> {
  const { code, out, err } = await runCommandLine(['tool-search-report', ...args]);
  if (code !== 0) throw new InvalidArgumentError(err);
  return out.trimEnd();
}

describe('advisor-chain tool-search-report', function () {
  let folder: string;

  /** Writes a file; JSON unless the content is a string. */
  const file = (name: string, content: unknown): string => {
    const path = join(folder, name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };
  const report = (
    tools: unknown,
    queries: unknown = QUERIES,
    ...more: readonly string[]
  ): Promise<string> =>
    reportCommand([
      '--tools',
      file('tools', tools),
      '--queries',
      file('queries', queries),
      ...more,
    ]);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'advisor-chain-'));
  });

  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  describe('reads', () => {
    for (const [format, tools] of Object.entries({
      'a JSON array': TOOLS,
      'the list of an MCP server': { tools: TOOLS, nextCursor: 'x' },
      'JSON lines': lines(TOOLS),
      'JSON lines with blank ones between': `\n${lines(TOOLS, '\n \n')}\n`,
      'JSON lines with Windows line ends': lines(TOOLS, '\r\n'),
      'tools of the OpenAI API': OPENAI,
      'an object with tools of the OpenAI API': { model: 'x', tools: OPENAI },
      'JSON lines of tools of the OpenAI API': lines(OPENAI),
      'tools of the Anthropic API': TOOLS.map(({ inputSchema, ...rest }) => ({
        ...rest,
        input_schema: inputSchema,
      })),
      'tools of the Responses API': TOOLS.map(({ inputSchema, ...rest }) => ({
        type: 'function',
        ...rest,
        parameters: inputSchema,
      })),
      'an array on several lines': JSON.stringify(TOOLS, undefined, 2),
      'a file with a byte order mark': `\ufeff${JSON.stringify(TOOLS)}`,
    }))
      it(format, async () => {
        const [plain, read] = [await report(TOOLS), await report(tools)].map((text) =>
          text.split('\n'),
        );

        expect(read?.slice(0, 3)).to.deep.equal(plain?.slice(0, 3));
        expect(read?.slice(0, 2)).to.deep.equal([
          '2 tools, 2 queries',
          'recall@1 100.0 % (100.0 to 100.0), recall@5 100.0 % (100.0 to 100.0), ' +
            'recall@10 100.0 % (100.0 to 100.0), MRR 1.000 (1.000 to 1.000)',
        ]);
      });

    for (const [format, queries] of Object.entries({
      'queries as JSON lines': lines(QUERIES),
      'queries in an object': { queries: QUERIES },
      'queries without a final line end': lines(QUERIES).trim(),
    }))
      it(format, async () => {
        expect(await report(TOOLS, queries)).to.match(/^2 tools, 2 queries\n/);
      });

    it('one tool and one query', async () => {
      expect(await report(TOOLS[0], QUERIES[0])).to.match(/^1 tools, 1 queries\n/);
    });

    it('ids, with names that occur twice', async () => {
      const tools = TOOLS.map((tool, at) => ({ ...tool, name: 'same', id: `id${at}` }));

      expect(await report(tools, [{ query: 'weather', relevant: [['id0', 'id1']] }])).to.include(
        'recall@1 100.0 %',
      );
    });
  });

  it('prints how tokens were counted', async () => {
    expect((await report(TOOLS)).split('\n').at(-1)).to.match(/^tokens (?:counted by|estimated)/);
  });

  it('searches with the index of --index', async () => {
    const queries = [{ query: 'mail', relevant: ['send_email'] }];

    expect(await report(TOOLS, queries, '--index', 'regex')).to.include('recall@1 100.0 %');
    expect(await report(TOOLS, queries, '--index', 'keyword')).to.include('recall@1 0.0 %');
  });

  describe('compares all kinds of indexes', () => {
    const embeddingModel = (): string => {
      const path = join(folder, 'model.mjs');
      const source =
        'export default { embed: async (texts) => ({ vectors: texts.map((text) => ' +
        'Float32Array.of(/weather/i.test(text), /mail/i.test(text), 0.1)) }) };';
      writeFileSync(path, source);
      return path;
    };

    it('on the same queries, with the interval of each difference to the first', async () => {
      const output = await report(
        TOOLS,
        QUERIES,
        '--index',
        'keyword,regex,vector,hybrid',
        '--embedding-model',
        embeddingModel(),
      );

      for (const kind of ['keyword', 'regex', 'vector', 'hybrid'])
        expect(output).to.include(`${kind}: 2 tools, 2 queries\nrecall@1 100.0 %`);
      for (const kind of ['regex', 'vector', 'hybrid'])
        expect(output).to.include(
          `${kind} instead of keyword: recall@1 0.0 (0.0 to 0.0), recall@5 0.0 (0.0 to 0.0), ` +
            'recall@10 0.0 (0.0 to 0.0), MRR 0.000 (0.000 to 0.000)',
        );
    });

    it('and shows which is better', async () => {
      const queries = [{ query: 'mail', relevant: ['send_email'] }];

      expect(await report(TOOLS, queries, '--index', 'keyword,regex')).to.include(
        'regex instead of keyword: recall@1 +100.0 (+100.0 to +100.0)',
      );
    });

    for (const [what, source, message] of [
      ['without an embedding model', undefined, '--index vector and hybrid need --embedding-model'],
      ['with another module', 'export default {};', 'must have an EmbeddingModel as its default'],
      ['with a broken module', 'export default', 'cannot be loaded: '],
    ] as const)
      it(`and rejects vectors ${what}`, async () => {
        const model = source === undefined ? undefined : join(folder, `${source.length}.mjs`);
        if (model !== undefined) writeFileSync(model, source ?? '');
        const args = ['--index', 'vector', ...(model ? ['--embedding-model', model] : [])];

        expect(await failureOf(report(TOOLS, QUERIES, ...args)))
          .to.be.instanceOf(InvalidArgumentError)
          .with.property('message')
          .that.includes(message);
      });
  });

  it('counts the tokens of --max-results tools', async () => {
    const tools = Array.from({ length: 8 }, (_, at) => ({ ...TOOLS[0], name: `weather_${at}` }));
    const queries = [{ query: 'weather', relevant: ['weather_0'] }];
    const tokens = async (count: string): Promise<number> =>
      Number(/(\d+) with search/.exec(await report(tools, queries, '--max-results', count))?.[1]);

    expect(await tokens('1')).to.be.lessThan(await tokens('5'));
  });

  describe('rejects', () => {
    for (const [what, tools, queries, message] of [
      ['a line that is not JSON', `${lines(TOOLS)}{"name"`, QUERIES, 'tools, line 3: not JSON'],
      ['text', 'name: x', QUERIES, 'tools, line 1: not JSON'],
      ['a list of strings', ['a'], QUERIES, 'item 1 is not a JSON object'],
      ['null in a list', [TOOLS[0], null], QUERIES, 'item 2 is not a JSON object'],
      ['an empty file', '', QUERIES, 'tools must be an array of at least one'],
      ['an empty list', { tools: [] }, QUERIES, 'tools must be an array of at least one'],
      ['a tool without a name', [TOOLS[0], { description: 'x' }], QUERIES, 'tool 2 has no name'],
      ['no queries', TOOLS, [], 'queries must be an array of at least one'],
      [
        'a query without text',
        TOOLS,
        [{ relevant: ['send_email'] }],
        'queries[0].query must be a non-blank string',
      ],
      [
        'a query without a list of relevant tools',
        TOOLS,
        [{ query: 'x', relevant: 'send_email' }],
        'queries[0].relevant must be an array',
      ],
      [
        'a query with an unknown relevant tool',
        TOOLS,
        [{ query: 'x', relevant: ['zebra'] }],
        'has "zebra", which is not among the tools',
      ],
    ] as const)
      it(what, async () => {
        expect(await failureOf(report(tools, queries)))
          .to.be.instanceOf(InvalidArgumentError)
          .with.property('message')
          .that.includes(message);
      });

    for (const [args, message] of [
      [['--index', 'magic'], '--index must be some of keyword, regex, vector, hybrid, not magic'],
      [
        ['--index', 'constructor'],
        '--index must be some of keyword, regex, vector, hybrid, not constructor',
      ],
      [['--max-results', '0'], '--max-results must be an integer >= 1, not 0'],
      [['--max-results', '1.5'], '--max-results must be'],
      [['--max-results', 'x'], '--max-results must be'],
      [['--max-results='], '--max-results needs a value'],
      [['--unknown'], 'unknown option --unknown'],
      [['--index'], '--index needs a value'],
      [['more'], 'unexpected argument "more"'],
    ] as const)
      it(`the arguments ${args.join(' ')}`, async () => {
        expect(await failureOf(report(TOOLS, QUERIES, ...args)))
          .to.be.instanceOf(InvalidArgumentError)
          .with.property('message')
          .that.includes(message);
      });

    for (const [name, args] of Object.entries({
      tools: ['--queries', 'x'],
      queries: ['--tools', 'x'],
    }))
      it(`arguments without ${name}`, async () => {
        expect(await failureOf(reportCommand(args)))
          .to.be.instanceOf(InvalidArgumentError)
          .with.property('message')
          .that.includes(`Missing required argument: --${name}`);
      });

    it('a missing file', async () => {
      const path = join(folder, 'nowhere.json');
      const error = await failureOf(reportCommand(['--tools', path, '--queries', path]));

      expect(error)
        .to.be.instanceOf(InvalidArgumentError)
        .with.property('message')
        .that.includes(`${path} cannot be read`);
    });
  });
});
