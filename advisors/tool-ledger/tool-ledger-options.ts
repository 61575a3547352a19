import { AdvisorOrder } from '../../src/core/advisor/advisor.js';
import {
  placeOf,
  type AdvisorPlace,
  type CheckedPlace,
} from '../../src/core/advisor/advisor-place.js';
import {
  FUNCTION,
  oneOf,
  POSITIVE,
  required,
  TIMEOUT,
  withMethods,
} from '../../src/core/internal/options.js';
import type { KeyValueStore } from '../../src/stores/key-value/key-value-store.js';
import type { ReconcileOption } from '../../src/core/tool-execution/unknown-outcome.js';
import type { ToolInvocation } from '../../src/core/tool/tool.js';

/** Options of a {@link ToolLedgerAdvisor}. */
export interface ToolLedgerAdvisorOptions extends AdvisorPlace, ReconcileOption {
  /** Store of the calls; one in memory survives retries, not the process. */
  readonly store: KeyValueStore;
  /**
   * Handling of a call of a `write` tool that was interrupted, so that it may have had its effect, if
   * `reconcile` does not know: `refuse` it with a `ToolOutcomeUnknownError`, or `run` it again. Calls of
   * `idempotent` tools run again, and `reconcile` is not asked about them.
   * @default 'refuse'
   */
  readonly onUnknown?: 'refuse' | 'run' | undefined;
  /**
   * Returns the key of the work of a call within its tool, such as the number of an order,
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
  /** Position around tool calls; next to the tool by default. @default AdvisorOrder.LOGGER + 500 */
  readonly order?: number | undefined;
}

const NAME = 'ToolLedgerAdvisor';
const STORE = withMethods('a KeyValueStore', 'get', 'set', 'delete');
const RULES = {
  store: required(STORE),
  reconcile: FUNCTION,
  onUnknown: oneOf('refuse', 'run'),
  key: FUNCTION,
  lease: TIMEOUT,
  ttl: POSITIVE,
};

/** @throws {@link InvalidArgumentError} if an option is invalid */
export function checkLedgerOptions(options: ToolLedgerAdvisorOptions): CheckedPlace {
  const place = { name: 'tool-ledger', order: AdvisorOrder.LOGGER + 500 };
  return placeOf(NAME, options, RULES, place);
}
