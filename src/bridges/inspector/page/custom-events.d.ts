// The core compiles with one custom event at least; the page imports none of the files that declare them.
import type {} from '../../../core/chat/chat-event.js';

declare module '../../../core/chat/chat-event.js' {
  interface CustomEvents {
    'of-a-page': unknown;
  }
}
