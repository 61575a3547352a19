import type { JsonSchema } from '../../core/chat/tool-definition.js';
import { isPlainObject } from '../../core/internal/options.js';
import type { JsonValue } from '../../core/internal/json.js';
import { inOneLine, printable } from './screen.js';

/** A terminal at which a person answers. */
export interface Form {
  /** A line; undefined if the person leaves. */
  readonly read: (prompt: string) => Promise<string | undefined>;
  readonly print: (text: string) => void;
}

/** A value that a person types. */
interface Field {
  readonly label: string;
  readonly schema: JsonSchema;
  /** The meaning of an empty text. @default a value */
  readonly empty?: 'missing' | 'refused';
}

/** The value of a text, nothing for an empty one, or the problem of the text. */
type Parsed = { readonly value?: JsonValue } | { readonly problem: string };

const WIDTH = 60;
const TYPES: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean']);

/** The answer to a question, field by field if it is a form; undefined if the person leaves. */
export async function readAnswer(schema: JsonSchema, form: Form): Promise<JsonValue | undefined> {
  const fields = fieldsOf(schema);
  if (!fields) return (await readField({ label: 'answer', schema }, form))?.value;
  const values: Record<string, JsonValue> = {};
  for (const [name, field] of fields) {
    const read = await readField(field, form);
    if (!read) return undefined;
    if (read.value !== undefined) values[name] = read.value;
  }
  return values;
}

/** The fields of an object of texts, numbers and choices; undefined for another schema. */
function fieldsOf(schema: JsonSchema): readonly (readonly [string, Field])[] | undefined {
  const { type, properties, required } = schema;
  if (type !== 'object' || !isPlainObject(properties)) return undefined;
  const entries = Object.entries(properties as Readonly<Record<string, JsonSchema>>);
  if (entries.length === 0 || !entries.every(([, each]) => TYPES.has(each?.['type'])))
    return undefined;
  const isRequired = (name: string): boolean => Array.isArray(required) && required.includes(name);
  return entries.map(([name, each]) => {
    const label = typeof each['title'] === 'string' ? each['title'] : name;
    const empty = isRequired(name) ? 'refused' : 'missing';
    return [name, { label: shown(label), schema: each, empty }];
  });
}

async function readField(
  field: Field,
  { read, print }: Form,
): Promise<{ readonly value?: JsonValue } | undefined> {
  for (;;) {
    const text = await read(`${field.label}${hintOf(field)}: `);
    if (text === undefined) return undefined;
    const parsed = parse(text, field);
    if ('problem' in parsed) print(`  ${parsed.problem}`);
    else return parsed;
  }
}

function hintOf({ schema, empty }: Field): string {
  const choices = choicesOf(schema);
  const kind = choices ? shown(choices.join(', ')) : KINDS[String(schema['type'])];
  const { default: preset } = schema;
  const ofEmpty =
    preset === undefined ? 'may be empty' : `empty for ${shown(JSON.stringify(preset))}`;
  const hasHint = empty === 'missing' || (empty === 'refused' && preset !== undefined);
  const all = [kind ?? 'JSON', hasHint && ofEmpty].filter(Boolean).join(', ');
  return all === '' ? '' : ` (${all})`;
}

const KINDS: Readonly<Record<string, string>> = {
  string: '',
  number: 'number',
  integer: 'whole number',
  boolean: 'yes or no',
};

function parse(text: string, { schema, empty }: Field): Parsed {
  const { type, default: preset } = schema;
  if (text.trim() === '' && empty) {
    if (preset !== undefined) return { value: preset as JsonValue };
    return empty === 'refused' ? { problem: 'It must not be empty.' } : {};
  }
  const choices = choicesOf(schema);
  if (choices) return chosen(text, choices);
  switch (type) {
    case 'string':
      return { value: text };
    case 'number':
    case 'integer':
      return numberIn(text, type === 'integer');
    case 'boolean':
      return yesOrNo(text);
    default:
      return jsonIn(text);
  }
}

function choicesOf({ type, enum: choices }: JsonSchema): readonly string[] | undefined {
  const isList = type === 'string' && Array.isArray(choices);
  return isList && choices.every((choice) => typeof choice === 'string') ? choices : undefined;
}

function chosen(text: string, choices: readonly string[]): Parsed {
  const wanted = text.trim().toLowerCase();
  const value =
    choices.find((choice) => choice === text.trim()) ??
    choices.find((choice) => choice.toLowerCase() === wanted);
  return value === undefined
    ? { problem: `It must be one of ${shown(choices.join(', '))}.` }
    : { value };
}

function numberIn(text: string, isWhole: boolean): Parsed {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  const isValid = isWhole ? Number.isInteger(value) : Number.isFinite(value);
  return isValid ? { value } : { problem: `This is no ${isWhole ? 'whole ' : ''}number.` };
}

function yesOrNo(text: string): Parsed {
  const answer = text.trim().toLowerCase();
  if (answer === 'y' || answer === 'yes') return { value: true };
  if (answer === 'n' || answer === 'no') return { value: false };
  return { problem: 'Answer yes or no.' };
}

function jsonIn(text: string): Parsed {
  try {
    return { value: JSON.parse(text) as JsonValue };
  } catch {
    return { problem: 'This is not JSON, such as 3, true, "text" or {"name": "Anna"}.' };
  }
}

/** A text of a server, on one line. */
const shown = (text: string): string => inOneLine(printable(text), WIDTH);
