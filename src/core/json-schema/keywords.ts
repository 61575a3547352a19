import type { JsonSchema } from '../chat/tool-definition.js';
import { findDuplicate, includes, isEqual, PER_NAME } from './compare-values.js';
import { evaluatedKeys } from './evaluated-keys.js';
import type { Issues, Scope } from './issues.js';
import { issue, issuesAt, issuesOfEach, NONE, under } from './issues.js';
import { listOf } from './json-pointer.js';
import { ITEM_LIMITS, NUMBER_LIMITS, PROPERTY_LIMITS, TEXT_LIMITS } from './limits.js';
import { hasType, typeOfValue } from './normalize/type-names.js';

/** The check of a value by one keyword of a schema, whose value is `rule`. */
type Check<T = unknown> = (value: T, rule: unknown, scope: Scope, schema: JsonSchema) => Issues;
type Checks<T = unknown> = Readonly<Record<string, Check<T>>>;
type List = readonly unknown[];

const GENERAL: Checks = {
  $ref: (value, reference, scope) => scope.issuesByReference(reference, value),
  type: (value, types) => (hasType(value, types) ? NONE : issue(() => wrongType(value, types))),
  const: (value, constant, { steps }) =>
    isEqual(value, constant, steps)
      ? NONE
      : issue(() => `Instance does not match ${jsonOf(constant)}.`),
  enum: (value, constants, { steps }) =>
    includes(listOf(constants), value, steps)
      ? NONE
      : issue(() => `Instance does not match any of ${jsonOf(constants)}.`),
  not: (value, schema, scope) =>
    scope.isValid(schema, value) ? issue(() => 'Instance matched "not" schema.') : NONE,
  anyOf: (value, branches, scope) => {
    const all: Issues[] = [];
    for (const branch of listOf(branches)) {
      const issues = scope.issuesOf(branch, value);
      if (issues === NONE) return NONE;
      all.push(issues);
    }
    return [...issue(() => 'Instance does not match any subschemas.'), ...all.flat()];
  },
  allOf: (value, branches, scope) =>
    issuesOfEach(listOf(branches), (branch) => scope.issuesOf(branch, value)),
  oneOf: (value, branches, scope) => {
    const all = listOf(branches).map((branch) => scope.issuesOf(branch, value));
    const matches = all.filter((issues) => issues === NONE).length;
    if (matches === 1) return NONE;
    const problem = `Instance does not match exactly one subschema (${matches} matches).`;
    return [...issue(() => problem), ...all.flat()];
  },
  if: (value, condition, scope, schema) => {
    const branch = scope.isValid(condition, value) ? 'then' : 'else';
    if (!(branch in schema)) return NONE;
    const issues = scope.issuesOf(schema[branch], value);
    return under(`Instance does not match "${branch}" schema.`, issues);
  },
};

const OF_OBJECTS: Checks<JsonSchema> = {
  ...PROPERTY_LIMITS,
  required: (object, names, { steps }) => {
    const required = listOf(names);
    steps.take(required.length * PER_NAME);
    let all = NONE;
    for (const name of required) {
      if (Object.hasOwn(object, name as string)) continue;
      const text = (): string => `Instance does not have required property "${String(name)}".`;
      all = [...all, ...issue(text)];
    }
    return all;
  },
  propertyNames: (object, schema, scope) =>
    issuesOfEach(Object.keys(object), (name) => {
      const issues = issuesAt(name, scope.issuesOf(schema, name));
      return under(`Property name "${name}" does not match schema.`, issues);
    }),
  dependentRequired: (object, names) =>
    issuesOfDependent(object, names, (name, required) =>
      issuesOfEach(listOf(required), (other) =>
        Object.hasOwn(object, other as string)
          ? NONE
          : issue(() => `Instance has "${name}" but does not have "${String(other)}".`),
      ),
    ),
  dependentSchemas: (object, schemas, scope) =>
    issuesOfDependent(object, schemas, (name, schema) =>
      under(
        `Instance has "${name}" but does not match dependent schema.`,
        scope.issuesOf(schema, object),
      ),
    ),
  properties: (object, properties, scope) => {
    const schemas = properties as JsonSchema;
    let all = NONE;
    for (const name in schemas) {
      scope.steps.take(PER_NAME);
      if (!Object.hasOwn(object, name)) continue;
      const issues = scope.issuesOf(schemas[name], object[name]);
      if (issues !== NONE) all = [...all, ...issuesAt(name, issues)];
    }
    return all;
  },
  additionalProperties: (object, schema, scope, { properties = {} }) => {
    let all = NONE;
    for (const name in object) {
      if (Object.hasOwn(properties as JsonSchema, name)) continue;
      const issues = scope.issuesOf(schema, object[name]);
      if (issues !== NONE) all = [...all, ...issuesAt(name, issues)];
    }
    return all;
  },
  unevaluatedProperties: (object, rule, scope, schema) => {
    const others = { ...schema, unevaluatedProperties: undefined };
    const evaluated = new Set(evaluatedKeys(others, object, scope));
    return issuesOfEach(Object.keys(object), (name) =>
      evaluated.has(name) ? NONE : issuesAt(name, scope.issuesOf(rule, object[name])),
    );
  },
};

const OF_LISTS: Checks<List> = {
  ...ITEM_LIMITS,
  prefixItems: (list, schemas, scope) =>
    issuesOfEach(listOf(schemas).slice(0, list.length), (schema, at) =>
      issuesAt(at, scope.issuesOf(schema, list[at])),
    ),
  items: (list, schema, scope, { prefixItems }) => {
    const start = listOf(prefixItems).length;
    return issuesOfEach(list, (item, at) =>
      at < start ? NONE : issuesAt(at, scope.issuesOf(schema, item)),
    );
  },
  contains: (list, schema, scope, { minContains = 1, maxContains = Infinity }) => {
    const found = list.filter((item) => scope.isValid(schema, item)).length;
    if (found >= Number(minContains) && found <= Number(maxContains)) return NONE;
    const bounds = `${String(minContains)} to ${String(maxContains)}`;
    return issue(() => `Array must contain ${bounds} items that match a schema, not ${found}.`);
  },
  unevaluatedItems: (list, rule, scope, schema) => {
    const others = { ...schema, unevaluatedItems: undefined };
    const evaluated = new Set(evaluatedKeys(others, list, scope));
    return issuesOfEach(list, (item, at) =>
      evaluated.has(`${at}`) ? NONE : issuesAt(at, scope.issuesOf(rule, item)),
    );
  },
  uniqueItems: (list, rule, { steps }) => {
    const places = rule === true ? findDuplicate(list, steps) : undefined;
    return places ? issue(() => `Duplicate items at indexes ${places.join(' and ')}.`) : NONE;
  },
};

function issuesOfDependent(
  object: JsonSchema,
  rules: unknown,
  issuesOf: (name: string, rule: unknown) => Issues,
): Issues {
  return issuesOfEach(Object.entries(rules as JsonSchema), ([name, rule]) =>
    Object.hasOwn(object, name) ? issuesOf(name, rule) : NONE,
  );
}

function wrongType(value: unknown, types: unknown): string {
  const type = typeof value === 'number' ? 'number' : typeOfValue(value);
  return `Instance type "${type}" is invalid. Expected "${[types].flat().join('", "')}".`;
}

function jsonOf(constants: unknown): string {
  return JSON.stringify(constants);
}

/** The only kind of value that a keyword is about. */
type Kind = 'object' | 'array' | 'number' | 'string' | undefined;

interface Keyword {
  readonly kind: Kind;
  readonly check: Check<never>;
  /** Issues of lower ranks come first. */
  readonly rank: number;
}

function keywordsOf(kind: Kind, checks: Checks<never>): [string, Omit<Keyword, 'rank'>][] {
  return Object.entries(checks).map(([name, check]) => [name, { kind, check }]);
}

const ALL = [
  ...keywordsOf(undefined, GENERAL),
  ...keywordsOf('object', OF_OBJECTS),
  ...keywordsOf('array', OF_LISTS),
  ...keywordsOf('number', NUMBER_LIMITS),
  ...keywordsOf('string', TEXT_LIMITS),
];

export const KEYWORDS: ReadonlyMap<string, Keyword> = new Map(
  ALL.map(([name, keyword], rank) => [name, { ...keyword, rank }]),
);
