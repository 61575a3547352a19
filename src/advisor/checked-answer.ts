import type { ChatEvent } from '../chat/chat-event.js';
import { responseProblem, type ChatResponse } from '../chat/chat-response.js';
import type { AssistantMessage } from '../chat/message.js';
import { ChainError } from '../errors.js';
import { Subscriber } from '../internal/rxjs.js';

/** Receives an answer: one valid response, as the last event. */
export abstract class CheckedAnswer extends Subscriber<ChatEvent> {
  /** The message of the response. */
  message: AssistantMessage | undefined;

  /** @param source the part of the chain that answers, for error messages */
  constructor(
    protected source: string,
    protected readonly subscriber: Subscriber<ChatEvent>,
  ) {
    super(subscriber);
  }

  /** True if the event may come now; if not, the run fails with the name of the source. */
  protected accepts(event: ChatEvent): boolean {
    if (this.message) return this.fail(`emitted the event "${event.type}" after its response`);
    if (event.type !== 'response') return true;
    const problem = responseProblem(event.response);
    return problem === undefined || this.fail(`must emit ${problem}`);
  }

  protected override _complete(): void {
    if (this.message) super._complete();
    else this.fail('ended without a response event');
  }

  private fail(problem: string): false {
    this._error(new ChainError(`${this.source} ${problem}`)); // `error` is ignored during `complete`
    return false;
  }
}

/** The deltas of an answer that no model streamed. */
export function toDeltas({ message, generations }: ChatResponse): readonly ChatEvent[] {
  const { reasoning, text, toolCalls } = message;
  return [
    ...(reasoning ? [{ type: 'reasoning-delta', text: reasoning } as const] : []),
    ...(text ? [{ type: 'text-delta', text } as const] : []),
    ...(generations[0]?.citations ?? []).map(
      (citation) => ({ type: 'citation', citation }) as const,
    ),
    ...toolCalls.map(
      ({ id, name, arguments: json }, index) =>
        ({ type: 'tool-call-delta', index, id, name, arguments: json }) as const,
    ),
  ];
}
