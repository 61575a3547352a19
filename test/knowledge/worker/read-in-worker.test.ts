import { expect } from 'chai';
import {
  CancelledError,
  DocumentReadError,
  InvalidArgumentError,
} from '../../../src/core/errors/errors.js';
import {
  readCsv,
  readDocx,
  readHtml,
  readJson,
  readMarkdown,
  readPdf,
  readText,
} from '../../../src/knowledge/index.js';
import { readInWorker, type FileReaders } from '../../../src/knowledge/worker/read-in-worker.js';
import { docxOf, paragraphOf, pdfOf } from '../../support/files.js';

const id = 'f';

async function failureOf(reading: Promise<unknown>): Promise<unknown> {
  return reading.then(
    () => expect.fail('was read'),
    (error: unknown) => error,
  );
}

/** Rows that take a reader long. */
const rows = (): string => `a,b\n${'1,2\n'.repeat(2_000_000)}`;
const large = { id, maxCharacters: 1_000_000_000 };

describe('readInWorker', () => {
  const pdf = pdfOf([['Hello'], ['World']]);
  const docx = docxOf(paragraphOf('Hello'));
  const column = { id, idColumn: 'a' };
  const html = '<html lang="en"><title>T</title><p>Hello <b>you</b></p></html>';
  const files: Readonly<Record<keyof FileReaders, () => readonly Promise<unknown>[]>> = {
    text: () => [readInWorker('text', 'Hi', { id }), readText('Hi', { id })],
    markdown: () => [readInWorker('markdown', '# A\n', { id }), readMarkdown('# A\n', { id })],
    html: () => [readInWorker('html', html, { id }), readHtml(html, { id })],
    pdf: () => [readInWorker('pdf', pdf, { id }), readPdf(pdf, { id })],
    docx: () => [readInWorker('docx', docx, { id }), readDocx(docx, { id })],
    csv: () => [readInWorker('csv', 'a\n1\n', column), readCsv('a\n1\n', column)],
    json: () => [readInWorker('json', '[{"a":1}]', { id }), readJson('[{"a":1}]', { id })],
  };
  for (const [format, read] of Object.entries(files))
    it(`reads ${format} as its reader does`, async () => {
      const [found, expected] = await Promise.all(read());

      expect(found).to.deep.equal(expected);
    });

  it('keeps the bytes of the caller', async () => {
    const copy = new Uint8Array(pdf);

    await readInWorker('pdf', copy, { id });

    expect([...copy]).to.deep.equal([...pdf]);
  });

  it('rejects as the reader does, with class, code and fields', async () => {
    const error = await failureOf(readInWorker('json', '{', { id: 'b.json' }));

    expect(error).to.be.instanceOf(DocumentReadError);
    expect(error).to.deep.include({
      code: 'document_read',
      documentId: 'b.json',
      format: 'json',
      reason: 'broken',
    });
    const direct = await failureOf(readJson('{', { id: 'b.json' }));
    expect((error as Error).message).to.equal((direct as Error).message);
  });

  it('ends a worker at its timeout, and leaves this thread free meanwhile', async () => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 5);

    const error = await failureOf(readInWorker('csv', rows(), { ...large, timeout: 300 }));

    clearInterval(timer);
    expect(error).to.include({ code: 'document_read', reason: 'too-large', format: 'csv' });
    expect((error as Error).message).to.include('the timeout of 300 ms');
    expect(ticks).to.be.above(1);
  });

  it('ends a worker that fills its heap', async () => {
    const error = await failureOf(readInWorker('csv', rows(), { ...large, maxHeap: 16 }));

    expect(error).to.include({ code: 'document_read', reason: 'too-large' });
    expect((error as Error).message).to.include('maxHeap, 16 megabytes');
  });

  it('ends a worker when its signal is aborted', async () => {
    const stop = new AbortController();
    const reading = failureOf(readInWorker('csv', rows(), { ...large, signal: stop.signal }));
    stop.abort();

    expect(await reading).to.be.instanceOf(CancelledError);
  });

  it('refuses options and formats that it does not know', async () => {
    const wrong = [
      readInWorker('rtf' as 'text', 'a', { id }),
      readInWorker('text', 'a', {} as { id: string }),
      readInWorker('text', 'a', { id, maxHeap: 1 }),
      readInWorker('text', 'a', { id, timeout: 0 }),
      readInWorker('text', 'a', { id, metadata: { a: (() => 1) as unknown as string } }),
      readInWorker('text', 'a', { id, signal: {} as AbortSignal }),
    ];
    const errors = await Promise.all(wrong.map(failureOf));

    for (const error of errors) expect(error).to.be.instanceOf(InvalidArgumentError);
  });
});
