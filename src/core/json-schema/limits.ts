import { issue, NONE, type Issues } from './issues.js';

/** Checks of keywords whose own value is a number; another value sets no limit. */
type Limits<T> = Readonly<Record<string, (value: T, limit: unknown) => Issues>>;
type Fits = (size: number, limit: number) => boolean;

const isAtLeast: Fits = (size, limit) => size >= limit;
const isAtMost: Fits = (size, limit) => size <= limit;

export const NUMBER_LIMITS: Limits<number> = {
  minimum: ofNumber('less than', isAtLeast),
  maximum: ofNumber('greater than', isAtMost),
  exclusiveMinimum: ofNumber('less than or equal to', (value, limit) => value > limit),
  exclusiveMaximum: ofNumber('greater than or equal to', (value, limit) => value < limit),
  multipleOf: ofNumber('not a multiple of', isMultiple),
};

export const TEXT_LIMITS: Limits<string> = {
  minLength: ofText('too short', '<', isAtLeast),
  maxLength: ofText('too long', '>', isAtMost),
};

export const ITEM_LIMITS: Limits<readonly unknown[]> = {
  minItems: ofList('too few', '<', isAtLeast),
  maxItems: ofList('too many', '>', isAtMost),
};

export const PROPERTY_LIMITS: Limits<object> = {
  minProperties: ofObject('at least', isAtLeast),
  maxProperties: ofObject('at most', isAtMost),
};

function ofNumber(problem: string, fits: Fits): Limits<number>[string] {
  return (value, limit) =>
    typeof limit !== 'number' || fits(value, limit)
      ? NONE
      : issue(() => `${value} is ${problem} ${limit}.`);
}

/** Two code units of one character. */
const PAIR = /[\ud800-\udbff][\udc00-\udfff]/g;

function ofText(problem: string, sign: string, fits: Fits): Limits<string>[string] {
  return (value, limit) => {
    if (typeof limit !== 'number') return NONE;
    // a character has one or two code units: most texts need no count
    if (fits(Math.ceil(value.length / 2), limit) && fits(value.length, limit)) return NONE;
    const length = value.length - (value.match(PAIR)?.length ?? 0);
    if (fits(length, limit)) return NONE;
    return issue(() => `String is ${problem} (${length} ${sign} ${limit}).`);
  };
}

function ofList(problem: string, sign: string, fits: Fits): Limits<readonly unknown[]>[string] {
  return ({ length }, limit) =>
    typeof limit !== 'number' || fits(length, limit)
      ? NONE
      : issue(() => `Array has ${problem} items (${length} ${sign} ${limit}).`);
}

function ofObject(bound: string, fits: Fits): Limits<object>[string] {
  return (value, limit) =>
    typeof limit !== 'number' || fits(Object.keys(value).length, limit)
      ? NONE
      : issue(() => `Instance does not have ${bound} ${limit} properties.`);
}

function isMultiple(value: number, divisor: number): boolean {
  if (value % divisor === 0) return true;
  const quotient = value / divisor;
  // most decimal fractions have no exact binary form
  const rounding = Math.abs(quotient) * Number.EPSILON;
  return !Number.isInteger(divisor) && Math.abs(quotient - Math.round(quotient)) <= rounding;
}
