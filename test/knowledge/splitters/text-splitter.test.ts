import { expect } from 'chai';
import * as fc from 'fast-check';
import type { Document } from '../../../src/core/chat/document.js';
import { InvalidArgumentError } from '../../../src/core/errors/errors.js';
import {
  TextSplitter,
  type TextSplitterOptions,
} from '../../../src/knowledge/splitters/text-splitter.js';

const split = (text: string, options: TextSplitterOptions = {}): readonly Document[] =>
  new TextSplitter({ unit: 'characters', size: 64, ...options }).split({ id: 'd', text });
const textsOf = (chunks: readonly Document[]): readonly string[] => chunks.map(({ text }) => text);
const sentence = (number: number): string => `This is sentence ${number}.`;

/** Pieces of texts, with the structures that a splitter looks for. */
const PIECE = fc.constantFrom(
  '# Title\n',
  '## Part ##\n',
  'Under\n===\n',
  '```ts\n',
  '```\n',
  '~~~\n',
  '\n',
  '\n\n',
  '\r\n',
  '\f',
  '| a | b |\n',
  '|---|---|\n',
  '- item\n',
  '1. one\n',
  'A word. ',
  'x'.repeat(90),
  '    deep\n',
  '👨‍👩‍👧‍👦',
  '🇩🇪',
  'é',
  '漢字。',
  '\ud800',
  '\udc00',
  '\0',
  'if (a) {\n',
  '}\n',
  '\t',
  ' ',
  '.',
  '\u2028',
);
const TEXT = fc.array(PIECE, { maxLength: 60 }).map((pieces) => pieces.join(''));
const OPTIONS = fc.record({
  format: fc.constantFrom('markdown' as const, 'text' as const, 'code' as const),
  size: fc.integer({ min: 32, max: 200 }),
  overlap: fc.integer({ min: 0, max: 16 }),
});

describe('TextSplitter', () => {
  it('makes one chunk of a text that fits, with its place and the metadata of the document', () => {
    const document = { id: 'a.md', text: '\n# Title\n\nText.\n', metadata: { lang: 'en' } };

    const chunks = new TextSplitter().split(document);

    expect(chunks).to.deep.equal([
      {
        id: 'a.md#0',
        text: '# Title\n\nText.',
        metadata: {
          lang: 'en',
          document: 'a.md',
          chunk: 0,
          start: 1,
          end: 15,
          headings: ['Title'],
        },
      },
    ]);
  });

  it('makes no chunk of white space', () => {
    expect(split(' \n\t\f\n')).to.deep.equal([]);
  });

  it('estimates 4 characters as a token, 400 tokens in a chunk', () => {
    const chunks = new TextSplitter().split({ id: 'd', text: 'word '.repeat(700) });

    expect(chunks.map(({ text }) => text.length)).to.deep.equal([1599, 1599, 299]);
  });

  it('cuts before a heading rather than between paragraphs, and keeps the headings of each chunk', () => {
    const text = `# A\n\n${sentence(1)}\n\n## B\n\n${sentence(2)}\n\n${sentence(3)}\n\n# C\n\n${sentence(4)}\n`;

    const chunks = split(text);

    expect(chunks.map(({ text, metadata }) => [text, metadata?.['headings']])).to.deep.equal([
      [`# A\n\n${sentence(1)}`, ['A']],
      [`## B\n\n${sentence(2)}\n\n${sentence(3)}`, ['A', 'B']],
      [`# C\n\n${sentence(4)}`, ['C']],
    ]);
  });

  it('gives a chunk of several sections the headings that are above all of them', () => {
    const [chunk] = split('# A\n\n## B\n\nb\n\n## C\n\nc');

    expect(chunk?.metadata?.['headings']).to.deep.equal(['A']);
  });

  it('knows headings that are underlined, and none in fenced code', () => {
    const [first, second] = split(
      'Title\n=====\n\n```sh\n# no heading\n```\n\nPart\n----\n\nText.',
      {
        size: 50,
      },
    );

    expect(first?.metadata?.['headings']).to.deep.equal(['Title']);
    expect(second?.metadata?.['headings']).to.deep.equal(['Title', 'Part']);
  });

  it('does not cut a heading from its content', () => {
    const chunks = split(`${sentence(1)}\n\n${sentence(2)}\n\n## B\n\n${sentence(3)}`);

    expect(textsOf(chunks)[1]).to.equal(`## B\n\n${sentence(3)}`);
  });

  it('does not cut a fenced block that fits', () => {
    const code = `\`\`\`ts\nconst a = 1;\n\nconst b = 2;\n\nconst c = 3;\n\`\`\``;

    const chunks = split(`${sentence(1)}\n${code}\n${sentence(2)}`);

    expect(textsOf(chunks)).to.deep.equal([sentence(1), code, sentence(2)]);
  });

  it('cuts a fenced block that does not fit between its lines', () => {
    const lines = Array.from({ length: 9 }, (_, at) => `const a${at} = 'one. two';`);

    const chunks = split(`\`\`\`ts\n${lines.join('\n')}\n\`\`\``);

    for (const { text } of chunks)
      for (const line of text.split('\n')) expect(['```ts', '```', ...lines]).to.include(line);
  });

  it('does not cut a table that fits, nor a row of one that does not', () => {
    const rows = Array.from({ length: 12 }, (_, at) => `| row ${at} | a value. another |`);
    const table = ['| name | value |', '| --- | --- |', ...rows];

    const whole = split(`${sentence(1)}\n\n${table.slice(0, 4).join('\n')}`, { size: 100 });
    const parts = split(table.join('\n'), { size: 100 });

    expect(textsOf(whole)[1]).to.equal(table.slice(0, 4).join('\n'));
    expect(textsOf(parts).flatMap((text) => text.split('\n'))).to.deep.equal(table);
  });

  it('cuts a long paragraph behind sentences, a long sentence behind words', () => {
    const sentences = split([1, 2, 3, 4, 5].map(sentence).join(' '));
    const words = split('word '.repeat(40));

    for (const { text } of sentences) expect(text).to.match(/^This .*\.$/);
    for (const { text } of words) expect(text).to.match(/^word( word)*$/);
  });

  it('cuts texts without spaces between characters as readers see them', () => {
    for (const character of ['👨‍👩‍👧‍👦', '🇩🇪', 'e\u0301', '漢'])
      for (const { text } of split(character.repeat(50)))
        expect(text.replaceAll(character, '')).to.equal('');
  });

  it('ends a chunk with a page, and numbers the pages', () => {
    const chunks = split(`one\f\f${sentence(3)}\n\n${sentence(4)}\n\n${sentence(5)}`, { size: 50 });

    expect(chunks.map(({ text, metadata }) => [text, metadata?.['page']])).to.deep.equal([
      ['one', 1],
      [`${sentence(3)}\n\n${sentence(4)}`, 3],
      [sentence(5), 3],
    ]);
  });

  it('repeats the last sentences of a chunk within the overlap, but none in front of a heading', () => {
    const text = [1, 2, 3, 4].map(sentence).join(' ');

    const chunks = split(`${text}\n\n# B\n\n${sentence(5)}`, { overlap: 25 });

    expect(textsOf(chunks)).to.deep.equal([
      `${sentence(1)} ${sentence(2)} ${sentence(3)}`,
      `${sentence(3)} ${sentence(4)}`,
      `# B\n\n${sentence(5)}`,
    ]);
  });

  it('cuts code before the least indented line behind a blank one, and has the lines around it', () => {
    const method = (name: string): string => `  ${name}() {\n    one();\n\n    two();\n  }\n`;
    const text = `class A {\n${method('a')}\n${method('b')}\n${method('c')}}\n`;

    const chunks = split(text, { format: 'code' });

    expect(
      chunks.map(({ text, metadata }) => [text.trim().slice(0, 9), metadata?.['headings']]),
    ).to.deep.equal([
      ['class A {', undefined],
      ['b() {\n   ', ['class A {']],
      ['c() {\n   ', ['class A {']],
    ]);
  });

  it('covers each text with exact places, in order, within the size', () => {
    fc.assert(
      fc.property(TEXT, OPTIONS, (text, options) => {
        const chunks = split(text, options);

        let covered = 0;
        for (const [at, { id, text: part, metadata = {} }] of chunks.entries()) {
          const [start, end] = [metadata['start'] as number, metadata['end'] as number];
          expect(part).to.equal(text.slice(start, end));
          expect([id, metadata['chunk'], metadata['document']]).to.deep.equal([`d#${at}`, at, 'd']);
          expect(part.length).to.be.within(1, options.size);
          expect(end).to.be.greaterThan(covered);
          if (start > covered) expect(text.slice(covered, start)).to.match(/^\s*$/);
          else expect(covered - start).to.be.at.most(options.overlap);
          covered = end;
        }
        expect(text.slice(covered)).to.match(/^\s*$/);
      }),
      { numRuns: 300 },
    );
  });

  it('splits no surrogate pair', () => {
    fc.assert(
      fc.property(TEXT, OPTIONS, (text, options) => {
        for (const { text: part } of split(text.toWellFormed(), options))
          expect(part.isWellFormed()).to.equal(true);
      }),
      { numRuns: 100 },
    );
  });

  it('refuses options that are unknown or out of range', () => {
    expect(() => new TextSplitter({ size: 31 })).to.throw(InvalidArgumentError, 'integer >= 32');
    expect(() => new TextSplitter({ size: 100, overlap: 51 })).to.throw(
      InvalidArgumentError,
      'TextSplitter: overlap must be at most half of size (100), not 51',
    );
    expect(() => new TextSplitter({ chunkSize: 100 } as object)).to.throw(InvalidArgumentError);
  });

  it('has another fingerprint for each option that changes the chunks', () => {
    const all: readonly TextSplitterOptions[] = [
      {},
      { format: 'code' },
      { size: 100 },
      { overlap: 1 },
      { size: 500, unit: 'characters' },
    ];

    const fingerprints = new Set(all.map((options) => new TextSplitter(options).fingerprint));

    expect(fingerprints.size).to.equal(all.length);
    expect(new TextSplitter({ size: 400 }).fingerprint).to.equal(new TextSplitter().fingerprint);
  });
});
