import { AdvisorOrder } from '../../src/core/advisor/advisor.js';
import {
  placeOf,
  type AdvisorPlace,
  type CheckedPlace,
} from '../../src/core/advisor/advisor-place.js';
import {
  CHECKED_APART,
  FUNCTION,
  oneOf,
  orFunction,
  POSITIVE,
  rule,
  TIMEOUT,
  withMethods,
} from '../../src/core/internal/options.js';
import type { KeyValueStore } from '../../src/stores/key-value/key-value-store.js';
import { checkPauseOptions, type PauseOptions } from './pause-options.js';
import type { Decide, ScopeOfOwner } from './person.js';
import type { OfferedTool } from '../../src/core/chat/tool-definition.js';
import { checkPolicy, type EffectPolicy, type ToolPolicy } from './tool-policy.js';

/** Options of an {@link ApprovalAdvisor}. */
export interface ApprovalAdvisorOptions<T extends OfferedTool = never> extends AdvisorPlace {
  /**
   * Decides about each call: a function, or verdicts and functions by the name of the tool. A call
   * that it does not decide is decided by the effect of its tool.
   * @default decides nothing
   */
  readonly policy?: ToolPolicy<T> | undefined;
  /**
   * Verdicts by the effect of the tool; a tool that declares none is a `write` tool.
   * @default { read: 'allow', idempotent: 'ask', write: 'ask' }
   */
  readonly effects?: EffectPolicy | undefined;
  /**
   * Asks a person while the turn waits, also questions of tools: returns a decision, a promise of it,
   * or an Observable whose first value it is. Its `signal` aborts if the turn is cancelled, and if the page
   * of an inspector has decided. `elsewhere`: what records the turn asks, and it is not in
   * this chain: a `DurableAdvisor` that a request adds, or the outer turn of an agent.
   * @default the turn pauses; a durable turn waits for the decision that is sent to it
   */
  readonly decide?: Decide | 'elsewhere' | undefined;
  /**
   * Lets turns pause for decisions: a store keeps them, encrypted, and `client.resume(id, decisions)`
   * continues them in any process.
   * @default turns cannot pause
   */
  readonly pause?: PauseOptions | undefined;
  /**
   * Time in milliseconds in which a durable turn waits for a decision, > 0, or `Infinity`; then the
   * call is denied. Limit the time of `decide` in it.
   * @default Infinity
   */
  readonly timeout?: number | undefined;
  /**
   * Store of decisions that allow later calls, too.
   * @default the store of `pause`, or else in memory, for the life of the process
   */
  readonly store?: KeyValueStore | undefined;
  /**
   * Returns the owner of a remembered decision and of a paused turn, such as the id of the user or the
   * tenant: they count for no other one. Undefined: nothing can be allowed `always`.
   * @default undefined
   */
  readonly scope?: ScopeOfOwner | undefined;
  /**
   * Reach of a remembered decision: a `call` of the tool with equal arguments, or each call of the
   * `tool`, whatever its arguments.
   * @default 'call'
   */
  readonly remember?: 'call' | 'tool' | undefined;
  /** Lifetime of a remembered decision in milliseconds, > 0. @default Infinity */
  readonly ttl?: number | undefined;
  /**
   * Position around tool calls: what stands left of it may change arguments before they are shown.
   * @default AdvisorOrder.DURABLE - 100
   */
  readonly order?: number | undefined;
}

const NAME = 'ApprovalAdvisor';
export const DEFAULT_NAME = 'approval';
const RULES = {
  policy: CHECKED_APART,
  effects: CHECKED_APART,
  decide: rule("a function or 'elsewhere'", orFunction(oneOf('elsewhere')).accepts),
  pause: CHECKED_APART,
  timeout: TIMEOUT,
  store: withMethods('a KeyValueStore', 'get', 'set'),
  scope: FUNCTION,
  remember: oneOf('call', 'tool'),
  ttl: rule('a number > 0', POSITIVE.accepts),
};

/** @throws {@link InvalidArgumentError} if an option is invalid */
export function checkApprovalOptions(options: ApprovalAdvisorOptions): CheckedPlace {
  const place = { name: DEFAULT_NAME, order: AdvisorOrder.DURABLE - 100 };
  const checked = placeOf(NAME, options, RULES, place);
  const { policy = {}, effects, pause } = options;
  if (pause !== undefined) checkPauseOptions(pause, `${NAME}: pause`);
  checkPolicy(NAME, policy, effects);
  return checked;
}
