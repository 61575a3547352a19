import type { JsonValue } from '../../../../core/internal/json.js';
import type { InspectedAdvisor } from '../../inspected-turn.js';
import type { AdvisorOverride, TurnToTry } from '../../page-messages.js';
import { writtenObject } from '../parts/parsed-json.js';

/** A change of an advisor, as a reader writes it. */
export interface AdvisorDraft {
  readonly isPresent: boolean;
  readonly order: string;
  /** JSON; empty for none. */
  readonly options: string;
}

/** Changes of a reader for a turn, apart from its prompt. */
export interface Variant {
  /** JSON of options of the model; empty for none. */
  readonly options: string;
  /** Advisors that differ, by name. */
  readonly advisors: Readonly<Record<string, AdvisorDraft>>;
}

export const NO_CHANGES: Variant = { options: '', advisors: {} };

/** Problems of a variant by field: `options`, or the name of an advisor. */
export type VariantProblems = Readonly<Record<string, string>>;

export type VariantPart = Pick<TurnToTry, 'options' | 'advisors'>;

export const draftOf = ({ order }: InspectedAdvisor): AdvisorDraft => ({
  isPresent: true,
  order: String(order),
  options: '',
});

/** The fields of a turn that a variant changes, or the problems of what is written. */
export function partOf(
  { options, advisors }: Variant,
  chain: readonly InspectedAdvisor[],
): { readonly part: VariantPart } | { readonly problems: VariantProblems } {
  const problems: Record<string, string> = {};
  const own = writtenObject(options);
  if ('problem' in own) problems['options'] = own.problem;
  const overrides = chain.flatMap((advisor): readonly AdvisorOverride[] => {
    const draft = advisors[advisor.name];
    if (!draft) return [];
    const override = overrideOf(advisor, draft);
    if ('problem' in override) problems[advisor.name] = override.problem;
    return 'change' in override && override.change ? [override.change] : [];
  });
  if (Object.keys(problems).length > 0) return { problems };
  const values = 'value' in own ? own.value : {};
  return {
    part: {
      ...(Object.keys(values).length > 0 && { options: values }),
      ...(overrides.length > 0 && { advisors: overrides }),
    },
  };
}

function overrideOf(
  { name, order }: InspectedAdvisor,
  draft: AdvisorDraft,
): { readonly change: AdvisorOverride | undefined } | { readonly problem: string } {
  if (!draft.isPresent) return { change: { name, isPresent: false } };
  const place = Number(draft.order);
  if (draft.order.trim() === '' || !Number.isFinite(place))
    return { problem: 'The order must be a number.' };
  const written = writtenObject(draft.options);
  if ('problem' in written) return written;
  const options: Readonly<Record<string, JsonValue>> = written.value;
  const change = {
    ...(place !== order && { order: place }),
    ...(Object.keys(options).length > 0 && { options }),
  };
  return { change: Object.keys(change).length > 0 ? { name, ...change } : undefined };
}

/** The advisors in the order that a variant gives them; ties keep their order. */
export function inOrder(
  chain: readonly InspectedAdvisor[],
  { advisors }: Variant,
): readonly InspectedAdvisor[] {
  const orderOf = ({ name, order }: InspectedAdvisor): number => {
    const written = advisors[name]?.order;
    const place = written === undefined || written.trim() === '' ? order : Number(written);
    return Number.isFinite(place) ? place : order;
  };
  return chain.toSorted((one, other) => orderOf(one) - orderOf(other));
}

/** The order that moves an advisor past its neighbour: between that one and the next. */
export function orderPast(
  chain: readonly InspectedAdvisor[],
  variant: Variant,
  name: string,
  direction: -1 | 1,
): number | undefined {
  const list = inOrder(chain, variant);
  const at = list.findIndex((each) => each.name === name);
  const orders = list.map((each) => Number(variant.advisors[each.name]?.order ?? each.order));
  const next = orders[at + direction];
  if (at < 0 || next === undefined) return undefined;
  const beyond = orders[at + 2 * direction];
  if (beyond === undefined || beyond === next) return next + direction;
  const middle = (next + beyond) / 2;
  const rounded = Math.round(middle);
  return rounded > Math.min(next, beyond) && rounded < Math.max(next, beyond) ? rounded : middle;
}
