import type { ToolResult } from '../../src/core/chat/chat-event.js';
import type { ToolCall } from '../../src/core/chat/message.js';
import { isSameCall } from '../../src/core/tool-execution/call-identity.js';

/** A call and its result, such as one of `response.steps`. */
export interface RecordedCall {
  readonly call: ToolCall;
  /** Undefined if the call did not end. */
  readonly result?: ToolResult | undefined;
}

export function isRecordedCall(value: unknown): value is RecordedCall {
  return typeof (value as Partial<RecordedCall> | null)?.call?.name === 'string';
}

/** Gives the calls of one run the results of a recording. */
export class Playback {
  private left: readonly RecordedCall[];

  constructor(recording: readonly RecordedCall[]) {
    this.left = recording.filter(({ result }) => result !== undefined);
  }

  /**
   * The result of a call; undefined if it is not recorded. Equal calls get theirs in the order of the
   * recording, and then the last one again.
   */
  resultOf(call: ToolCall): ToolResult | undefined {
    const [first, ...others] = this.left.filter((recorded) => isSameCall(recorded.call, call));
    if (others.length > 0) this.left = this.left.filter((recorded) => recorded !== first);
    return first?.result;
  }
}
