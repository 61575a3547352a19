import { expect } from 'chai';
import { InvalidArgumentError, KeywordToolIndex, type ToolIndex } from '../../src/index.js';
import {
  toolSearchReport,
  type CatalogueTool,
  type LabelledQuery,
  type ToolSearchReportOptions,
} from '../../src/evaluation/tool-search-report.js';
import type {
  ToolIndexRequest,
  ToolReference,
  ToolSearchRequest,
} from '../../src/tool-search/index.js';
import { failureOf } from '../support/modes.js';

/** Finds fixed tools for each query. */
class FixedIndex implements ToolIndex {
  readonly asked: ToolSearchRequest[] = [];
  readonly cleared: string[] = [];
  references: readonly ToolReference[] = [];

  constructor(private readonly names: Readonly<Record<string, string>>) {}

  index({ references }: ToolIndexRequest): void {
    this.references = references;
  }

  search(request: ToolSearchRequest): { references: readonly ToolReference[] } {
    this.asked.push(request);
    const names = [...(this.names[request.query] ?? '')];
    return {
      references: names.flatMap((name) => this.references.find((one) => one.name === name) ?? []),
    };
  }

  clear(session: string): void {
    this.cleared.push(session);
  }
}

const TOOLS: readonly CatalogueTool[] = [...'abcdefghij'].map((name) => ({ name }));
const QUERIES: readonly LabelledQuery[] = [
  { query: 'first', relevant: ['a'] },
  { query: 'any of two', relevant: ['b', ['c', 'd']] },
  { query: 'sixth', relevant: ['c'] },
  { query: 'nothing', relevant: ['j'] },
];
const FOUND = { first: 'ab', 'any of two': 'dab', sixth: 'abdefc' };

function optionsOf(more: Partial<ToolSearchReportOptions> = {}): ToolSearchReportOptions {
  return {
    tools: TOOLS,
    queries: QUERIES,
    toolIndex: new FixedIndex(FOUND),
    countTokens: () => 10,
    ...more,
  };
}

describe('toolSearchReport', () => {
  it('measures recall and mean reciprocal rank, and lists the missed queries', async () => {
    const report = await toolSearchReport(optionsOf());

    expect([report.tools, report.queries]).to.deep.equal([10, 4]);
    expect(report.recall).to.deep.equal({ at1: 1.5 / 4, at5: 2 / 4, at10: 3 / 4 });
    expect(report.meanReciprocalRank).to.be.closeTo((1 + 1 + 1 / 6) / 4, 1e-12);
    expect(report.missed).to.deep.equal([QUERIES[3]]);
  });

  it('counts the tokens of all definitions and of those found by a search', async () => {
    const { tokens } = await toolSearchReport(optionsOf());

    const withSearch = 10 + 10 + (10 * (2 + 3 + 5 + 0)) / 4;
    expect(tokens).to.deep.equal({
      all: 100,
      withSearch,
      saved: 1 - withSearch / 100,
      breakEvenTools: 5,
    });
  });

  it('counts the tokens of at most maxResults tools', async () => {
    const { tokens } = await toolSearchReport(optionsOf({ maxResults: 2 }));

    expect(tokens.withSearch).to.equal(10 + 10 + (10 * (2 + 2 + 2 + 0)) / 4);
  });

  it('counts more than ten tools if maxResults is greater', async () => {
    const tools = Array.from({ length: 30 }, (_, at) => ({ name: `weather_${at}` }));
    const queries = [{ query: 'weather', relevant: ['weather_0'] }];

    const { tokens } = await toolSearchReport(
      optionsOf({ tools, queries, toolIndex: new KeywordToolIndex(), maxResults: 20 }),
    );

    expect(tokens.withSearch).to.equal(10 + 10 + 10 * 20);
  });

  it('reports a negative saving if a search costs more than it saves', async () => {
    const { tokens } = await toolSearchReport(
      optionsOf({ tools: [{ name: 'a' }], queries: QUERIES.slice(0, 1) }),
    );

    expect(tokens).to.deep.equal({ all: 10, withSearch: 30, saved: -2, breakEvenTools: 3 });
  });

  it('counts four characters as a token by default', async () => {
    const tools = [{ name: 'a', description: 'x'.repeat(400) }];
    const { tokens } = await toolSearchReport({
      tools,
      queries: QUERIES.slice(0, 1),
      toolIndex: new FixedIndex(FOUND),
    });

    expect(tokens.all).to.be.within(110, 140);
  });

  it('counts each of several tools with the same name', async () => {
    const tools = [...TOOLS, { name: 'a', description: 'Another.' }];

    expect((await toolSearchReport(optionsOf({ tools }))).tokens.all).to.equal(110);
  });

  it('distinguishes tools of one name by their ids', async () => {
    const tools = ['mail', 'news'].map((id) => ({ id, name: 'read', description: `Reads ${id}.` }));
    const queries = [
      { query: 'mail', relevant: ['mail'] },
      { query: 'news', relevant: ['mail'] },
    ];

    const report = await toolSearchReport(
      optionsOf({ tools, queries, toolIndex: new KeywordToolIndex() }),
    );

    expect(report.recall.at1).to.equal(0.5);
    expect(report.tokens.all).to.equal(20);
  });

  it('identifies references without an id by their names', async () => {
    const toolIndex = new FixedIndex({});
    toolIndex.search = () => ({ references: [{ name: 'a', description: '', inputSchema: {} }] });

    expect(
      (await toolSearchReport(optionsOf({ toolIndex, queries: QUERIES.slice(0, 1) }))).recall.at1,
    ).to.equal(1);
  });

  it('indexes the catalogue and requests ten results', async () => {
    const toolIndex = new FixedIndex(FOUND);
    await toolSearchReport(
      optionsOf({ toolIndex, tools: [...TOOLS, { name: 'x', description: 'X', category: 'c' }] }),
    );

    expect(toolIndex.references[0])
      .to.include({ name: 'a', description: '' })
      .and.to.deep.include({ inputSchema: { type: 'object' } });
    expect(toolIndex.references.at(-1)).to.include({ name: 'x', description: 'X', category: 'c' });
    expect(toolIndex.asked.map(({ query, maxResults }) => [query, maxResults])).to.deep.equal(
      QUERIES.map(({ query }) => [query, 10]),
    );
  });

  it('clears its session in the index', async () => {
    const toolIndex = new FixedIndex(FOUND);
    await toolSearchReport(optionsOf({ toolIndex }));

    expect(toolIndex.cleared).to.deep.equal([toolIndex.asked[0]?.session]);
  });

  it('clears its session in the index if a search fails', async () => {
    const toolIndex = new FixedIndex(FOUND);
    const failure = new Error('out of order');
    toolIndex.search = () => {
      throw failure;
    };

    expect(await failureOf(toolSearchReport(optionsOf({ toolIndex })))).to.equal(failure);
    expect(toolIndex.cleared).to.have.lengthOf(1);
  });

  it('measures two catalogues in one index concurrently', async () => {
    const toolIndex = new KeywordToolIndex();
    const reportOf = (name: string) =>
      toolSearchReport({
        tools: [{ name }],
        queries: [{ query: name, relevant: [name] }],
        toolIndex,
      });

    const reports = await Promise.all([reportOf('weather'), reportOf('email')]);

    expect(reports.map(({ recall }) => recall.at1)).to.deep.equal([1, 1]);
  });

  it('measures the time', async () => {
    const { time } = await toolSearchReport(optionsOf({ toolIndex: new KeywordToolIndex() }));

    expect(time).to.have.all.keys('index', 'median', 'p99', 'longest');
    expect([0, time.median, time.p99, time.longest]).to.deep.equal(
      [0, time.median, time.p99, time.longest].sort((a, b) => a - b),
    );
  });

  it('formats all figures as text', async () => {
    const lines = String(await toolSearchReport(optionsOf())).split('\n');

    expect(lines[0]).to.equal('10 tools, 4 queries');
    expect(lines[1]).to.equal('recall@1 37.5 %, recall@5 50.0 %, recall@10 75.0 %, MRR 0.542');
    expect(lines[2]).to.equal(
      'tokens of definitions: 100 for all tools, 45 with search, 55.0 % saved; it pays from 5 tools on',
    );
    expect(lines[3]).to.match(
      /^time: index [\d.]+ ms; search median [\d.]+ ms, p99 [\d.]+ ms, longest [\d.]+ ms$/,
    );
    expect(lines[4]).to.equal('nothing found for 1 queries, such as: nothing');
    expect(lines).to.have.lengthOf(5);
  });

  it('leaves out the line about missed queries if there are none', async () => {
    expect(
      String(await toolSearchReport(optionsOf({ queries: QUERIES.slice(0, 2) }))).split('\n'),
    ).to.have.lengthOf(4);
  });

  it('is plain data for JSON', async () => {
    const keys = ['tools', 'queries', 'recall', 'meanReciprocalRank', 'tokens', 'time', 'missed'];
    expect(JSON.parse(JSON.stringify(await toolSearchReport(optionsOf())))).to.have.all.keys(keys);
  });

  for (const [what, options, message] of [
    ['no tools', { tools: [] }, 'tools must be an array of at least one'],
    ['tools that are not an array', { tools: {} }, 'tools must be an array'],
    ['no queries', { queries: [] }, 'queries must be an array of at least one'],
    [
      'a blank query',
      { queries: [...QUERIES, { query: ' ', relevant: ['a'] }] },
      'queries[4].query must be a non-blank string',
    ],
    [
      'a query without text',
      { queries: [{ relevant: ['a'] }] },
      'queries[0].query must be a non-blank string',
    ],
    [
      'a query without relevant tools',
      { queries: [{ query: 'q', relevant: [] }] },
      'queries[0].relevant must be an array',
    ],
    [
      'a query with a string of relevant tools',
      { queries: [{ query: 'q', relevant: 'a' }] },
      'queries[0].relevant must be an array',
    ],
    [
      'a query with an unknown relevant tool',
      { queries: [{ query: 'q', relevant: ['a', 'zebra'] }] },
      'has "zebra", which',
    ],
    [
      'a query with an unknown tool among alternatives',
      { queries: [{ query: 'q', relevant: [['a', 'zebra']] }] },
      'has "zebra", which',
    ],
    [
      'a query with the name of an object property',
      { queries: [{ query: 'q', relevant: ['constructor'] }] },
      'has "constructor", which',
    ],
    [
      'a query with a number as relevant tool',
      { queries: [{ query: 'q', relevant: [5] }] },
      'has 5, which',
    ],
    [
      'a tool without a name',
      { tools: [...TOOLS, { description: 'x' }], toolIndex: new KeywordToolIndex() },
      'name must be a non-empty string',
    ],
  ] as const)
    it(`rejects ${what}`, async () => {
      expect(await failureOf(toolSearchReport(optionsOf(options as never))))
        .to.be.instanceOf(InvalidArgumentError)
        .with.property('message')
        .that.includes(message);
    });
});
