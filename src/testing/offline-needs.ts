import type { ToolDefinition } from '../chat/tool-definition.js';
import type { Fact } from './offline-facts.js';
import type { Fit, OfflineRanking } from './offline-ranking.js';
import type { Turn } from './offline-turn.js';
import type { ValueKind } from './offline-values.js';
import { stemsOf } from './offline-words.js';

/** A part of a question that asks for a tool. */
export interface Need {
  readonly tool: ToolDefinition;
  readonly start: number;
  readonly end: number;
  /** The words that speak for the tool. */
  readonly because: ReadonlySet<string>;
}

interface Clause {
  readonly start: number;
  readonly end: number;
  readonly stems: readonly string[];
}

const END_OF_CLAUSE = /(?<=[\p{L}\p{N}"'”)]{2}[.!?;:])\s+|\n+|,\s+|,?\s+(?:and|then|but|plus|also|finally|afterwards|as well as)\s+/giu;
/** How much the fit to the whole question says about a part of it. */
const CONTEXT = 0.25;
/** A tool that fits a part of a question, but the whole of it this much worse than the best one, is met by chance. */
const CHANCE = 0.3;
/** What a part must say for a tool. */
const LEAST = 1.8;
/** What a second tool must reach in the words that do not speak for the first. */
const SECOND = 2.4;

/** What a question asks for, part by part, in order; empty if no tool fits. */
export function needsOf(
  { question, start }: Turn,
  facts: readonly Fact[],
  ranking: OfflineRanking,
  forced: ToolDefinition | boolean,
): readonly Need[] {
  const stems = cluesIn(question, facts, 0);
  const all = ranking.rank(stems);
  const wanted = all.find((fit) => fit.tool === forced);
  if (wanted) return whole(wanted, question, start);
  const needs = merged(clausesOf(question, facts, start).map((clause) => ({ clause, fits: fitsOf(clause, all, ranking) })));
  const fitting = ranking.fitting(stems);
  const [best] = fitting.length > 0 ? fitting : forced ? all : [];
  if (start > 0) return needs.length > 0 ? needs : whole(best, question, start);
  if (!best) return needs.length > 1 ? needs : [];
  return needs.length > 1 || needs[0]?.tool === best.tool ? needs : whole(best, question, start);
}

function whole(fit: Fit | undefined, question: string, start: number): readonly Need[] {
  return fit ? [{ tool: fit.tool, start, end: question.length, because: fit.because }] : [];
}

/** What some values say by their form. */
const CLUES: Readonly<Partial<Record<ValueKind, string>>> = {
  expression: 'expression arithmetic equation formula math',
  email: 'email',
  url: 'web page url',
};

/** The words of a part that may speak for a tool. */
function cluesIn(part: string, facts: readonly Fact[], start: number): readonly string[] {
  const inside = facts.filter((fact) => start <= fact.start && fact.end <= start + part.length);
  return [...new Set([...stemsOf(part), ...inside.flatMap((fact) => stemsOf(CLUES[fact.kind] ?? ''))])];
}

function clausesOf(text: string, facts: readonly Fact[], from: number): readonly Clause[] {
  const ends = [...text.matchAll(END_OF_CLAUSE)].map((match) => match.index + match[0].length).filter((end) => end > from);
  const starts = [from, ...ends];
  return starts.map((start, at) => {
    const end = starts[at + 1] ?? text.length;
    return { start, end, stems: cluesIn(text.slice(start, end), facts, start) };
  });
}

/** The tools that a part of a question asks for: the best one, and others that explain what is left. */
function fitsOf({ stems }: Clause, all: readonly Fit[], ranking: OfflineRanking): readonly Fit[] {
  const inAll = (fit: Fit): number => all.find((other) => other.tool === fit.tool)?.score ?? 0;
  const most = (all[0]?.score ?? 0) * CHANCE;
  const chosen: Fit[] = [];
  let left = stems;
  for (let least = 0; left.length > 0; least = SECOND) {
    const [best] = ranking
      .fitting(left)
      .filter((fit) => fit.score >= Math.max(LEAST, least) && inAll(fit) >= most && !chosen.some((other) => other.tool === fit.tool))
      .sort((a, b) => b.score - a.score + (inAll(b) - inAll(a)) * CONTEXT);
    if (!best) break;
    chosen.push(best);
    left = left.filter((stem) => !best.because.has(stem));
  }
  return chosen;
}

/** Parts that ask for nothing of their own belong to what was asked before; so do those that only add values to it. */
function merged(parts: readonly { readonly clause: Clause; readonly fits: readonly Fit[] }[]): readonly Need[] {
  const closed: Need[] = [];
  let open: readonly Need[] = [];
  for (const { clause, fits } of parts) {
    const news = fits.filter((fit) => !open.some((need) => need.tool === fit.tool) || namesTool(fit));
    if (news.length === 0) {
      open = open.map((need) => ({ ...need, end: clause.end }));
      continue;
    }
    closed.push(...open);
    // what comes before the first need belongs to it
    const start = closed.length === 0 ? (parts[0]?.clause.start ?? 0) : clause.start;
    open = news.map(({ tool, because }) => ({ tool, because, start, end: clause.end }));
  }
  return [...closed, ...open];
}

function namesTool({ tool, because }: Fit): boolean {
  return stemsOf(tool.name).some((stem) => because.has(stem));
}
