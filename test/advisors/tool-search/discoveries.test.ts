import { expect } from 'chai';
import fc from 'fast-check';
import type { Message } from '../../../src/index.js';
import { discoveredIn } from '../../../advisors/tool-search/discoveries.js';
import { searchResultText } from '../../../advisors/tool-search/search-result-text.js';
import { tool } from '../../support/tool-index-laws.js';
import { sweep } from '../../support/sweep.js';

function descriptionOf(description: string): string {
  const [shown] = JSON.parse(searchResultText([tool('a', description)])) as [
    { readonly description: string },
  ];
  return shown.description;
}

describe('searchResultText', () => {
  it('is JSON of names and descriptions in their order', () => {
    const references = [tool('b', 'Does b.', { category: 'x', score: 3 }), tool('a', 'Does "a".')];

    expect(JSON.parse(searchResultText(references))).to.deep.equal([
      { name: 'b', description: 'Does b.' },
      { name: 'a', description: 'Does "a".' },
    ]);
  });

  it('[F86] explains in words what to do without a match', () => {
    expect(searchResultText([])).to.match(/^No tool fits\. .*in other words/);
  });

  it('joins the lines of a description', () => {
    expect(descriptionOf('  Does\n\n this\tand\r\nthat. ')).to.equal('Does this and that.');
  });

  it('keeps a description of 200 characters', () => {
    expect(descriptionOf('x'.repeat(200))).to.equal('x'.repeat(200));
  });

  it('truncates a long description between words', () => {
    const cut = descriptionOf('seven77 '.repeat(100));

    expect(cut).to.equal(`${'seven77 '.repeat(25).trim()}…`);
  });

  it('truncates a long description without spaces between characters', () => {
    expect(descriptionOf('天'.repeat(1_000))).to.match(/^天{190,200}…$/);
    for (const start of ['', 'x', 'short '])
      expect(descriptionOf(start + '\u{1F600}'.repeat(1_000))).to.match(
        /^(?:x|short )?(?:\u{1F600})+…$/u,
      );
  });

  it('never exceeds the limit and never splits a character', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 100, maxLength: 500 }),
        (description) => {
          const cut = descriptionOf(description);

          expect(cut.length).to.be.at.most(201);
          expect(cut).to.not.match(
            /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/,
          );
        },
      ),
      { numRuns: sweep(2_000) },
    );
  });
});

describe('discoveredIn', () => {
  const NAME = 'toolSearchTool';
  const calls = (...names: readonly string[]): Message => ({
    role: 'assistant',
    content: null,
    toolCalls: names.map((name, at) => ({ id: `${name}${at}`, name, arguments: '{}' })),
  });
  const result = (content: string, toolName = NAME): Message => ({
    role: 'tool',
    toolCallId: 'x',
    toolName,
    content,
  });
  const found = (...names: readonly string[]): Message =>
    result(searchResultText(names.map((name) => tool(name))));
  const inBoth = (messages: readonly Message[]): readonly (readonly string[])[] =>
    [true, false].map((accumulate) => discoveredIn(messages, NAME, accumulate));

  it('reads the names in results of the search tool, each once, in their order', () => {
    const messages = [calls(NAME), found('b', 'a'), calls(NAME), found('c', 'a')];

    expect(discoveredIn(messages, NAME, true).filter((name) => name !== NAME)).to.deep.equal([
      'b',
      'a',
      'c',
    ]);
  });

  it('reads only the last batch if names do not accumulate', () => {
    const messages = [
      calls(NAME),
      found('b', 'a'),
      calls(NAME, NAME),
      found('c'),
      found('d'),
      { role: 'user', content: 'x' },
    ] as const;

    expect(discoveredIn(messages, NAME, false)).to.deep.equal(['c', 'd']);
  });

  it('skips later batches without a search', () => {
    const messages = [calls(NAME), found('a'), calls('a'), result('done', 'a'), calls()];

    expect(discoveredIn(messages, NAME, false)).to.deep.equal(['a']);
  });

  it('skips later searches without a match', () => {
    const messages = [calls(NAME), found('a'), calls(NAME), result(searchResultText([]))];

    expect(discoveredIn(messages, NAME, false)).to.deep.equal(['a']);
  });

  it('reads called tools too if names accumulate', () => {
    const messages = [calls('a', 'b'), result('done', 'a'), result('done', 'b')];

    expect(inBoth(messages)).to.deep.equal([['a', 'b'], []]);
  });

  it('ignores other tools and other messages', () => {
    const listing = '[{"name":"secret"}]';
    const messages: readonly Message[] = [
      { role: 'system', content: listing },
      { role: 'user', content: listing },
      { role: 'assistant', content: listing },
      result(listing, 'another'),
    ];

    expect(inBoth(messages)).to.deep.equal([[], []]);
  });

  it('reads a long conversation in linear time', () => {
    const turns = Array.from({ length: 20_000 }, (_, at) => [
      calls(NAME),
      found(`tool_${at}`),
    ]).flat();

    expect(discoveredIn(turns, NAME, true)).to.have.lengthOf(20_000);
    expect(discoveredIn(turns, NAME, false)).to.deep.equal(['tool_19999']);
  });

  it('reads content in parts', () => {
    const messages: readonly Message[] = [
      calls(NAME),
      {
        role: 'tool',
        toolCallId: 'x',
        toolName: NAME,
        content: [{ type: 'text', text: '[{"name":"a"}]' }],
      },
    ];

    expect(discoveredIn(messages, NAME, false)).to.deep.equal(['a']);
  });

  for (const content of [
    '',
    'No tool fits.',
    '{"name":"a"}',
    '5',
    'null',
    '[null,5,"a",[],{},{"name":5}]',
    '[{"name":"a"',
  ])
    it(`reads no name in ${JSON.stringify(content)}`, () => {
      expect(inBoth([calls(), result(content)])).to.deep.equal([[], []]);
    });

  it('reads names of object properties', () => {
    expect(discoveredIn([found('__proto__', 'constructor')], NAME, true)).to.deep.equal([
      '__proto__',
      'constructor',
    ]);
  });

  it('returns nothing for an empty conversation', () => {
    expect(inBoth([])).to.deep.equal([[], []]);
  });
});
