import type { ChatResponse } from './chat-response.js';
import { callsOf, textOf, withoutCalls, type AssistantMessage } from './message.js';

/**
 * Selects the messages of an answer to keep; results of return-direct tools become one message.
 * @param withCalls true if open tool calls of the answer are kept too
 */
export function answerMessages(
  response: ChatResponse,
  withCalls: boolean,
): readonly AssistantMessage[] {
  const { generations, message, finishReason } = response;
  if (generations.length > 1 && finishReason === 'returnDirect') {
    const texts = generations.map((generation) => textOf(generation.message));
    return [{ ...message, content: texts.join('\n') }];
  }
  return [withCalls || callsOf(message).length === 0 ? message : withoutCalls(message)];
}
