import { toToolMessage, type ChatEvent } from '../chat/chat-event.js';
import type { ChatResponse } from '../chat/chat-response.js';
import type { AssistantMessage, Message, ToolCall, ToolMessage } from '../chat/message.js';

interface Iteration {
  readonly index: number;
  readonly message: AssistantMessage;
  /** By call, or by the id of a call that is a copy. */
  readonly results: Map<ToolCall | string, ToolMessage>;
}

/** Hears the events of a turn, and knows what was said in it so far. */
export class TurnRecorder {
  private iterations: Iteration[] = [];
  /** The text of the iteration that is under way. */
  private text = '';

  hear(event: ChatEvent): void {
    switch (event.type) {
      case 'text-delta':
        this.text += event.text;
        return;
      case 'iteration':
        this.iterations.push({ index: event.index, message: event.response.message, results: new Map() });
        this.text = '';
        return;
      case 'tool-result':
        this.hearResult(event.call, toToolMessage(event.call, event.result));
        return;
      case 'retract':
        this.iterations = this.iterations.filter(({ index }) => index < event.iteration);
        this.text = '';
        return;
      default:
    }
  }

  private hearResult(call: ToolCall, result: ToolMessage): void {
    const last = this.iterations.at(-1);
    last?.results.set(last.message.toolCalls.includes(call) ? call : call.id, result);
  }

  /** The tool calls of the turn and their results, in the order of the calls. */
  toolMessages(): readonly Message[] {
    return this.iterations.flatMap(({ message, results }) => [
      message,
      ...message.toolCalls.flatMap((call) => results.get(call) ?? results.get(call.id) ?? []),
    ]);
  }

  /** The text of the answer until now; empty if there is none. */
  get partialText(): string {
    return this.text;
  }
}

/**
 * The message of an answer that is stored. The results of tools that answer directly are one answer.
 * @param withCalls whether calls that the answer asks for are stored
 */
export function answerOf(response: ChatResponse, withCalls: boolean): readonly AssistantMessage[] {
  const { generations, message } = response;
  if (generations.length > 1 && response.finishReason === 'returnDirect')
    return [{ ...message, text: generations.map((generation) => generation.message.text ?? '').join('\n') }];
  return [withCalls || message.toolCalls.length === 0 ? message : { ...message, toolCalls: [] }];
}
