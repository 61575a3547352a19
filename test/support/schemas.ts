import fc, { type Arbitrary } from 'fast-check';
import type { JsonSchema } from '../../src/core/chat/tool-definition.js';

/** Names that schemas and values share, so that they often meet; some are names of keywords. */
const name = fc.constantFrom('a', 'b', 'type', 'properties', 'x/y~z');
const scalar = fc.constantFrom<unknown>(
  null,
  true,
  false,
  0,
  1,
  -1,
  2,
  1.5,
  'a',
  'b',
  '',
  'ab',
  '😀',
  '1',
);
const small = fc.nat(3);

/** JSON that is often like what schemas ask for. */
export const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    { weight: 4, arbitrary: scalar },
    { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 3 }) },
    {
      weight: 2,
      arbitrary: fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    },
  ),
}));

const types = ['string', 'integer', 'number', 'boolean', 'array', 'object', 'null'];
const type = fc.oneof(
  fc.constantFrom(...types),
  fc.uniqueArray(fc.constantFrom(...types), { minLength: 1, maxLength: 3 }),
);

type Schemas = { readonly schema: unknown; readonly object: JsonSchema };

/** Legal JSON Schema 2020-12 of many keywords, some of which the quick check does not know. */
const legal = fc.letrec<Schemas>((tie) => {
  const schema = tie('schema');
  const list = fc.array(schema, { minLength: 1, maxLength: 2 });
  const map = fc.dictionary(name, schema, { maxKeys: 3, noNullPrototype: true });
  const names = fc.uniqueArray(name, { maxLength: 2 });
  const about = { title: fc.constant('t'), description: fc.constant('d'), 'x-unknown': anyValue };
  const record = (model: Readonly<Record<string, Arbitrary<unknown>>>): Arbitrary<JsonSchema> =>
    fc.record({ ...model, ...about }, { requiredKeys: [], noNullPrototype: true });
  return {
    schema: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      { weight: 2, arbitrary: fc.record({ type }) },
      {
        weight: 1,
        arbitrary: fc.record({
          enum: fc.uniqueArray(anyValue, {
            minLength: 1,
            maxLength: 4,
            selector: (value) => JSON.stringify(value),
          }),
        }),
      },
      { weight: 1, arbitrary: fc.boolean() },
      {
        weight: 2,
        arbitrary: record({
          type,
          minimum: small,
          exclusiveMaximum: small,
          multipleOf: fc.constantFrom(1, 2),
        }),
      },
      {
        weight: 2,
        arbitrary: record({
          type,
          minLength: small,
          maxLength: small,
          pattern: fc.constant('^a'),
          format: fc.constant('date'),
        }),
      },
      {
        weight: 2,
        arbitrary: record({
          type,
          items: schema,
          minItems: small,
          maxItems: small,
          prefixItems: list,
          uniqueItems: fc.boolean(),
          contains: schema,
        }),
      },
      { weight: 3, arbitrary: tie('object') },
      { weight: 1, arbitrary: record({ anyOf: list, const: anyValue, type }) },
      {
        weight: 1,
        arbitrary: record({ allOf: list, oneOf: list, not: schema, if: schema, then: schema }),
      },
    ),
    object: record({
      type: fc.constant('object'),
      properties: map,
      required: names,
      additionalProperties: schema,
      minProperties: small,
      propertyNames: schema,
      patternProperties: fc.dictionary(fc.constantFrom('^a', 'b$'), schema, {
        maxKeys: 1,
        noNullPrototype: true,
      }),
      dependentRequired: fc.dictionary(name, names, { maxKeys: 1, noNullPrototype: true }),
    }),
  };
});

/** Legal schemas of the most common keywords only. */
export const { commonSchema } = fc.letrec<{ readonly commonSchema: unknown }>((tie) => {
  const schema = tie('commonSchema');
  const bounds = {
    minimum: small,
    maximum: small,
    exclusiveMinimum: small,
    exclusiveMaximum: small,
    minLength: small,
    maxLength: small,
  };
  const properties = fc.dictionary(name, schema, { maxKeys: 3, noNullPrototype: true });
  return {
    commonSchema: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.record({ type }),
      fc.record({ enum: fc.uniqueArray(scalar, { minLength: 1, maxLength: 4 }) }),
      fc.record({ type, ...bounds }, { requiredKeys: ['type'], noNullPrototype: true }),
      fc.record(
        { type, items: schema, minItems: small, maxItems: small },
        { requiredKeys: [], noNullPrototype: true },
      ),
      fc.record({ anyOf: fc.array(schema, { minLength: 1, maxLength: 3 }) }),
      fc.record(
        {
          type: fc.constant('object'),
          properties,
          required: fc.uniqueArray(name, { maxLength: 2 }),
          additionalProperties: fc.oneof(fc.boolean(), schema),
        },
        { requiredKeys: ['properties'], noNullPrototype: true },
      ),
    ),
  };
});

/** Any legal schema. */
export const legalSchema: Arbitrary<unknown> = legal.schema;

/** A legal schema of arguments. */
export const legalArguments: Arbitrary<JsonSchema> = legal.object.map((schema) => ({
  ...schema,
  type: 'object',
  properties: schema['properties'] ?? {},
}));

/** A schema of arguments of the most common keywords only, which many values fit. */
export const commonArguments: Arbitrary<JsonSchema> = fc
  .dictionary(name, commonSchema, { maxKeys: 3, noNullPrototype: true })
  .chain((properties) =>
    fc
      .subarray(Object.keys(properties))
      .map((required) => ({ type: 'object', properties, required })),
  );

const wildTypes =
  'object dict Map string str array Array float tuple any String java.util.List long boolean null integer'.split(
    ' ',
  );
const wildReferences =
  '#/$defs/a #/definitions/a #/properties/a #/properties/b # #x a a.json'.split(' ');
const word = fc.constantFrom<unknown>(
  ...wildTypes,
  'Nonsense',
  '',
  'true',
  'no',
  '3',
  '(',
  null,
  0,
  -1,
  2.5,
  true,
  false,
);

/** Schemas as catalogues might publish them: right and wrong values for right and wrong keywords. */
export const { wildSchema, wildArguments } = fc.letrec<{
  readonly wildSchema: unknown;
  readonly wildArguments: unknown;
}>((tie) => {
  const schema = fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    { weight: 12, arbitrary: tie('wildSchema') },
    { weight: 1, arbitrary: word },
  );
  const name = fc.oneof(
    { weight: 99, arbitrary: fc.constantFrom('a', 'b', 'a/b', 'constructor', 'required') },
    { weight: 1, arbitrary: fc.constant('__proto__') },
  );
  const map = fc
    .array(fc.tuple(name, schema), { maxLength: 3 })
    .map((entries) => Object.fromEntries(entries) as JsonSchema);
  const list = fc.array(schema, { maxLength: 3 });
  const words = fc.array(word, { maxLength: 3 });
  const of = (keywords: string, value: Arbitrary<unknown>): Arbitrary<JsonSchema> =>
    fc
      .array(fc.tuple(fc.constantFrom(...keywords.split(' ')), value), { maxLength: 2 })
      .map((entries) => Object.fromEntries(entries) as JsonSchema);
  const keywords = [
    fc.record(
      { type: fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...wildTypes) }, word, words) },
      { requiredKeys: [] },
    ),
    of(
      'properties $defs definitions dependentSchemas patternProperties',
      fc.oneof({ weight: 9, arbitrary: map }, word, list),
    ),
    of(
      'items not if then else additionalProperties contains additionalItems propertyNames',
      schema,
    ),
    of('allOf anyOf oneOf prefixItems items', fc.oneof(list, schema)),
    of(
      'required enum default examples const dependencies dependentRequired',
      fc.oneof(words, word, map),
    ),
    of(
      'minimum maximum exclusiveMinimum exclusiveMaximum minLength maxItems multipleOf uniqueItems nullable optional',
      word,
    ),
    of('description title pattern format $schema id $id $anchor unknown', fc.oneof(word, words)),
  ];
  const references = fc.oneof(
    { weight: 9, arbitrary: fc.constant({}) },
    of('$ref $dynamicRef', fc.constantFrom(...wildReferences)),
  );
  const wild = fc
    .tuple(fc.shuffledSubarray(keywords, { minLength: 0, maxLength: 3 }), references)
    .chain(([chosen, reference]) => fc.tuple(fc.constant(reference), ...chosen))
    .map((parts) => Object.assign({}, ...parts) as unknown);
  const root = fc.record(
    {
      type: fc.constantFrom<unknown>('object', 'dict', 'OBJECT', ['object', 'null']),
      properties: map,
      definitions: map,
    },
    { requiredKeys: ['type'] },
  );
  return {
    wildSchema: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.record({ type: fc.constantFrom(...wildTypes) }),
      wild,
    ),
    wildArguments: fc.oneof(
      {
        weight: 4,
        arbitrary: fc
          .tuple(tie('wildSchema'), root)
          .map((parts) => Object.assign({}, ...parts) as unknown),
      },
      tie('wildSchema'),
      fc.anything(),
    ),
  };
});

/** Values that mostly fit a legal schema. */
export function fitting(schema: unknown): Arbitrary<unknown> {
  if (typeof schema !== 'object' || schema === null) return anyValue;
  const {
    enum: values,
    const: constant,
    anyOf,
    type,
    properties,
    required,
    items,
  } = schema as JsonSchema;
  if (Array.isArray(values)) return fc.constantFrom<unknown>(...(values as readonly unknown[]));
  if (constant !== undefined) return fc.constant(constant);
  if (Array.isArray(anyOf) && type === undefined) return fc.oneof(...anyOf.map(fitting));
  const kinds = type === undefined ? types : [type as string | readonly string[]].flat();
  return fc.oneof(...kinds.map((kind) => ofKind(kind, { properties, required, items })));
}

function ofKind(kind: string, { properties, required, items }: JsonSchema): Arbitrary<unknown> {
  if (kind === 'string') return fc.constantFrom('', 'a', 'ab', 'abc', '😀', '2024-01-31');
  if (kind === 'integer') return fc.integer({ min: -1, max: 4 });
  if (kind === 'number') return fc.constantFrom(0, 1, 2.5, -1, 3, 0.1);
  if (kind === 'boolean') return fc.boolean();
  if (kind === 'null') return fc.constant(null);
  if (kind === 'array') return fc.array(fitting(items), { maxLength: 3 });
  const model = Object.entries((properties ?? {}) as JsonSchema).map(
    ([key, inner]) => [key, fitting(inner)] as const,
  );
  const names = [required ?? []].flat() as string[];
  const others = names
    .filter((key) => !model.some(([known]) => known === key))
    .map((key) => [key, anyValue] as const);
  return fc.record(Object.fromEntries([...model, ...others]), {
    requiredKeys: names,
    noNullPrototype: true,
  });
}
