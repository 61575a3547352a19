import { orderAdvisors } from './advisor-chain.js';
import type { Advisor } from './advisor.js';

/** A chain as it will run, as data; `toString()` prints it. */
export interface ChainExplanation {
  /** Names of the advisors that run once per turn, in order. */
  readonly oncePerTurn: readonly string[];
  /** Name of the advisor that runs tools, if there is one. */
  readonly toolLoop: string | undefined;
  /** Names of the advisors that run once per iteration, in order; without a tool loop all run once per turn. */
  readonly oncePerIteration: readonly string[];
  /** Names of the advisors that go around each tool call, outermost first. */
  readonly aroundToolCalls: readonly string[];
  /** Known hazards of this arrangement. */
  readonly warnings: readonly string[];
  toString(): string;
}

/** Says what runs for a request, and in which order. */
export function explainChain(advisors: readonly Advisor[]): ChainExplanation {
  const ordered = orderAdvisors(advisors);
  const at = ordered.findIndex((advisor) => advisor.role === 'tool-loop');
  const around = ordered.filter((advisor) => advisor.advise && advisor.role !== 'tool-loop');
  const isInside = (advisor: Advisor): boolean => at >= 0 && ordered.indexOf(advisor) > at;
  const explanation = {
    oncePerTurn: around.filter((advisor) => !isInside(advisor)).map((advisor) => advisor.name),
    toolLoop: ordered[at]?.name,
    oncePerIteration: around.filter(isInside).map((advisor) => advisor.name),
    aroundToolCalls: at < 0 ? [] : ordered.filter(wrapsToolCalls).map((advisor) => advisor.name),
    warnings: warningsOf(ordered, at),
  };
  return Object.defineProperty(explanation, 'toString', { value: () => print(explanation) });
}

function wrapsToolCalls(advisor: Advisor): boolean {
  return advisor.adviseToolCall !== undefined;
}

function warningsOf(ordered: readonly Advisor[], loopAt: number): string[] {
  const loop = ordered[loopAt] as (Advisor & { readonly keepsHistory?: boolean }) | undefined;
  const inside = loop ? ordered.slice(loopAt + 1) : [];
  const memory: (Advisor & { readonly storesToolMessages?: boolean }) | undefined = inside.find(
    (advisor) => advisor.role === 'chat-memory',
  );
  const search = ordered.findIndex((advisor) => advisor.role === 'tool-search');
  const unheard = loop ? undefined : ordered.find(wrapsToolCalls);
  return [
    ...(memory && loop?.keepsHistory
      ? [`"${memory.name}" is inside the tool loop while the loop keeps its own history: messages are sent twice; set keepHistory: false`]
      : []),
    ...(loop?.keepsHistory === false && !memory
      ? [`"${loop.name}" keeps no history and no memory is inside it: the model forgets the question; leave keepHistory true`]
      : []),
    ...(memory?.storesToolMessages === false
      ? [`"${memory.name}" is inside the tool loop, but its store drops tool messages: the model asks for the same tools again and again`]
      : []),
    ...(search >= 0 && search > loopAt
      ? [`"${ordered[search]?.name}" is not left of a tool loop: what it finds cannot be called; give it a lower order, or add the loop`]
      : []),
    ...(unheard ? [`"${unheard.name}" goes around tool calls, but the chain has no tool loop: it is never asked`] : []),
  ];
}

function print(explanation: Omit<ChainExplanation, 'toString'>): string {
  const { oncePerTurn, toolLoop, oncePerIteration, aroundToolCalls, warnings } = explanation;
  const inside = [...oncePerIteration, 'model'].join(' > ');
  const lines = [
    `once per turn:      ${oncePerTurn.join(' > ') || '-'}`,
    ...(toolLoop === undefined ? [`then:               model`] : [`tool loop:          ${toolLoop}`, `once per iteration: ${inside}`]),
    ...(aroundToolCalls.length > 0 ? [`around tool calls:  ${aroundToolCalls.join(' > ')}`] : []),
    ...warnings.map((warning) => `warning: ${warning}`),
  ];
  return lines.join('\n');
}
