import type { ModelRun } from '../../core/chat/chat-model.js';
import type { Document } from '../../core/chat/document.js';
import { describe } from '../../core/errors/describe.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import {
  cancelledError,
  cancellationOf,
  isPromise,
  untilCancelled,
} from '../../core/internal/cancellation.js';
import {
  CHECKED_APART,
  checkOption,
  checkOptions,
  FINITE,
  integer,
  numberBetween,
  required,
  rule,
} from '../../core/internal/options.js';
import { conditionOf, type Condition } from './condition.js';
import {
  checkedDocuments,
  checkedListQuery,
  checkedReplaces,
  checkedSelection,
  checkNamespace,
  type CheckedListQuery,
  type Selection,
} from './document-checks.js';
import type { ListQuery, UpsertOptions } from './document-store.js';
import type { Vector } from './embedding-model.js';
import type { Filter } from './filter.js';
import type { VectorQuery, VectorStore } from './vector-store.js';

/** A document with its vector, scaled to length 1. */
export type EmbeddedDocument = Document & { readonly vector: Vector };

/** A checked {@link VectorQuery}. */
export interface CheckedVectorQuery {
  /** Scaled to length 1. */
  readonly vector: Vector;
  readonly topK: number;
  readonly minScore: number;
  readonly condition: Condition | undefined;
}

const FLOATS = rule(
  'a Float32Array with at least one number',
  (value) => value instanceof Float32Array && value.length > 0,
);
const QUERY_RULES = {
  vector: required(FLOATS),
  topK: required(integer(1)),
  minScore: numberBetween(-1, 1),
  filter: CHECKED_APART,
};

/** A store that checks what it is given, and scales vectors to length 1; the subclass stores. */
export abstract class CheckedVectorStore implements VectorStore {
  protected abstract readonly where: string;

  async upsert(
    namespace: string,
    documents: readonly Document[],
    options: UpsertOptions = {},
  ): Promise<void> {
    checkNamespace(this.where, namespace);
    const replaces = checkedReplaces(this.where, options);
    const embedded = this.embedded(documents);
    const { signal } = options;
    if (signal?.aborted) throw cancelledError(signal.reason);
    if (embedded.length === 0 && !replaces) return;
    await untilAborted(this.write(namespace, embedded, replaces, signal), signal);
  }

  async search(
    namespace: string,
    query: VectorQuery,
    { signal }: ModelRun = {},
  ): Promise<readonly Document[]> {
    checkNamespace(this.where, namespace);
    checkOptions(this.where, query, QUERY_RULES);
    const { topK, minScore = -1, filter } = query;
    checkFinite(this.where, query.vector, 'vector');
    const condition = filter && conditionOf(this.where, filter);
    if (signal?.aborted) throw cancelledError(signal.reason);
    const checked = { vector: unitVector(query.vector), topK, minScore, condition };
    return untilAborted(this.nearest(namespace, checked, signal), signal);
  }

  async list(namespace: string, query: ListQuery = {}): Promise<readonly Document[]> {
    checkNamespace(this.where, namespace);
    return this.page(namespace, checkedListQuery(this.where, query));
  }

  async delete(namespace: string, selection: readonly string[] | Filter): Promise<void> {
    checkNamespace(this.where, namespace);
    await this.remove(namespace, checkedSelection(this.where, selection));
  }

  async clear(namespace: string): Promise<void> {
    checkNamespace(this.where, namespace);
    await this.removeAll(namespace);
  }

  /** Deletes and adds in one step; at least one of both. The documents have the same dimensions. */
  protected abstract write(
    namespace: string,
    documents: readonly EmbeddedDocument[],
    replaces: Condition | undefined,
    signal: AbortSignal | undefined,
  ): void | Promise<void>;
  protected abstract nearest(
    namespace: string,
    query: CheckedVectorQuery,
    signal: AbortSignal | undefined,
  ): readonly Document[] | Promise<readonly Document[]>;
  protected abstract page(
    namespace: string,
    query: CheckedListQuery,
  ): readonly Document[] | Promise<readonly Document[]>;
  protected abstract remove(namespace: string, selection: Selection): void | Promise<void>;
  protected abstract removeAll(namespace: string): void | Promise<void>;

  /** @throws {@link InvalidArgumentError} unless the vector fits into its namespace */
  protected checkDimensions(namespace: string, name: string, found: number, known: number): void {
    if (found !== known)
      throw new InvalidArgumentError(
        `${this.where}: ${name} has ${found} dimensions, but the vectors of namespace ${describe(namespace)} have ${known}`,
      );
  }

  private embedded(documents: readonly Document[]): readonly EmbeddedDocument[] {
    const checked = checkedDocuments(this.where, documents);
    for (const [at, { vector }] of documents.entries()) {
      checkOption(this.where, `documents[${at}].vector`, vector, FLOATS);
      checkFinite(this.where, vector as Vector, `documents[${at}].vector`);
      const [found, first] = [vector?.length, documents[0]?.vector?.length];
      if (found !== first)
        throw new InvalidArgumentError(
          `${this.where}: documents[${at}].vector has ${found} dimensions, but documents[0].vector has ${first}`,
        );
    }
    return checked.map((each) => ({ ...each, vector: unitVector(each.vector as Vector) }));
  }
}

/** Ends the wait, if there is one, with the signal. */
function untilAborted<T>(result: T | Promise<T>, signal: AbortSignal | undefined): T | Promise<T> {
  return signal && isPromise(result) ? untilCancelled(result, cancellationOf(signal)) : result;
}

function checkFinite(where: string, vector: Vector, name: string): void {
  const bad = vector.findIndex((value) => !Number.isFinite(value));
  if (bad >= 0) checkOption(where, `${name}[${bad}]`, vector[bad], FINITE);
}

/** A vector scaled to length 1, so that dot products are cosines; a zero vector stays one. */
function unitVector(vector: Vector): Vector {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const length = Math.sqrt(squares) || 1;
  return vector.map((value) => value / length);
}
