import type { JsonValue } from '../../../../core/internal/json.js';
import type { JsonSchema } from '../../../../core/chat/tool-definition.js';

/** A field of a form, made of a JSON Schema. */
export interface AnswerField {
  /** Name of the property; empty for an answer that is no object. */
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly isRequired: boolean;
  /** `json`: for what has no field of its own. */
  readonly kind:
    'text' | 'long-text' | 'number' | 'integer' | 'yes-no' | 'choice' | 'choices' | 'json';
  /** Of `choice` and `choices`. */
  readonly values: readonly JsonValue[];
  readonly min?: number;
  readonly max?: number;
  /** Text of the field at first; of `choices` a JSON array of the places of values. */
  readonly initial: string;
}

/** The texts of fields by name. */
export type AnswerTexts = Readonly<Record<string, string>>;

const MAX_FIELDS = 20;

/** The fields of an answer: one for each property of an object, or one for the whole. */
export function fieldsOf(schema: JsonSchema): readonly AnswerField[] {
  const { type, properties, required } = schema;
  if (type === 'object' && isRecord(properties)) {
    const names = Object.keys(properties);
    const needed: readonly unknown[] = Array.isArray(required) ? required : [];
    if (names.length > 0 && names.length <= MAX_FIELDS)
      return names.map((name) => fieldOf(name, properties[name], needed.includes(name)));
  }
  return [fieldOf('', schema, true)];
}

function fieldOf(name: string, schema: unknown, isRequired: boolean): AnswerField {
  const own = isRecord(schema) ? schema : {};
  const kind = kindOf(own);
  const values = valuesOf(kind === 'choices' && isRecord(own['items']) ? own['items'] : own);
  const given = own['default'] as JsonValue | undefined;
  return {
    name,
    label: textOf(own['title']) ?? (name === '' ? 'Answer' : name),
    hint: textOf(own['description']) ?? '',
    isRequired,
    kind,
    values,
    ...(typeof own['minimum'] === 'number' && { min: own['minimum'] }),
    ...(typeof own['maximum'] === 'number' && { max: own['maximum'] }),
    initial: initialOf(kind, given, values),
  };
}

function kindOf(schema: JsonSchema): AnswerField['kind'] {
  const { type, maxLength, items } = schema;
  if (Array.isArray(schema['enum']) || 'const' in schema) return 'choice';
  if (type === 'boolean') return 'yes-no';
  if (type === 'number' || type === 'integer') return type;
  if (type === 'string')
    return typeof maxLength === 'number' && maxLength > 120 ? 'long-text' : 'text';
  if (type === 'array' && isRecord(items) && Array.isArray(items['enum'])) return 'choices';
  return 'json';
}

function valuesOf(schema: JsonSchema): readonly JsonValue[] {
  if (Array.isArray(schema['enum'])) return schema['enum'] as readonly JsonValue[];
  return 'const' in schema ? [schema['const'] as JsonValue] : [];
}

function initialOf(
  kind: AnswerField['kind'],
  given: JsonValue | undefined,
  values: readonly JsonValue[],
): string {
  if (given === undefined) return kind === 'choices' ? '[]' : kind === 'yes-no' ? 'false' : '';
  if (kind === 'choice') return String(values.indexOf(given));
  if (kind === 'choices' && Array.isArray(given))
    return JSON.stringify(given.map((each) => values.indexOf(each as JsonValue)));
  return typeof given === 'string' && kind !== 'json' ? given : JSON.stringify(given);
}

/** The answer that a reader has written into fields, or its problem and the field that has it. */
export function answerOf(
  fields: readonly AnswerField[],
  texts: AnswerTexts,
): { readonly value: JsonValue } | { readonly problem: string; readonly field: string } {
  const answer: Record<string, JsonValue> = {};
  for (const field of fields) {
    const text = texts[field.name] ?? field.initial;
    if (text.trim() === '' && field.kind !== 'yes-no') {
      if (field.isRequired && !isText(field))
        return { problem: `${field.label} is missing.`, field: field.name };
      if (!field.isRequired) continue;
    }
    try {
      const value = valueOf(field, text);
      if (field.name === '') return { value };
      // An own property, also for the name `__proto__`.
      Object.defineProperty(answer, field.name, { value, enumerable: true, configurable: true });
    } catch (error) {
      return { problem: `${field.label}: ${(error as Error).message}`, field: field.name };
    }
  }
  return { value: answer };
}

const isText = ({ kind }: AnswerField): boolean => kind === 'text' || kind === 'long-text';

function valueOf(field: AnswerField, text: string): JsonValue {
  switch (field.kind) {
    case 'text':
    case 'long-text':
      return text;
    case 'number':
    case 'integer':
      return numberOf(field, text);
    case 'yes-no':
      return text === 'true';
    case 'choice':
      return field.values[Number(text)] ?? null;
    case 'choices':
      return (JSON.parse(text) as readonly number[]).map((at) => field.values[at] ?? null);
    case 'json':
      try {
        return JSON.parse(text) as JsonValue;
      } catch {
        throw new Error('this is not valid JSON');
      }
  }
}

function numberOf({ kind, min, max }: AnswerField, text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value)) throw new Error('this is not a number');
  if (kind === 'integer' && !Number.isSafeInteger(value))
    throw new Error('only integers are accepted');
  if (min !== undefined && value < min) throw new Error(`the least is ${min}`);
  if (max !== undefined && value > max) throw new Error(`the most is ${max}`);
  return value;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined;

const isRecord = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
