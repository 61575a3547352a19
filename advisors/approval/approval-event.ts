import type { Decision, PendingRequest } from '../../src/core/chat/paused-turn.js';
import { ownedEvent } from '../../src/core/chat/owned-events.js';
import type { ToolContext } from '../../src/core/tool/tool.js';
import type { Remembered } from './remembered-approvals.js';

/** Data of the event `tool-approval`. */
export type ToolApprovalEvent =
  /** A person is asked. */
  | {
      readonly state: 'asked';
      readonly request: PendingRequest;
      /** The error of the store of remembered decisions, of which none was found then. */
      readonly error?: unknown;
    }
  /** A person has decided. */
  | {
      readonly state: 'decided';
      readonly request: PendingRequest;
      /** Undefined without a decision in time: the call does not run. */
      readonly decision: Decision | undefined;
      /** The error of the store, which could not remember the decision. */
      readonly error?: unknown;
    }
  /** An earlier decision of a person allows the call. */
  | {
      readonly state: 'remembered';
      readonly toolName: string;
      readonly callId: string;
      readonly scope: Remembered['scope'];
      readonly by?: string;
    };

declare module '../../src/core/chat/chat-event.js' {
  interface CustomEvents {
    'tool-approval': ToolApprovalEvent;
  }
}

const approvalEvent = ownedEvent('tool-approval', 'ApprovalAdvisor');

export function emitApproval({ emit }: ToolContext, data: ToolApprovalEvent): void {
  emit(approvalEvent(data));
}
