import { describe } from '../../chat/message.js';
import type { JsonSchema } from '../../chat/tool-definition.js';
import { childPath, type SchemaChanges } from './schema-changes.js';
import { flagOf, numberOf } from './schema-keywords.js';
import type { Draft, SchemaPlace } from './schema-references.js';
import { hasType, isObject, typeOfValue } from './schema-types.js';
import { jsonSchemaValidator } from './validation.js';

interface Surroundings {
  readonly place: SchemaPlace;
  readonly changes: SchemaChanges;
  /** Whether the schema has references inside, which lead nowhere yet. */
  readonly hasReferences: boolean;
}

/** Mends what only shows when all keywords of a schema are known. */
export function finishSchema(draft: Draft, source: JsonSchema, around: Surroundings): void {
  requireNames(draft, source, around);
  if (Array.isArray(draft['enum'])) fitEnum(draft, draft['enum'] as readonly unknown[], around);
  if (flagOf(source['nullable']) === true) allowNull(draft);
  if (hasType([], draft['type']) && draft['type'] !== undefined && !('items' in draft)) {
    around.changes.advice(around.place.from, 'it is an array without "items", which providers refuse', 'allowed items of any kind');
    draft['items'] = {};
  }
  if ('default' in draft) checkDefault(draft, around);
}

/** Names in `required`: those that properties claim for themselves come in, those that there are not go. */
function requireNames(draft: Draft, source: JsonSchema, { place, changes }: Surroundings): void {
  const properties = draft['properties'] as JsonSchema | undefined;
  if (!properties) return;
  const before = Array.isArray(draft['required']) ? (draft['required'] as readonly string[]) : [];
  const claimed = Object.entries(source['properties'] as JsonSchema).flatMap(([name, property]) => (claims(property) ? [name] : []));
  const unknown = isWhole(draft, place) ? before.filter((name) => !Object.hasOwn(properties, name)) : [];
  if (unknown.length > 0)
    changes.advice(
      childPath(place.from, 'required'),
      `there is no property ${unknown.slice(0, 5).map(describe).join(', ')}`,
      'left that out',
    );
  const required = new Set([...before.filter((name) => !unknown.includes(name)), ...claimed]);
  if (required.size > 0 || 'required' in draft) draft['required'] = [...required];
}

/** Whether a property says of itself that it is required. */
function claims(property: unknown): boolean {
  if (typeof property !== 'object' || property === null) return false;
  const { required, optional } = property as JsonSchema;
  return (!Array.isArray(required) && flagOf(required) === true) || flagOf(optional) === false;
}

const ELSEWHERE: readonly string[] = ['allOf', 'anyOf', 'oneOf', '$ref', 'if', 'patternProperties', 'dependentSchemas'];

/** Whether nothing else can say what properties an object has. */
function isWhole(draft: Draft, place: SchemaPlace): boolean {
  return !place.isPart && typeof draft['additionalProperties'] !== 'object' && !ELSEWHERE.some((keyword) => keyword in draft);
}

/** If no value of the enum has the type, one of the two is wrong: the type, unless all values can be read as values of it. */
function fitEnum(draft: Draft, values: readonly unknown[], { place, changes }: Surroundings): void {
  if (values.some((value) => hasType(value, draft['type']))) return;
  if (draft['type'] === 'array' && giveToItems(draft, values)) {
    changes.advice(childPath(place.from, 'enum'), 'it lists items, not arrays', 'moved it to the items');
    return;
  }
  const read = values.map((value) => readAs(value, draft['type']));
  const problem = `no value has the type ${JSON.stringify(draft['type'])}`;
  if (!read.includes(undefined) && new Set(read).size === read.length) {
    draft['enum'] = read;
    changes.advice(childPath(place.from, 'enum'), problem, `made the values ${describe(JSON.stringify(read))}`);
    return;
  }
  const types = [...new Set(values.map(typeOfValue))];
  draft['type'] = types.length === 1 ? types[0] : types;
  changes.advice(childPath(place.from, 'enum'), problem, `made the type ${JSON.stringify(draft['type'])}`);
}

function giveToItems(draft: Draft, values: readonly unknown[]): boolean {
  const items = (draft['items'] ??= {});
  if (!isObject(items) || 'enum' in items || !values.some((value) => hasType(value, items['type']))) return false;
  delete draft['enum'];
  (items as Draft)['enum'] = values;
  return true;
}

function readAs(value: unknown, type: unknown): unknown {
  if (type === 'boolean') return flagOf(value);
  if (type === 'string') return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
  const number = type === 'number' || type === 'integer' ? numberOf(value) : undefined;
  return hasType(number, type) ? number : undefined;
}

function allowNull(draft: Draft): void {
  const { type, enum: values, const: constant } = draft;
  const types: readonly unknown[] = type === undefined ? [] : [type].flat();
  if (types.length > 0 && !types.includes('null')) draft['type'] = [...types, 'null'];
  if (Array.isArray(values) && !values.includes(null)) draft['enum'] = [...(values as unknown[]), null];
  if ('const' in draft && constant !== null) {
    delete draft['const'];
    draft['enum'] = [constant, null];
  }
  if (types.length > 0) return;
  for (const keyword of ['anyOf', 'oneOf']) {
    const branches = draft[keyword] as readonly unknown[] | undefined;
    if (branches && !branches.some(allowsNull)) draft[keyword] = [...branches, { type: 'null' }];
  }
}

/** Whether a branch takes null already; of one that others make up it is not said. */
function allowsNull(branch: unknown): boolean {
  if (!isObject(branch)) return branch === true;
  if ('type' in branch) return hasType(null, branch['type']);
  return !MADE_OF_OTHERS.some((keyword) => keyword in branch) && 'value' in jsonSchemaValidator(branch)(null);
}

const MADE_OF_OTHERS: readonly string[] = ['$ref', '$dynamicRef', 'allOf', 'anyOf', 'oneOf', 'not', 'if'];

function checkDefault(draft: Draft, { place, changes, hasReferences }: Surroundings): void {
  const { default: value, ...schema } = draft;
  const fits = hasReferences ? hasType(value, draft['type']) : 'value' in jsonSchemaValidator(schema)(value);
  if (fits) return;
  delete draft['default'];
  changes.advice(childPath(place.from, 'default'), `${describe(value)} is not valid here`, 'left it out');
}
