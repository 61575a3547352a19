import { describe } from '../../chat/message.js';
import type { JsonSchema } from '../../chat/tool-definition.js';
import { decodedPointer, valueAt, type SchemaChanges } from './schema-changes.js';
import { hasType, isObject } from './schema-types.js';

const MAX_CHAIN = 10;

/** A schema whose root only refers to one of its definitions, with that definition at the root. */
export function definitionAtRoot(json: JsonSchema, steps = 0): JsonSchema {
  const { $ref: reference, $defs, definitions, ...rest } = json;
  if (typeof reference !== 'string' || !/^#\/(?:\$defs|definitions)\//.test(reference) || steps > MAX_CHAIN) return json;
  const found = valueAt(json, decodedPointer(reference));
  const isAlone = Object.keys(rest).every((keyword) => ABOUT.has(keyword) || (keyword === 'type' && rest['type'] === 'object'));
  if (!isObject(found) || !isAlone) return json;
  const isUsed = JSON.stringify(found).includes('"$ref"');
  const all = { ...(isUsed && $defs !== undefined && { $defs }), ...(isUsed && definitions !== undefined && { definitions }) };
  return definitionAtRoot({ ...rest, ...found, ...all }, steps + 1);
}

const ABOUT: ReadonlySet<string> = new Set(
  '$schema $id id title description $comment default examples deprecated nullable optional strict'.split(' '),
);
const OF_OBJECTS: ReadonlySet<string> = new Set(
  (
    'properties required additionalProperties patternProperties propertyNames minProperties maxProperties ' +
    'dependentRequired dependentSchemas dependencies unevaluatedProperties'
  ).split(' '),
);
const OF_PARTS: ReadonlySet<string> = new Set('allOf anyOf oneOf $ref if $defs definitions'.split(' '));

/** A root with the type and the properties that providers want to see there. */
export function prepareRoot({ nullable, ...root }: JsonSchema, changes: SchemaChanges): JsonSchema {
  if (nullable !== undefined) changes.advice('#/nullable', 'arguments are an object, never null', 'left it out');
  const type = (root['type'] ?? undefined) === undefined ? typeOfRoot(root, changes) : {};
  const whole = { ...type, ...root, ...type };
  return '$ref' in root ? whole : withProperties(whole, changes);
}

function typeOfRoot(root: JsonSchema, changes: SchemaChanges): JsonSchema {
  const keywords = Object.keys(root).filter((keyword) => keyword !== 'type' && !ABOUT.has(keyword));
  if (keywords.length > 0 && !keywords.some((keyword) => OF_OBJECTS.has(keyword) || OF_PARTS.has(keyword)))
    return changes.refuse('#', `its root has neither a type nor properties, only ${keywords.slice(0, 5).map(describe).join(', ')}`);
  changes.advice('#', 'its root has no type', 'made it an object');
  return { type: 'object' };
}

function withProperties(root: JsonSchema, changes: SchemaChanges): JsonSchema {
  if ((root['properties'] ?? undefined) !== undefined) return root;
  changes.advice('#', 'its root has no properties', 'added that there are none');
  return { ...root, properties: {} };
}

/** A root that is an object in a roundabout way, as one; what else it says has to be looked at again then. */
export function objectAtRoot(schema: JsonSchema, changes: SchemaChanges): JsonSchema {
  const root = definitionAtRoot(schema);
  if (root !== schema) changes.advice('#', 'its root only refers to a definition', 'put the definition there');
  const { type } = root;
  if (type === 'object' || !hasType({}, type)) return root;
  changes.advice('#/type', `arguments must be an object, not ${JSON.stringify(type) ?? 'anything'}`, 'made it "object"');
  return { ...root, type: 'object' };
}

/** The arguments of a tool are an object: refuses what can be none, and gives the rest properties. */
export function finishRoot(draft: JsonSchema, changes: SchemaChanges): JsonSchema {
  const { type } = draft;
  if (type !== 'object')
    changes.refuse('#', `arguments must be an object (type "object" at the root), the schema has ${JSON.stringify(type)}`);
  for (const keyword of ['anyOf', 'oneOf', 'allOf'] as const) {
    const branches = (draft[keyword] ?? [{}]) as readonly unknown[];
    if (!branches[keyword === 'allOf' ? 'every' : 'some'](admitsObject)) changes.refuse(`#/${keyword}`, 'arguments must be an object');
  }
  return withProperties(draft, changes);
}

function admitsObject(schema: unknown): boolean {
  return isObject(schema) ? hasType({}, schema['type']) : schema === true;
}
