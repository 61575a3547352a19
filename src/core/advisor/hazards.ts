import { ChainError } from '../errors/errors.js';
import type { Tool } from '../tool/tool.js';
import type { Advisor, AdvisorNeighbours, AdvisorTrait, Hazards } from './advisor.js';

/** An advisor, and those around it. */
interface Place extends AdvisorNeighbours {
  readonly name: string;
  readonly advisor: Advisor;
}

/** The first advisor with a trait. */
export const withTrait = (advisors: readonly Advisor[], trait: AdvisorTrait): Advisor | undefined =>
  advisors.find(({ traits }) => traits?.includes(trait));

/** The warnings of a place, by trait; false if the advisor does no harm there. */
const WARNINGS: Readonly<Record<AdvisorTrait, (place: Place) => Hazards[number] | Hazards>> = {
  retries: ({ name, isLeftOfLoop }) =>
    isLeftOfLoop &&
    `"${name}" retries left of the tool loop: finished tools run again; give it an order above TOOL_CALLING`,
  'guards-input': ({ name, memoryLeft }) =>
    memoryLeft !== undefined &&
    `"${memoryLeft}" is left of the input guard "${name}": it stores what the guard refuses; give the guard a lower order`,
  'guards-output': ({ name, advisor, memoryRight }) => [
    advisor.holdDeltas !== true &&
      `"${name}" guards answers without holdDeltas: a stream shows them before it can refuse; set holdDeltas`,
    memoryRight !== undefined &&
      `"${name}" guards answers left of "${memoryRight}", which stores what the guard removes; give the guard an order above MEMORY`,
  ],
  retrieves: ({ name, advisor, isInsideLoop, isDurable, memoryRight }) => [
    isInsideLoop &&
      `"${name}" retrieves inside the tool loop: once per model call; give it an order below TOOL_CALLING to do it once per turn`,
    memoryRight !== undefined &&
      `"${name}" adds documents left of "${memoryRight}", which stores them with the question; give it an order above MEMORY`,
    isDurable &&
      !advisor.traits?.includes('records-steps') &&
      `"${name}" retrieves documents in a durable turn: they are not recorded, and the turn fails when others are found; retrieve in a tool`,
  ],
  'rewrites-transcript': ({ name, left }) => {
    const first = withTrait(left, 'rewrites-transcript');
    return (
      first &&
      `"${first.name}" and "${name}" both rewrite the transcript: one changes what the other has written; keep one of them`
    );
  },
  'rewrites-question': ({ name, memoryRight }) =>
    memoryRight !== undefined &&
    `"${name}" rewrites the question left of "${memoryRight}", which stores it rewritten; give it an order above MEMORY`,
  'rewrites-answers': ({ name, isLeftOfLoop, memoryRight }) => {
    if (isLeftOfLoop)
      return `"${name}" rewrites answers left of the tool loop: the history of the turn has them as they were; give it an order above TOOL_CALLING`;
    return (
      memoryRight !== undefined &&
      `"${name}" rewrites answers left of "${memoryRight}", which stores them as they were; give it a higher order than the memory`
    );
  },
  'chooses-model': ({ name, advisor, left }) => {
    const repeating = left.find(
      ({ traits }) => traits?.includes('chooses-model') && traits.includes('retries'),
    );
    return (
      repeating &&
      !advisor.traits?.includes('retries') &&
      `"${name}" chooses the model right of "${repeating.name}", whose models are not asked; give it a lower order`
    );
  },
  'counts-model-calls': ({ name, isLeftOfLoop, left, right }) => {
    const repeating = isLeftOfLoop ? undefined : withTrait(right, 'retries'); // or `limits-model-calls` warns
    const timed = left.find(
      ({ traits }) =>
        traits?.includes('limits-model-calls') && !traits.includes('counts-model-calls'),
    );
    return [
      repeating &&
        `"${name}" counts model calls left of "${repeating.name}", which repeats them unseen; give it a higher order`,
      timed &&
        `"${name}" is right of "${timed.name}", whose timer keeps running while it waits; give it a lower order`,
    ];
  },
  'limits-model-calls': ({ name, isLeftOfLoop }) =>
    isLeftOfLoop &&
    `"${name}" limits model calls left of the tool loop: it limits the whole turn, with the time of its tools; give it an order above TOOL_CALLING`,
  'limits-turns': ({ name, isInsideLoop, isDurable }) => [
    isInsideLoop &&
      `"${name}" limits the turn inside the tool loop: each model call has the time of a turn; give it an order below TOOL_CALLING`,
    isDurable &&
      `"${name}" limits the time of a durable turn: it begins again when the turn runs again; limit it in the engine`,
  ],
  'records-tool-calls': () => false, // those around it warn
  'records-steps': () => false,
};

/** The traits that an advisor may have. */
export const TRAITS = Object.keys(WARNINGS);

/** Known hazards of the places of advisors. */
export function warningsOfPlaces(
  ordered: readonly Advisor[],
  tools: readonly Tool[] | undefined,
): readonly string[] {
  const warnings = placesOf(ordered, tools).flatMap((place) => {
    const { advisor } = place;
    const ofTraits = (advisor.traits ?? []).flatMap((trait) => WARNINGS[trait](place));
    return [...ofTraits, ...(advisor.hazards?.(place) ?? [])];
  });
  return warnings.filter((warning) => typeof warning === 'string');
}

/** @throws {@link ChainError} if an advisor cannot work in the chain */
export function checkPlaces(ordered: readonly Advisor[], tools?: readonly Tool[]): void {
  if (!ordered.some(({ problems }) => problems)) return;
  const problems = placesOf(ordered, tools).flatMap(
    (place) => place.advisor.problems?.(place) ?? [],
  );
  const problem = problems.find((each) => typeof each === 'string');
  if (problem !== undefined) throw new ChainError(problem);
}

function placesOf(
  ordered: readonly Advisor[],
  tools: readonly Tool[] | undefined,
): readonly Place[] {
  const loopAt = ordered.findIndex(({ role }) => role === 'tool-loop');
  const memoryAt = ordered.findIndex(({ role }) => role === 'chat-memory');
  const memory = ordered[memoryAt]?.name;
  const recorderAt = ordered.findIndex(({ role }) => role === 'turn-recorder');
  return ordered.map((advisor, at) => ({
    name: advisor.name,
    advisor,
    isLeftOfLoop: at < loopAt,
    isInsideLoop: loopAt >= 0 && at > loopAt,
    memoryLeft: memoryAt < at ? memory : undefined,
    memoryRight: memoryAt > at ? memory : undefined,
    isDurable: recorderAt >= 0 && recorderAt < at,
    left: ordered.slice(0, at),
    right: ordered.slice(at + 1),
    tools,
  }));
}

/** Ranks of advisors that do harm in one of their orders, within equal orders: the lower stands left. */
function rankOf({ role, traits = [] }: Advisor): number | undefined {
  if (role === 'chat-memory') return 1;
  if (traits.includes('guards-input')) return 0;
  return RIGHT_OF_MEMORY.some((trait) => traits.includes(trait)) ? 2 : undefined;
}
const RIGHT_OF_MEMORY = ['guards-output', 'rewrites-question', 'rewrites-answers'] as const;

/**
 * Sorts advisors by order. Equal orders keep their registration order, but for those with a rank, which
 * take the places of each other.
 */
export function sortByOrder(advisors: readonly Advisor[]): readonly Advisor[] {
  const sorted = [...advisors].sort((a, b) => a.order - b.order);
  const ranked = sorted
    .filter((advisor) => rankOf(advisor) !== undefined)
    .sort((a, b) => a.order - b.order || (rankOf(a) ?? 0) - (rankOf(b) ?? 0));
  let next = 0;
  return sorted.map((advisor) =>
    rankOf(advisor) === undefined ? advisor : (ranked[next++] as Advisor),
  );
}
