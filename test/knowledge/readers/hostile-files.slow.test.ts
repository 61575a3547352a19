import { deflateSync } from 'node:zlib';
import { expect } from 'chai';
import type { Document } from '../../../src/core/chat/document.js';
import { DocumentReadError } from '../../../src/core/errors/errors.js';
import {
  readCsv,
  readDocx,
  readHtml,
  readJson,
  readMarkdown,
  readPdf,
  readText,
  TextSplitter,
} from '../../../src/knowledge/index.js';
import { docxOf, paragraphOf, pdfOf, zipOf } from '../../support/files.js';
import { Random } from '../../support/random.js';

type Read = (content: string | Uint8Array) => Promise<Document | readonly Document[]>;
type Content = string | Uint8Array;

const options = { id: 'f' };
const limited = { ...options, maxCharacters: 1_000_000 };
const READERS: Readonly<Record<string, Read>> = {
  text: (content) => readText(content, limited),
  markdown: (content) => readMarkdown(content, limited),
  html: (content) => readHtml(content, limited),
  csv: (content) => readCsv(content, limited),
  json: (content) => readJson(content, limited),
  pdf: (content) => readPdf(content as Uint8Array, { ...limited, timeout: 10_000 }),
  docx: (content) => readDocx(content as Uint8Array, limited),
};

/** Texts for each reader of text. */
const TEXTS: Readonly<Record<string, () => string>> = {
  'no text': () => '',
  'one huge line': () => 'a'.repeat(3_000_000),
  spaces: () => ' '.repeat(1_000_000),
  'half pairs and NUL': () => '\ud800\0\udfff'.repeat(10_000),
  'tags that stay open': () => '<div>'.repeat(100_000),
  'tags that end others': () => '<div></x>'.repeat(100_000),
  'short elements': () => '<p>a</p>'.repeat(24_000),
  '10,000 columns of HTML': () => `<table><tr>${'<td>a</td>'.repeat(10_000)}</tr></table>`,
  'nested lists': () => '<ul><li>a'.repeat(5_000),
  'open comments': () => '<!--'.repeat(40_000),
  'angle brackets': () => '<'.repeat(1_000_000),
  'character references': () => '&amp'.repeat(49_000),
  attributes: () => `<a ${'b="c" '.repeat(100_000)}>`,
  '10,000 columns': () => `${'a,'.repeat(10_000)}\n${`${'1,'.repeat(10_000)}\n`.repeat(20)}`,
  'a huge name of a column': () => `${'h'.repeat(900_000)}\n${'1\n'.repeat(100_000)}`,
  quotes: () => `a\n${'"'.repeat(500_000)}`,
  'deep lists': () => '['.repeat(1_000_000),
  'deep objects': () => '{"a":'.repeat(200_000),
  'closed deep lists': () => `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
  'long paths': () => `${'{"aaaaaaaaaa":'.repeat(190)}[${'1,'.repeat(100_000)}1]${'}'.repeat(190)}`,
  'front matter without end': () => `---\n${'a: [\n'.repeat(200_000)}`,
  'front matter of quotes': () => `---\na: [${'"'.repeat(200_000)}]\n---\n`,
  fences: () => '```\n'.repeat(100_000),
  pipes: () => `|---|\n${'|'.repeat(500_000)}`,
};

/** Files for the reader of their format. */
const FILES: readonly (readonly [format: string, name: string, make: () => Content])[] = [
  ['pdf', 'no bytes', () => new Uint8Array(0)],
  ['pdf', 'a head without an end', () => Buffer.from(`%PDF-1.7\n${'x'.repeat(1_000_000)}`)],
  ['pdf', 'parentheses', () => pdfOf([[]], deflateSync(`BT ${'('.repeat(1_000_000)}`))],
  ['pdf', 'deep lists', () => pdfOf([[]], deflateSync('['.repeat(1_000_000)))],
  [
    'pdf',
    'a compressed text without end',
    () => pdfOf([[]], deflateSync('BT /F1 12 Tf (hello) Tj ET\n'.repeat(1_000_000))),
  ],
  ['pdf', 'compressed spaces', () => pdfOf([[]], deflateSync(Buffer.alloc(20_000_000, ' ')))],
  ['docx', 'no archive', () => Buffer.from('hello')],
  ['docx', 'another archive', () => zipOf({ 'a.txt': 'x' })],
  ['docx', 'a bomb', () => docxOf(' '.repeat(100_000_000))],
  ['docx', 'a bomb in another file', () => docxOf('', { 'word/x.xml': ' '.repeat(50_000_000) })],
  [
    'docx',
    'a picture as its document',
    () =>
      zipOf({
        '_rels/.rels':
          '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="a.png"/></Relationships>',
        'a.png': ' '.repeat(50_000_000),
      }),
  ],
  ['docx', 'open elements', () => docxOf('<w:p>'.repeat(50_000))],
  ['docx', 'deep elements', () => docxOf(`${'<w:sdt>'.repeat(5_000)}${'</w:sdt>'.repeat(5_000)}`)],
  [
    'docx',
    'entities',
    () =>
      zipOf({
        'word/document.xml': `<!DOCTYPE a [<!ENTITY b "${'x'.repeat(1_000)}">${'<!ENTITY c "&b;&b;">'.repeat(50)}]><a>&c;</a>`,
      }),
  ],
];

/** Longest time for which a file may keep the process from answering: a package that never waits takes most of it. */
const MAX_BLOCK = 3_000;

describe('hostile files', () => {
  let longest = 0;

  /** Reads a file and splits what it has. */
  async function outcomeOf(read: Read, content: Content): Promise<'data' | 'error'> {
    let last = performance.now();
    const watch = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 10);
    try {
      const found = await read(content);
      longest = Math.max(longest, performance.now() - last);
      const documents = 'id' in found ? [found] : found;
      for (const document of documents.slice(0, 10)) new TextSplitter().split(document);
      return 'data';
    } catch (error) {
      longest = Math.max(longest, performance.now() - last);
      expect(error).to.be.instanceOf(DocumentReadError);
      return 'error';
    } finally {
      clearInterval(watch);
    }
  }

  beforeEach(() => {
    longest = 0;
  });

  for (const [name, make] of Object.entries(TEXTS))
    for (const format of ['text', 'markdown', 'html', 'csv', 'json'])
      it(`gives data or an error for ${name} as ${format}`, async () => {
        await outcomeOf(READERS[format] as Read, make());

        expect(longest).to.be.below(MAX_BLOCK);
      });

  for (const [format, name, make] of FILES)
    it(`gives data or an error for ${name} as ${format}`, async () => {
      await outcomeOf(READERS[format] as Read, make());

      expect(longest).to.be.below(MAX_BLOCK);
    });

  it('gives data or an error for 40 files of docx with random changes and cuts', async () => {
    const random = new Random(34);
    const whole = docxOf(`${paragraphOf('Title', 'Heading1')}${paragraphOf('Hello')}`);
    for (let round = 0; round < 40; round++) {
      const bytes = new Uint8Array(whole);
      for (let change = 0; change < 5; change++)
        bytes[random.below(bytes.length)] = random.below(256);

      const end = random.chance(0.3) ? random.below(bytes.length) : bytes.length;
      await outcomeOf(READERS['docx'] as Read, bytes.subarray(0, end));
    }

    expect(longest).to.be.below(MAX_BLOCK);
  });

  it('gives data or an error for 40 files of pdf that are cut', async () => {
    const random = new Random(34);
    const whole = pdfOf([['Hello'], ['World']]);
    for (let round = 0; round < 40; round++)
      await outcomeOf(READERS['pdf'] as Read, whole.subarray(0, random.below(whole.length)));

    expect(longest).to.be.below(MAX_BLOCK);
  });
});
