/** Events of an application, typed by declaration merging. Compiled, not executed. */
import type { ChatEvent } from '../../src/chat/chat-event.js';

declare module '../../src/chat/chat-event.js' {
  interface CustomEvents {
    'test.note': { readonly text: string };
  }
}

({ type: 'custom', name: 'test.note', data: { text: 'hi' } }) satisfies ChatEvent;
// @ts-expect-error the data has the type of its name
({ type: 'custom', name: 'test.note', data: { text: 1 } }) satisfies ChatEvent;
// @ts-expect-error the name is not declared
({ type: 'custom', name: 'test.other', data: {} }) satisfies ChatEvent;
