// The program of a worker that reads one file: see read-in-worker.ts.
import { parentPort, workerData } from 'node:worker_threads';
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

/** The only message of a worker. */
export type WorkerResult = { readonly value: unknown } | { readonly error: EncodedError };

const READERS: FileReaders = {
  text: readText,
  markdown: readMarkdown,
  html: readHtml,
  pdf: readPdf,
  docx: readDocx,
  csv: readCsv,
  json: readJson,
};

async function read({ format, content, options }: ReadTask): Promise<WorkerResult> {
  try {
    // the types of the caller pair the format with its content and options
    const reader = READERS[format] as (content: unknown, options: object) => Promise<unknown>;
    return { value: await reader(content, options) };
  } catch (error) {
    return { error: encodeError(error) };
  }
}

parentPort?.postMessage(await read(workerData as ReadTask));
