import type { Document, DocumentMetadata } from '../../core/chat/document.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import { checkOptions, integer, oneOf, type OptionRules } from '../../core/internal/options.js';
import { CHARACTERS_PER_TOKEN } from '../../core/chat/estimate-tokens.js';
import { commonScope, titlesOf, type Block } from './block.js';
import { blockIndex, ChunkRanges } from './chunk-ranges.js';
import { codeBlocks } from './code-blocks.js';
import type { Range } from './cuts.js';
import type { DocumentSplitter } from './document-splitter.js';
import { markdownBlocks, textBlocks } from './markdown-blocks.js';

/** Options of a {@link TextSplitter}. */
export interface TextSplitterOptions {
  /**
   * Structure of the texts. `markdown` suits plain text too, unless its lines begin with `#`; `code` is
   * source code of any language, by its blank lines and indentation. @default 'markdown'
   */
  readonly format?: 'markdown' | 'text' | 'code' | undefined;
  /** Maximum size of a chunk, in `unit`; an integer >= 32. @default 400 */
  readonly size?: number | undefined;
  /**
   * Maximum size of the end of a chunk that the next one repeats, in `unit`, at most half of `size`. It
   * begins with a sentence or a line; nothing is repeated in front of a heading or a page. @default 0
   */
  readonly overlap?: number | undefined;
  /** `tokens` are estimated as 4 characters each; `characters` are UTF-16 code units. @default 'tokens' */
  readonly unit?: 'tokens' | 'characters' | undefined;
}

const WHERE = 'TextSplitter';
const BLOCKS = { markdown: markdownBlocks, text: textBlocks, code: codeBlocks };
const RULES: OptionRules<TextSplitterOptions> = {
  format: oneOf('markdown', 'text', 'code'),
  size: integer(32),
  overlap: integer(0),
  unit: oneOf('tokens', 'characters'),
};

/**
 * Splits texts where their structure allows it: before headings, paragraphs, sentences, lines, words, in
 * this order. A fenced block or a table that fits in a chunk is not cut, a larger one between its lines;
 * a form feed (U+000C) ends a page and a chunk. In linear time.
 *
 * The text of a chunk is `document.text.slice(start, end)`. It has the metadata of its document, with
 * `document` (its id), `chunk` (a number from 0), `start`, `end`, and where there are some `headings`
 * (from the outermost; of code, the lines around it) and `page` (from 1).
 */
export class TextSplitter implements DocumentSplitter {
  readonly fingerprint: string;
  private readonly format: keyof typeof BLOCKS;
  /** In characters. */
  private readonly size: number;
  /** In characters. */
  private readonly overlap: number;

  /** @throws {@link InvalidArgumentError} if an option is unknown or out of range */
  constructor(options: TextSplitterOptions = {}) {
    checkOptions(WHERE, options, RULES);
    const { format = 'markdown', size = 400, overlap = 0, unit = 'tokens' } = options;
    if (overlap > size / 2)
      throw new InvalidArgumentError(
        `${WHERE}: overlap must be at most half of size (${size}), not ${overlap}`,
      );
    const characters = unit === 'tokens' ? CHARACTERS_PER_TOKEN : 1;
    this.format = format;
    this.size = size * characters;
    this.overlap = overlap * characters;
    this.fingerprint = `text-splitter 1 ${format} ${this.size} ${this.overlap}`;
  }

  split(document: Document): readonly Document[] {
    const { text } = document;
    const blocks = BLOCKS[this.format](text);
    const { size, overlap } = this;
    const chunks: Document[] = [];
    const pages = new Pages(text);
    for (const range of new ChunkRanges(text, blocks, { size, overlap })) {
      const chunk = chunks.length;
      const place = { document: document.id, chunk, start: range.start, end: range.end };
      const metadata: DocumentMetadata = {
        ...document.metadata,
        ...place,
        ...headingsOf(blocks, range),
        ...pages.pageOf(range.start),
      };
      const id = `${document.id}#${chunk}`;
      chunks.push({ id, text: text.slice(range.start, range.end), metadata });
    }
    return chunks;
  }
}

/** The headings under which all of a chunk is. */
function headingsOf(blocks: readonly Block[], { start, end }: Range): DocumentMetadata {
  let at = blockIndex(blocks, start);
  let scope = blocks[at]?.scope;
  for (let block = blocks[++at]; block && block.start < end; block = blocks[++at])
    scope = commonScope(scope, block.scope);
  return scope ? { headings: titlesOf(scope) } : {};
}

/** Numbers of pages, requested in the order of the text. */
class Pages {
  private readonly hasPages: boolean;
  private page = 1;
  private feed: number;

  constructor(private readonly text: string) {
    this.feed = text.indexOf('\f');
    this.hasPages = this.feed >= 0;
  }

  pageOf(start: number): DocumentMetadata {
    if (!this.hasPages) return {};
    while (this.feed >= 0 && this.feed < start) {
      this.page++;
      this.feed = this.text.indexOf('\f', this.feed + 1);
    }
    return { page: this.page };
  }
}
