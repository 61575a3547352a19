import type { ToolCall } from '../../core/chat/message.js';

interface ShownCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; arguments: string };
}

interface ShownMessage {
  readonly id: string;
  readonly role: string;
  content: string | readonly object[];
  readonly toolCalls?: ShownCall[];
  readonly toolCallId?: string;
}

/** The messages of a run, as its client has put them together from events. */
export class ShownMessages {
  private readonly messages = new Map<string, ShownMessage>();
  private readonly calls = new Map<string, ShownCall>();

  text(id: string, role: string, delta: string): void {
    const message = this.messages.get(id);
    if (message) message.content = `${message.content as string}${delta}`;
    else this.messages.set(id, { id, role, content: delta });
  }

  call(messageId: string, { id, name }: Pick<ToolCall, 'id' | 'name'>): void {
    const { content = '', toolCalls = [] } = this.messages.get(messageId) ?? {};
    const call: ShownCall = { id, type: 'function', function: { name, arguments: '' } };
    this.calls.set(id, call);
    const message = { id: messageId, role: 'assistant', content, toolCalls: [...toolCalls, call] };
    this.messages.set(messageId, message);
  }

  arguments(callId: string, delta: string): void {
    const call = this.calls.get(callId);
    if (call) call.function.arguments += delta;
  }

  result(id: string, toolCallId: string, content: string | readonly object[]): void {
    this.messages.set(id, { id, role: 'tool', content, toolCallId });
  }

  /**
   * Removes messages.
   * @returns the messages of the client without them, for a snapshot. A client keeps its reasoning beside a
   * snapshot without any, so that the reasoning that is void is empty in it.
   */
  without(ids: readonly string[], earlier: readonly object[]): readonly object[] {
    const removed = ids.flatMap((id) => this.messages.get(id) ?? []);
    for (const id of ids) this.messages.delete(id);
    const standing = [...earlier, ...this.messages.values()];
    const isReasoning = (message: object): boolean =>
      (message as { readonly role?: unknown }).role === 'reasoning';
    if (standing.some(isReasoning)) return standing;
    return [...standing, ...removed.filter(isReasoning).map((each) => ({ ...each, content: '' }))];
  }
}
