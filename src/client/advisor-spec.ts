import { checkAdvisor, orderAdvisors } from '../advisor/advisor-chain.js';
import type { Advisor } from '../advisor/advisor.js';
import { CONTEXT_KEY, ContextKey, type AdvisorContext } from '../chat/context.js';
import { BOOLEAN, checkOption } from '../internal/options.js';
import { VALUE } from './text-spec.js';

/** Adds advisors and values for them; every method returns a new spec. */
export class AdvisorSpec {
  constructor(
    readonly added: readonly Advisor[],
    readonly context: AdvisorContext,
    private readonly where = 'advisors(…)',
  ) {}

  /** Sets a value in the context of the request; it replaces an earlier one. */
  param<T>(key: ContextKey<T>, value: NonNullable<T>): AdvisorSpec {
    checkOption(this.where, 'the key of a param', key, CONTEXT_KEY);
    checkOption(this.where, `param ${key.name}`, value, VALUE);
    return new AdvisorSpec(this.added, this.context.with(key, value), this.where);
  }

  advisors(...advisors: readonly Advisor[]): AdvisorSpec {
    for (const advisor of advisors) checkAdvisor(advisor, this.where);
    const added = [...this.added, ...advisors];
    orderAdvisors(added); // rejects a duplicate name now, not at the first call
    return new AdvisorSpec(added, this.context, this.where);
  }
}

/** Changes an {@link AdvisorSpec} and returns the result. */
export type AdvisorConfigurer = (spec: AdvisorSpec) => AdvisorSpec;

export type AdvisorInput = Advisor | AdvisorConfigurer;

/** Enables the tool-calling advisor that a client registers automatically. */
export const TOOL_CALLING_AUTO_REGISTER = new ContextKey<boolean>(
  'advisor-chain.tool-calling-auto-register',
  true,
);

/** For `advisors(…)`: enables the automatic tool loop; without one, tool calls are returned. */
export function toolCallingAutoRegister(enabled: boolean): AdvisorConfigurer {
  checkOption('toolCallingAutoRegister(…)', 'enabled', enabled, BOOLEAN);
  return (spec) => spec.param(TOOL_CALLING_AUTO_REGISTER, enabled);
}
