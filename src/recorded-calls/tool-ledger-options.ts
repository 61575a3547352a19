import type { ToolResult } from '../chat/chat-event.js';
import {
  checkOption,
  checkOptions,
  FINITE,
  FUNCTION,
  oneOf,
  orFunction,
  POSITIVE,
  rule,
  TEXT,
  TIMEOUT,
  withMethods,
} from '../internal/options.js';
import type { KeyValueStore } from '../key-value/key-value-store.js';
import { CONTENT } from '../tool/tool-result.js';
import type { ToolInvocation } from '../tool/tool.js';

/** Options of a {@link ToolLedgerAdvisor}. */
export interface ToolLedgerAdvisorOptions {
  /** Store of the calls; one in memory survives retries, not the process. */
  readonly store: KeyValueStore;
  /**
   * Handling of a call of a `write` tool that was interrupted, so that it may have had its effect:
   * `refuse` it with a `ToolOutcomeUnknownError`, `run` it again, or a function that finds out,
   * which may return the result. Calls of `idempotent` tools run again.
   * @default 'refuse'
   */
  readonly onUnknown?: 'refuse' | 'run' | UnknownOutcome | undefined;
  /**
   * Returns the key of the work of a call among those of its tool, such as the number of an order,
   * for models that word the arguments in another way each time; undefined for the default.
   * @default context.idempotencyKey
   */
  readonly key?: ((call: ToolInvocation) => string | undefined) | undefined;
  /**
   * Milliseconds after the end of its process until a call counts as interrupted, > 0 and < 2 ** 31.
   * @default 30_000
   */
  readonly lease?: number | undefined;
  /** Milliseconds for which calls are remembered, > 0. @default 604_800_000, seven days */
  readonly ttl?: number | undefined;
  /** @default 'tool-ledger' */
  readonly name?: string | undefined;
  /** Position around tool calls; next to the tool by default. @default AdvisorOrder.LOGGER + 500 */
  readonly order?: number | undefined;
}

/** Finds out what to do with an interrupted call; a result is recorded as that of the call. */
export type UnknownOutcome = (
  call: ToolInvocation,
) => 'refuse' | 'run' | ToolResult | Promise<'refuse' | 'run' | ToolResult>;

const RULES = {
  onUnknown: orFunction(oneOf('refuse', 'run')),
  key: FUNCTION,
  lease: TIMEOUT,
  ttl: POSITIVE,
  name: TEXT,
  order: FINITE,
};
/** Values of {@link UnknownOutcome}. */
export const OUTCOME = rule(
  "'refuse', 'run' or the result of the call",
  (value) =>
    value === 'refuse' ||
    value === 'run' ||
    CONTENT.accepts((value as Partial<ToolResult> | null | undefined)?.content),
);
const STORE = withMethods('a KeyValueStore', 'get', 'set', 'delete');

/** @throws {@link InvalidArgumentError} if an option is invalid */
export function checkLedgerOptions(options: ToolLedgerAdvisorOptions, where: string): void {
  checkOption(where, 'store', options.store, STORE);
  checkOptions(where, options, RULES);
}
