import { orderAdvisors } from './advisor-chain.js';
import { wrapsRest, type Advisor } from './advisor.js';
import type { Tool } from '../tool/tool.js';
import { checkPlaces, warningsOfPlaces } from './hazards.js';

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
  /** True if turns are recorded: a `DurableAdvisor` is in the chain. Not enumerable. */
  readonly isDurable: boolean;
  /** Known hazards of this arrangement. */
  readonly warnings: readonly string[];
  toString(): string;
}

/**
 * Describes which advisors run for a request, and in which order.
 * @param tools its tools; undefined if they are not known yet
 * @throws {@link ChainError} if the advisors do not form a chain
 */
export function explainChain(
  advisors: readonly Advisor[],
  tools?: readonly Tool[],
): ChainExplanation {
  const ordered = orderAdvisors(advisors);
  checkPlaces(ordered, tools);
  const loopAt = ordered.findIndex((advisor) => advisor.role === 'tool-loop');
  const [left, right] =
    loopAt < 0 ? [ordered, []] : [ordered.slice(0, loopAt), ordered.slice(loopAt + 1)];
  const explanation = {
    oncePerTurn: namesOf(left.filter(wrapsRest)),
    toolLoop: ordered[loopAt]?.name,
    oncePerIteration: namesOf(right.filter(wrapsRest)),
    aroundToolCalls: loopAt < 0 ? [] : namesOf(ordered.filter(wrapsToolCalls)),
    warnings: [...warningsOfRoles(ordered, loopAt), ...warningsOfPlaces(ordered, tools)],
  };
  const isDurable = ordered.some(({ role }) => role === 'turn-recorder');
  return Object.defineProperties(explanation as typeof explanation & { isDurable: boolean }, {
    isDurable: { value: isDurable },
    toString: { value: () => format(explanation) },
  });
}

const namesOf = (advisors: readonly Advisor[]): readonly string[] =>
  advisors.map(({ name }) => name);
const wrapsToolCalls = (advisor: Advisor): boolean => advisor.adviseToolCall !== undefined;

/** Members that the library's own advisors have in these roles. */
type KnownAdvisor = Advisor & {
  readonly keepsHistory?: boolean;
  readonly storesToolMessages?: boolean;
};

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
      `"${unusedToolWrapper.name}" wraps tool calls, but the chain has no tool loop: it never runs; add a ToolCallingAdvisor`,
  ];
  return warnings.filter((warning) => typeof warning === 'string');
}

function format(explanation: Omit<ChainExplanation, 'toString' | 'isDurable'>): string {
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
