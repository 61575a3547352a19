import type { AdvisorContext } from '../../src/core/chat/context.js';
import type { GuardPlace } from '../../src/core/errors/errors.js';

/** Characters of a text that a rule found, from `start` up to, but not including, `end`. */
export interface GuardFinding {
  readonly start: number;
  readonly end: number;
  /** Kind of what was found, such as `card` or `email`; never the text itself. */
  readonly kind: string;
}

/** Knowledge of a rule about a text of which more may follow. */
export interface TextScan {
  /** Findings from the start of the search on, in order, which no further text changes. */
  readonly findings: readonly GuardFinding[];
  /** Index up to which all findings are known; the next search starts here. */
  readonly settled: number;
}

/** A rule that looks at text alone, at once. */
export interface TextRule {
  /** Name in events and errors. */
  readonly name: string;
  /**
   * Searches `text` from the index `from`, up to {@link CONTEXT_LENGTH} characters before which are
   * there to look back at.
   * @param ended false if more text may follow: what that could change is left unsettled; the text
   * ends with a whole character then
   */
  scan(text: string, from: number, ended: boolean): TextScan;
}

/** Number of characters before the start of a search that a rule may look at. */
export const CONTEXT_LENGTH = 32;

/** All findings of a rule in a complete text, in order. */
export function findAll(rule: TextRule, text: string): readonly GuardFinding[] {
  return rule.scan(text, 0, true).findings;
}

/** Result of a {@link CheckRule}. */
export interface GuardVerdict {
  /** True if the text breaks the rule. */
  readonly flagged: boolean;
  /** Kinds of what was found, such as `hate`; never the text itself. @default the name of the rule */
  readonly kinds?: readonly string[] | undefined;
}

/** A rule that judges a complete text: a function, a model, a moderation endpoint. */
export interface CheckRule {
  /** Name in events and errors. */
  readonly name: string;
  check(text: string, context: GuardCheckContext): GuardVerdict | Promise<GuardVerdict>;
}

/** Values for a {@link CheckRule} besides the text. */
export interface GuardCheckContext {
  readonly where: GuardPlace;
  /** Aborts when the run is cancelled or the time of the check is over; belongs to the run. */
  readonly signal: AbortSignal;
  /** Values of the request, such as `CONVERSATION_ID`. */
  readonly context: AdvisorContext;
  /** The tool of a result. */
  readonly toolName?: string | undefined;
}
