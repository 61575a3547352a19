import { expect } from 'chai';
import { DocumentReadError } from '../../../src/core/errors/errors.js';
import { readInWorker, type FileReaders } from '../../../src/knowledge/worker/read-in-worker.js';
import {
  cutFiles,
  damagedFiles,
  HOSTILE_FILES,
  HOSTILE_TEXTS,
  TEXT_FORMATS,
} from '../../support/hostile-files.js';
import { inFull } from '../../support/sweep.js';

/** Milliseconds; the machine of a test may be busy, the printed figure is the one to read. */
const MAX_BLOCK = 3_000;

describe('hostile files in a worker', () => {
  let longest = 0;
  let last = 0;
  let watch: NodeJS.Timeout;

  before(() => {
    last = performance.now();
    watch = setInterval(() => {
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
    }, 5);
  });

  after(() => {
    clearInterval(watch);
    console.log(`      the longest block of this thread: ${longest.toFixed(0)} ms`);
  });

  async function outcomeOf(
    format: keyof FileReaders,
    content: string | Uint8Array,
    maxCharacters: number,
  ): Promise<string> {
    const limits = { id: 'f', maxCharacters, timeout: 10_000 };
    try {
      await readInWorker(format as 'text', content, limits);
      return 'data';
    } catch (error) {
      expect(error).to.be.instanceOf(DocumentReadError);
      return (error as DocumentReadError).reason;
    }
  }

  // making a file may take long; the watch looks at what is read
  const made = (make: () => string | Uint8Array): string | Uint8Array => {
    const content = make();
    last = performance.now();
    return content;
  };

  it('are data or an error, and never hold up the process', async function () {
    this.timeout(900_000);
    const ends: Record<string, number> = {};
    const read = async (
      format: keyof FileReaders,
      content: string | Uint8Array,
      maxCharacters = 1_000_000,
    ): Promise<void> => {
      const end = await outcomeOf(format, content, maxCharacters);
      ends[end] = (ends[end] ?? 0) + 1;
    };
    let count = 0;
    for (const make of Object.values(HOSTILE_TEXTS))
      for (const format of TEXT_FORMATS)
        // each text by each second reader: another half for each next one
        if (inFull(true, count++ % 2 === 0)) await read(format, made(make));
    for (const [format, , make] of HOSTILE_FILES) await read(format as 'pdf', made(make));
    // more documents than a message should hold, and more values than a step of a heap
    await read(
      'csv',
      made(() => `a,b\n${'1,2\n'.repeat(1_000_000)}`),
    );
    await read(
      'json',
      made(() => `[${'[[]],'.repeat(3_900_000)}1]`),
    );
    for (const format of ['pdf', 'docx'] as const) {
      for (const bytes of damagedFiles(format, inFull(40, 12))) await read(format, bytes);
      for (const bytes of cutFiles(format, inFull(10, 4))) await read(format, bytes);
    }

    console.log(`      ${JSON.stringify(ends)}`);
    expect(longest).to.be.below(MAX_BLOCK);
    expect(ends['broken']).to.be.above(inFull(10, 4));
  });
});
