import { linesOf, openScope, STRENGTH, type Block, type Line, type Scope } from './block.js';

const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+([^]*))?$/;
const UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/;
const FENCE = /^[ \t]*(`{3,})[^`]*$|^[ \t]*(~{3,})/;
const ITEM = /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]/;
const DELIMITER_ROW = /^[ \t>]*(?:\|[ \t]*)?:?-+:?[ \t]*(?:\|[ \t]*(?::?-+:?[ \t]*)?)*$/;
const BLANK = /^\s*$/;
const LEVELS = 6;

/** Kind of a block, beside what a {@link Block} has. */
type Kind = 'heading' | 'fence' | 'table' | 'item' | 'paragraph';

/** Blocks of Markdown: headings, fenced code, tables, items of lists, paragraphs. */
export function markdownBlocks(text: string): readonly Block[] {
  const reader = new MarkdownReader();
  let line: Line | undefined;
  for (const next of linesOf(text)) {
    if (line) reader.read(line, next);
    line = next;
  }
  if (line) reader.read(line, undefined);
  return reader.blocks;
}

/** Blocks of plain text: its paragraphs, between blank lines. */
export function textBlocks(text: string): readonly Block[] {
  const reader = new MarkdownReader();
  for (const line of linesOf(text)) reader.readText(line);
  return reader.blocks;
}

class MarkdownReader {
  readonly blocks: Block[] = [];
  private kind: Kind | undefined;
  private lines = 0;
  private scope: Scope | undefined;
  /** First line of the paragraph, which an underline makes a heading. */
  private title = '';
  /** The characters that open the fence around the line. */
  private fence: string | undefined;
  private isAfterBlank = false;
  /** Level of the heading directly before the line. */
  private headingBefore: number | undefined;

  read(line: Line, next: Line | undefined): void {
    if (this.fence !== undefined) return this.readFenced(line);
    if (this.readBlank(line)) return;
    const fence = FENCE.exec(line.text);
    const heading = HEADING.exec(line.text);
    if (fence) {
      this.fence = fence[1] ?? fence[2];
      this.begin(line, 'fence', STRENGTH.paragraph);
    } else if (heading?.[1]) {
      this.beginHeading(line, heading[1].length, heading[2] ?? '');
    } else if (this.isUnderline(line)) {
      this.extend(line);
      this.endHeading(line);
    } else if (this.isTable(line, next)) {
      if (this.kind === 'table' && !this.isAfterBlank) this.extend(line);
      else this.begin(line, 'table', STRENGTH.paragraph);
    } else if (ITEM.test(line.text)) {
      this.begin(line, 'item', this.isAfterBlank ? STRENGTH.paragraph - 1 : STRENGTH.item);
    } else this.readText(line);
  }

  /** Continues or begins a paragraph. */
  readText(line: Line): void {
    if (this.readBlank(line)) return;
    const continues = this.kind === 'paragraph' || this.kind === 'item';
    if (continues && !this.isAfterBlank) return this.extend(line);
    this.begin(line, 'paragraph', this.isAfterBlank ? STRENGTH.paragraph : STRENGTH.item);
    this.title = line.text;
  }

  private readFenced(line: Line): void {
    this.extend(line);
    const end = line.text.trim();
    const { fence = '' } = this;
    if (end.startsWith(fence) && end === fence.charAt(0).repeat(end.length)) this.fence = undefined;
  }

  private readBlank(line: Line): boolean {
    if (!BLANK.test(line.text)) return false;
    if (this.blocks.length === 0) this.begin(line, 'paragraph', STRENGTH.line);
    else this.extend(line);
    this.isAfterBlank = true;
    return true;
  }

  private beginHeading(line: Line, level: number, title: string): void {
    this.scope = openScope(this.scope, level, title.replace(/[ \t]#+[ \t]*$/, ''));
    const isBelow = this.headingBefore !== undefined && level > this.headingBefore;
    const strength = isBelow ? STRENGTH.afterHeading : sectionStrength(level);
    this.headingBefore = undefined;
    this.begin(line, 'heading', strength);
    this.headingBefore = level;
  }

  private isUnderline({ text }: Line): boolean {
    return (
      this.kind === 'paragraph' && this.lines === 1 && !this.isAfterBlank && UNDERLINE.test(text)
    );
  }

  private endHeading({ text }: Line): void {
    const level = text.includes('=') ? 1 : 2;
    const block = this.blocks.at(-1);
    if (!block) return;
    this.scope = openScope(this.scope, level, this.title);
    block.scope = this.scope;
    block.strength = sectionStrength(level);
    this.kind = 'heading';
    this.headingBefore = level;
  }

  private isTable({ text }: Line, next: Line | undefined): boolean {
    if (!text.includes('|')) return false;
    if (this.kind === 'table' && !this.isAfterBlank) return true;
    return next !== undefined && next.text.includes('-') && DELIMITER_ROW.test(next.text);
  }

  private begin({ start, end }: Line, kind: Kind, strength: number): void {
    this.blocks.push({
      start,
      end,
      strength: this.headingBefore === undefined ? strength : STRENGTH.afterHeading,
      scope: this.scope,
      content: kind === 'fence' || kind === 'table' ? 'rows' : 'prose',
    });
    this.kind = kind;
    this.lines = 1;
    this.isAfterBlank = false;
    this.headingBefore = undefined;
  }

  private extend({ end }: Line): void {
    const block = this.blocks.at(-1);
    if (block) block.end = end;
    this.lines++;
    this.isAfterBlank = false;
  }
}

function sectionStrength(level: number): number {
  return STRENGTH.section + LEVELS - level;
}
