import { orderAdvisors } from './advisor-chain.js';
import { wrapsRest, type Advisor, type AdvisorTrait } from './advisor.js';

/** The resolved chain as data; `toString()` formats it as text. */
export interface ChainExplanation {
  /** Names of the advisors that run once per turn, in order. */
  readonly oncePerTurn: readonly string[];
  /** Name of the advisor that runs tools, if there is one. */
  readonly toolLoop: string | undefined;
  /** Names of the advisors that run once per iteration, in order; empty without a tool loop. */
  readonly oncePerIteration: readonly string[];
  /** Names of the advisors that wrap each tool call, outermost first. */
  readonly aroundToolCalls: readonly string[];
  /** Known hazards of this arrangement. */
  readonly warnings: readonly string[];
  toString(): string;
}

/** Describes which advisors run for a request, and in which order. */
export function explainChain(advisors: readonly Advisor[]): ChainExplanation {
  const ordered = orderAdvisors(advisors);
  const loopAt = ordered.findIndex((advisor) => advisor.role === 'tool-loop');
  const [left, right] =
    loopAt < 0 ? [ordered, []] : [ordered.slice(0, loopAt), ordered.slice(loopAt + 1)];
  const explanation = {
    oncePerTurn: namesOf(left.filter(wrapsRest)),
    toolLoop: ordered[loopAt]?.name,
    oncePerIteration: namesOf(right.filter(wrapsRest)),
    aroundToolCalls: loopAt < 0 ? [] : namesOf(ordered.filter(wrapsToolCalls)),
    warnings: warningsOf(ordered, loopAt),
  };
  return Object.defineProperty(explanation, 'toString', { value: () => format(explanation) });
}

const namesOf = (advisors: readonly Advisor[]): readonly string[] =>
  advisors.map(({ name }) => name);
const wrapsToolCalls = (advisor: Advisor): boolean => advisor.adviseToolCall !== undefined;

/** Members that the library's own advisors have in these roles. */
type KnownAdvisor = Advisor & {
  readonly keepsHistory?: boolean;
  readonly storesToolMessages?: boolean;
};

function warningsOf(ordered: readonly KnownAdvisor[], loopAt: number): readonly string[] {
  return [...warningsOfRoles(ordered, loopAt), ...warningsOfTraits(ordered, loopAt)];
}

function warningsOfRoles(ordered: readonly KnownAdvisor[], loopAt: number): readonly string[] {
  const loop = ordered[loopAt];
  const inside = loop ? ordered.slice(loopAt + 1) : [];
  const memory = inside.find((advisor) => advisor.role === 'chat-memory');
  const search = ordered.find((advisor, at) => advisor.role === 'tool-search' && at > loopAt);
  const unusedToolWrapper = loop ? undefined : ordered.find(wrapsToolCalls);
  const warnings = [
    memory &&
      loop?.keepsHistory &&
      `"${memory.name}" is inside the tool loop while the loop keeps its own history: messages are sent twice; set keepHistory: false`,
    loop?.keepsHistory === false &&
      !memory &&
      `"${loop.name}" keeps no history and no memory is inside it: the model forgets the question; leave keepHistory true`,
    memory?.storesToolMessages === false &&
      `"${memory.name}" is inside the tool loop, but its store drops tool messages: the model asks for the same tools again and again`,
    search &&
      `"${search.name}" is not left of a tool loop: what it finds cannot be called; give it a lower order, or add the loop`,
    unusedToolWrapper &&
      `"${unusedToolWrapper.name}" wraps tool calls, but the chain has no tool loop: it never runs`,
  ];
  return warnings.filter((warning) => typeof warning === 'string');
}

function warningsOfTraits(ordered: readonly Advisor[], loopAt: number): readonly string[] {
  const those = (trait: AdvisorTrait, accepts: (advisor: Advisor, at: number) => boolean) =>
    ordered.filter((each, at) => each.traits?.includes(trait) && accepts(each, at));
  const memoryAt = ordered.findIndex(({ role }) => role === 'chat-memory');
  const [first, second] = those('rewrites-transcript', () => true);
  return [
    ...those('retries', (_, at) => at < loopAt).map(
      ({ name }) =>
        `"${name}" retries left of the tool loop: finished tools run again; give it an order above TOOL_CALLING`,
    ),
    ...those('retrieves', (_, at) => loopAt >= 0 && at > loopAt).map(
      ({ name }) =>
        `"${name}" retrieves inside the tool loop: once per model call; give it an order below TOOL_CALLING to do it once per turn`,
    ),
    ...those('limits-model-calls', (_, at) => at < loopAt).map(
      ({ name }) =>
        `"${name}" limits model calls left of the tool loop: it limits the whole turn, with the time of its tools; give it an order above TOOL_CALLING`,
    ),
    ...those('compares-model-calls', (_, at) => at < loopAt).map(
      ({ name }) =>
        `"${name}" compares model calls left of the tool loop: it sees one of each turn; give it an order above TOOL_CALLING`,
    ),
    ...those('limits-turns', (_, at) => loopAt >= 0 && at > loopAt).map(
      ({ name }) =>
        `"${name}" limits the turn inside the tool loop: each model call has the time of a turn; give it an order below TOOL_CALLING`,
    ),
    ...those('steers', (_, at) => at < loopAt).map(
      ({ name }) =>
        `"${name}" takes messages left of the tool loop: they wait for the end of the turn; give it an order above TOOL_CALLING`,
    ),
    ...those('steers', (_, at) => at > loopAt && at < memoryAt).map(
      ({ name }) =>
        `"${ordered[memoryAt]?.name}" is right of "${name}": it stores an answer that a message of the user voids; give the memory a lower order`,
    ),
    ...those('guards-input', (_, at) => memoryAt >= 0 && at > memoryAt).map(
      ({ name }) =>
        `"${ordered[memoryAt]?.name}" is left of the input guard "${name}": it stores what the guard refuses; give the guard a lower order`,
    ),
    ...those('guards-output', ({ holdDeltas }) => holdDeltas !== true).map(
      ({ name }) =>
        `"${name}" guards answers without holdDeltas: a stream shows them before it can refuse; set holdDeltas`,
    ),
    ...those('guards-output', (_, at) => at < memoryAt).map(
      ({ name }) =>
        `"${name}" guards answers left of "${ordered[memoryAt]?.name}", which stores what the guard removes; give the guard an order above MEMORY`,
    ),
    ...those('simulates-tool-calls', (_, at) =>
      ordered.slice(0, at).some(({ traits }) => traits?.includes('records-tool-calls')),
    ).map(
      ({ name }) =>
        `"${name}" simulates tool calls inside an advisor that records them: the next real turn gets the simulated results; give it a lower order`,
    ),
    ...those('selects-tools', () => ordered.some(({ role }) => role === 'tool-search')).map(
      ({ name }) =>
        `"${name}" selects tools beside a tool search: what one leaves out the other cannot find; keep one of them`,
    ),
    ...those('selects-tools', (_, at) => loopAt >= 0 && at > loopAt).map(
      ({ name }) =>
        `"${name}" selects tools inside the tool loop: once per model call; give it an order below TOOL_CALLING to do it once per turn`,
    ),
    ...(first && second
      ? [
          `"${first.name}" and "${second.name}" both rewrite the transcript: one changes what the other has written; keep one of them`,
        ]
      : []),
  ];
}

function format(explanation: Omit<ChainExplanation, 'toString'>): string {
  const { oncePerTurn, toolLoop, oncePerIteration, aroundToolCalls, warnings } = explanation;
  const inside = [...oncePerIteration, 'model'].join(' > ');
  const lines = [
    `once per turn:      ${oncePerTurn.join(' > ') || '-'}`,
    ...(toolLoop === undefined
      ? [`then:               model`]
      : [`tool loop:          ${toolLoop}`, `once per iteration: ${inside}`]),
    ...(aroundToolCalls.length > 0 ? [`around tool calls:  ${aroundToolCalls.join(' > ')}`] : []),
    ...warnings.map((warning) => `warning: ${warning}`),
  ];
  return lines.join('\n');
}
