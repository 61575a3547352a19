import { linked, phrasesOf, type Fact } from './offline-facts.js';
import { isUnitOf, labelOf, matchOf } from './offline-matching.js';
import type { Parameter } from './offline-parameters.js';
import type { TextValue } from './offline-values.js';
import { isStopWord, wordsOf, type Word } from './offline-words.js';

/** Where the values for a call are looked for. */
export interface Scope {
  /** The whole question. */
  readonly text: string;
  readonly facts: readonly Fact[];
  /** The part of the question that asks for the tool. */
  readonly start: number;
  readonly end: number;
  readonly isToolWord: (stem: string) => boolean;
  /** Parameters of other tools that are asked for too: what is labelled for them is not for this one. */
  readonly rivals: readonly Parameter[];
  /** Whether words that are no clear value may be taken for a text parameter. */
  readonly mayQuote: (words: string) => boolean;
}

/** A parameter with the values that it may get. */
export interface Assignment {
  readonly parameter: Parameter;
  readonly facts: readonly Fact[];
  readonly score: number;
}

/** A value from another part of the question is worth less. */
const ELSEWHERE = 1.5;
/** What a value must reach to be taken for a parameter. */
const REQUIRED = 1;
const OPTIONAL = 3.5;

/** Words of the part that may be meant as values. */
export function phrasesIn(parameters: readonly Parameter[], { text, facts, isToolWord, start, end }: Scope): readonly Fact[] {
  const named = new Set(parameters.flatMap((parameter) => parameter.stems));
  const phrases = phrasesOf(text, facts, (stem) => isToolWord(stem) || named.has(stem)).filter(
    (fact) => start <= fact.start && fact.end <= end,
  );
  // the only words that are left are meant, with a preposition or without: `weather paris`
  return phrases.length === 1 && facts.length === 0 ? phrases.map((fact) => ({ ...fact, preposition: fact.preposition || 'of' })) : phrases;
}

/** What a parameter may get, as far as it is good enough. */
export function candidatesFor(parameter: Parameter, facts: readonly Fact[], scope: Scope): readonly Assignment[] {
  const { choices } = parameter.items ?? parameter;
  const values = choices.length > 0 ? choicesIn(choices, scope.text) : facts;
  const picks = parameter.type === 'array' ? arraysFor(parameter, values, scope) : scalarsFor(parameter, values, scope);
  const least = parameter.required ? REQUIRED : OPTIONAL;
  return picks.filter((pick) => pick.score >= least);
}

function scalarsFor(parameter: Parameter, facts: readonly Fact[], scope: Scope): readonly Assignment[] {
  return facts.map((fact) => ({ parameter, facts: [fact], score: scoreOf(parameter, fact, scope) }));
}

function arraysFor(parameter: Parameter, facts: readonly Fact[], scope: Scope): readonly Assignment[] {
  const { items } = parameter;
  const whole = facts
    .filter((fact) => fact.kind === 'json' && Array.isArray(fact.value))
    .map((fact) => ({ parameter, facts: [fact], score: 4 + labelOf(parameter, fact) - (isOwn(fact, scope) ? 0 : ELSEWHERE) }));
  if (!items || items.type === 'object' || items.type === 'array') return whole;
  const groups = new Map<number, Fact[]>();
  for (const fact of facts) {
    const key = fact.kind === 'choice' ? -1 : fact.group;
    if (!fact.isTail && scoreOf(items, fact, scope) >= REQUIRED) groups.set(key, [...(groups.get(key) ?? []), fact]);
  }
  const enumerated = [...groups.values()].map((members) => ({
    parameter,
    facts: members,
    score: Math.max(...members.map((fact) => scoreOf(items, fact, scope))) + (members.length > 1 ? 2 : 0),
  }));
  return [...whole, ...enumerated];
}

function scoreOf(parameter: Parameter, fact: Fact, scope: Scope): number {
  const match = matchOf(parameter, fact);
  if (match === 0) return 0;
  const own = labelOf(parameter, fact);
  const isTaken = (rival: Parameter): boolean =>
    (isUnitOf(rival, fact) && !isUnitOf(parameter, fact)) || (own < 2 && matchOf(rival, fact) > 0 && labelOf(rival, fact) > own + 1);
  if (scope.rivals.some(isTaken)) return 0;
  return isOwn(fact, scope) ? match : match - ELSEWHERE;
}

/** Whether a value stands in the part of the question that asks for the tool. */
export function isOwn(fact: Fact, { start, end }: Scope): boolean {
  return start <= fact.start && fact.end <= end;
}

/** Whether some values stand where others stand. */
export function overlaps(some: readonly Fact[], others: readonly Fact[]): boolean {
  return some.some((a) => others.some((b) => a.start < b.end && b.start < a.end));
}

/** The values of an enumeration that the text names. */
function choicesIn(choices: readonly unknown[], text: string): readonly Fact[] {
  const words = wordsOf(text);
  const found = choices.flatMap((choice) => placesOf(choice, words));
  return linked(
    found.sort((a, b) => a.start - b.start),
    text,
  );
}

function placesOf(choice: unknown, words: readonly Word[]): readonly TextValue[] {
  const name = String(choice);
  const wanted = wordsOf(name);
  // `in` is a preposition far more often than a unit
  if (wanted.length === 0 || (isStopWord(name) && name.length < 4)) return [];
  return words.flatMap((first, at) => {
    const last = words[at + wanted.length - 1];
    if (!last || !wanted.every((word, offset) => words[at + offset]?.stem === word.stem)) return [];
    return [{ kind: 'choice', text: name, value: choice, start: first.start, end: last.end } as const];
  });
}
