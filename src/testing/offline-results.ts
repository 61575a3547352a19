import type { JsonValue } from '../chat/json.js';
import type { Arguments, Draft } from './offline-arguments.js';
import { factsOf } from './offline-facts.js';
import type { Parameter } from './offline-parameters.js';
import type { AnsweredCall } from './offline-turn.js';
import { relatedStems, stemsOf } from './offline-words.js';

/** A single value of a result. */
interface Leaf {
  readonly source: AnsweredCall;
  readonly value: JsonValue;
  /** Stems of the keys that lead to it. */
  readonly keys: readonly string[];
}

type Taken = ReadonlySet<Leaf>;
type Found = { readonly value: JsonValue; readonly leaves: readonly Leaf[] } | undefined;

const NAME = 3;
const TOOL = 2;
const HINT = 0.7;
/** A lone number of a result for a number parameter whose name says nothing (`a`, `value`). */
const LONE_NUMBER = 0.5;

/** Of a result in words, so much is read. */
const MAX_LENGTH = 2_000;

/** Completes a call with values of earlier results; several calls if several results of one tool suit equally. Empty if they do not. */
export function completeFromResults(draft: Draft, results: readonly AnsweredCall[]): readonly Arguments[] {
  const calls: Arguments[] = [];
  let sources = results;
  for (;;) {
    const filled = fillFrom(draft, sources);
    if (!filled || (calls.length > 0 && !isSameKind(filled.used, results, sources))) return calls;
    calls.push({ ...draft.args, ...filled.args });
    const rest = sources.filter((source) => !filled.used.includes(source));
    if (rest.length === sources.length || !filled.used.every((used) => rest.some((source) => source.name === used.name))) return calls;
    sources = rest;
  }
}

function isSameKind(used: readonly AnsweredCall[], results: readonly AnsweredCall[], sources: readonly AnsweredCall[]): boolean {
  const names = new Set(results.filter((result) => !sources.includes(result)).map((result) => result.name));
  return used.every((source) => names.has(source.name));
}

function fillFrom(
  draft: Draft,
  sources: readonly AnsweredCall[],
): { readonly args: Arguments; readonly used: readonly AnsweredCall[] } | undefined {
  const leaves = sources.flatMap(leavesOf);
  const args: Record<string, JsonValue> = {};
  const taken = new Set<Leaf>();
  for (const parameter of draft.missing) {
    const found = valueFor(parameter, sources, leaves, taken);
    if (!found) return undefined;
    args[parameter.name] = found.value;
    for (const leaf of found.leaves) taken.add(leaf);
  }
  return { args, used: [...new Set([...taken].map((leaf) => leaf.source))] };
}

function valueFor(parameter: Parameter, sources: readonly AnsweredCall[], leaves: readonly Leaf[], taken: Taken): Found {
  switch (parameter.type) {
    case 'array':
      return parameter.items?.type === 'object' || parameter.items?.type === 'any'
        ? objectsFor(parameter, sources, leaves)
        : listFor(parameter, sources, leaves);
    case 'object':
      return objectFor(parameter, sources, leaves);
    case 'number':
    case 'integer':
      return best(parameter, leaves, taken, (leaf) => typeof leaf.value === 'number');
    case 'boolean':
      return best(parameter, leaves, taken, (leaf) => typeof leaf.value === 'boolean');
    default:
      return parameter.sense === 'text'
        ? textFor(parameter, sources, leaves)
        : (best(parameter, leaves, taken, isText) ?? textFor(parameter, sources, leaves));
  }
}

function isText({ value, keys }: Leaf): boolean {
  return keys.length > 0 && (typeof value === 'string' || typeof value === 'number');
}

function best(parameter: Parameter, leaves: readonly Leaf[], taken: Taken, suits: (leaf: Leaf) => boolean): Found {
  let found: Leaf | undefined;
  let most = 0;
  for (const leaf of leaves) {
    const score = taken.has(leaf) || !suits(leaf) ? 0 : scoreOf(parameter, leaf);
    if (score > most) [found, most] = [leaf, score];
  }
  const asText = parameter.type === 'string' && typeof found?.value === 'number' ? String(found.value) : found?.value;
  return found && { value: asText as JsonValue, leaves: [found] };
}

function scoreOf(parameter: Parameter, { source, keys, value }: Leaf): number {
  const tool = stemsOf(source.name);
  const key = share(parameter.stems, keys) * NAME;
  const named = key + share(parameter.stems, tool) * TOOL;
  if (named > 0 && (key > 0 || typeof value !== 'string')) return named + share(parameter.hints, [...keys, ...tool]) * HINT;
  const described = share(parameter.hints, keys) * HINT;
  return described > 0 ? described : typeof value === 'number' ? LONE_NUMBER : 0;
}

/** How much of the wanted stems is there, with related ones for a part. */
function share(wanted: readonly string[], there: readonly string[]): number {
  const found = wanted.map((stem) => (there.includes(stem) ? 1 : relatedStems(stem).some((other) => there.includes(other)) ? 0.6 : 0));
  return wanted.length === 0 ? 0 : found.reduce<number>((sum, one) => sum + one, 0) / Math.sqrt(wanted.length);
}

/** A list of plain values, the best one of each result. */
function listFor(parameter: Parameter, sources: readonly AnsweredCall[], leaves: readonly Leaf[]): Found {
  const items = parameter.items ?? parameter;
  const isWanted = (leaf: Leaf): boolean =>
    typeof leaf.value === (items.type === 'string' || items.type === 'any' ? 'string' : items.type === 'boolean' ? 'boolean' : 'number');
  const picked = sources.flatMap((source) => {
    const own = leaves.filter((leaf) => leaf.source === source && isWanted(leaf));
    const most = Math.max(0, ...own.map((leaf) => scoreOf(items, leaf)));
    return most === 0
      ? []
      : Array.isArray(source.value)
        ? own.filter((leaf) => scoreOf(items, leaf) === most)
        : own.filter((leaf) => scoreOf(items, leaf) === most).slice(0, 1);
  });
  return picked.length === 0 ? undefined : { value: picked.map((leaf) => leaf.value), leaves: picked };
}

/** A list of objects: the results themselves, together with what they were asked for. */
function objectsFor(parameter: Parameter, sources: readonly AnsweredCall[], leaves: readonly Leaf[]): Found {
  const wanted = parameter.items?.properties ?? [];
  const chosen = relevant(parameter, sources);
  const objects = chosen.flatMap((source) => objectsOf(source).map((object) => project({ ...source.args, ...object }, wanted)));
  const whole = objects.filter((object) => object !== undefined);
  return whole.length === 0 ? undefined : { value: whole, leaves: leaves.filter((leaf) => chosen.includes(leaf.source)) };
}

function objectFor(parameter: Parameter, sources: readonly AnsweredCall[], leaves: readonly Leaf[]): Found {
  const list = objectsFor({ ...parameter, items: parameter }, sources, leaves);
  const [first] = (list?.value ?? []) as readonly JsonValue[];
  const source = list?.leaves[0]?.source;
  return first === undefined ? undefined : { value: first, leaves: leaves.filter((leaf) => leaf.source === source) };
}

function objectsOf({ value }: AnsweredCall): readonly Readonly<Record<string, JsonValue>>[] {
  const all: readonly JsonValue[] = Array.isArray(value) ? (value as readonly JsonValue[]) : [value];
  return all.filter((one) => typeof one === 'object' && one !== null && !Array.isArray(one)) as readonly Readonly<
    Record<string, JsonValue>
  >[];
}

/** The wanted properties of an object, under the names that are wanted; the object itself if nothing certain is wanted. */
function project(object: Readonly<Record<string, JsonValue>>, wanted: readonly Parameter[]): JsonValue | undefined {
  if (wanted.length === 0) return object;
  const projected: Record<string, JsonValue> = {};
  for (const parameter of wanted) {
    const key =
      Object.keys(object).find((name) => name === parameter.name) ??
      Object.keys(object).find((name) => share(parameter.stems, stemsOf(name)) > 0);
    const value = key === undefined ? undefined : object[key];
    if (value !== undefined) projected[parameter.name] = value;
    else if (parameter.required) return undefined;
  }
  return projected;
}

/** The text of the results, for a parameter that wants text (a mail body, notes) or is named after the tool. */
function textFor(parameter: Parameter, sources: readonly AnsweredCall[], leaves: readonly Leaf[]): Found {
  const related = sources.filter((source) => share([...parameter.stems, ...parameter.hints], stemsOf(source.name)) > 0);
  if (parameter.sense !== 'text' && (parameter.sense !== 'plain' || related.length === 0)) return undefined;
  const chosen = related.length > 0 ? related : sources;
  if (chosen.length === 0) return undefined;
  return { value: chosen.map((source) => source.text).join('\n'), leaves: leaves.filter((leaf) => chosen.includes(leaf.source)) };
}

/** The results that a parameter is named after; all if none is. */
function relevant(parameter: Parameter, sources: readonly AnsweredCall[]): readonly AnsweredCall[] {
  const named = sources.filter((source) => share([...parameter.stems, ...parameter.hints], stemsOf(source.name)) > 0);
  return named.length > 0 ? named : sources;
}

function leavesOf(source: AnsweredCall): readonly Leaf[] {
  const leaves: Leaf[] = [];
  const walk = (value: JsonValue, keys: readonly string[]): void => {
    if (Array.isArray(value)) for (const item of value as readonly JsonValue[]) walk(item, keys);
    else if (typeof value === 'object' && value !== null)
      for (const [key, item] of Object.entries(value)) walk(item, [...keys, ...stemsOf(key)]);
    else leaves.push({ source, value, keys });
  };
  walk(source.value, []);
  if (typeof source.value === 'string')
    for (const fact of factsOf(source.text.slice(0, MAX_LENGTH), () => false))
      if (fact.kind === 'number') walk(fact.value as number, [...fact.before.slice(-3), ...fact.after]);
  return leaves;
}
