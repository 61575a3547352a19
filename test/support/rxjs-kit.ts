import { takeWhile } from 'rxjs';
import type { ChatEvent } from '../../src/core/chat/chat-event.js';
import { ChatResponse } from '../../src/core/chat/chat-response.js';
import { AdvisorContext } from '../../src/core/chat/context.js';

/** An answer that an operator gives in place of the model. */
export const SORRY: ChatEvent = {
  type: 'response',
  response: ChatResponse.ofText('Sorry.'),
  context: AdvisorContext.empty,
};

export const isAnswer = ({ type }: ChatEvent): boolean => type === 'response';

/** Ends the events with the first answer. */
export const untilAnswer = takeWhile((event: ChatEvent) => !isAnswer(event), true);
