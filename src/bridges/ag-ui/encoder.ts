import type { ChatEvent, ResponseEvent } from '../../core/chat/chat-event.js';
import { callsOf, type ToolCall } from '../../core/chat/message.js';
import type { PausedTurn } from '../../core/chat/paused-turn.js';
import type { JsonValue } from '../../core/internal/json.js';
import { safeJson } from '../../core/internal/safe-json.js';
import type { HttpError } from '../http/http-error.js';
import { publicProgress } from '../http/public-event.js';
import type { StreamEncoder } from '../http/stream-format.js';
import { Frames } from './frames.js';
import { toInterrupts, type PersonRequest } from './interrupts.js';
import { isResultOf, RunMessages } from './run-messages.js';
import { tokensOf } from './tokens.js';

/** The version of the protocol. */
const PROTOCOL_VERSION = '1.0';
const CANCELLED = { type: 'cancelled' };
const NO_REQUEST = 'The turn has been kept and can be resumed.';

/** Settings of an {@link AgUIEncoder}. */
export interface AgUISettings {
  readonly threadId: string;
  readonly runId: string;
  readonly showReplayed: boolean;
  readonly customEvents: readonly string[];
  readonly state: string | undefined;
  readonly clientMessages: readonly object[] | undefined;
}

/** A call that the client runs, with the arguments that count: a person may have changed them. */
interface ClientToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly arguments: JsonValue;
}

/** Encodes the events of one run. */
export class AgUIEncoder implements StreamEncoder {
  readonly heartbeat = ':\n\n';
  private readonly frames = new Frames();
  private readonly messages: RunMessages;
  /** Calls that an earlier run has shown. */
  private readonly earlierCalls = new Set<string>();
  private hasStarted = false;
  private step: string | undefined;
  private answered: ResponseEvent | undefined;

  constructor(private readonly settings: AgUISettings) {
    this.messages = new RunMessages(this.frames, settings.runId);
  }

  encode(event: ChatEvent): string {
    this.start();
    if (event.type !== 'response' && event.isReplayed && !this.settings.showReplayed)
      this.leaveOut(event);
    else this.write(event);
    return this.frames.take();
  }

  fail({ message, code, status, id, retryAfter }: HttpError): string {
    this.start();
    this.close();
    const isCancelled = code === 'cancelled' && status < 500;
    const metadata = { status, id, retryAfter };
    if (isCancelled) this.finish({ outcome: CANCELLED });
    else this.frames.add('RUN_ERROR', { message, code, metadata });
    return this.frames.take();
  }

  end(): string {
    this.start();
    this.close();
    const paused = this.answered?.response.paused;
    if (!paused) this.finish(this.success());
    else if (paused.requests.length === 0)
      this.frames.add('RUN_ERROR', { message: NO_REQUEST, code: 'turn_paused' });
    else this.pause(paused);
    return this.frames.take();
  }

  /** Requests to people are interrupts; calls that the client runs are calls without a result. */
  private pause(paused: PausedTurn): void {
    const { messages } = this;
    const callId = (id: string): string => messages.callId(id);
    const asked: PersonRequest[] = [];
    const clientTools: ClientToolCall[] = [];
    for (const request of paused.requests) {
      if (request.type === 'client-tool') {
        const { callId: id, toolName, arguments: input } = request;
        // the calls of inner agents are not in the stream
        if (!this.earlierCalls.has(id))
          messages.call({ id, name: toolName, arguments: JSON.stringify(input) });
        clientTools.push({ toolCallId: callId(id), toolName, arguments: input });
      } else asked.push(request);
    }
    const metadata = {
      finishReason: 'paused',
      turn: paused.id ?? paused.state,
      ...(clientTools.length > 0 && { clientTools }),
    };
    const interrupts = toInterrupts(asked, paused, callId);
    this.finish({
      outcome:
        asked.length > 0
          ? { type: 'interrupt', interrupts }
          : successWith(clientTools.map(({ toolCallId }) => toolCallId)),
      ...this.usage(),
      metadata,
    });
  }

  private write(event: ChatEvent): void {
    const { messages } = this;
    switch (event.type) {
      case 'iteration-start':
        return this.startStep(event.index);
      case 'text-delta':
        return messages.text(event.text);
      case 'reasoning-delta':
        return messages.think(event.text);
      case 'tool-call-delta':
        return messages.callDelta(event);
      case 'iteration':
        for (const call of callsOf(event.response.message)) messages.call(call);
        return messages.begin(event.index + 1);
      case 'tool-call':
        if (!this.earlierCalls.has(event.call.id)) messages.call(event.call);
        return;
      case 'tool-result':
        if (!this.isWritten(event.call)) messages.result(event.call, event.result);
        return;
      case 'response':
        for (const call of callsOf(event.response.message)) messages.call(call);
        this.answered = event;
        return messages.close();
      default:
        return this.writeOther(event);
    }
  }

  private writeOther(event: ChatEvent): void {
    if (event.type === 'tool-progress') {
      const { call, toolName, data } = event;
      const toolCallId = this.messages.callId(call.id);
      const progress = publicProgress(data, this.settings.customEvents);
      if (progress)
        this.custom('advisor-chain.tool-progress', { toolCallId, toolName, ...progress });
    } else if (event.type === 'citation') {
      const { raw: _raw, ...citation } = event.citation;
      this.custom('advisor-chain.citation', citation);
    } else if (event.type === 'retract') {
      const { iteration } = event;
      const messageIds = this.messages.retract(iteration);
      if (messageIds.length === 0) return;
      this.custom('advisor-chain.retract', { iteration, messageIds });
      const { clientMessages } = this.settings;
      if (!clientMessages) return;
      const standing = this.messages.without(messageIds, clientMessages);
      this.frames.add('MESSAGES_SNAPSHOT', { messages: standing });
    } else if (event.type === 'custom') this.writeCustom(event);
  }

  private writeCustom({ name, data }: { readonly name: string; readonly data: unknown }): void {
    const { customEvents, state } = this.settings;
    const value = safeJson(data) ?? null;
    if (name === state) this.frames.add('STATE_SNAPSHOT', { snapshot: value });
    if (customEvents.includes(name)) this.custom(name, value);
  }

  /** True for a result that an earlier run has written. The result of a denied call is made again in each run, without a mark. */
  private isWritten({ id }: ToolCall): boolean {
    const { clientMessages = [] } = this.settings;
    return this.earlierCalls.has(id) && clientMessages.some((message) => isResultOf(id, message));
  }

  /** Remembers what an earlier run has shown. */
  private leaveOut(event: ChatEvent): void {
    if (event.type === 'iteration') {
      for (const { id } of callsOf(event.response.message)) this.earlierCalls.add(id);
      this.messages.begin(event.index + 1);
    } else if (event.type === 'tool-call') this.earlierCalls.add(event.call.id);
  }

  private custom(name: string, value: unknown): void {
    this.frames.add('CUSTOM', { name, value });
  }

  private start(): void {
    if (this.hasStarted) return;
    this.hasStarted = true;
    const { threadId, runId } = this.settings;
    this.frames.add('RUN_STARTED', { threadId, runId, protocolVersion: PROTOCOL_VERSION });
  }

  private startStep(iteration: number): void {
    this.messages.begin(iteration);
    this.endStep();
    this.step = `iteration-${iteration}`;
    this.frames.add('STEP_STARTED', { stepName: this.step });
  }

  private endStep(): void {
    if (this.step !== undefined) this.frames.add('STEP_FINISHED', { stepName: this.step });
    this.step = undefined;
  }

  private close(): void {
    this.messages.close();
    this.endStep();
  }

  private finish(fields: object): void {
    const { threadId, runId } = this.settings;
    this.frames.add('RUN_FINISHED', { threadId, runId, ...fields });
  }

  private success(): object {
    const finishReason = this.answered?.response.finishReason;
    return {
      outcome: successWith(this.messages.unanswered()),
      ...this.usage(),
      ...(finishReason !== undefined && { metadata: { finishReason } }),
    };
  }

  private usage(): object {
    const usage = this.answered ? tokensOf(this.answered) : [];
    return usage.length > 0 ? { usage } : {};
  }
}

const successWith = (pendingToolCallIds: readonly string[]): object => ({
  type: 'success',
  ...(pendingToolCallIds.length > 0 && { pendingToolCallIds }),
});
