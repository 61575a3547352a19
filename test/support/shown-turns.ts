import { callsOf, textOf, type ToolCall } from '../../src/core/chat/message.js';
import type { ChatEvent } from '../../src/index.js';
import type { HistoryMessage } from '../../src/stores/chat-memory/index.js';

/** A message on a page. */
export interface ShownMessage {
  readonly role: string;
  readonly text: string;
  /** Each call: its name, its arguments, and its result. */
  readonly calls: readonly (readonly [string, string, string | undefined])[];
}

/** An answer under way: what a page has of it so far. */
interface Answer {
  text: string;
  calls: ToolCall[];
}

/** Shows a turn by its events alone, as a page does during the stream. */
export class StreamPage {
  private answers: Answer[] = [];
  private readonly results = new Map<string, string>();
  private iteration = 0;

  constructor(private readonly question: string) {}

  readonly add = (event: ChatEvent): void => {
    const answer = (this.answers[this.iteration] ??= { text: '', calls: [] });
    if (event.type === 'text-delta') answer.text += event.text;
    if (event.type === 'iteration') {
      Object.assign(answer, {
        text: event.response.text ?? '',
        calls: [...callsOf(event.response.message)],
      });
      this.iteration = event.index + 1;
    }
    if (event.type === 'retract') {
      this.answers = this.answers.slice(0, event.iteration);
      this.iteration = event.iteration;
    }
    if (event.type === 'tool-result') this.addResult(event.call, textOf(event.result.content));
    if (event.type === 'response' && !event.response.paused)
      this.answers[this.iteration] = { text: event.response.text ?? '', calls: [] };
  };

  private addResult(call: ToolCall, text: string): void {
    this.results.set(call.id, text);
    for (const answer of this.answers)
      answer.calls = answer.calls.map((each) => (each.id === call.id ? call : each));
  }

  get messages(): readonly ShownMessage[] {
    const answers = this.answers.filter(({ text, calls }) => text !== '' || calls.length > 0);
    return [
      { role: 'user', text: this.question, calls: [] },
      ...answers.map(({ text, calls }) => ({
        role: 'assistant',
        text,
        calls: calls.map((call) => [call.name, call.arguments, this.results.get(call.id)] as const),
      })),
    ];
  }
}

/** A history as a page shows it after a reload. */
export function shownHistory(messages: readonly HistoryMessage[]): readonly ShownMessage[] {
  return messages.map(({ role, content, calls }) => ({
    role,
    text: textOf(content),
    calls: calls.map(({ call, result }) => [
      call.name,
      call.arguments,
      result && textOf(result.content),
    ]),
  }));
}
