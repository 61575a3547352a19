import type { ChatEvent } from './chat-event.js';
import type { Subscriber } from '../rxjs.js';

/** A subscriber that says which events it does anything with. */
export interface Selective {
  hears(event: ChatEvent): boolean;
}

/** Whether something is done with an event there; who does not say so hears all. */
export function hears(subscriber: Subscriber<ChatEvent> & Partial<Selective>, event: ChatEvent): boolean {
  return subscriber.hears?.(event) ?? true;
}
