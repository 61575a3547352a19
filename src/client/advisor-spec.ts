import type { Advisor } from '../advisor/advisor.js';
import { checkAdvisor, orderAdvisors } from '../advisor/advisor-chain.js';
import { ContextKey, type AdvisorContext } from '../chat/context.js';
import { InvalidArgumentError } from '../errors.js';
import { describe } from '../chat/message.js';
import { requireValue } from './arguments.js';

/** Adds advisors and values for them; every method gives a new spec. */
export class AdvisorSpec {
  constructor(
    readonly added: readonly Advisor[],
    readonly context: AdvisorContext,
    private readonly where = 'advisors(…)',
  ) {}

  /** A value for the context of the request; it wins over one that was set before. */
  param<T>(key: ContextKey<T>, value: NonNullable<T>): AdvisorSpec {
    if (typeof key?.name !== 'string')
      throw new InvalidArgumentError(`${this.where}.param: expected a ContextKey, such as CONVERSATION_ID, not ${describe(key)}`);
    requireValue(value, `${this.where}.param(${key.name})`);
    return new AdvisorSpec(this.added, this.context.with(key, value), this.where);
  }

  advisors(...advisors: readonly Advisor[]): AdvisorSpec {
    for (const advisor of advisors) checkAdvisor(advisor, `${this.where}: `);
    const added = [...this.added, ...advisors];
    orderAdvisors(added); // refuses two of one name now, not at the first call
    return new AdvisorSpec(added, this.context, this.where);
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
export function configureAdvisors(start: AdvisorSpec, parts: readonly (Advisor | AdvisorConfigurer)[], where: string): AdvisorSpec {
  return parts.reduce<AdvisorSpec>((spec, part) => {
    if (typeof part !== 'function') return spec.advisors(part);
    const next = part(spec);
    if (!(next instanceof AdvisorSpec))
      throw new InvalidArgumentError(`${where}: the function must return the spec it was given, as in (a) => a.param(key, value)`);
    return next;
  }, start);
}
