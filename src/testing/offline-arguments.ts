import { candidatesFor, isOwn, overlaps, phrasesIn, type Assignment, type Scope } from './offline-candidates.js';
import type { Fact } from './offline-facts.js';
import { convert, matchOf } from './offline-matching.js';
import type { Parameter } from './offline-parameters.js';
import { remainderOf, saysYes } from './offline-wording.js';

/** Arguments of a call, by name. */
export type Arguments = Readonly<Record<string, unknown>>;

/** Arguments as far as a text names them. */
export interface Draft {
  readonly args: Arguments;
  /** Required parameters without a value. */
  readonly missing: readonly Parameter[];
  /** Whether the part that asks for the tool gave a value. */
  readonly isOwn: boolean;
}

const MAX_CALLS = 20;

/** Calls of one tool: more than one if the text names several values for the same parameter. */
export function fillArguments(parameters: readonly Parameter[], scope: Scope): readonly Draft[] {
  const facts = [...scope.facts, ...phrasesIn(parameters, scope)];
  const picks = choosePicks(parameters, facts, scope);
  const drafts = [toDraft(parameters, picks, scope)];
  const used = picks.flatMap((pick) => pick.facts);
  for (let next = repeated(picks, facts, used, scope); next && drafts.length < MAX_CALLS; next = repeated(picks, facts, used, scope)) {
    used.push(...next.flatMap((pick) => pick.facts));
    drafts.push(toDraft(parameters, next, scope));
  }
  return drafts;
}

/** The best pairs of parameter and value, each value used once. */
function choosePicks(parameters: readonly Parameter[], facts: readonly Fact[], scope: Scope): readonly Assignment[] {
  const candidates = parameters.flatMap((parameter) => candidatesFor(parameter, facts, scope));
  // stable: equal ones stay in the order of parameters, then of the text
  candidates.sort((a, b) => b.score - a.score || Number(b.parameter.required) - Number(a.parameter.required));
  const picks: Assignment[] = [];
  for (const candidate of candidates) {
    if (picks.some((pick) => pick.parameter === candidate.parameter || overlaps(pick.facts, candidate.facts))) continue;
    picks.push(candidate);
  }
  return picks;
}

/** The same call again for further values of the same kind; undefined if there are none. */
function repeated(
  picks: readonly Assignment[],
  facts: readonly Fact[],
  used: readonly Fact[],
  scope: Scope,
): readonly Assignment[] | undefined {
  const taken = [...used];
  const next = picks.map((pick) => {
    const [model] = pick.facts;
    if (model === undefined || pick.parameter.type === 'array') return pick;
    const other = facts.find(
      (fact) => !fact.isTail && isOwn(fact, scope) && !overlaps(taken, [fact]) && isAlike(pick.parameter, model, fact),
    );
    if (!other) return pick;
    taken.push(other);
    return { ...pick, facts: [other] };
  });
  return next.some((pick, at) => pick !== picks[at]) ? next : undefined;
}

/** Whether two values play the same part in a text: members of an enumeration, or introduced by the same words. */
function isAlike(parameter: Parameter, model: Fact, other: Fact): boolean {
  if (model.kind !== other.kind || other.start < model.start || other.isUncertain) return false;
  if (model.group === other.group) return true;
  if (matchOf(parameter, other) < matchOf(parameter, model) - 0.5) return false;
  const label = (fact: Fact): string => fact.before.findLast((stem) => parameter.stems.includes(stem)) ?? '';
  if (model.kind === 'number') return label(model) !== '' && label(model) === label(other);
  return model.kind !== 'phrase' && model.preposition !== '' && model.preposition === other.preposition;
}

function toDraft(parameters: readonly Parameter[], picks: readonly Assignment[], scope: Scope): Draft {
  const args: Record<string, unknown> = {};
  const missing: Parameter[] = [];
  for (const parameter of parameters) {
    const pick = picks.find((one) => one.parameter === parameter);
    const value = pick ? valueOf(pick, picks, scope) : withoutPick(parameter, picks, scope);
    if (value !== undefined) args[parameter.name] = value;
    else if (parameter.required) missing.push(parameter);
  }
  return { args, missing, isOwn: picks.some((pick) => pick.facts.some((fact) => isOwn(fact, scope))) };
}

function valueOf({ parameter, facts }: Assignment, picks: readonly Assignment[], scope: Scope): unknown {
  const [first] = facts;
  if (first === undefined) return undefined;
  const tailOf = (fact: Fact): Fact | undefined => {
    const next = scope.facts[scope.facts.indexOf(fact) + 1];
    return next?.isTail && scope.facts.includes(fact) && !picks.some((pick) => pick.facts.includes(next)) ? next : undefined;
  };
  if (parameter.type !== 'array') return convert(parameter, first, tailOf(first), scope.text);
  if (first.kind === 'json') return first.value;
  return facts.map((fact) => convert(parameter.items as Parameter, fact, tailOf(fact), scope.text));
}

function withoutPick(parameter: Parameter, picks: readonly Assignment[], scope: Scope): unknown {
  if (parameter.type === 'boolean') return saysYes(parameter, scope) ?? (parameter.required ? (parameter.default ?? false) : undefined);
  if (!parameter.required) return undefined;
  if (parameter.default !== undefined && parameter.default !== null) return parameter.default;
  if (parameter.choices.length === 1) return parameter.choices[0];
  if (parameter.type === 'object' && parameter.properties.length > 0) return insideOf(parameter, picks, scope);
  return parameter.type === 'string' && parameter.sense === 'text' ? remainderOf(picks, scope) : undefined;
}

function insideOf(parameter: Parameter, picks: readonly Assignment[], scope: Scope): Arguments | undefined {
  const free = scope.facts.filter((fact) => !picks.some((pick) => overlaps(pick.facts, [fact])));
  const [draft] = fillArguments(parameter.properties, { ...scope, facts: free });
  return draft && draft.missing.length === 0 && Object.keys(draft.args).length > 0 ? draft.args : undefined;
}
