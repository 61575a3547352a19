import type { ToolCallDelta, ToolResult } from '../../core/chat/chat-event.js';
import type { ToolCall } from '../../core/chat/message.js';
import { toParts } from './content.js';
import type { Frames } from './frames.js';
import { ShownMessages } from './shown-messages.js';

/** A call as the client knows it. */
interface ShownCall {
  /** The id of the call, or another one if an earlier call of the run has it. */
  readonly id: string;
  isOpen: boolean;
  hasResult: boolean;
}

/** The part of one answer of a model that the client has. */
interface ShownAnswer {
  readonly iteration: number;
  /** Id of the message with the text and the calls. */
  readonly id: string;
  readonly messageIds: Set<string>;
  readonly calls: Map<string, ShownCall>;
  /** Ids of calls by their index in the deltas. */
  readonly indexes: Map<number, string>;
}

const WITHDRAWN = 'Withdrawn: the call has not run.';

/** Writes the messages of a run: one for the text and calls of an answer, others for its reasoning. */
export class RunMessages {
  /** Answers with a message that stands. */
  private readonly answers: ShownAnswer[] = [];
  private readonly callIds = new Set<string>();
  private readonly shown = new ShownMessages();
  private answer: ShownAnswer;
  private count = 0;
  private reasonings = 0;
  private hasText = false;
  private reasoning: string | undefined;

  constructor(
    private readonly frames: Frames,
    private readonly runId: string,
  ) {
    this.answer = this.newAnswer(0);
  }

  /** Begins another answer; one without content has no frame. */
  begin(iteration: number): void {
    this.close();
    this.answer = this.newAnswer(iteration);
  }

  text(delta: string): void {
    if (delta === '') return;
    this.closeReasoning();
    const { id: messageId } = this.answer;
    if (!this.hasText) this.open('TEXT_MESSAGE_START', { messageId, role: 'assistant' });
    this.hasText = true;
    this.frames.add('TEXT_MESSAGE_CONTENT', { messageId, delta });
    this.shown.text(messageId, 'assistant', delta);
  }

  think(delta: string): void {
    if (delta === '') return;
    this.closeText();
    if (this.reasoning === undefined) {
      const messageId = `${this.answer.id}-reasoning-${this.reasonings++}`;
      this.reasoning = messageId;
      this.frames.add('REASONING_START', { messageId });
      this.open('REASONING_MESSAGE_START', { messageId, role: 'reasoning' });
    }
    this.frames.add('REASONING_MESSAGE_CONTENT', { messageId: this.reasoning, delta });
    this.shown.text(this.reasoning, 'reasoning', delta);
  }

  callDelta({ index, id, name, arguments: delta }: ToolCallDelta): void {
    const { calls, indexes } = this.answer;
    if (id !== undefined) indexes.set(index, id);
    const callId = indexes.get(index) ?? '';
    if (id !== undefined && name !== undefined) this.startCall({ id, name });
    const call = calls.get(callId);
    if (call?.isOpen) this.addArguments(call, delta);
  }

  /** A complete call, of which the client may have nothing: not every answer has deltas. */
  call(call: ToolCall): void {
    if (this.find(call.id)) return;
    this.addArguments(this.startCall(call), call.arguments);
    this.closeCalls();
  }

  /** The result of a call, also of one of an earlier run. */
  result({ id }: ToolCall, { content, isError }: Pick<ToolResult, 'content' | 'isError'>): void {
    const answer = this.find(id);
    const call = answer?.calls.get(id);
    if (call?.hasResult) return;
    if (call) call.hasResult = true;
    const toolCallId = call?.id ?? id;
    const messageId = `${this.runId}${resultSuffix(toolCallId)}`;
    answer?.messageIds.add(messageId);
    const parts = toParts(content);
    this.frames.add('TOOL_CALL_RESULT', {
      messageId,
      toolCallId,
      content: parts,
      role: 'tool',
      ...(isError && { metadata: { isError } }),
    });
    this.shown.result(messageId, toolCallId, parts);
  }

  /**
   * Voids the answers of an iteration and of later ones. Their calls get a result: a client takes calls
   * without one for calls of its own tools.
   * @returns the ids of the messages that do not count
   */
  retract(iteration: number): readonly string[] {
    this.close();
    const voided = this.answers.filter((answer) => answer.iteration >= iteration);
    for (const { calls } of voided)
      for (const id of calls.keys()) this.result({ id } as ToolCall, { content: WITHDRAWN });
    const ids = voided.flatMap(({ messageIds }) => [...messageIds]);
    const standing = this.answers.filter((answer) => answer.iteration < iteration);
    this.answers.splice(0, Infinity, ...standing);
    this.begin(iteration);
    return ids;
  }

  /** The messages that a client has, `earlier` ones first, without some of the run. */
  without(ids: readonly string[], earlier: readonly object[]): readonly object[] {
    return this.shown.without(ids, earlier);
  }

  /** Ids of the calls without a result. */
  unanswered(): readonly string[] {
    const calls = this.answers.flatMap((answer) => [...answer.calls.values()]);
    return calls.filter(({ hasResult }) => !hasResult).map(({ id }) => id);
  }

  /** The id by which the client knows a call. */
  callId(id: string): string {
    return this.find(id)?.calls.get(id)?.id ?? id;
  }

  close(): void {
    this.closeText();
    this.closeReasoning();
    this.closeCalls();
  }

  private startCall({ id, name }: Pick<ToolCall, 'id' | 'name'>): ShownCall {
    this.closeText();
    this.closeReasoning();
    const known = this.answer.calls.get(id);
    if (known) return known;
    const toolCallId = this.callIds.has(id) ? `${id}-${this.answer.id}` : id;
    this.callIds.add(id);
    const call = { id: toolCallId, isOpen: true, hasResult: false };
    const { id: parentMessageId, calls } = this.answer;
    calls.set(id, call);
    this.frames.add('TOOL_CALL_START', { toolCallId, toolCallName: name, parentMessageId });
    this.shown.call(parentMessageId, { id: toolCallId, name });
    this.keep(parentMessageId);
    return call;
  }

  private addArguments({ id: toolCallId }: ShownCall, delta: string): void {
    if (delta === '') return;
    this.frames.add('TOOL_CALL_ARGS', { toolCallId, delta });
    this.shown.arguments(toolCallId, delta);
  }

  private open(type: string, fields: { readonly messageId: string; readonly role: string }): void {
    this.frames.add(type, fields);
    this.keep(fields.messageId);
  }

  private keep(messageId: string): void {
    this.answer.messageIds.add(messageId);
    if (this.answers.at(-1) !== this.answer) this.answers.push(this.answer);
  }

  private closeText(): void {
    if (this.hasText) this.frames.add('TEXT_MESSAGE_END', { messageId: this.answer.id });
    this.hasText = false;
  }

  private closeReasoning(): void {
    const { reasoning: messageId } = this;
    if (messageId === undefined) return;
    this.frames.add('REASONING_MESSAGE_END', { messageId });
    this.frames.add('REASONING_END', { messageId });
    this.reasoning = undefined;
  }

  private closeCalls(): void {
    for (const call of this.answer.calls.values()) {
      if (call.isOpen) this.frames.add('TOOL_CALL_END', { toolCallId: call.id });
      call.isOpen = false;
    }
  }

  private find(callId: string): ShownAnswer | undefined {
    return this.answers.findLast(({ calls }) => calls.has(callId));
  }

  private newAnswer(iteration: number): ShownAnswer {
    const id = `${this.runId}-${this.count++}`;
    return { iteration, id, messageIds: new Set(), calls: new Map(), indexes: new Map() };
  }
}

const resultSuffix = (toolCallId: string): string => `-result-${toolCallId}`;

/** True for the message of a result that a run has written, not for an output of the client. */
export function isResultOf(callId: string, message: object): boolean {
  const { id, toolCallId } = message as { readonly id?: unknown; readonly toolCallId?: unknown };
  return toolCallId === callId && typeof id === 'string' && id.endsWith(resultSuffix(callId));
}
