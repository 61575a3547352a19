import { expect } from 'chai';
import { DocumentReadError, InvalidArgumentError } from '../../../src/core/errors/errors.js';
import {
  readCsv,
  readDocx,
  readHtml,
  readJson,
  readMarkdown,
  readPdf,
  readText,
} from '../../../src/knowledge/index.js';
import { missingPackage } from '../../../src/knowledge/readers/reading.js';
import { docxOf, paragraphOf, pdfOf, zipOf } from '../../support/files.js';

const id = 'f';
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

async function problemOf(reading: Promise<unknown>): Promise<DocumentReadError> {
  const error: unknown = await reading.catch((thrown: unknown) => thrown);
  expect(error).to.be.instanceOf(DocumentReadError);
  return error as DocumentReadError;
}

describe('readText', () => {
  it('reads strings and bytes, with the given metadata', async () => {
    const metadata = { lang: 'de' };

    expect(await readText('Grüße\r\n', { id })).to.deep.equal({ id, text: 'Grüße\r\n' });
    expect(await readText(bytesOf('Grüße'), { id, metadata })).to.deep.equal({
      id,
      text: 'Grüße',
      metadata,
    });
  });

  it('reads UTF-16 with a byte order mark, and drops marks', async () => {
    const utf16 = new Uint8Array([0xff, 0xfe, 0x41, 0x00, 0xe9, 0x00]);

    const texts = await Promise.all([readText(utf16, { id }), readText('\ufeffA', { id })]);

    expect(texts.map(({ text }) => text)).to.deep.equal(['Aé', 'A']);
  });

  it('refuses bytes of another encoding, with the next step', async () => {
    const error = await problemOf(readText(new Uint8Array([0x41, 0xe9]), { id }));

    expect(error).to.include({ code: 'document_read', reason: 'broken', format: 'text' });
    expect(error.message).to.equal(
      'The text file "f" could not be read: its bytes are not valid UTF-8; decode it, and pass a string.',
    );
  });

  it('refuses more than maxBytes and maxCharacters', async () => {
    const bytes = await problemOf(readText('12345', { id, maxBytes: 4 }));
    const characters = await problemOf(readText('12345', { id, maxCharacters: 4 }));

    expect([bytes.reason, characters.reason]).to.deep.equal(['too-large', 'too-large']);
  });

  it('refuses invalid options', async () => {
    for (const call of [
      () => readText('a', { id: '' }),
      () => readText('a', { id, maxByte: 3 } as never),
      () => readText(3 as never, { id }),
    ])
      expect(await call().catch((error: unknown) => error)).to.be.instanceOf(InvalidArgumentError);
  });
});

describe('readMarkdown', () => {
  it('has the front matter as metadata, and the rest as text', async () => {
    const text =
      '---\ntitle: "A: b"\ntags: [x, "y, z"]\nyear: 2020 # note\ndraft: false\nlist:\n  - one\n  - 2\nnested:\n  a: b\n---\n# Hello\n';

    const document = await readMarkdown(text, { id, metadata: { year: 2021 } });

    expect(document.text).to.equal('# Hello\n');
    expect(document.metadata).to.deep.equal({
      title: 'A: b',
      tags: ['x', 'y, z'],
      year: 2021,
      draft: false,
      list: ['one', 2],
    });
  });

  it('has the first heading as title, and keeps a line of dashes that is no front matter', async () => {
    const text = '---\n\n# Hello\n\ntext';

    expect(await readMarkdown(text, { id })).to.deep.equal({
      id,
      text,
      metadata: { title: 'Hello' },
    });
  });

  it('keeps front matter from prototypes', async () => {
    const { metadata } = await readMarkdown('---\n__proto__: x\nconstructor: y\n---\n', { id });

    expect(Object.keys(metadata ?? {})).to.have.members(['__proto__', 'constructor']);
    expect(({} as { readonly x?: unknown }).x).to.equal(undefined);
  });
});

describe('readHtml', () => {
  const sentence = '<p>A sentence of the article, which is long enough, for a test.</p>';
  const article = `<article><h1>Head</h1>${sentence.repeat(10)}
    <p>A <b>bold</b> <a href="/x y">link</a> and <code>code</code>.</p>
    <table><thead><tr><th>a</th><th>b</th></tr></thead><tr><td>1<br>2</td><td>3|4</td></tr></table>
    <pre><code>x = 1\n\ny = \`\`\`2</code></pre>
    <ul><li>one</li><li>two<ol><li>in</li></ol></li></ul><blockquote><p>quoted</p></blockquote></article>`;
  const page = `<!doctype html><html lang="en"><head><title>The title</title></head><body>
    <nav><a href="/">menu</a></nav>${article}<script>alert(1)</script></body></html>`;

  it('reads the article of a page as Markdown', async () => {
    const { text, metadata } = await readHtml(page, { id, url: 'https://example.com/a' });

    expect(metadata).to.deep.equal({
      title: 'The title',
      url: 'https://example.com/a',
      language: 'en',
    });
    for (const part of [
      '## Head\n\nA sentence',
      'A **bold** [link](https://example.com/x%20y) and `code`.',
      '| a | b |\n| --- | --- |\n| 1 2 | 3\\|4 |',
      '````\nx = 1\n\ny = ```2\n````',
      '- one\n- two\n  1. in',
      '> quoted',
    ])
      expect(text).to.include(part);
    expect(text).to.not.match(/menu|alert/);
  });

  it('reads the whole page with article: false, without scripts', async () => {
    const { text } = await readHtml(page, { id, article: false });

    expect(text).to.include('menu').and.to.include('# Head');
    expect(text).to.not.include('alert');
  });

  it('reads fragments, and what is no HTML', async () => {
    const options = { id, article: false };
    const texts = await Promise.all(
      ['<p>a</p>b', 'a < b & c', ''].map((html) => readHtml(html, options)),
    );

    expect(texts.map(({ text }) => text)).to.deep.equal(['a\n\nb', 'a < b & c', '']);
  });
});

describe('readPdf', () => {
  it('reads the pages of a file, divided by form feeds, and leaves its bytes alone', async () => {
    const bytes = pdfOf([['Hello', 'World'], ['Two']]);
    const copy = new Uint8Array(bytes);

    const document = await readPdf(bytes, { id });

    expect(document).to.deep.equal({
      id,
      text: 'Hello\nWorld\fTwo',
      metadata: { title: 'A title', author: 'An author', pages: 2 },
    });
    expect(new Uint8Array(bytes)).to.deep.equal(copy);
  });

  it('refuses a file that is cut', async () => {
    const error = await problemOf(readPdf(pdfOf([['Hello']]).subarray(0, 300), { id }));

    expect(error).to.include({ reason: 'broken', format: 'pdf', documentId: id });
  });

  it('refuses a text longer than maxCharacters', async () => {
    const error = await problemOf(readPdf(pdfOf([['Hello'], ['World']]), { id, maxCharacters: 6 }));

    expect(error.reason).to.equal('too-large');
  });
});

describe('readDocx', () => {
  it('reads headings, paragraphs and tables as Markdown', async () => {
    const cell = (text: string): string => `<w:tc>${paragraphOf(text)}</w:tc>`;
    const table = `<w:tbl><w:tr>${cell('a')}${cell('b')}</w:tr><w:tr>${cell('1')}${cell('2')}</w:tr></w:tbl>`;
    const body = `${paragraphOf('Title', 'Heading1')}${paragraphOf('Hello')}${table}`;

    const { text } = await readDocx(docxOf(body), { id });

    expect(text).to.equal('# Title\n\nHello\n\n| a | b |\n| --- | --- |\n| 1 | 2 |');
  });

  it('refuses files of other formats', async () => {
    const files = [bytesOf('hello'), zipOf({ 'a.txt': 'x' }), docxOf('<w:p>')];

    const errors = await Promise.all(files.map((file) => problemOf(readDocx(file, { id }))));

    expect(errors.map(({ reason }) => reason)).to.deep.equal(['broken', 'broken', 'broken']);
  });

  it('refuses an encrypted document', async () => {
    const error = await problemOf(readDocx(new Uint8Array([0xd0, 0xcf, 0x11, 0xe0]), { id }));

    expect(error.reason).to.equal('password');
  });
});

describe('readCsv', () => {
  it('makes a document of each row', async () => {
    const documents = await readCsv('name,age\nAnna,7\n"Bob\nB",\n', { id });

    expect(documents).to.deep.equal([
      { id: 'f#1', text: 'name: Anna\nage: 7', metadata: { row: 1 } },
      { id: 'f#2', text: 'name: Bob\nB', metadata: { row: 2 } },
    ]);
  });

  it('takes ids and metadata from columns', async () => {
    const [document] = await readCsv('key;lang;text\n7;en;Hello', {
      id,
      idColumn: 'key',
      metadataColumns: ['lang'],
    });

    expect(document).to.deep.equal({
      id: 'f#7',
      text: 'key: 7\ntext: Hello',
      metadata: { row: 1, lang: 'en' },
    });
  });

  it('makes a document of several rows', async () => {
    const documents = await readCsv('a,b\n1,2\n3,4\n5,6', { id, rowsPerDocument: 2 });

    expect(documents.map(({ text }) => text)).to.deep.equal([
      'a: 1\nb: 2\n\na: 3\nb: 4',
      'a: 5\nb: 6',
    ]);
  });

  it('refuses a missing column, an id that occurs twice and open quotes', async () => {
    const errors = await Promise.all([
      problemOf(readCsv('a,b\n1,2', { id, idColumn: 'c' })),
      problemOf(readCsv('a,b\n1,2\n1,3', { id, idColumn: 'a' })),
      problemOf(readCsv('a,b\n"1,2', { id })),
    ]);

    expect(errors.map(({ reason }) => reason)).to.deep.equal(['broken', 'broken', 'broken']);
  });
});

describe('readJson', () => {
  it('reads JSON Lines, and names the line that is broken', async () => {
    const text = '\ufeff{"id":"a","n":1}\r\n\n{"id":"b","n":2}';

    const documents = await readJson(text, { id, lines: true, idField: 'id', textFields: ['n'] });
    const error = await problemOf(readJson('{"a":1}\n\n{"a":', { id, lines: true }));

    expect(documents).to.deep.equal([
      { id: 'f#a', text: '1' },
      { id: 'f#b', text: '2' },
    ]);
    expect(error.reason).to.equal('broken');
    expect(error.message).to.include('(line 3)');
    expect(await readJson('', { id, lines: true })).to.deep.equal([]);
  });

  it('makes a document of each item of a list', async () => {
    const text = '{"data":[{"id":7,"a":{"b":[1,2]},"lang":"en","x":null},"plain"]}';

    const documents = await readJson(text, {
      id,
      pointer: '/data',
      idField: 'id',
      metadataFields: ['lang', 'x'],
    });

    expect(documents).to.deep.equal([
      { id: 'f#7', text: 'id: 7\na.b: 1\na.b: 2', metadata: { lang: 'en' } },
      { id: 'f#1', text: 'plain' },
    ]);
  });

  it('takes the text from fields; a single one stays unchanged', async () => {
    const [document] = await readJson('[{"title":"A","body":"b\\nc"}]', {
      id,
      textFields: ['body'],
      metadataFields: ['title'],
    });

    expect(document).to.deep.equal({ id: 'f#0', text: 'b\nc', metadata: { title: 'A' } });
  });

  it('makes one document of any other value', async () => {
    expect(await readJson('{"a":1}', { id })).to.deep.equal([{ id, text: 'a: 1' }]);
  });

  it('refuses what is no JSON, deep nesting, prototypes, and a pointer to nothing', async () => {
    const texts = ['{', `${'['.repeat(300)}${']'.repeat(300)}`, '{"__proto__":1}', '{"a":1,"a":2}'];

    for (const text of texts)
      expect(await problemOf(readJson(text, { id }))).to.include({ reason: 'broken' });
    await problemOf(readJson('{"a":1}', { id, pointer: '/b' }));
  });
});

describe('a package that is not installed', () => {
  it('is an error with the command that installs it', () => {
    const error = missingPackage('readHtml', '@mozilla/readability@^0.6', new Error('not found'));

    expect(error).to.be.instanceOf(InvalidArgumentError);
    expect(error.message).to.equal(
      'readHtml needs the package @mozilla/readability: npm install @mozilla/readability@^0.6',
    );
  });
});
