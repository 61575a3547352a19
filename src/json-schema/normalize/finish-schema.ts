import type { JsonSchema } from '../../chat/tool-definition.js';
import { describe } from '../../internal/text.js';
import { isPlainObject } from '../../internal/options.js';
import { jsonSchemaValidator } from '../validator.js';
import type { Draft, SchemaContext } from './schema-context.js';
import { hasType, typeOfValue } from './type-names.js';
import { booleanOf } from './value-keywords.js';

/** Normalizes the keywords that depend on others. */
export function finishSchema(source: JsonSchema, draft: Draft, context: SchemaContext): void {
  if ('properties' in draft) finishRequired(source, draft, context);
  if (Array.isArray(draft['enum'])) fitEnumToType(draft, draft['enum'], context.child('enum'));
  if (booleanOf(source['nullable']) === true) addNullType(draft);
  if (draft['type'] !== undefined && hasType([], draft['type']) && !('items' in draft)) {
    const problem = 'it is an array without "items", which providers reject';
    context.warning(problem, 'allowed items of any kind');
    draft['items'] = {};
  }
  if (!('default' in draft) || isDefaultValid(draft)) return;
  context.child('default').warning(`${describe(draft['default'])} is not valid here`, 'removed it');
  delete draft['default'];
}

/** Adds properties that are marked as required to `required`, and removes unknown ones. */
function finishRequired(source: JsonSchema, draft: Draft, context: SchemaContext): void {
  const properties = draft['properties'] as JsonSchema;
  const listed = (draft['required'] ?? []) as readonly string[];
  const isUnknown = (name: string): boolean => !Object.hasOwn(properties, name);
  const unknown = isComplete(draft, context) ? listed.filter(isUnknown) : [];
  if (unknown.length > 0) {
    const names = unknown.slice(0, 5).map(describe).join(', ');
    context.child('required').warning(`there is no property ${names}`, 'removed the name');
  }
  const given = Object.entries(source['properties'] as JsonSchema);
  const marked = given.filter(([, schema]) => isMarkedRequired(schema)).map(([name]) => name);
  const required = new Set([...listed.filter((name) => !unknown.includes(name)), ...marked]);
  if (required.size > 0 || 'required' in draft) draft['required'] = [...required];
}

function isMarkedRequired(property: unknown): boolean {
  if (!isPlainObject(property)) return false;
  return booleanOf(property['required']) === true || booleanOf(property['optional']) === false;
}

const OTHER_PROPERTIES = 'allOf anyOf oneOf $ref if patternProperties dependentSchemas'.split(' ');

/** Checks that no other keyword or schema can allow more properties. */
function isComplete(draft: Draft, context: SchemaContext): boolean {
  const isOpen = typeof draft['additionalProperties'] === 'object';
  return !context.isPart && !isOpen && !OTHER_PROPERTIES.some((keyword) => keyword in draft);
}

/** Changes the type where no value of an enum has it. */
function fitEnumToType(draft: Draft, values: readonly unknown[], at: SchemaContext): void {
  const { type } = draft;
  if (values.some((value) => hasType(value, type))) return;
  if (type === 'array' && moveToItems(draft, values))
    return at.warning('it lists items, not arrays', 'moved it to the items');
  const types = [...new Set(values.map(typeOfValue))];
  draft['type'] = types.length === 1 ? types[0] : types;
  const action = `changed the type to ${JSON.stringify(draft['type'])}`;
  at.warning(`no value has the type ${JSON.stringify(type)}`, action);
}

function moveToItems(draft: Draft, values: readonly unknown[]): boolean {
  const items = (draft['items'] ??= {});
  if (!isPlainObject(items) || 'enum' in items) return false;
  if (!values.some((value) => hasType(value, items['type']))) return false;
  delete draft['enum'];
  (items as Draft)['enum'] = values;
  return true;
}

function addNullType(draft: Draft): void {
  const { type, enum: values } = draft;
  if (type === undefined) return;
  if (!hasType(null, type)) draft['type'] = [type, 'null'].flat();
  if (Array.isArray(values) && !values.includes(null))
    draft['enum'] = [...(values as readonly unknown[]), null];
}

/** Checks a default; beside references, which are not resolved yet, only its type. */
function isDefaultValid({ default: value, ...schema }: Draft): boolean {
  if (JSON.stringify(schema).includes('"$ref"')) return hasType(value, schema['type']);
  return 'value' in jsonSchemaValidator(schema)(value);
}
