import { describe } from '../../chat/message.js';
import type { JsonSchema } from '../../chat/tool-definition.js';
import { childPath } from './schema-changes.js';
import { flagOf, names, numberOf } from './schema-keywords.js';
import type { SchemaMender } from './schema-mender.js';
import { freeName, type Draft, type SchemaPlace } from './schema-references.js';
import { isTypeName, schemaOfType, union } from './schema-types.js';

/** A keyword that is being mended. */
interface Keyword {
  /** The schema that is made. */
  readonly draft: Draft;
  readonly keyword: string;
  readonly value: unknown;
  readonly path: string;
  /** The schema that the keyword is in. */
  readonly source: JsonSchema;
  readonly place: SchemaPlace;
  readonly mender: SchemaMender;
}

/** Puts into the draft what a keyword means; false where it means what it does in JSON Schema 2020-12. */
type OldKeyword = (keyword: Keyword) => boolean;

/** Keywords that other drafts and languages use in another way. */
export const OLD_KEYWORDS: ReadonlyMap<string, OldKeyword> = new Map<string, OldKeyword>([
  ['type', type],
  ['definitions', definitions],
  ['dependencies', dependencies],
  ['items', tuple],
  ['additionalItems', additionalItems],
  ['required', requiredFlag],
  ['nullable', (keyword) => leftOut(keyword, '"nullable" is no keyword of JSON Schema', 'put null among the types if it is true')],
  ['optional', (keyword) => leftOut(keyword, '"optional" is no keyword of JSON Schema', 'left it out: "required" decides')],
  ['exclusiveMinimum', exclusive],
  ['exclusiveMaximum', exclusive],
  ['minimum', limit],
  ['maximum', limit],
  ...['$ref', '$dynamicRef', '$recursiveRef'].map((keyword) => [keyword, reference] as const),
  ...['$schema', '$id', 'id', '$anchor', '$dynamicAnchor', '$recursiveAnchor', '$vocabulary'].map(
    (keyword) => [keyword, identity] as const,
  ),
]);

function leftOut({ mender, path }: Keyword, problem: string, action: string): true {
  mender.changes.advice(path, problem, action);
  return true;
}

/** What it says is known by now, or of no use to a model. */
function identity(keyword: Keyword): boolean {
  return leftOut(keyword, `"${keyword.keyword}" is of no use to a model`, 'left it out');
}

function type({ draft, value, path, source, mender }: Keyword): boolean {
  const { changes } = mender;
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const isRight = list.every(isTypeName) && new Set(list).size === list.length && list.length > 0;
  if (isRight) {
    draft['type'] = value;
    return true;
  }
  const meant = union(list.map((word) => typeOf(word, source)));
  if (!meant) return changes.refuse(path, `${describe(value)} is no type that is known here`);
  changes.fault(path, `${describe(value)} is no type of JSON Schema`, `made it ${JSON.stringify(meant)}`);
  if ('anyOf' in meant && 'anyOf' in source) changes.refuse(path, `${describe(value)} stands beside "anyOf"`);
  for (const [name, part] of Object.entries(meant)) if (name === 'type' || !(name in source)) draft[name] = part;
  return true;
}

function typeOf(word: unknown, source: JsonSchema): JsonSchema | undefined {
  if (word === '' || (word === 'enum' && Array.isArray(source['enum']))) return {};
  return typeof word === 'string' ? schemaOfType(word) : undefined;
}

function definitions({ draft, value, path, source, place, mender }: Keyword): boolean {
  mender.changes.advice(path, 'it has another name since 2019', 'renamed it to "$defs"');
  const mended = (draft['$defs'] ??= {}) as Draft;
  const here: SchemaPlace = { ...place, from: path, isPart: true };
  for (const [name, schema] of Object.entries(mender.namedSchemas(value, here))) {
    const free = freeName(name, { ...(source['$defs'] as object | undefined), ...mended });
    mended[free] = mender.mend(schema, { ...here, from: childPath(path, name), to: childPath(childPath(place.to, '$defs'), free) });
  }
  return true;
}

function dependencies({ draft, value, path, place, mender }: Keyword): boolean {
  mender.changes.advice(path, 'it has other names since 2019', 'made "dependentRequired" and "dependentSchemas" of it');
  for (const [name, needed] of Object.entries(mender.namedSchemas(value, { ...place, from: path }))) {
    const isNames = typeof needed === 'string' || Array.isArray(needed);
    const keyword = isNames ? 'dependentRequired' : 'dependentSchemas';
    const inner = { ...place, from: childPath(path, name), to: childPath(childPath(place.to, keyword), name), isPart: true };
    const there = (draft[keyword] ??= {}) as Draft;
    there[name] ??= isNames ? names([needed].flat(), inner.from, mender.changes) : mender.mend(needed, inner);
  }
  return true;
}

/** A schema for each item, as before 2020. */
function tuple({ draft, value, path, source, place, mender }: Keyword): boolean {
  if (!Array.isArray(value)) return false;
  if ('prefixItems' in source) return mender.changes.refuse(path, 'it is an array beside "prefixItems"');
  mender.changes.fault(path, 'an array of schemas has another name since 2020', 'renamed it to "prefixItems"');
  const inner: SchemaPlace = { ...place, from: path, to: childPath(place.to, 'prefixItems'), isPart: false };
  if (value.length > 0) draft['prefixItems'] = mender.list(value, inner);
  return true;
}

function additionalItems({ draft, value, path, source, place, mender }: Keyword): boolean {
  if (!Array.isArray(source['items'])) return leftOut({ mender, path } as Keyword, 'it means nothing here', 'left it out');
  mender.changes.advice(path, 'it has another name since 2020', 'renamed it to "items"');
  draft['items'] = mender.mend(value, { ...place, from: path, to: childPath(place.to, 'items'), isPart: false });
  return true;
}

/** The object that the property belongs to takes the name into its list. */
function requiredFlag({ value, path, mender }: Keyword): boolean {
  if (Array.isArray(value) || flagOf(value) === undefined) return false;
  mender.changes.fault(path, 'it must be an array of names, at the object', 'put the name there if it is true');
  return true;
}

/** True beside a limit, as before draft 6. */
function exclusive({ draft, keyword, value, path, source, mender }: Keyword): boolean {
  const isExclusive = flagOf(value);
  if (isExclusive === undefined) return false;
  const bound = isExclusive ? numberOf(source[BOUNDS[keyword] as string]) : undefined;
  mender.changes.fault(path, `${describe(value)} is no number`, bound === undefined ? 'left it out' : `made it ${bound}`);
  if (bound !== undefined) draft[keyword] = bound;
  return true;
}

const BOUNDS: Readonly<Record<string, string>> = { exclusiveMinimum: 'minimum', exclusiveMaximum: 'maximum' };
const EXCLUSIVES: Readonly<Record<string, string>> = { minimum: 'exclusiveMinimum', maximum: 'exclusiveMaximum' };

function limit({ keyword, value, source }: Keyword): boolean {
  return flagOf(source[EXCLUSIVES[keyword] as string]) === true && numberOf(value) !== undefined;
}

function reference({ draft, value, path, source, place, mender }: Keyword): boolean {
  if ('$ref' in source && !path.endsWith('/$ref')) return mender.changes.refuse(path, 'it stands beside another reference');
  draft['$ref'] = value;
  mender.references?.add(draft, value, path, place.base);
  return true;
}
