import type { ChatEvent } from '../../core/chat/chat-event.js';
import type { ResumableEvents } from '../http/event-source.js';
import { LogReader, type ReadRun } from './log-reader.js';
import type { LogSettings } from './log-settings.js';

/**
 * The events of a logged run, for `toResponse`, or to iterate over. Each reader has its own speed; one
 * that leaves ends nothing but itself.
 */
export class LoggedEvents implements ResumableEvents {
  constructor(
    private readonly run: ReadRun,
    private readonly settings: LogSettings,
  ) {}

  reader(): LogReader {
    return new LogReader(this.run, this.settings);
  }

  /** The events that the client does not have. */
  [Symbol.asyncIterator](): AsyncIterator<ChatEvent> {
    const reader = this.reader();
    const next = async (): Promise<IteratorResult<ChatEvent>> => {
      for (;;) {
        const result = await reader.next();
        if (result.done || reader.seen !== Infinity) return result;
      }
    };
    return { next, return: () => reader.return() };
  }
}
