import type { JsonSchema } from '../../chat/tool-definition.js';
import { isPlainObject } from '../../internal/options.js';
import { describe } from '../../errors/describe.js';
import { jsonSchemaValidator } from '../validator.js';
import { SchemaReferences } from './references.js';
import type { Draft, SchemaContext } from './schema-context.js';
import { KEYWORDS } from './schema-keywords.js';
import { hasType, oneOrAll, schemaOfTypes, typeOfValue } from './type-names.js';
import { booleanOf, changedTo } from './value-keywords.js';

/** Normalizes a whole schema to JSON Schema 2020-12, keyword by keyword. */
export function normalizeDocument(document: JsonSchema, root: SchemaContext): Draft {
  const references = new SchemaReferences();

  const normalize = (value: unknown, context: SchemaContext): JsonSchema | boolean => {
    if (isPlainObject(value)) return normalizeObject(value, context);
    const schema = booleanOf(value) ?? schemaOfTypes([value]);
    if (schema === undefined)
      return context.reject(`a schema must be an object, not ${describe(value)}`);
    if (schema !== value) context.error(`${describe(value)} is not a schema`, changedTo(schema));
    if (isPlainObject(schema)) return normalizeObject(schema, context);
    references.addSchema(schema, {}, context);
    return schema;
  };

  const normalizeObject = (source: JsonSchema, context: SchemaContext): Draft => {
    const draft: Draft = {};
    references.addSchema(draft, source, context);
    for (const [keyword, value] of Object.entries(source)) {
      const normalizeKeyword = KEYWORDS.get(keyword);
      if (!normalizeKeyword) draft[keyword] = value;
      else if (value === null) context.child(keyword).error('it is null', 'removed it');
      else {
        const scope = { source, draft, references, normalize };
        const normalized = normalizeKeyword(value, context.child(keyword), scope);
        if (normalized !== undefined) draft[keyword] = normalized;
      }
    }
    finishSchema(source, draft, context);
    const isNullable = booleanOf(source['nullable']) === true && !('type' in draft);
    const needsBranch = isNullable && CONSTRAINTS.some((keyword) => keyword in draft);
    return needsBranch ? { anyOf: [draft, { type: 'null' }] } : draft;
  };

  const normalized = normalizeObject(document, root);
  references.resolve();
  return normalized;
}

/** Keywords that may rule out null without a type. */
const CONSTRAINTS = ['enum', 'const', '$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'if'];

/** Normalizes the keywords that depend on others. */
export function finishSchema(source: JsonSchema, draft: Draft, context: SchemaContext): void {
  addRequired(source, draft);
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

/** Adds the properties that are marked as required to `required`. */
function addRequired({ properties }: JsonSchema, draft: Draft): void {
  const marked = Object.entries(isPlainObject(properties) ? properties : {}).filter(
    ([, property]) =>
      isPlainObject(property) &&
      (booleanOf(property['required']) === true || booleanOf(property['optional']) === false),
  );
  if (marked.length === 0) return;
  const listed = (draft['required'] ?? []) as readonly string[];
  draft['required'] = [...new Set([...listed, ...marked.map(([name]) => name)])];
}

/** Changes the type where no value of an enum has it. */
function fitEnumToType(draft: Draft, values: readonly unknown[], at: SchemaContext): void {
  const { type, items = {} } = draft;
  if (values.some((value) => hasType(value, type))) return;
  const areItems =
    type === 'array' &&
    isPlainObject(items) &&
    !('enum' in items) &&
    values.some((value) => hasType(value, items['type']));
  if (areItems) {
    delete draft['enum'];
    draft['items'] = Object.assign(items, { enum: values });
    return at.warning('it lists items, not arrays', 'moved it to the items');
  }
  draft['type'] = oneOrAll(values.map(typeOfValue));
  const action = `changed the type to ${JSON.stringify(draft['type'])}`;
  at.warning(`no value has the type ${JSON.stringify(type)}`, action);
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
