import type { Advisor } from '../../core/advisor/advisor.js';
import { TOOL_CALLING_AUTO_REGISTER } from '../../core/client/advisor-spec.js';
import type { PromptSpec } from '../../core/client/chat-client.js';
import { describe } from '../../core/errors/describe.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import { isPlainObject } from '../../core/internal/options.js';
import type { AdvisorOverride } from './page-messages.js';

/** An advisor in place of another one; undefined for none. */
type Change = (advisor: Advisor) => Advisor | undefined;

/**
 * A spec with other advisors, also in place of the tool loop that its client adds. The client and its
 * own advisors stay unchanged.
 */
export function withAdvisors(spec: PromptSpec, change: Change): PromptSpec {
  const { advisors, params, withToolLoop } = spec.settings;
  const changed = advisors.flatMap((advisor) => change(advisor) ?? []);
  const added = params.get(TOOL_CALLING_AUTO_REGISTER)
    ? withToolLoop(changed).find((advisor) => !changed.includes(advisor))
    : undefined;
  const loop = added && change(added);
  if (loop === added) return spec.with({ advisors: changed });
  return spec.with({
    advisors: loop ? [...changed, loop] : changed,
    params: params.with(TOOL_CALLING_AUTO_REGISTER, false),
  });
}

/**
 * Applies changes of the page. An advisor with other options is made again by its constructor, so that
 * what it keeps in itself, such as a cache in memory, begins empty; stores that its options name stay.
 * @throws InvalidArgumentError that names the possible changes
 */
export function applyOverrides(
  spec: PromptSpec,
  overrides: readonly AdvisorOverride[],
  inspector: Advisor,
): PromptSpec {
  const left = new Map(overrides.map((override) => [override.name, override]));
  const names: string[] = [];
  const changed = withAdvisors(spec, (advisor) => {
    names.push(advisor.name);
    const override = left.get(advisor.name);
    if (advisor === inspector || !override) return advisor;
    left.delete(advisor.name);
    return changedAdvisor(advisor, override);
  });
  const [unknown] = left.keys();
  if (unknown === undefined) return changed;
  if (unknown === inspector.name)
    throw new InvalidArgumentError('the inspector itself cannot be changed: it records the turn');
  const possible = names.filter((name) => name !== inspector.name);
  throw new InvalidArgumentError(
    `there is no advisor "${unknown}" to change; there is ${possible.map((name) => `"${name}"`).join(', ') || 'none'}, and parts of an advisor change with it`,
  );
}

function changedAdvisor(advisor: Advisor, override: AdvisorOverride): Advisor | undefined {
  const { isPresent = true, order, options } = override;
  if (!isPresent) return undefined;
  const moves = order !== undefined && order !== advisor.order;
  const hasOptions = options !== undefined && Object.keys(options).length > 0;
  // parts have places of their own, which the constructor chooses by the order
  const isRebuilt =
    hasOptions || (moves && Boolean(advisor.parts?.length) && keepsOptions(advisor));
  const made = isRebuilt ? rebuilt(advisor, { ...options, ...(moves && { order }) }) : advisor;
  const { order: place = advisor.order } = override;
  return made.order === place ? made : withOrder(made, place);
}

/** An advisor of a class whose constructor takes options, which it keeps. */
interface Rebuildable {
  readonly options: Readonly<Record<string, unknown>>;
  readonly constructor: new (options: object) => Advisor;
}

function keepsOptions(advisor: object): advisor is Rebuildable {
  const { options, constructor } = advisor as Partial<Rebuildable>;
  return (
    isPlainObject(options) && (constructor as unknown) !== Object && (constructor?.length ?? 2) <= 1
  );
}

/** An advisor of the same class, with some options in place of its own. */
export function rebuilt(advisor: Advisor, options: object): Advisor {
  if (!keepsOptions(advisor))
    throw new InvalidArgumentError(
      `the options of "${advisor.name}" cannot be changed: it does not keep them in a field \`options\`. Change its order, or leave it out`,
    );
  const { constructor: Made } = advisor;
  try {
    return new Made({ ...advisor.options, ...options });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : describe(cause);
    throw new InvalidArgumentError(
      `"${advisor.name}" cannot be made with these options: ${reason}`,
      { cause },
    );
  }
}

/** The advisor at another place; it shares everything else with the one that it stands in place of. */
function withOrder(advisor: Advisor, order: number): Advisor {
  return Object.create(advisor, { order: { value: order, enumerable: true } }) as Advisor;
}
