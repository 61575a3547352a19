import type { ChatEvent } from '../chat/chat-event.js';

/** The text of the unfinished iteration of a run. */
export class PartialText {
  text = '';

  readonly record = (event: ChatEvent): void => {
    if (event.type === 'text-delta') this.text += event.text;
    else if (event.type === 'iteration' || event.type === 'retract') this.text = '';
  };
}
