import type { JsonSchema } from '../../chat/tool-definition.js';
import { describe } from '../../internal/text.js';
import { isPlainObject } from '../../internal/options.js';
import { finishSchema } from './finish-schema.js';
import { SchemaReferences } from './references.js';
import type { Draft, SchemaContext } from './schema-context.js';
import { KEYWORDS } from './schema-keywords.js';
import { schemaOfType } from './type-names.js';
import { booleanOf, changedTo } from './value-keywords.js';

/** Normalizes a whole schema to JSON Schema 2020-12, keyword by keyword. */
export function normalizeDocument(document: JsonSchema, root: SchemaContext): Draft {
  const references = new SchemaReferences(document, root);

  const normalize = (value: unknown, context: SchemaContext): JsonSchema | boolean => {
    if (isPlainObject(value)) return normalizeObject(value, context);
    if (typeof value === 'boolean') {
      references.addSchema(value, context);
      return value;
    }
    const schema = typeof value === 'string' ? schemaOfType(value) : undefined;
    if (!schema) return context.reject(`a schema must be an object, not ${describe(value)}`);
    context.error(`${describe(value)} is not a schema`, changedTo(schema));
    return normalizeObject(schema, context);
  };

  const normalizeObject = (source: JsonSchema, context: SchemaContext): Draft => {
    const draft: Draft = {};
    const scope = { source, draft, references, normalize };
    references.addObject(source, draft, context);
    for (const [keyword, value] of Object.entries(source)) {
      const normalizeKeyword = KEYWORDS.get(keyword);
      if (!normalizeKeyword) draft[keyword] = value;
      else if (value === null) context.child(keyword).error('it is null', 'removed it');
      else {
        const at = (target?: string): SchemaContext => context.keyword(keyword, target);
        const normalized = normalizeKeyword(value, at, scope);
        if (normalized !== undefined) draft[keyword] = normalized;
      }
    }
    finishSchema(source, draft, context);
    return needsNullBranch(source, draft) ? { anyOf: [draft, { type: 'null' }] } : draft;
  };

  const normalized = normalizeObject(document, root);
  references.resolve(normalized, normalize);
  return normalized;
}

const CONSTRAINTS = ['enum', 'const', '$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'if'];

/** Checks whether null has to be allowed beside a schema without types. */
function needsNullBranch(source: JsonSchema, draft: Draft): boolean {
  const isNullable = booleanOf(source['nullable']) === true && !('type' in draft);
  return isNullable && CONSTRAINTS.some((keyword) => keyword in draft);
}
