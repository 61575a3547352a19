import { describe } from '../../internal/text.js';
import { isPlainObject } from '../../internal/options.js';
import type { JsonSchema } from '../../chat/tool-definition.js';
import { decodeReference, valueAt } from '../json-pointer.js';
import { finishSchema } from './finish-schema.js';
import type { Draft, SchemaContext } from './schema-context.js';
import { hasType } from './type-names.js';

const ANNOTATIONS: ReadonlySet<string> = new Set(
  '$schema $id id title description $comment default examples deprecated nullable optional strict'.split(
    ' ',
  ),
);
/** Keywords of an object, or of a schema that may describe one. */
const OBJECT_KEYWORDS: ReadonlySet<string> = new Set(
  (
    'properties required additionalProperties patternProperties propertyNames minProperties maxProperties ' +
    'dependentRequired dependentSchemas dependencies unevaluatedProperties allOf anyOf oneOf $ref if $defs definitions'
  ).split(' '),
);
const MAX_CHAIN = 10;

/** Replaces a root that only refers to one of its definitions by that definition. */
export function definitionAtRoot(json: JsonSchema, steps = 0): JsonSchema {
  const { $ref: reference, ...all } = json;
  const { $defs: _defs, definitions: _definitions, ...rest } = all;
  const isReference =
    typeof reference === 'string' && /^#\/(?:\$defs|definitions)\//.test(reference);
  if (!isReference || steps > MAX_CHAIN) return json;
  const found = valueAt(json, decodeReference(reference));
  const isAlone = Object.keys(rest).every(
    (keyword) => ANNOTATIONS.has(keyword) || (keyword === 'type' && rest['type'] === 'object'),
  );
  if (!isPlainObject(found) || !isAlone) return json;
  const isUsed = JSON.stringify(found).includes('"$ref"');
  return definitionAtRoot({ ...(isUsed ? all : rest), ...found }, steps + 1);
}

/** Moves a definition to the root, and adds the type and the properties that providers require. */
export function prepareRoot(given: JsonSchema, context: SchemaContext): JsonSchema {
  const moved = definitionAtRoot(given);
  if (moved !== given)
    context.warning('its root only refers to a definition', 'moved the definition there');
  const { nullable, ...root } = moved;
  const { type, properties } = root;
  if ((nullable ?? undefined) !== undefined)
    context.child('nullable').warning('arguments are never null', 'removed it');
  if ((type ?? undefined) === undefined) checkUntyped(moved, context);
  if ((properties ?? undefined) === undefined)
    context.warning('its root has no properties', 'added an empty object of properties');
  return { ...root, type: type ?? 'object', properties: properties ?? {} };
}

function checkUntyped(root: JsonSchema, context: SchemaContext): void {
  const keywords = Object.keys(root).filter(
    (keyword) => keyword !== 'type' && !ANNOTATIONS.has(keyword),
  );
  if (keywords.length > 0 && !keywords.some((keyword) => OBJECT_KEYWORDS.has(keyword))) {
    const found = keywords.slice(0, 5).map(describe).join(', ');
    context.reject(`its root has neither a type nor properties, only ${found}`);
  }
  context.warning('its root has no type', 'made it an object');
}

/** Makes a root an object that allows others too; rejects one that allows no objects. */
export function finishRoot(draft: Draft, context: SchemaContext): void {
  const found = JSON.stringify(draft['type']) ?? 'anything';
  const mustBe = 'arguments must be an object';
  if (hasType({}, draft['type']) && draft['type'] !== 'object') {
    context.child('type').warning(`${mustBe}, not ${found}`, 'changed it to "object"');
    draft['type'] = 'object';
    finishSchema(draft, draft, context); // an enum or a default may fit the other types only
  }
  if (draft['type'] !== 'object')
    context.reject(`${mustBe} (type "object" at the root), the schema has ${found}`);
  for (const keyword of ['anyOf', 'oneOf', 'allOf'] as const) {
    const branches = (draft[keyword] ?? [{}]) as readonly unknown[];
    if (!branches[keyword === 'allOf' ? 'every' : 'some'](allowsObject))
      context.child(keyword).reject(mustBe);
  }
}

function allowsObject(schema: unknown): boolean {
  return isPlainObject(schema) ? hasType({}, schema['type']) : schema === true;
}
