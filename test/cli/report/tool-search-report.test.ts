import { expect } from 'chai';
import { InvalidArgumentError, KeywordToolIndex, type ToolIndex } from '../../../src/index.js';
import {
  compareSearchReports,
  type LabelledQuery,
} from '../../../src/cli/report/tool-search-quality.js';
import {
  toolSearchReport,
  type CatalogueTool,
  type ToolSearchReportOptions,
} from '../../../src/cli/report/tool-search-report.js';
import type {
  ToolIndexRequest,
  ToolReference,
  ToolSearchRequest,
} from '../../../advisors/tool-search/index.js';
import { failureOf } from '../../support/modes.js';

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
    expect(lines[1]).to.match(
      /^recall@1 37\.5 % \([\d.]+ to [\d.]+\), recall@5 50\.0 % \(.+\), recall@10 75\.0 % \(.+\), MRR 0\.542 \(0\.\d{3} to \d\.\d{3}\)$/,
    );
    expect(lines[2]).to.equal(
      'tokens of definitions: 100 for all tools, 45 with search, 55.0 % saved; it pays from 5 tools on',
    );
    expect(lines[3]).to.match(
      /^time: index [\d.]+ ms; search median [\d.]+ ms, p99 [\d.]+ ms, longest [\d.]+ ms$/,
    );
    expect(lines.slice(4)).to.deep.equal([
      'no relevant tool among the first 10 for 1 queries',
      'worst queries, by recall@5:',
      '  0.0 %  nothing',
      '    wanted j; found nothing',
      '  0.0 %  sixth',
      '    wanted c; found a, b, d, e, f',
    ]);
  });

  it('leaves out the worst queries if all tools are found', async () => {
    const queries = QUERIES.slice(0, 2);
    const report = await toolSearchReport(optionsOf({ queries }));

    expect(report.worst).to.deep.equal([]);
    expect(String(report).split('\n').at(-1)).to.equal(
      'no relevant tool among the first 10 for 0 queries',
    );
  });

  it('lists the ten worst queries, by recall and rank', async () => {
    const queries = Array.from({ length: 12 }, () => QUERIES[2]!);
    const report = await toolSearchReport(optionsOf({ queries: [...queries, ...QUERIES] }));

    expect(report.worst.map(({ query }) => query)).to.deep.equal([
      'nothing',
      ...queries.slice(0, 9).map(({ query }) => query),
    ]);
    expect(report.worst[0]).to.deep.equal({
      query: 'nothing',
      relevant: ['j'],
      found: [],
      recall: { at1: 0, at5: 0, at10: 0 },
      reciprocalRank: 0,
    });
    expect(report.results.map(({ recall }) => recall.at10)).to.deep.equal([
      ...queries.map(() => 1),
      1,
      1,
      1,
      0,
    ]);
  });

  it('has a confidence interval of each mean, narrower with more queries, the same in each run', async () => {
    const repeated = Array.from({ length: 100 }, () => QUERIES).flat();
    const [few, again, many] = await Promise.all([
      toolSearchReport(optionsOf()),
      toolSearchReport(optionsOf()),
      toolSearchReport(optionsOf({ queries: repeated })),
    ]);

    expect(few.intervals).to.deep.equal(again.intervals);
    for (const { intervals, recall } of [few, many]) {
      expect(intervals.recall.at5.mean).to.equal(recall.at5);
      expect(intervals.recall.at5.low).to.be.lessThan(recall.at5);
      expect(intervals.recall.at5.high).to.be.greaterThan(recall.at5);
    }
    const { low, high } = many.intervals.recall.at5;
    // the standard error of 400 queries, half of which have recall 0 and half 1, is 2.5 %
    expect(high - low).to.be.closeTo(2 * 1.96 * 0.025, 0.02);
  });

  it('compares two indexes on the same queries: the interval of the difference', async () => {
    const queries = Array.from({ length: 50 }, () => QUERIES).flat();
    const base = await toolSearchReport(optionsOf({ queries }));
    const better = await toolSearchReport(
      optionsOf({ queries, toolIndex: new FixedIndex({ ...FOUND, sixth: 'c' }) }),
    );
    const { recall, meanReciprocalRank } = compareSearchReports(base, better);

    expect(recall.at5.mean).to.equal(0.25);
    expect([recall.at5.low > 0.15, recall.at5.high < 0.35]).to.deep.equal([true, true]);
    expect(recall.at10).to.deep.equal({ mean: 0, low: 0, high: 0 });
    expect(meanReciprocalRank.low).to.be.greaterThan(0);
  });

  it('does not compare reports of other queries', async () => {
    const [one, other, fewer] = await Promise.all([
      toolSearchReport(optionsOf()),
      toolSearchReport(optionsOf({ queries: QUERIES.toReversed() })),
      toolSearchReport(optionsOf({ queries: QUERIES.slice(1) })),
    ]);

    for (const report of [other, fewer])
      expect(() => compareSearchReports(one, report)).to.throw(
        InvalidArgumentError,
        'the same queries in the same order',
      );
  });

  it('is plain data for JSON', async () => {
    const keys = ['tools', 'queries', 'recall', 'meanReciprocalRank', 'intervals', 'tokens', 'time', 'missed', 'worst', 'results']; // prettier-ignore
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
