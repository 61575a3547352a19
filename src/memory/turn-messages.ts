import { toToolMessage } from '../chat/chat-event.js';
import type { ChatResponse } from '../chat/chat-response.js';
import type { AssistantMessage, Message } from '../chat/message.js';
import type { Step } from '../chat/run-report.js';

/** Returns the tool calls that were started and their results, in the order of the calls. */
export function toolMessages(steps: readonly Step[]): readonly Message[] {
  const executed = steps.filter(({ toolCalls }) =>
    toolCalls.some(({ status }) => status !== 'requested'),
  );
  return executed.flatMap(({ response, toolCalls }) => {
    const results = toolCalls.flatMap(({ call, result }) =>
      result ? toToolMessage(call, result) : [],
    );
    return [messageWithCalls(response), ...results];
  });
}

function messageWithCalls({ generations, message }: ChatResponse): AssistantMessage {
  return generations.find((each) => each.message.toolCalls.length > 0)?.message ?? message;
}

/**
 * Selects the messages of an answer to store; results of return-direct tools become one message.
 * @param withCalls true if open tool calls of the answer are stored too
 */
export function answerMessages(
  response: ChatResponse,
  withCalls: boolean,
): readonly AssistantMessage[] {
  const { generations, message, finishReason } = response;
  if (generations.length > 1 && finishReason === 'returnDirect') {
    const texts = generations.map((generation) => generation.message.text ?? '');
    return [{ ...message, text: texts.join('\n') }];
  }
  return [withCalls || message.toolCalls.length === 0 ? message : { ...message, toolCalls: [] }];
}
