import { toToolMessage, type ChatEvent } from '../chat/chat-event.js';
import type { ChatResponse } from '../chat/chat-response.js';
import type { AssistantMessage, Message, ToolCall, ToolMessage } from '../chat/message.js';

interface Iteration {
  readonly index: number;
  readonly message: AssistantMessage;
  /** By call, or by the id of a call that is a copy. */
  readonly results: Map<ToolCall | string, ToolMessage>;
}

/** Records the tool messages and the partial text of a turn from its events. */
export class TurnRecorder {
  private iterations: Iteration[] = [];
  /** Text of the iteration in progress. */
  partialText = '';

  record(event: ChatEvent): void {
    switch (event.type) {
      case 'text-delta':
        this.partialText += event.text;
        return;
      case 'iteration': {
        const { message } = event.response;
        this.iterations.push({ index: event.index, message, results: new Map() });
        this.partialText = '';
        return;
      }
      case 'tool-result': {
        const { message, results } = this.iterations.at(-1) ?? {};
        const key = message?.toolCalls.includes(event.call) ? event.call : event.call.id;
        results?.set(key, toToolMessage(event.call, event.result));
        return;
      }
      case 'retract':
        this.iterations = this.iterations.filter(({ index }) => index < event.iteration);
        this.partialText = '';
        return;
      default:
    }
  }

  /** Returns the tool calls of the turn and their results, in the order of the calls. */
  toolMessages(): readonly Message[] {
    return this.iterations.flatMap(({ message, results }) => [
      message,
      ...message.toolCalls.flatMap((call) => results.get(call) ?? results.get(call.id) ?? []),
    ]);
  }
}

/**
 * Selects the messages of an answer to store; results of return-direct tools become one message.
 * @param withCalls true if tool calls of the answer are stored too
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
