import type { JsonSchema } from '../chat/tool-definition.js';
import { isStopWord, stemOf, wordsOf } from './offline-words.js';

/** What a parameter wants, as far as its name and description tell. */
export type Sense = 'place' | 'date' | 'time' | 'email' | 'url' | 'path' | 'id' | 'person' | 'text' | 'plain';

/** A parameter of a tool, or the items of one. */
export interface Parameter {
  readonly name: string;
  readonly type: 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object' | 'any';
  readonly required: boolean;
  readonly sense: Sense;
  /** Stems of its name. */
  readonly stems: readonly string[];
  /** Stems of its description, without examples. */
  readonly hints: readonly string[];
  readonly description: string;
  readonly choices: readonly unknown[];
  readonly default: unknown;
  readonly items: Parameter | undefined;
  readonly properties: readonly Parameter[];
  readonly schema: JsonSchema;
}

/** Type words of JSON Schema and of languages whose words are found in published tools. */
const TYPES: Readonly<Record<string, Parameter['type']>> = {
  string: 'string',
  char: 'string',
  number: 'number',
  float: 'number',
  double: 'number',
  integer: 'integer',
  int: 'integer',
  long: 'integer',
  short: 'integer',
  bigint: 'integer',
  boolean: 'boolean',
  bool: 'boolean',
  array: 'array',
  list: 'array',
  tuple: 'array',
  arraylist: 'array',
  object: 'object',
  dict: 'object',
  hashmap: 'object',
};

/** What words of a name say about the wanted value; the first that holds counts. */
const SENSES: readonly (readonly [sense: Sense, words: RegExp])[] = [
  ['email', /\be?mail(?: address)?\b/],
  ['url', /\b(?:url|uri|link|website|webpage)\b/],
  ['path', /\b(?:path|file|filename|filepath|directory|folder)\b/],
  ['date', /\b(?:date|day|deadline|birthday|check ?in|check ?out|dob|departure date|when)\b/],
  ['time', /\b(?:time|hour|clock)\b/],
  ['id', /\b(?:id|ids|code|symbol|ticker|identifier|uuid|isbn|sku|zip|key|token|number)\b/],
  [
    'place',
    /\b(?:city|cities|location|locations|place|country|countries|state|region|address|origin|destination|airport|venue|town|area|where|station)\b/,
  ],
  [
    'person',
    /\b(?:name|author|artist|user|username|recipient|customer|passenger|guest|attendee|contact|person|player|actor|director|team|company)\b/,
  ],
  [
    'text',
    /\b(?:text|query|message|content|question|topic|keywords?|description|prompt|body|note|notes|search term|subject|title|task|sentence|summary|comment)\b/,
  ],
];

/** Schemas may refer to themselves. */
const MAX_DEPTH = 3;

/** The parameters of a tool, in the order of its schema. */
export function parametersOf(schema: JsonSchema, root: JsonSchema = schema, depth = 0): readonly Parameter[] {
  const required = Array.isArray(schema['required']) ? (schema['required'] as readonly unknown[]) : [];
  return Object.entries(objectOf(schema['properties'])).map(([name, property]) =>
    parameterOf(name, resolve(objectOf(property), root), required.includes(name), root, depth),
  );
}

function parameterOf(name: string, schema: JsonSchema, required: boolean, root: JsonSchema, depth: number): Parameter {
  const description = typeof schema['description'] === 'string' ? schema['description'] : '';
  const items = objectOf(schema['items']);
  const type = typeOf(schema);
  return {
    name,
    type,
    required,
    description,
    schema,
    sense: senseOf(name, description, schema),
    stems: contentStems(name),
    hints: contentStems(withoutExamples(description)),
    choices: choicesOf(schema, description),
    default: schema['default'],
    items: type === 'array' && depth < MAX_DEPTH ? parameterOf(name, resolve(items, root), true, root, depth + 1) : undefined,
    properties: type === 'object' && depth < MAX_DEPTH ? parametersOf(schema, root, depth + 1) : [],
  };
}

/** The values that are allowed, also where only the description lists them: `Can be 'short' or 'long'`. */
function choicesOf(schema: JsonSchema, description: string): readonly unknown[] {
  if (Array.isArray(schema['enum'])) return schema['enum'];
  if ('const' in schema) return [schema['const']];
  const listed =
    /\b(?:can be|either|one of|options? (?:are|include)|options?:|possible values:?)\s+(["'][^.]*["'])/i.exec(description)?.[1] ?? '';
  const choices = [...listed.matchAll(/"([^"]+)"|'([^']+)'/g)].map((match) => match[1] ?? match[2]);
  return choices.length > 1 && typeOf(schema) === 'string' ? choices : [];
}

function typeOf(schema: JsonSchema): Parameter['type'] {
  const { type } = schema;
  const word = Array.isArray(type) ? (type as readonly unknown[]).find((one) => one !== 'null') : type;
  if (typeof word === 'string') return TYPES[word.toLowerCase()] ?? 'any';
  if (Array.isArray(schema['enum'])) return typeof schema['enum'][0] === 'number' ? 'number' : 'string';
  return 'properties' in schema ? 'object' : 'items' in schema ? 'array' : 'any';
}

/** References and alternatives, as the schema that is meant. */
function resolve(schema: JsonSchema, root: JsonSchema): JsonSchema {
  const reference = schema['$ref'];
  if (typeof reference === 'string' && reference.startsWith('#/')) {
    const target = reference
      .slice(2)
      .split('/')
      .reduce<unknown>((place, key) => objectOf(place)[key], root);
    return { ...objectOf(target), ...schema };
  }
  const alternatives = (schema['anyOf'] ?? schema['oneOf']) as unknown;
  if (!Array.isArray(alternatives)) return schema;
  const wanted = alternatives.map(objectOf).find((one) => one['type'] !== 'null');
  return { ...resolve(wanted ?? {}, root), ...schema };
}

function senseOf(name: string, description: string, schema: JsonSchema): Sense {
  const { format } = schema;
  if (format === 'date' || format === 'date-time') return 'date';
  if (format === 'email' || format === 'time') return format;
  if (format === 'uri' || format === 'url') return 'url';
  if (/mail|recipient/i.test(description) && /^(?:to|cc|bcc|recipients?|address)$/i.test(name)) return 'email';
  const inName = senseIn(
    wordsOf(name)
      .map((word) => word.text.toLowerCase())
      .join(' '),
  );
  if (inName && inName !== 'person') return inName;
  // the first words of a description say what the thing is: "The city to …"
  const opening =
    description
      .toLowerCase()
      .split(/[.,(;]/, 1)[0]
      ?.split(/\s+/)
      .slice(0, 4)
      .join(' ') ?? '';
  const inDescription = senseIn(opening.replaceAll(/\b(?:to|from)\b/g, ''));
  return inDescription ?? inName ?? 'plain';
}

function senseIn(words: string): Sense | undefined {
  return SENSES.find(([, pattern]) => pattern.test(words))?.[0];
}

function withoutExamples(description: string): string {
  return description.replaceAll(/\(.*?\)|\b(?:e\.g\.|i\.e\.|such as|for example|like|default).*$/gis, ' ');
}

function contentStems(text: string): readonly string[] {
  const words = wordsOf(text);
  const content = words.filter((word) => !isStopWord(word.text));
  return [...new Set((content.length > 0 ? content : words).map((word) => stemOf(word.text)))];
}

function objectOf(value: unknown): JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonSchema) : {};
}
