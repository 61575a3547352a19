import type { ClientToolRequest, Decision, PendingRequest } from '../../core/chat/paused-turn.js';
import { isPlainObject } from '../../core/internal/options.js';
import type { UIMessageChunk } from './ui-message-chunk.js';

/**
 * Requests of a run to the page: approvals, and calls of tools that the page runs. `useChat` runs a call when its input is
 * available, so the input of a call that a person decides on is written as one that still arrives.
 */
export class PageRequests {
  /** Ids of calls that have a part; true if their input is available. */
  private readonly calls = new Map<string, boolean>();
  private readonly asked = new Set<string>();
  private readonly denied = new Set<string>();
  /** Results of denied calls that are not written yet. */
  private readonly denials = new Map<string, string>();
  /** Ids of calls that the page has shown before the pause, with their requests. */
  private readonly seen = new Set<string>();
  /** Ids of calls that run for the first time. */
  private readonly started = new Set<string>();
  /** Answers to calls that the page has shown before the pause. */
  private readonly answered = new Map<string, Decision['type']>();

  constructor(private readonly push: (...chunks: UIMessageChunk[]) => void) {}

  /** Notes that the page has a call from before the pause. */
  see(callId: string): void {
    this.seen.add(callId);
  }

  /** Notes a call whose input the page gets; false if it has a part. */
  show(callId: string): boolean {
    if (this.calls.has(callId)) return false;
    this.calls.set(callId, true);
    return true;
  }

  has(callId: string): boolean {
    return this.calls.has(callId);
  }

  /** Notes the result of a call that a person has denied; false if none has. */
  deny(callId: string, errorText: string): boolean {
    if (!this.denied.has(callId)) return false;
    this.denials.set(callId, errorText);
    return true;
  }

  /**
   * Writes the results of denied calls. `useChat` sends the outputs of its tools by itself beside a failed call, not beside a
   * denied one: while the page has tools to run, a denial is written as a failure, and as a denial in the run after it.
   */
  writeDenials(hasPageTools = false): void {
    for (const [toolCallId, errorText] of this.denials)
      this.push(
        hasPageTools
          ? { type: 'tool-output-error', toolCallId, errorText }
          : { type: 'tool-output-denied', toolCallId },
      );
    this.denials.clear();
  }

  start(callId: string): void {
    this.started.add(callId);
  }

  /** True if the result of a call came from the page, which shows it. */
  isOfPage(callId: string, isError: boolean): boolean {
    const answer = this.answered.get(callId);
    return answer === 'cancel' || (answer === 'answer' && !isError);
  }

  /** Adds the data of the event `tool-approval`. */
  add(data: unknown): void {
    if (!isPlainObject(data) || !isPlainObject(data['request'])) return;
    const request = data['request'] as unknown as PendingRequest;
    const { type, callId } = request;
    const isSeen = this.seen.has(callId);
    if (data['state'] === 'asked' && !isSeen) this.ask(request);
    if (data['state'] !== 'decided') return;
    const decision = data['decision'] as Decision | undefined;
    if (type === 'approval' && (decision?.type ?? 'deny') === 'deny') this.denied.add(callId);
    if (type === 'client-tool' && decision && isSeen) this.answered.set(callId, decision.type);
  }

  /** Adds the requests that are open at the end of the run. */
  end(requests: readonly PendingRequest[]): void {
    this.writeDenials(requests.some(({ type }) => type === 'client-tool'));
    for (const request of requests) {
      const { type, callId } = request;
      // a call that was open before is shown, and perhaps runs; one that a person has just allowed is not
      const isOpenBefore = this.seen.has(callId) && !this.started.has(callId);
      if (type !== 'client-tool' || !isOpenBefore) this.ask(request);
    }
  }

  /** A question has no chunk in the protocol, and reaches a page by a custom event. */
  private ask(request: PendingRequest): void {
    if (request.type === 'client-tool') return this.run(request);
    const { type, id: approvalId, callId: toolCallId, toolName } = request;
    if (type !== 'approval' || this.asked.has(approvalId)) return;
    this.asked.add(approvalId);
    this.calls.set(toolCallId, false);
    const inputTextDelta = JSON.stringify(request.arguments);
    this.push(
      { type: 'tool-input-start', toolCallId, toolName },
      { type: 'tool-input-delta', toolCallId, inputTextDelta },
      { type: 'tool-approval-request', approvalId, toolCallId },
    );
  }

  private run({ callId: toolCallId, toolName, arguments: input }: ClientToolRequest): void {
    if (this.calls.get(toolCallId) === true) return;
    this.calls.set(toolCallId, true);
    this.push({ type: 'tool-input-available', toolCallId, toolName, input });
  }
}
