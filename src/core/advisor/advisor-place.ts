import type { Advisor } from './advisor.js';
import { checkOptions, FINITE, TEXT, type OptionRules } from '../internal/options.js';

/** Place of an advisor in the chain, as its options set it. */
export interface AdvisorPlace {
  /**
   * Name in events, errors and `explain()`; each advisor of a chain has another.
   * @default the class in kebab case, such as 'retry' for a RetryAdvisor
   */
  readonly name?: string | undefined;
  /** Position in the chain: a lower one runs first. @default a slot of AdvisorOrder */
  readonly order?: number | undefined;
}

/** Name and order of an advisor. */
export type CheckedPlace = Pick<Advisor, 'name' | 'order'>;

/** A rule for each option of an advisor besides its place. */
type OwnRules<T> = OptionRules<Omit<T, keyof AdvisorPlace>>;

/**
 * Checks the options of an advisor, and returns its place in the chain.
 * @param where begins the messages of errors
 * @throws {@link InvalidArgumentError} for the first option that breaks its rule
 */
export function placeOf<T extends AdvisorPlace>(
  where: string,
  options: T,
  rules: OwnRules<T>,
  place: CheckedPlace,
): CheckedPlace {
  const order = orderOf(where, options, { ...rules, name: TEXT }, place.order);
  return { name: options?.name ?? place.name, order };
}

/** Checks the options of an advisor with a fixed name, and returns its order. */
export function orderOf<T extends Pick<AdvisorPlace, 'order'>>(
  where: string,
  options: T,
  rules: OwnRules<T>,
  order: number,
): number {
  const all = { ...rules, order: FINITE };
  checkOptions<object>(where, options, all);
  return options?.order ?? order;
}
