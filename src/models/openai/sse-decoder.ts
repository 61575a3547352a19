/**
 * Decodes server-sent events as they arrive (WHATWG HTML, section 9.2.6): fields `data` and `event`, comments, LF, CRLF and CR,
 * a byte order mark, characters and events cut anywhere. Pushes each event at once; keeps nothing but an unfinished line.
 */
export class SseDecoder {
  private readonly text = new TextDecoder();
  private rest = '';
  private data: string | undefined;
  private event = '';
  private skipLineFeed = false;

  constructor(private readonly onEvent: (data: string, event: string) => void) {}

  push(bytes: Uint8Array): void {
    this.lines(this.text.decode(bytes, { stream: true }));
  }

  /** To be called at the end: an event without its closing blank line is delivered too, since servers cut that off. */
  end(): void {
    this.lines(this.text.decode());
    if (this.rest !== '') this.line(this.rest, 0, this.rest.length);
    this.rest = '';
    this.dispatch();
  }

  private lines(decoded: string): void {
    const chunk = this.withLineFeeds(decoded);
    let end = chunk.indexOf('\n');
    if (end < 0) {
      this.rest += chunk; // not searched again: a long line in many chunks stays linear
      return;
    }
    const text = this.rest + chunk;
    let start = 0;
    for (end += this.rest.length; end >= 0; end = text.indexOf('\n', start)) {
      this.line(text, start, end);
      start = end + 1;
    }
    this.rest = text.slice(start);
  }

  /** CR LF and CR as LF; a CR at the end of a chunk may have its LF in the next one. */
  private withLineFeeds(chunk: string): string {
    const text = this.skipLineFeed && chunk.startsWith('\n') ? chunk.slice(1) : chunk;
    if (chunk !== '') this.skipLineFeed = false;
    if (!text.includes('\r')) return text;
    this.skipLineFeed = text.endsWith('\r');
    return text.replaceAll(/\r\n?/g, '\n');
  }

  private line(text: string, start: number, end: number): void {
    if (start === end) return this.dispatch();
    if (text.startsWith('data:', start)) return this.addData(valueOf(text, start + 5, end));
    const line = text.slice(start, end);
    if (line === 'data') this.addData('');
    else if (line === 'event') this.event = '';
    else if (line.startsWith('event:')) this.event = valueOf(line, 6, line.length);
  }

  private addData(value: string): void {
    this.data = this.data === undefined ? value : `${this.data}\n${value}`;
  }

  private dispatch(): void {
    const { data, event } = this;
    this.event = '';
    if (data === undefined) return;
    this.data = undefined;
    this.onEvent(data, event);
  }
}

/** The value of a field: one space after the colon is not part of it. */
function valueOf(text: string, start: number, end: number): string {
  return text.slice(text.charCodeAt(start) === 0x20 ? start + 1 : start, end);
}
