import { deflateSync } from 'node:zlib';
import { docxOf, paragraphOf, pdfOf, zipOf } from './files.js';
import { Random } from './random.js';

export const TEXT_FORMATS = ['text', 'markdown', 'html', 'csv', 'json'] as const;

/** Texts for each reader of text. */
export const HOSTILE_TEXTS: Readonly<Record<string, () => string>> = {
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
export const HOSTILE_FILES: readonly (readonly [
  format: string,
  name: string,
  make: () => string | Uint8Array,
])[] = [
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

/** Whole files by their format. */
const WHOLE = {
  docx: () => docxOf(`${paragraphOf('Title', 'Heading1')}${paragraphOf('Hello')}`),
  pdf: () => pdfOf([['Hello'], ['World']]),
};

/** Copies of a whole file with random changes, some of them cut. */
export function* damagedFiles(format: keyof typeof WHOLE, count: number): Generator<Uint8Array> {
  const random = new Random(34);
  const whole = WHOLE[format]();
  for (let round = 0; round < count; round++) {
    const bytes = new Uint8Array(whole);
    for (let change = 0; change < 5; change++)
      bytes[random.below(bytes.length)] = random.below(256);
    yield bytes.subarray(0, random.chance(0.3) ? random.below(bytes.length) : bytes.length);
  }
}

/** Starts of a whole file. */
export function* cutFiles(format: keyof typeof WHOLE, count: number): Generator<Uint8Array> {
  const random = new Random(34);
  const whole = WHOLE[format]();
  for (let round = 0; round < count; round++) yield whole.subarray(0, random.below(whole.length));
}
