/** Decodes lines of JSON (NDJSON) as they arrive. Emits each line at once and keeps only an unfinished one. */
export class LineDecoder {
  private rest = '';

  constructor(private readonly onLine: (line: string) => void) {}

  /** Length of the unfinished line. */
  get length(): number {
    return this.rest.length;
  }

  push(text: string): void {
    let end = text.indexOf('\n');
    if (end < 0) {
      this.rest += text; // not searched again: a long line in many chunks stays linear
      return;
    }
    const lines = this.rest + text;
    let start = 0;
    for (end += this.rest.length; end >= 0; end = lines.indexOf('\n', start)) {
      this.emit(lines.slice(start, end));
      start = end + 1;
    }
    this.rest = lines.slice(start);
  }

  /** Emits a last line that lacks its line feed. */
  end(): void {
    this.emit(this.rest);
    this.rest = '';
  }

  private emit(line: string): void {
    if (line.trim() !== '') this.onLine(line);
  }
}
