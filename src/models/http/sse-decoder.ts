/**
 * Decodes server-sent events as they arrive (WHATWG HTML, section 9.2.6): the fields `data` and
 * `event`, comments, LF, CRLF and CR, events split anywhere. Emits each event at once and keeps
 * only an unfinished line.
 */
export class SseDecoder {
  private rest = '';
  private data: string | undefined;
  private event = '';
  private skipLineFeed = false;

  constructor(private readonly onEvent: (data: string, event: string) => void) {}

  /** Length of the unfinished event. */
  get length(): number {
    return this.rest.length + this.event.length + (this.data?.length ?? 0);
  }

  push(text: string): void {
    const chunk = this.withLineFeeds(text);
    let end = chunk.indexOf('\n');
    if (end < 0) {
      this.rest += chunk; // not searched again: a long line in many chunks stays linear
      return;
    }
    const lines = this.rest + chunk;
    let start = 0;
    for (end += this.rest.length; end >= 0; end = lines.indexOf('\n', start)) {
      this.readLine(lines, start, end);
      start = end + 1;
    }
    this.rest = lines.slice(start);
  }

  /** Emits a last event that lacks its closing blank line, which some servers omit. */
  end(): void {
    if (this.rest !== '') this.readLine(this.rest, 0, this.rest.length);
    this.rest = '';
    this.emitEvent();
  }

  /** Converts CR LF and CR to LF; a CR at the end of a chunk may have its LF in the next one. */
  private withLineFeeds(chunk: string): string {
    const text = this.skipLineFeed && chunk.startsWith('\n') ? chunk.slice(1) : chunk;
    if (chunk !== '') this.skipLineFeed = false;
    if (!text.includes('\r')) return text;
    this.skipLineFeed = text.endsWith('\r');
    return text.replaceAll(/\r\n?/g, '\n');
  }

  private readLine(text: string, start: number, end: number): void {
    if (start === end) return this.emitEvent();
    if (text.startsWith('data:', start)) return this.addData(fieldValue(text, start + 5, end));
    const line = text.slice(start, end);
    if (line === 'data') this.addData('');
    else if (line === 'event') this.event = '';
    else if (line.startsWith('event:')) this.event = fieldValue(line, 6, line.length);
  }

  private addData(value: string): void {
    this.data = this.data === undefined ? value : `${this.data}\n${value}`;
  }

  private emitEvent(): void {
    const { data, event } = this;
    this.event = '';
    if (data === undefined) return;
    this.data = undefined;
    this.onEvent(data, event);
  }
}

/** The value of a field, without one space after the colon. */
function fieldValue(text: string, start: number, end: number): string {
  return text.slice(text.charCodeAt(start) === 0x20 ? start + 1 : start, end);
}
