// The program of a worker that reads one file: see read-in-worker.ts.
import { encodeError, type EncodedError } from '../../core/chat/error-codec.js';
import { readCsv } from '../readers/read-csv.js';
import { readDocx } from '../readers/read-docx.js';
import { readHtml } from '../readers/read-html.js';
import { readJson } from '../readers/read-json.js';
import { readMarkdown } from '../readers/read-markdown.js';
import { readPdf } from '../readers/read-pdf.js';
import { readText } from '../readers/read-text.js';

/** The readers by the name of their format. */
export interface FileReaders {
  readonly text: typeof readText;
  readonly markdown: typeof readMarkdown;
  readonly html: typeof readHtml;
  readonly pdf: typeof readPdf;
  readonly docx: typeof readDocx;
  readonly csv: typeof readCsv;
  readonly json: typeof readJson;
}

/** Work of a worker. */
export interface ReadTask {
  readonly format: keyof FileReaders;
  readonly content: unknown;
  readonly options: object;
}

/** A message of a worker: some documents of a list, then its end; or one document; or an error. */
export type WorkerMessage =
  | { readonly part: readonly unknown[] }
  | { readonly value: unknown }
  | { readonly error: EncodedError; readonly isCrash: boolean };

/** Documents in a message: millions at once would keep the process that gets them from answering. */
const PART = 1_000;

const READERS: FileReaders = {
  text: readText,
  markdown: readMarkdown,
  html: readHtml,
  pdf: readPdf,
  docx: readDocx,
  csv: readCsv,
  json: readJson,
};

async function read({ format, content, options }: ReadTask): Promise<void> {
  try {
    // the types of the caller pair the format with its content and options
    const reader = READERS[format] as (content: unknown, options: object) => Promise<unknown>;
    const value = await reader(content, options);
    const documents = Array.isArray(value) ? (value as readonly unknown[]) : [];
    for (let at = 0; at < documents.length; at += PART)
      send({ part: documents.slice(at, at + PART) });
    send({ value: Array.isArray(value) ? undefined : value });
  } catch (error) {
    send({ error: encodeError(error), isCrash: false });
  }
}

function send(message: WorkerMessage): void {
  process.send?.(message);
}

// a rejection that nothing handles is one, too
process.on('uncaughtException', (error) => send({ error: encodeError(error), isCrash: true }));
process.once('disconnect', () => process.exit());
process.once('message', (task: ReadTask) => void read(task));
