import type * as UnpdfPackage from 'unpdf';
import type { Document } from '../../core/chat/document.js';
import { reasonOf } from '../../core/errors/describe.js';
import { inTime } from '../../core/internal/in-time.js';
import { TIMEOUT } from '../../core/internal/options.js';
import { TimeSlice } from '../../core/internal/time-slice.js';
import { missingPackage, Reading, type ReadOptions } from './reading.js';

/** Options of {@link readPdf}. */
export interface ReadPdfOptions extends ReadOptions {
  /** Maximum time in milliseconds > 0, or `Infinity`. @default 60_000 */
  readonly timeout?: number | undefined;
}

type Pdf = Awaited<ReturnType<typeof UnpdfPackage.getDocumentProxy>>;
/** Result of a read, whose type needs the library "dom". */
type Piece =
  | { readonly done: true; readonly value?: undefined }
  | { readonly done: false; readonly value: TextContent };
type TextContent = Awaited<ReturnType<Awaited<ReturnType<Pdf['getPage']>>['getTextContent']>>;

/**
 * Reads the text of a PDF, by `unpdf`. Its pages are divided by form feeds (U+000C), so that chunks have
 * the number of their page. Metadata: `title`, `author`, `pages`. A scanned page has no text.
 *
 * A damaged file may make the package reject a promise that nothing handles, which ends a process of
 * Node.js without a listener of `unhandledRejection`: read files of strangers by `readInWorker`.
 * @throws {@link DocumentReadError} if the file is broken or encrypted, or a limit is exceeded
 * @throws {@link InvalidArgumentError} if the package is not installed
 */
export function readPdf(content: Uint8Array, options: ReadPdfOptions): Promise<Document> {
  const { timeout = 60_000 } = options ?? {};
  const read = async (reading: Reading): Promise<Document> => {
    const timedOut = reading.tooLarge(`it takes longer than the timeout of ${timeout} ms`);
    return inTime((signal) => readPages(reading, signal), timeout, timedOut);
  };
  return Reading.run('readPdf', content, options, read, { timeout: TIMEOUT });
}

async function readPages(reading: Reading, signal: AbortSignal): Promise<Document> {
  const pdf = await open(reading);
  try {
    const { info } = await pdf.getMetadata();
    const { Title: title, Author: author } = info as Readonly<Record<string, unknown>>;
    let text = '';
    const slice = new TimeSlice();
    for (let number = 1; number <= pdf.numPages && !signal.aborted; number++) {
      await slice.next();
      const page = await pageText(pdf, number, (length) => {
        signal.throwIfAborted();
        reading.count(length);
      });
      text += number === 1 ? page : `\f${page}`;
    }
    reading.count(-text.length); // counted again as a document
    return reading.document(text, {
      title: textOf(title),
      author: textOf(author),
      pages: pdf.numPages,
    });
  } finally {
    await pdf.loadingTask.destroy();
  }
}

async function open(reading: Reading): Promise<Pdf> {
  const { getDocumentProxy } = await loadUnpdf();
  try {
    return await getDocumentProxy(reading.bytes, { verbosity: 0 });
  } catch (cause) {
    const isLocked = (cause as Partial<Error> | undefined)?.name === 'PasswordException';
    throw isLocked
      ? reading.error('password', 'it is encrypted', cause)
      : reading.broken(reasonOf(cause), cause);
  }
}

/** Reads a page piece by piece: a small stream may unpack to an endless text. */
async function pageText(
  pdf: Pdf,
  number: number,
  count: (length: number) => void,
): Promise<string> {
  const page = await pdf.getPage(number);
  const reader = page.streamTextContent().getReader();
  const slice = new TimeSlice();
  let text = '';
  // a stream that is cancelled at its end rejects inside of the package; the end of the document ends it
  for (;;) {
    await slice.next();
    const { done, value } = (await reader.read()) as Piece;
    if (done) break;
    const before = text.length;
    for (const item of value.items) if ('str' in item) text += item.str + (item.hasEOL ? '\n' : '');
    count(text.length - before);
  }
  page.cleanup();
  return text.replaceAll('\f', ' ').trimEnd();
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value.trim() : undefined;
}

async function loadUnpdf(): Promise<typeof UnpdfPackage> {
  try {
    // bundlers treat an import in a try block as optional
    return await import('unpdf');
  } catch (cause) {
    throw missingPackage('readPdf', 'unpdf@^1.6', cause);
  }
}
