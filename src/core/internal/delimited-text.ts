/** The texts at the start and at the end of a block. */
export type Delimiters = readonly [start: string, end: string];

/** A piece of a text, inside or outside of its blocks. */
export interface Piece {
  readonly inside: boolean;
  readonly text: string;
}

/** A block without an end. */
export interface OpenBlock {
  /** The block as it was written, with its start. */
  readonly written: string;
  /** True if its start was written, and no text before it. */
  readonly beginsText: boolean;
}

const BETWEEN_BLOCKS = '\n\n';

/**
 * Splits a text that arrives in pieces into blocks and the text around them, the same for any pieces.
 * White space at the edges of blocks, and between a first block and the text, is dropped.
 */
export class DelimitedText {
  /** The end of the text so far, if a delimiter may begin with it. */
  private held = '';
  private block: Delimiters | undefined;
  /** The open block as it was written. */
  private written = '';
  /** White space that is dropped if nothing of its part follows. */
  private space = '';
  private hasText = false;
  private hasBlock: boolean;
  /** True within a block whose start was not written. */
  private implied: boolean;
  /** True if the open block, or any block, has a text. */
  private readonly inside = { open: false, any: false };

  /** @param startsInside true if the text begins within a block of the first delimiters */
  constructor(
    private readonly delimiters: readonly Delimiters[],
    startsInside: boolean,
  ) {
    this.hasBlock = this.implied = startsInside;
    if (startsInside) this.block = delimiters[0];
  }

  push(text: string): readonly Piece[] {
    const pieces: Piece[] = [];
    let rest = this.held + text;
    for (;;) {
      const { end, delimiter } = search(rest, this.wanted);
      this.take(rest.slice(0, end), pieces);
      rest = rest.slice(end + delimiter.length);
      if (delimiter === '') break;
      this.pass(delimiter);
    }
    this.held = rest;
    return pieces;
  }

  /** Ends the text: what was held back, and the block that has no end. */
  close(): { readonly pieces: readonly Piece[]; readonly open: OpenBlock | undefined } {
    const pieces: Piece[] = [];
    this.take(this.held, pieces);
    this.held = '';
    if (!this.hasText && !this.hasBlock && this.space)
      pieces.push({ inside: false, text: this.space });
    const { block, written, hasText } = this;
    const beginsText = !hasText && block !== undefined && written.startsWith(block[0]);
    return { pieces, open: block && { written, beginsText } };
  }

  private get wanted(): readonly string[] {
    const { block } = this;
    if (!block) return this.delimiters.map(([start]) => start);
    // a model may write the start that its template has written already
    return this.implied ? [block[1], block[0]] : [block[1]];
  }

  private pass(delimiter: string): void {
    const { block } = this;
    this.implied = false;
    if (block && delimiter === block[0] && delimiter !== block[1]) {
      // space before the repeated start stands between two texts of the block
      this.written = this.inside.any ? this.written + delimiter : delimiter;
      return;
    }
    if (block) this.block = undefined;
    else {
      this.block = this.delimiters.find(([start]) => start === delimiter);
      this.written = delimiter;
      this.hasBlock = true;
      this.inside.open = false;
    }
    this.space = '';
  }

  private take(text: string, pieces: Piece[]): void {
    if (text === '') return;
    if (this.block) this.takeInside(text, pieces);
    else if (this.hasText) pieces.push({ inside: false, text });
    else if (text.trim() === '') this.space += text;
    else {
      const shown = this.hasBlock ? text.trimStart() : this.space + text;
      pieces.push({ inside: false, text: shown });
      this.hasText = true;
    }
  }

  private takeInside(text: string, pieces: Piece[]): void {
    const { inside } = this;
    this.written += text;
    const ended = text.trimEnd();
    if (ended === '') {
      this.space += text;
      return;
    }
    const before = inside.open ? this.space : inside.any ? BETWEEN_BLOCKS : '';
    pieces.push({ inside: true, text: before + (inside.open ? ended : ended.trimStart()) });
    this.space = text.slice(ended.length);
    inside.open = inside.any = true;
  }
}

/**
 * Finds the first delimiter, or else where the first characters of one may be. Of two at one place
 * the shorter is taken, so that the pieces of the text make no difference.
 */
function search(
  text: string,
  delimiters: readonly string[],
): { readonly end: number; readonly delimiter: string } {
  let [end, delimiter] = [text.length, ''];
  for (const each of delimiters) {
    const at = text.indexOf(each);
    if (at >= 0 && (at < end || (at === end && each.length < delimiter.length)))
      [end, delimiter] = [at, each];
  }
  const longest = Math.max(...delimiters.map(({ length }) => length));
  for (let at = Math.max(0, text.length - longest + 1); at < end; at++)
    if (delimiters.some((each) => each.startsWith(text.slice(at))))
      return { end: at, delimiter: '' };
  return { end, delimiter };
}
