import {
  checkOptions,
  FINITE,
  FUNCTION,
  oneOf,
  POSITIVE,
  rule,
  TEXT,
  TIMEOUT,
  withMethods,
} from '../internal/options.js';
import type { KeyValueStore } from '../key-value/key-value-store.js';
import type { ToolInvocation } from '../tool/tool.js';
import { checkPauseOptions, type PauseOptions } from './pause-options.js';
import type { Decide } from './person.js';
import { checkPolicy, type EffectPolicy, type ToolPolicy } from './tool-policy.js';

/** Options of an {@link ApprovalAdvisor}. */
export interface ApprovalAdvisorOptions {
  /**
   * Decides about each call: a function, or verdicts and functions by the name of the tool. A call
   * that it does not decide is decided by the effect of its tool.
   * @default decides nothing
   */
  readonly policy?: ToolPolicy | undefined;
  /**
   * Verdicts by the effect of the tool; a tool that declares none is a `write` tool.
   * @default { read: 'allow', idempotent: 'ask', write: 'ask' }
   */
  readonly effects?: EffectPolicy | undefined;
  /**
   * Asks a person while the turn waits, also questions of tools: returns a decision, a promise of it,
   * or an Observable whose first value it is.
   * @default the turn pauses; a durable turn waits for the decision that is sent to it
   */
  readonly decide?: Decide | undefined;
  /**
   * Lets turns pause for decisions: they end with a signed state, with which `client.resume(…)` goes
   * on in any process.
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
   * @default that of `pause`, or else in memory, for the life of the process
   */
  readonly store?: KeyValueStore | undefined;
  /**
   * Returns the owner of a remembered decision, such as the id of the user or the tenant: it counts
   * for no other one. Undefined: nothing can be allowed `always`.
   * @default undefined
   */
  readonly scope?: ((call: ToolInvocation) => string | undefined) | undefined;
  /**
   * Reach of a remembered decision: a `call` of the tool with equal arguments, or each call of the
   * `tool`, whatever its arguments.
   * @default 'call'
   */
  readonly remember?: 'call' | 'tool' | undefined;
  /** Lifetime of a remembered decision in milliseconds, > 0. @default Infinity */
  readonly ttl?: number | undefined;
  /** @default 'approval' */
  readonly name?: string | undefined;
  /**
   * Position around tool calls: what stands left of it may change arguments before they are shown.
   * @default AdvisorOrder.DURABLE - 100
   */
  readonly order?: number | undefined;
}

const RULES = {
  decide: FUNCTION,
  timeout: TIMEOUT,
  store: withMethods('a KeyValueStore', 'get', 'set'),
  scope: FUNCTION,
  remember: oneOf('call', 'tool'),
  ttl: rule('a number > 0', POSITIVE.accepts),
  name: TEXT,
  order: FINITE,
};

/** @throws {@link InvalidArgumentError} if an option is invalid */
export function checkApprovalOptions(where: string, options: ApprovalAdvisorOptions): void {
  checkOptions(where, options, RULES);
  const { policy = {}, effects, pause } = options;
  if (pause !== undefined) checkPauseOptions(pause, `${where}: pause`);
  checkPolicy(where, policy, effects);
}
