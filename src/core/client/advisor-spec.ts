import { checkAdvisor, orderAdvisors } from '../advisor/advisor-chain.js';
import type { Advisor } from '../advisor/advisor.js';
import { CONTEXT_KEY, CONVERSATION_ID, ContextKey, type AdvisorContext } from '../chat/context.js';
import { InvalidArgumentError } from '../errors/errors.js';
import { BOOLEAN, checkOption, ID } from '../internal/options.js';
import { VALUE } from './text-spec.js';

const WHERE = 'advisors(…)';

/** Adds advisors and values for them; every method returns a new spec. */
export class AdvisorSpec {
  constructor(
    readonly added: readonly Advisor[],
    readonly context: AdvisorContext,
  ) {}

  /** Sets a value in the context of the request; it replaces an earlier one. */
  param<T>(key: ContextKey<T>, value: NonNullable<T>): AdvisorSpec {
    checkOption(WHERE, 'the key of a param', key, CONTEXT_KEY);
    checkOption(WHERE, `param ${key.name}`, value, VALUE);
    if (key.name === CONVERSATION_ID.name) checkOption(WHERE, `param ${key.name}`, value, ID);
    return new AdvisorSpec(this.added, this.context.with(key, value));
  }

  advisors(...advisors: readonly Advisor[]): AdvisorSpec {
    for (const advisor of advisors) checkAdvisor(advisor, WHERE);
    const added = [...this.added, ...advisors];
    orderAdvisors(added); // rejects a duplicate name now, not at the first call
    return new AdvisorSpec(added, this.context);
  }
}

/** Changes an {@link AdvisorSpec} and returns the result. */
export type AdvisorConfigurer = (spec: AdvisorSpec) => AdvisorSpec;

export type AdvisorInput = Advisor | AdvisorConfigurer;

/** Adds advisors to a spec, or applies functions to it. */
export function configureAdvisors(spec: AdvisorSpec, inputs: readonly AdvisorInput[]): AdvisorSpec {
  for (const input of inputs) {
    spec = typeof input === 'function' ? input(spec) : spec.advisors(input);
    if (!(spec instanceof AdvisorSpec))
      throw new InvalidArgumentError(
        `${WHERE}: the function must return the spec it was given, as in (a) => a.param(key, value)`,
      );
  }
  return spec;
}

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
