import type { Advisor } from '../advisor/advisor.js';
import { checkAdvisor } from '../advisor/advisor-chain.js';
import { ContextKey, type AdvisorContext } from '../chat/context.js';
import { InvalidArgumentError } from '../errors.js';
import { describe } from '../chat/message.js';

/** Adds advisors and values for them; every method gives a new spec. */
export class AdvisorSpec {
  constructor(
    readonly added: readonly Advisor[],
    readonly context: AdvisorContext,
  ) {}

  /** A value for the context of the request. */
  param<T>(key: ContextKey<T>, value: T): AdvisorSpec {
    if (typeof key?.name !== 'string')
      throw new InvalidArgumentError(`advisors: param takes a ContextKey, such as CONVERSATION_ID, not ${describe(key)}`);
    return new AdvisorSpec(this.added, this.context.with(key, value));
  }

  advisors(...advisors: readonly Advisor[]): AdvisorSpec {
    advisors.forEach(checkAdvisor);
    return new AdvisorSpec([...this.added, ...advisors], this.context);
  }
}

/** Changes an {@link AdvisorSpec}; what it returns counts. */
export type AdvisorConfigurer = (spec: AdvisorSpec) => AdvisorSpec;

/** Whether a client adds a tool-calling advisor by itself. */
export const TOOL_CALLING_AUTO_REGISTER = new ContextKey<boolean>('advisor-chain.tool-calling-auto-register', true);

/** For `advisors(…)`: whether a tool-calling advisor is added by itself; without one, tool calls come back as they are. */
export function toolCallingAutoRegister(enabled: boolean): AdvisorConfigurer {
  if (typeof enabled !== 'boolean')
    throw new InvalidArgumentError(`toolCallingAutoRegister: expected true or false, not ${describe(enabled)}`);
  return (spec) => spec.param(TOOL_CALLING_AUTO_REGISTER, enabled);
}

/** Applies advisors and configurers in order. */
export function configureAdvisors(start: AdvisorSpec, parts: readonly (Advisor | AdvisorConfigurer)[]): AdvisorSpec {
  return parts.reduce<AdvisorSpec>((spec, part) => {
    if (typeof part !== 'function') return spec.advisors(part);
    const next = part(spec);
    if (!(next instanceof AdvisorSpec))
      throw new InvalidArgumentError('advisors: the function must return the spec it was given, as in (a) => a.param(key, value)');
    return next;
  }, start);
}
