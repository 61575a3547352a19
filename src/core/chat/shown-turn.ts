import { answerMessages } from './answer-messages.js';
import { toToolMessage, type ChatEvent } from './chat-event.js';
import { isStopped, type ChatResponse } from './chat-response.js';
import {
  callsOf,
  type AssistantMessage,
  type Message,
  type ToolCall,
  type ToolMessage,
} from './message.js';
import { isSummary } from './summary-message.js';

/** An iteration that has asked for tools. */
interface ShownIteration {
  readonly message: AssistantMessage;
  /** Calls as they ran, and their results, by the id of the call. */
  readonly results: Map<string, readonly [ToolCall, ToolMessage]>;
}

/** The messages of a turn under way, as its events show them: without what advisors have removed. */
export class ShownTurn {
  private iterations: ShownIteration[] = [];

  /** @param prompt the messages of the request */
  constructor(private readonly prompt: readonly Message[]) {}

  readonly record = (event: ChatEvent): void => {
    const { iterations } = this;
    if (event.type === 'retract') iterations.splice(event.iteration);
    if (event.type === 'iteration')
      iterations[event.index] = { message: event.response.message, results: new Map() };
    if (event.type !== 'tool-result') return;
    const { call, result } = event;
    iterations.at(-1)?.results.set(call.id, [call, toToolMessage(call, result)]);
  };

  /** Begins another attempt of the turn, which shows its events again. */
  restart(): void {
    this.iterations = [];
  }

  get messages(): readonly Message[] {
    const question = this.prompt
      .slice(this.prompt.findLastIndex(({ role }) => role === 'assistant') + 1)
      .filter((message) => message.role !== 'system' && !isSummary(message));
    return [...question, ...this.iterations.flatMap(messagesOf)];
  }

  /**
   * The messages of the turn with its answer. Calls without a result are left out: no model takes them.
   * @param response the last answer
   */
  endedBy(response: ChatResponse): readonly Message[] {
    const answer = isStopped(response) ? [] : answerMessages(response, false);
    return [...withoutOpenCalls(this.messages), ...answer];
  }
}

function withoutOpenCalls(messages: readonly Message[]): readonly Message[] {
  const ended = new Set(messages.map((each) => (each.role === 'tool' ? each.toolCallId : '')));
  return messages.flatMap((message): readonly Message[] => {
    if (message.role !== 'assistant') return [message];
    const toolCalls = callsOf(message).filter(({ id }) => ended.has(id));
    return toolCalls.length === 0 ? [] : [{ ...message, toolCalls }];
  });
}

function messagesOf({ message, results }: ShownIteration): readonly Message[] {
  const calls = callsOf(message);
  const ran = calls.map(({ id }) => results.get(id));
  const toolCalls = calls.map((call, at) => ran[at]?.[0] ?? call);
  return [{ ...message, toolCalls }, ...ran.flatMap((each) => each?.[1] ?? [])];
}
