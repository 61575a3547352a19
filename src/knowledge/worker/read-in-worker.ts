import { fork, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { decodeError } from '../../core/chat/error-codec.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import { inTime } from '../../core/internal/in-time.js';
import {
  checkOption,
  checkOptions,
  integer,
  oneOf,
  TIMEOUT,
  withMethods,
} from '../../core/internal/options.js';
import { Reading, type ReadOptions } from '../readers/reading.js';
import type { FileReaders, ReadTask, WorkerMessage } from './reader-worker.js';

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
const LIMITS = {
  timeout: TIMEOUT,
  maxHeap: integer(16),
  signal: withMethods('an AbortSignal', 'addEventListener'),
};

/**
 * Reads a file by the reader of its format in a worker of its own, as files of strangers need it: a file that crashes
 * its reader, keeps it busy or fills its heap is an error, and this process answers meanwhile. The worker is a process of
 * Node.js, not a thread: V8 ends the whole process if a single step of a thread needs much more than its heap.
 * @param format `pdf` for `readPdf`, and so on
 * @param options options of the reader, and limits of the worker
 * @throws {@link DocumentReadError} as the reader does; with the reason `too-large` at a limit of the worker, and
 * `broken` if the file has ended it
 * @throws {@link CancelledError} if the signal is aborted
 * @throws {@link InvalidArgumentError} also if a bundler has left out the program of the worker
 * @throws the error of `node:child_process` if the system starts no process
 */
export async function readInWorker<Format extends keyof FileReaders>(
  format: Format,
  content: Parameters<FileReaders[Format]>[0],
  options: Omit<Parameters<FileReaders[Format]>[1], 'timeout'> & WorkerLimits,
): Promise<Awaited<ReturnType<FileReaders[Format]>>> {
  checkOption(WHERE, 'format', format, oneOf(...FORMATS));
  const { timeout = 60_000, maxHeap = 512, signal, ...others } = options ?? {};
  checkOptions(WHERE, { timeout, maxHeap, signal }, LIMITS);
  const { id, metadata, maxBytes, maxCharacters } = others as ReadOptions;
  const common = { id, metadata, maxBytes, maxCharacters };
  const reader = `read${format.charAt(0).toUpperCase()}${format.slice(1)}`;
  // a file that is too large is refused before it is copied
  const reading = await Reading.run(reader, content, common, (checked) => checked);
  // the limit of the worker is the only one
  const own = format === 'pdf' ? { ...others, timeout: Infinity } : others;
  const task = { format, content, options: own };
  const timedOut = reading.tooLarge(`it takes longer than the timeout of ${timeout} ms`);
  const work = (ended: AbortSignal): Promise<unknown> => runWorker(task, maxHeap, reading, ended);
  const value = await inTime(work, timeout, timedOut, signal);
  return value as Awaited<ReturnType<FileReaders[Format]>>;
}

async function runWorker(
  task: ReadTask,
  maxHeap: number,
  reading: Reading,
  ended: AbortSignal,
): Promise<unknown> {
  ended.throwIfAborted();
  const worker = startWorker(maxHeap);
  // no other signal ends work that never waits
  const stop = (): void => void worker.kill('SIGKILL');
  ended.addEventListener('abort', stop, { once: true });
  try {
    const result = resultOf(worker, reading, maxHeap);
    result.catch(() => undefined); // awaited below, unless the task is refused
    send(worker, task);
    return await result;
  } finally {
    ended.removeEventListener('abort', stop);
    stop();
  }
}

/** The documents that a worker sends, or the error. */
function resultOf(worker: ChildProcess, reading: Reading, maxHeap: number): Promise<unknown> {
  const documents: unknown[] = [];
  return new Promise((resolve, reject) => {
    worker.on('message', (message: WorkerMessage) => {
      if ('part' in message) documents.push(...message.part);
      else if ('value' in message) resolve(message.value ?? documents);
      else {
        const error = decodeError(message.error);
        reject(message.isCrash ? reading.broken(error.message, error) : error);
      }
    });
    worker.once('error', reject);
    worker.once('exit', (code, signal) => {
      // V8 aborts a process without heap
      const isFull = signal === 'SIGABRT' || code === 134;
      reject(
        isFull
          ? reading.tooLarge(`it needs more than maxHeap, ${maxHeap} megabytes`)
          : reading.broken(`its worker ended with ${signal ?? code}`),
      );
    });
  });
}

function send(worker: ChildProcess, task: ReadTask): void {
  try {
    // a worker that ends before it has the task is reported by its exit
    worker.send(task, () => undefined);
  } catch (cause) {
    const text = `${WHERE}: a worker cannot get the content and options; pass plain data`;
    throw new InvalidArgumentError(text, { cause });
  }
}

/** Starts the program beside this file; as a source it needs a loader. */
function startWorker(maxHeap: number): ChildProcess {
  const url = import.meta.url as string | undefined; // some bundlers leave it out
  const file = url ? fileURLToPath(url) : '';
  const isSource = file.endsWith('.ts');
  // bundlers would copy a file that is addressed by `new URL`, without what it imports
  const program = join(dirname(file), `reader-worker.${isSource ? 'ts' : 'js'}`);
  if (!existsSync(program)) {
    const text = `${WHERE}: ${program} is missing; make advisor-chain/knowledge/worker external in the bundler`;
    throw new InvalidArgumentError(text);
  }
  return fork(program, {
    // beside it, an option of this process or of NODE_OPTIONS would be the limit
    execArgv: [`--max-old-space-size=${maxHeap}`, ...(isSource ? ['--import', 'tsx'] : [])],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
}
