import type { Document } from '../../core/chat/document.js';
import { describe } from '../../core/errors/describe.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import {
  BOOLEAN,
  CHECKED_APART,
  checkOption,
  checkOptions,
  ID,
  integer,
  PLAIN_OBJECT,
  rule,
  withMethods,
} from '../../core/internal/options.js';
import { truncate } from '../../core/internal/text.js';
import { conditionOf, isCombination, type Condition } from './condition.js';
import type { ListQuery, UpsertOptions } from './document-store.js';
import type { Filter } from './filter.js';
import { isScalar, isStorable, storable, storableText } from './storable.js';

const NAMESPACE = rule(
  'a non-blank string of at most 256 characters, without NUL and unpaired surrogates',
  (value) => isStorable(value) && value.trim() !== '' && value.length <= 256,
);
const DOCUMENTS = rule('a list of documents', Array.isArray);
const TEXT = rule('a string', (text) => typeof text === 'string');
const VALUE = rule(
  'a string, a finite number, true, false, or a list of these',
  (value) => isScalar(value) || (Array.isArray(value) && [...(value as unknown[])].every(isScalar)),
);
const STORABLE = rule('a string without NUL and unpaired surrogates', isStorable);
const UPSERT_RULES = {
  signal: withMethods('an AbortSignal', 'addEventListener'),
  replaces: CHECKED_APART,
};
const LIST_RULES = {
  filter: CHECKED_APART,
  after: STORABLE,
  limit: integer(1),
  withVectors: BOOLEAN,
};

/** The documents to delete: by ids, or by a condition. */
export type Selection = readonly string[] | Condition;

/** A checked {@link ListQuery}. */
export interface CheckedListQuery {
  readonly condition: Condition | undefined;
  readonly after: string | undefined;
  readonly limit: number;
  readonly withVectors: boolean;
}

/** @throws {@link InvalidArgumentError} if a database could not keep it */
export function checkNamespace(where: string, namespace: string): void {
  checkOption(where, 'namespace', namespace, NAMESPACE);
}

/**
 * Checks documents and copies them, with storable texts; their vectors are shared. The last one with an id counts.
 * @throws {@link InvalidArgumentError} with the path of the first part that a database could not keep
 */
export function checkedDocuments(
  where: string,
  documents: readonly Document[],
): readonly Document[] {
  checkOption(where, 'documents', documents, DOCUMENTS);
  const byId = new Map<string, Document>();
  for (const [at, document] of documents.entries()) {
    const checked = checkedDocument(where, document, `documents[${at}]`);
    byId.set(checked.id, checked);
  }
  return [...byId.values()];
}

function checkedDocument(where: string, document: Document, path: string): Document {
  checkOption(where, path, document, PLAIN_OBJECT);
  const { id, text, metadata, vector } = document;
  checkOption(where, `${path}.id`, id, ID);
  checkOption(where, `${path}.text`, text, TEXT);
  if (metadata !== undefined) checkMetadata(where, metadata, `${path}.metadata`);
  return {
    id,
    text: storableText(text),
    ...(metadata && { metadata: copyOf(metadata) }),
    ...(vector && { vector }),
  };
}

function checkMetadata(where: string, metadata: object, path: string): void {
  checkOption(where, path, metadata, PLAIN_OBJECT);
  for (const [key, value] of Object.entries(metadata)) {
    if (isCombination(key) || !isStorable(key))
      throw new InvalidArgumentError(
        `${where}: a key of ${path} must be a name without NUL and unpaired surrogates other than and, or, not; it is ${describe(key)}`,
      );
    checkOption(where, `${path}.${truncate(key, 60)}`, value, VALUE);
  }
}

function copyOf(metadata: NonNullable<Document['metadata']>): NonNullable<Document['metadata']> {
  const entries = Object.entries(metadata).map(([key, value]) => [
    key,
    typeof value === 'object' ? Object.freeze(value.map(storable)) : storable(value),
  ]);
  return Object.freeze(Object.fromEntries(entries)) as NonNullable<Document['metadata']>;
}

/**
 * The condition of the documents that an upsert replaces.
 * @throws {@link InvalidArgumentError} for an invalid option
 */
export function checkedReplaces(where: string, options: UpsertOptions): Condition | undefined {
  checkOptions(where, options, UPSERT_RULES);
  return options.replaces && conditionOf(where, options.replaces, 'replaces');
}

/** @throws {@link InvalidArgumentError} for an invalid field of the query */
export function checkedListQuery(where: string, query: ListQuery): CheckedListQuery {
  checkOptions(where, query, LIST_RULES);
  const { filter, after, limit = Infinity, withVectors = false } = query;
  const condition = filter && conditionOf(where, filter);
  return { condition, after, limit, withVectors };
}

/** @throws {@link InvalidArgumentError} if it is neither a list of strings nor a filter */
export function checkedSelection(where: string, selection: readonly string[] | Filter): Selection {
  if (!Array.isArray(selection)) return conditionOf(where, selection, 'selection');
  const ids = selection as readonly string[];
  for (const [at, id] of ids.entries()) checkOption(where, `selection[${at}]`, id, STORABLE);
  return ids;
}
