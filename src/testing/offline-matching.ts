import type { Fact } from './offline-facts.js';
import type { Parameter, Sense } from './offline-parameters.js';
import { isoDate, type ValueKind } from './offline-values.js';
import { isVague } from './offline-words.js';

type Suits = Readonly<Partial<Record<ValueKind, number>>>;

/** How well a kind of value suits a text parameter; a kind that is absent does not. */
const SUITS: Readonly<Record<Sense, Suits>> = {
  place: { name: 3, quoted: 2.5, code: 1, phrase: 0.5 },
  date: { date: 4, number: 0.8, quoted: 1.5, time: 1 },
  time: { time: 4, quoted: 1.5, date: 1.2, number: 0.5 },
  email: { email: 5, quoted: 1, name: 0.8 },
  url: { url: 5, quoted: 2, path: 1 },
  path: { path: 4, quoted: 3, code: 2, url: 2, name: 1 },
  id: { code: 3.5, quoted: 3, number: 2.5, name: 1.5, phrase: 0.6 },
  person: { quoted: 3, name: 3, code: 1.5, email: 1, phrase: 0.8 },
  text: { quoted: 4, expression: 3 },
  plain: { quoted: 2.5, expression: 2.2, name: 2, code: 2, phrase: 1.4, path: 1, url: 1, email: 3, number: 0.2, date: 0.4, time: 0.4 },
};
const ANY: Suits = {
  json: 3,
  quoted: 2.5,
  expression: 2,
  code: 2.2,
  name: 1.8,
  number: 1.8,
  path: 1.5,
  url: 1.5,
  email: 1.5,
  date: 1.5,
  phrase: 1,
};
const NUMBER: Suits = { number: 2 };

const ORIGIN = /\b(?:from|origin|source|start|starting|departure|depart|begin|since|check ?in|min|lower)/i;
const TARGET = /\b(?:to|dest|destination|target|end|ending|arrival|arrive|until|finish|check ?out|max|upper)/i;

/** How well a value suits a parameter by its kind and the words around it; 0 if it cannot be meant. */
export function matchOf(parameter: Parameter, fact: Fact): number {
  if (fact.kind === 'choice') return 6;
  const suits = suitOf(parameter, fact);
  if (suits === 0) return 0;
  return Math.max(0, suits + labelOf(parameter, fact) + directionOf(parameter, fact) - (fact.isUncertain ? 2 : 0) - (fact.isTail ? 1 : 0));
}

function suitOf(parameter: Parameter, fact: Fact): number {
  switch (parameter.type) {
    case 'number':
      return NUMBER[fact.kind] ?? 0;
    case 'integer':
      if (fact.kind === 'date' && parameter.stems.includes('year') && /\d{4}/.test(fact.text)) return 1.5;
      return Number.isInteger(fact.value) ? (NUMBER[fact.kind] ?? 0) : (NUMBER[fact.kind] ?? 0) / 4;
    case 'string':
      if (IS_ID.test(parameter.name) && (fact.kind === 'name' || fact.kind === 'phrase') && !fact.before.includes('id')) return 0;
      return (SUITS[parameter.sense][fact.kind] ?? 0) + (isSymbol(parameter, fact) ? 2 : 0);
    case 'any':
      return ANY[fact.kind] ?? 0;
    case 'object':
      return fact.kind === 'json' && !Array.isArray(fact.value) ? 4 : 0;
    default:
      return 0;
  }
}

/** A name is no id, but `id anna` is. */
const IS_ID = /(?:^|_|[a-z])(?:ids?|Ids?|ID|uuid)$/;

/** `EUR` or `AAPL` for a code. */
function isSymbol(parameter: Parameter, fact: Fact): boolean {
  return /^[A-Z]{2,5}$/.test(fact.text) && (parameter.sense === 'id' || parameter.stems.includes('currenci'));
}

/** Whether a number stands before the word for a parameter: `3 nights`. */
export function isUnitOf({ stems }: Parameter, { kind, after }: Fact): boolean {
  return kind === 'number' && stems.some((stem) => after.includes(stem));
}

/** What the words beside a value say for a parameter: `radius of 4`, `3 nights`. */
export function labelOf({ stems, hints }: Parameter, { kind, before, after }: Fact): number {
  const count = (own: readonly string[], words: readonly string[]): number =>
    own.reduce((sum, stem) => sum + (words.includes(stem) ? (isVague(stem) ? 0.4 : 1) : 0), 0);
  const beside = before.findLast((word) => !JOINING.has(word)) ?? '';
  // a number belongs to the words around it, a name only to the word beside it
  const label = kind === 'number' ? before.slice(-4) : [beside];
  const name = Math.min(1.5, count(stems, label)) * 3 + Math.min(1, count(stems, after)) * 2.5;
  const described = (Math.min(2, count(hints, label)) + Math.min(1, count(hints, after))) * 0.6;
  return name + described + (stems.includes(beside) ? 1 : 0) - (name > 0 ? 0.1 * stems.length : 0);
}

/** Stems that may stand between a label and its value: `the city of Oslo`, `a file called …`. */
const JOINING: ReadonlySet<string> = new Set('of is ar the a an at to with for in on call nam equal as be by wa'.split(' '));

function directionOf(parameter: Parameter, { kind, preposition }: Fact): number {
  const words = parameter.name.replaceAll(/([a-z])([A-Z])/g, '$1 $2').replaceAll(/[_-]/g, ' ');
  if (preposition === 'from' || preposition === 'since') return ORIGIN.test(words) ? 3 : TARGET.test(words) ? -3 : -0.3;
  if (preposition === 'to' || preposition === 'into' || preposition === 'until')
    return TARGET.test(words) ? 3 : ORIGIN.test(words) ? -3 : 0;
  if (parameter.sense === 'place')
    return /^(?:in|at|near|around)$/.test(preposition) ? 1 : kind === 'phrase' && preposition !== '' ? 0.6 : 0;
  if (parameter.sense === 'person') return /^(?:by|with|for|of)$/.test(preposition) ? 0.5 : 0;
  return kind === 'name' && preposition !== '' ? 0.3 : 0;
}

/** A value in the form that a parameter wants. */
export function convert(parameter: Parameter, fact: Fact, tail: Fact | undefined, text: string): unknown {
  const { type, schema, description } = parameter;
  if (fact.kind === 'choice') return fact.value;
  if (type === 'integer' && fact.kind === 'date') return Number(/\d{4}/.exec(fact.text)?.[0]);
  if (type === 'number' || type === 'integer') return toNumber(parameter, fact);
  if (type !== 'string') return fact.value;
  if (fact.kind === 'date' && (schema['format'] === 'date' || /\byyyy-mm-dd\b/i.test(description))) return isoDate(fact.text) ?? fact.text;
  if (fact.kind === 'number' && parameter.sense !== 'id' && fact.after[0] !== undefined) return withUnit(fact, text);
  return tail ? `${fact.text}, ${tail.text}` : fact.text.replace(/^#(?=\p{N})/u, '');
}

/** `2 weeks` where a text is wanted. */
function withUnit({ start, end }: Fact, text: string): string {
  return text.slice(start, end) + (/^\s?[\p{L}°%]+/u.exec(text.slice(end))?.[0] ?? '');
}

function toNumber({ name, type, description, schema }: Parameter, { value, text }: Fact): number {
  const number = value as number;
  const isShare = text.endsWith('%') && (schema['maximum'] === 1 || !/percent|%/i.test(`${name} ${description}`));
  return type === 'number' && isShare ? Number((number / 100).toPrecision(12)) : number;
}
