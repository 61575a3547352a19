import type { Advisor, AdvisorTrait } from './advisor.js';

/** An advisor with a trait, and what it stands among. */
interface Place {
  readonly name: string;
  readonly advisor: Advisor;
  readonly ordered: readonly Advisor[];
  readonly isLeftOfLoop: boolean;
  readonly isInsideLoop: boolean;
  /** The memory of the chain, if it is on that side. */
  readonly memoryLeft: string | undefined;
  readonly memoryRight: string | undefined;
  readonly left: readonly Advisor[];
  readonly right: readonly Advisor[];
}

const withTrait = (advisors: readonly Advisor[], trait: AdvisorTrait): Advisor | undefined =>
  advisors.find(({ traits }) => traits?.includes(trait));

type Warning = string | false | undefined;

/** The warnings of a place, by trait; false if the advisor does no harm there. */
const WARNINGS: Readonly<Record<AdvisorTrait, (place: Place) => Warning | readonly Warning[]>> = {
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
  retrieves: ({ name, isInsideLoop }) =>
    isInsideLoop &&
    `"${name}" retrieves inside the tool loop: once per model call; give it an order below TOOL_CALLING to do it once per turn`,
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
  steers: ({ name, isLeftOfLoop, memoryRight }) => {
    if (isLeftOfLoop)
      return `"${name}" takes messages left of the tool loop: they wait for the end of the turn; give it an order above TOOL_CALLING`;
    return (
      memoryRight !== undefined &&
      `"${memoryRight}" is right of "${name}": it stores an answer that a message of the user voids; give the memory a lower order`
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
        `"${name}" is right of "${timed.name}", whose time goes on while it waits; give it a lower order`,
    ];
  },
  'limits-model-calls': ({ name, isLeftOfLoop }) =>
    isLeftOfLoop &&
    `"${name}" limits model calls left of the tool loop: it limits the whole turn, with the time of its tools; give it an order above TOOL_CALLING`,
  'limits-turns': ({ name, isInsideLoop }) =>
    isInsideLoop &&
    `"${name}" limits the turn inside the tool loop: each model call has the time of a turn; give it an order below TOOL_CALLING`,
  'locks-turns': ({ name, isInsideLoop, memoryLeft }) => {
    if (memoryLeft !== undefined)
      return `"${memoryLeft}" is left of "${name}": a turn reads the conversation before it has the lock; give the lock a lower order`;
    return (
      isInsideLoop &&
      `"${name}" locks the conversation inside the tool loop: other turns run between its model calls; give it an order below TOOL_CALLING`
    );
  },
  'compares-model-calls': ({ name, isLeftOfLoop }) =>
    isLeftOfLoop &&
    `"${name}" compares model calls left of the tool loop: it sees one of each turn; give it an order above TOOL_CALLING`,
  'records-tool-calls': () => false, // `simulates-tool-calls` warns
  'approves-tool-calls': ({ name, left }) => {
    const recording = withTrait(left, 'records-tool-calls');
    const timed = withTrait(left, 'limits-turns');
    return [
      recording &&
        `"${recording.name}" is left of "${name}": it gives a call its recorded result without a decision; give it a higher order`,
      timed &&
        `"${name}" is right of "${timed.name}", whose time goes on while a person decides; give the turn enough time`,
    ];
  },
  'records-turns': (place) => DURABLE_HAZARDS.map((hazard) => hazard(place)),
  'simulates-tool-calls': ({ name, left }) =>
    withTrait(left, 'records-tool-calls') &&
    `"${name}" simulates tool calls inside an advisor that records them: the next real turn gets the simulated results; give it a lower order`,
  'selects-tools': ({ name, ordered, isInsideLoop }) => [
    ordered.some(({ role }) => role === 'tool-search') &&
      `"${name}" selects tools beside a tool search: what one leaves out the other cannot find; keep one of them`,
    isInsideLoop &&
      `"${name}" selects tools inside the tool loop: once per model call; give it an order below TOOL_CALLING to do it once per turn`,
  ],
};

/** Hazards of a turn that runs again in another process. */
const DURABLE_HAZARDS: readonly ((place: Place) => Warning)[] = [
  ({ name, right }) => {
    const other = withTrait(right, 'records-turns');
    return other && `"${name}" and "${other.name}" both record the turn: keep one of them`;
  },
  ({ right }) => {
    const steering = withTrait(right, 'steers');
    return (
      steering &&
      `"${steering.name}" takes messages into a durable turn: they are not recorded, and the turn differs when it runs again; leave it out`
    );
  },
  ({ right }) => {
    const retrieving = withTrait(right, 'retrieves');
    return (
      retrieving &&
      `"${retrieving.name}" retrieves documents in a durable turn: they are not recorded, and the turn fails when others are found; retrieve in a tool`
    );
  },
  ({ right }) => {
    const lock = withTrait(right, 'locks-turns');
    return (
      lock &&
      `"${lock.name}" locks the conversation in a durable turn: one that runs again waits until the lease of the ended process is over; use the queue of the engine`
    );
  },
  ({ right }) => {
    const limit = withTrait(right, 'limits-turns');
    return (
      limit &&
      `"${limit.name}" limits the time of a durable turn: it begins again when the turn runs again; limit it in the engine`
    );
  },
  ({ advisor, ordered }) => {
    const recorder = ordered.findIndex(({ parts }) => parts?.includes(advisor));
    const cache = withTrait(ordered.slice(0, Math.max(0, recorder)), 'records-tool-calls');
    return (
      cache &&
      `"${cache.name}" keeps results of tools left of "${ordered[recorder]?.name}", which does not record what it answers; give it a higher order`
    );
  },
];

/** The traits that an advisor may have. */
export const TRAITS = Object.keys(WARNINGS);

/** Known hazards of the places of advisors with traits. */
export function warningsOfTraits(ordered: readonly Advisor[], loopAt: number): readonly string[] {
  const memoryAt = ordered.findIndex(({ role }) => role === 'chat-memory');
  const memory = ordered[memoryAt]?.name;
  const places = ordered.map((advisor, at): Place => {
    return {
      name: advisor.name,
      advisor,
      ordered,
      isLeftOfLoop: at < loopAt,
      isInsideLoop: loopAt >= 0 && at > loopAt,
      memoryLeft: memoryAt < at ? memory : undefined,
      memoryRight: memoryAt > at ? memory : undefined,
      left: ordered.slice(0, at),
      right: ordered.slice(at + 1),
    };
  });
  return places
    .flatMap((place) => (place.advisor.traits ?? []).flatMap((trait) => WARNINGS[trait](place)))
    .filter((warning) => typeof warning === 'string');
}
