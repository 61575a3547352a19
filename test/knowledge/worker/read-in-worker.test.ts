import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { buildSync } from 'esbuild';
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
import { damagedFiles } from '../../support/hostile-files.js';

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

  it('ends a worker that fills its heap, whatever the heap of this process', async () => {
    const { NODE_OPTIONS } = process.env;
    process.env['NODE_OPTIONS'] = '--max-old-space-size=4096';
    try {
      const error = await failureOf(readInWorker('csv', rows(), { ...large, maxHeap: 16 }));

      expect(error).to.include({ code: 'document_read', reason: 'too-large' });
      expect((error as Error).message).to.include('maxHeap, 16 megabytes');
    } finally {
      if (NODE_OPTIONS === undefined) delete process.env['NODE_OPTIONS'];
      else process.env['NODE_OPTIONS'] = NODE_OPTIONS;
    }
  });

  it('outlives a file that needs more than the heap in one step, which ends the process of a thread', async () => {
    const numbers = `[${'1,'.repeat(10_000_000)}1]`;
    const limits = { ...large, maxBytes: 30_000_000, maxHeap: 64 };

    const error = await failureOf(readInWorker('json', numbers, limits));

    expect(error).to.include({ code: 'document_read', reason: 'too-large' });
  });

  it('outlives a damaged PDF that makes its package reject a promise that nothing handles', async () => {
    const [damaged = pdf] = [...damagedFiles('pdf', 40)].slice(-1);

    const error = await failureOf(readInWorker('pdf', damaged, { id }));

    // the rejection or the failure of the reader comes first, which depends on the version of Node.js
    expect(error).to.include({ code: 'document_read', reason: 'broken', format: 'pdf' });
  });

  it('gets documents in order, piece by piece', async () => {
    const numbers = Array.from({ length: 2_001 }, (_, at) => at);

    const documents = await readInWorker('json', JSON.stringify(numbers), { id });

    expect(documents).to.deep.equal(await readJson(JSON.stringify(numbers), { id }));
    expect(await readInWorker('json', '[]', { id })).to.deep.equal([]);
  });

  it('leaves no process behind', async () => {
    const processes = (): number =>
      process.getActiveResourcesInfo().filter((each) => each === 'ProcessWrap').length;
    const before = processes();
    const stop = new AbortController();
    const reading = Promise.allSettled([
      readInWorker('text', 'a', { id }),
      readInWorker('json', '{', { id }),
      readInWorker('csv', rows(), { ...large, timeout: 300 }),
      readInWorker('csv', rows(), { ...large, signal: stop.signal }),
    ]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(processes()).to.be.above(before);
    stop.abort();
    await reading;

    while (processes() > before) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  for (const format of ['esm', 'cjs'] as const)
    it(`names the cause in a bundle of ${format}, which lacks the program of the worker`, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'bundle-'));
      const outfile = join(folder, `bundle.${format === 'esm' ? 'mjs' : 'cjs'}`);
      const entryPoints = ['src/knowledge/worker/read-in-worker.ts'];
      const settings = { bundle: true, packages: 'external', logLevel: 'error' } as const;
      try {
        buildSync({ entryPoints, outfile, format, platform: 'node', ...settings });
        const bundle = (await import(pathToFileURL(outfile).href)) as {
          readonly readInWorker: typeof readInWorker;
        };

        const error = await failureOf(bundle.readInWorker('text', 'a', { id }));

        expect(error).to.include({ code: 'invalid_argument' });
        expect((error as Error).message).to.match(/make .* external/);
      } finally {
        rmSync(folder, { recursive: true });
      }
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
