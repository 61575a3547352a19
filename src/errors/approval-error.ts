import { AdvisorChainError } from './advisor-chain-error.js';

/**
 * It cannot be decided whether a tool call may run: its policy failed, or there was no
 * valid decision. The tool has not run; `cause` is the error of the policy.
 */
export class ApprovalError extends AdvisorChainError {
  override name = 'ApprovalError';
  readonly code = 'approval';

  constructor(
    message: string,
    readonly toolName: string,
    readonly callId: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * Ends a tool that has asked the user, until the answer is there: then the tool runs again from its
 * beginning. A tool must not handle it.
 */
export class ToolQuestionError<Request = unknown> extends AdvisorChainError {
  override name = 'ToolQuestionError';
  readonly code = 'tool_question';

  constructor(
    message: string,
    /** The question, as JSON data. */
    readonly request: Request,
  ) {
    super(message);
  }
}
