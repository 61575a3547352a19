import { textOf, type ChatEvent, type ChatResponse, type ToolResult } from '../../index.js';
import { inOneLine, type Screen } from './screen.js';

const INDENT = '  ';
/** Characters of a note, however wide the terminal is. */
const MAX_NOTE = 160;

/** Shows the events of one turn. */
export class TurnPrinter {
  private shown: 'nothing' | 'reasoning' | 'text' = 'nothing';

  constructor(private readonly screen: Screen) {}

  show(event: ChatEvent): void {
    switch (event.type) {
      case 'iteration-start':
        return this.screen.showWaiting();
      case 'text-delta':
        return this.showText(event.text);
      case 'reasoning-delta':
        return this.showReasoning(event.text);
      case 'tool-call':
        return this.note(`→ ${event.call.name} ${event.call.arguments}`);
      case 'tool-result':
        return this.showResult(event.toolName, event.result);
      case 'retract':
        return this.retract();
      case 'iteration':
        return this.endAnswer();
      case 'response':
        return this.showResponse(event.response);
      default: // other events are for pages and logs
    }
  }

  /** Ends the line of an answer that was not completed. */
  endAnswer(): void {
    this.screen.endLine();
    this.shown = 'nothing';
  }

  private showText(text: string): void {
    if (!this.screen.isLive) return; // a retract cannot take back what a file has
    if (this.shown === 'reasoning') this.screen.endLine();
    this.shown = 'text';
    this.screen.answer(text);
  }

  private showReasoning(text: string): void {
    if (!this.screen.isLive) return;
    if (this.shown === 'text') this.screen.endLine();
    this.shown = 'reasoning';
    this.screen.answer(text, 'dim');
  }

  private showResult(name: string, { content, isError }: ToolResult): void {
    const text = textOf(content) || (typeof content === 'string' ? '(empty)' : '(media)');
    this.note(`${isError ? '✗' : '←'} ${name}: ${text}`, isError ? 'yellow' : 'dim');
  }

  private retract(): void {
    if (!this.screen.isLive || this.shown === 'nothing') return;
    this.endAnswer();
    this.note('↺ void: the answer above is replaced by this one', 'yellow');
  }

  private showResponse(response: ChatResponse): void {
    const { text, message } = response;
    if (this.screen.isLive) this.endAnswer();
    else if (text) this.screen.answer(text.endsWith('\n') ? text : `${text}\n`);
    if (message.refusal) this.note(`refused: ${message.refusal}`, 'yellow');
    else if (!text && !response.paused)
      this.note(`(no text: ${response.finishReason ?? 'no finish reason'})`, 'yellow');
    const sources = response.citations.map(({ url, title }) =>
      [title, url].filter(Boolean).join(' '),
    );
    for (const source of new Set(sources.filter(Boolean))) this.note(`source: ${source}`);
  }

  private note(text: string, style: 'dim' | 'yellow' = 'dim'): void {
    this.endAnswer();
    const width = Math.min(this.screen.width - INDENT.length, MAX_NOTE);
    this.screen.note(`${INDENT}${inOneLine(text, width)}`, style);
  }
}
