import { expect } from 'chai';
import type { Document } from '../../../src/core/chat/document.js';
import { DocumentReadError } from '../../../src/core/errors/errors.js';
import {
  readCsv,
  readDocx,
  readHtml,
  readJson,
  readMarkdown,
  readPdf,
  readText,
  TextSplitter,
} from '../../../src/knowledge/index.js';
import {
  cutFiles,
  damagedFiles,
  HOSTILE_FILES,
  HOSTILE_TEXTS,
  TEXT_FORMATS,
} from '../../support/hostile-files.js';

type Read = (content: string | Uint8Array) => Promise<Document | readonly Document[]>;
type Content = string | Uint8Array;

const options = { id: 'f' };
const limited = { ...options, maxCharacters: 1_000_000 };
const READERS: Readonly<Record<string, Read>> = {
  text: (content) => readText(content, limited),
  markdown: (content) => readMarkdown(content, limited),
  html: (content) => readHtml(content, limited),
  csv: (content) => readCsv(content, limited),
  json: (content) => readJson(content, limited),
  pdf: (content) => readPdf(content as Uint8Array, { ...limited, timeout: 10_000 }),
  docx: (content) => readDocx(content as Uint8Array, limited),
};

/** Longest time for which a file may keep the process from answering: a package that never waits takes most of it. */
const MAX_BLOCK = 3_000;

describe('hostile files', () => {
  let longest = 0;

  /** Reads a file and splits what it has. */
  async function outcomeOf(read: Read, content: Content): Promise<'data' | 'error'> {
    let last = performance.now();
    const watch = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 10);
    try {
      const found = await read(content);
      longest = Math.max(longest, performance.now() - last);
      const documents = 'id' in found ? [found] : found;
      for (const document of documents.slice(0, 10)) new TextSplitter().split(document);
      return 'data';
    } catch (error) {
      longest = Math.max(longest, performance.now() - last);
      expect(error).to.be.instanceOf(DocumentReadError);
      return 'error';
    } finally {
      clearInterval(watch);
    }
  }

  beforeEach(() => {
    longest = 0;
  });

  for (const [name, make] of Object.entries(HOSTILE_TEXTS))
    for (const format of TEXT_FORMATS)
      it(`gives data or an error for ${name} as ${format}`, async () => {
        await outcomeOf(READERS[format] as Read, make());

        expect(longest).to.be.below(MAX_BLOCK);
      });

  for (const [format, name, make] of HOSTILE_FILES)
    it(`gives data or an error for ${name} as ${format}`, async () => {
      await outcomeOf(READERS[format] as Read, make());

      expect(longest).to.be.below(MAX_BLOCK);
    });

  // damaged ones of pdf may end the process: they are read in a worker
  it('gives data or an error for 40 files of docx with random changes and cuts', async () => {
    for (const bytes of damagedFiles('docx', 40)) await outcomeOf(READERS['docx'] as Read, bytes);

    expect(longest).to.be.below(MAX_BLOCK);
  });

  it('gives data or an error for 40 files of pdf that are cut', async () => {
    for (const bytes of cutFiles('pdf', 40)) await outcomeOf(READERS['pdf'] as Read, bytes);

    expect(longest).to.be.below(MAX_BLOCK);
  });
});
