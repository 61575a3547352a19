import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { decodeError } from '../../core/chat/error-codec.js';
import { describe, reasonOf } from '../../core/errors/describe.js';
import { DocumentReadError, InvalidArgumentError } from '../../core/errors/errors.js';
import { inTime } from '../../core/internal/in-time.js';
import {
  checkOption,
  checkOptions,
  integer,
  oneOf,
  TIMEOUT,
  withMethods,
} from '../../core/internal/options.js';
import type { FileReaders, ReadTask, WorkerResult } from './reader-worker.js';

export type { FileReaders };

/** Limits of a worker that reads a file. */
export interface WorkerLimits {
  /** Maximum time in milliseconds > 0, or `Infinity`; the worker ends in the middle of its work. @default 60_000 */
  readonly timeout?: number | undefined;
  /** Maximum heap of the worker, in megabytes >= 16; memory outside of the heap is not limited. @default 512 */
  readonly maxHeap?: number | undefined;
  /** Ends the worker. */
  readonly signal?: AbortSignal | undefined;
}

const WHERE = 'readInWorker';
const FORMATS = ['text', 'markdown', 'html', 'pdf', 'docx', 'csv', 'json'] as const;

/**
 * Reads a file by the reader of its format in a worker of its own, as files of strangers need it: a
 * file that crashes its reader, keeps it busy or fills its heap is an error, and this thread stays free.
 * @param format `pdf` for `readPdf`, and so on
 * @param options options of the reader, and limits of the worker
 * @throws {@link DocumentReadError} as the reader does; with the reason `too-large` at a limit of the worker, and
 * `broken` if the file has ended it
 * @throws {@link CancelledError} if the signal is aborted
 * @throws {@link InvalidArgumentError}
 */
export async function readInWorker<Format extends keyof FileReaders>(
  format: Format,
  content: Parameters<FileReaders[Format]>[0],
  options: Omit<Parameters<FileReaders[Format]>[1], 'timeout'> & WorkerLimits,
): Promise<Awaited<ReturnType<FileReaders[Format]>>> {
  checkOption(WHERE, 'format', format, oneOf(...FORMATS));
  const { timeout = 60_000, maxHeap = 512, signal, ...others } = options ?? {};
  checkOptions(WHERE, { timeout, maxHeap, signal }, LIMITS);
  const task = { format, content, options: others };
  const failed: Failed = (reason, problem, cause) => {
    const id = (others as { readonly id?: unknown }).id;
    const text = `The ${format} file ${describe(id)} could not be read: ${problem}.`;
    return new DocumentReadError(text, { documentId: String(id), format, reason, cause });
  };
  const timedOut = failed('too-large', `it takes longer than the timeout of ${timeout} ms`);
  const work = (ended: AbortSignal): Promise<unknown> => runWorker(task, maxHeap, failed, ended);
  const value = await inTime(work, timeout, timedOut, signal);
  return value as Awaited<ReturnType<FileReaders[Format]>>;
}

const LIMITS = {
  timeout: TIMEOUT,
  maxHeap: integer(16),
  signal: withMethods('an AbortSignal', 'addEventListener'),
};

type Failed = (
  reason: DocumentReadError['reason'],
  problem: string,
  cause?: unknown,
) => DocumentReadError;

async function runWorker(
  task: ReadTask,
  maxHeap: number,
  failed: Failed,
  ended: AbortSignal,
): Promise<unknown> {
  ended.throwIfAborted();
  const worker = startWorker(task, maxHeap);
  const stop = (): void => void worker.terminate();
  ended.addEventListener('abort', stop, { once: true });
  try {
    const result = await new Promise<WorkerResult>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', (error: Error & { readonly code?: string }) => {
        const isFull = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
        const limit = `it needs more than maxHeap, ${maxHeap} megabytes`;
        reject(
          isFull ? failed('too-large', limit, error) : failed('broken', reasonOf(error), error),
        );
      });
      worker.once('exit', (code) => reject(failed('broken', `its worker ended with ${code}`)));
    });
    if ('error' in result) throw decodeError(result.error);
    return result.value;
  } finally {
    ended.removeEventListener('abort', stop);
    // a damaged file may keep a reader busy after its result
    await worker.terminate();
  }
}

function startWorker(workerData: ReadTask, maxOldGenerationSizeMb: number): Worker {
  const limits = { workerData, resourceLimits: { maxOldGenerationSizeMb } };
  try {
    return new Worker(...workerProgram(limits));
  } catch (cause) {
    const text = `${WHERE}: a worker cannot get the content and options; pass plain data`;
    throw new InvalidArgumentError(text, { cause });
  }
}

/** The program beside this file; as a source it needs a loader, which a worker does not inherit. */
function workerProgram(options: WorkerOptions): [program: string, options: WorkerOptions] {
  const file = fileURLToPath(import.meta.url);
  // bundlers would copy a file that is addressed by `new URL`, without what it imports
  if (!file.endsWith('.ts')) return [join(dirname(file), 'reader-worker.js'), options];
  const program = JSON.stringify(join(dirname(file), 'reader-worker.ts'));
  const code = `import('tsx/esm/api').then(({ register }) => (register(), import(${program})))`;
  return [code, { ...options, eval: true }];
}
