import { toToolMessage, type ChatEvent } from '../../src/core/chat/chat-event.js';
import {
  callsOf,
  type AssistantMessage,
  type Message,
  type ToolCall,
  type ToolMessage,
} from '../../src/core/chat/message.js';
import { isSummary } from '../../src/core/chat/summary-message.js';

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
}

function messagesOf({ message, results }: ShownIteration): readonly Message[] {
  const calls = callsOf(message);
  const ran = calls.map(({ id }) => results.get(id));
  const toolCalls = calls.map((call, at) => ran[at]?.[0] ?? call);
  return [{ ...message, toolCalls }, ...ran.flatMap((each) => each?.[1] ?? [])];
}
