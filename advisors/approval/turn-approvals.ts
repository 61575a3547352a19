import type { Decision } from '../../src/core/chat/paused-turn.js';
import type { ToolCall } from '../../src/core/chat/message.js';

/** The decision about a call. */
export type Outcome =
  | { readonly type: 'allow'; readonly isOutdated?: boolean }
  /** `reason` is the text for the model. */
  | { readonly type: 'deny'; readonly reason: string }
  | {
      readonly type: 'edit';
      readonly text: string;
      readonly value: unknown;
      /** True if the tool, or the arguments, were others when the person was asked. */
      readonly isOutdated?: boolean;
    };

/** The outcome of a call with the arguments that it had. */
export interface PreparedOutcome {
  readonly binding: string;
  readonly outcome: Promise<Outcome>;
}

/** The decisions of a turn. */
export class TurnApprovals {
  /** Outcomes of the calls of the batch that is about to run. */
  readonly prepared = new WeakMap<ToolCall, PreparedOutcome>();
  /** Reasons of denied calls: a model that repeats one gets the same answer. */
  readonly denied = new Map<string, string>();
  /** Calls that a person allowed when the tool, or the arguments, were others. */
  readonly outdated = new WeakSet<ToolCall>();
  /** Answers to questions of tools, by the id of the request. */
  readonly answers = new Map<string, Decision | undefined>();
}
