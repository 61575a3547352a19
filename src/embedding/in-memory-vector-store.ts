import { InvalidArgumentError } from '../errors.js';
import { describe } from '../internal/text.js';
import { checkOption, FINITE, integer, rule } from '../internal/options.js';
import type { Vector } from './embedding-model.js';
import type {
  VectorEntry,
  VectorMatch,
  VectorMetadata,
  VectorQuery,
  VectorStore,
} from './vector-store.js';

/** An entry without its id. */
type Stored = Omit<VectorEntry, 'id'>;

const WHERE = 'InMemoryVectorStore';
const FLOATS = rule(
  'a Float32Array with at least one number',
  (value) => value instanceof Float32Array && value.length > 0,
);
const STRING = rule('a string', (value) => typeof value === 'string');

/**
 * Stores vectors in this process. A search is exact: it compares every vector of the namespace, fast
 * enough for some ten thousand entries. Equal scores are in insertion order. Methods throw
 * {@link InvalidArgumentError} for a vector that is empty, has a number that is not finite, or has
 * other dimensions than its namespace; a rejected `upsert` changes nothing.
 */
export class InMemoryVectorStore implements VectorStore {
  /** By namespace and id, in insertion order; scaled to length 1, so that dot products are cosines. */
  private readonly namespaces = new Map<string, Map<string, Stored>>();

  async upsert(namespace: string, entries: readonly VectorEntry[]): Promise<void> {
    const [first] = entries;
    if (!first) return;
    checkVector(first.vector, 'entries[0].vector');
    const stored = this.namespaces.get(namespace) ?? new Map<string, Stored>();
    const [known = first] = stored.values();
    for (const [at, { id, vector, text = '', metadata = {} }] of entries.entries()) {
      checkOption(WHERE, `entries[${at}].id`, id, STRING);
      checkVector(vector, `entries[${at}].vector`, namespace, known.vector);
      checkOption(WHERE, `entries[${at}].text`, text, STRING);
      checkMetadata(metadata, `entries[${at}].metadata`);
    }
    for (const { id, vector, text, metadata } of entries) {
      const kept = metadata && Object.freeze({ ...metadata });
      stored.set(id, { vector: normalize(vector), text, metadata: kept });
    }
    this.namespaces.set(namespace, stored);
  }

  async search(namespace: string, query: VectorQuery): Promise<readonly VectorMatch[]> {
    const { vector: searched, topK, filter = {} } = query;
    const stored = this.namespaces.get(namespace) ?? new Map<string, Stored>();
    const [known] = stored.values();
    checkVector(searched, 'vector', namespace, known?.vector);
    checkMetadata(filter, 'filter');
    checkOption(WHERE, 'topK', topK, integer(1));
    const unit = normalize(searched);
    const labels = Object.entries(filter);
    const best: VectorMatch[] = [];
    // the sort is stable, so equal scores stay in insertion order
    const dropWorst = (): unknown => best.sort((a, b) => b.score - a.score).splice(topK);
    let minScore = -Infinity;
    for (const [id, { vector, metadata }] of stored) {
      const score = hasLabels(labels, metadata) ? cosine(vector, unit) : -Infinity;
      if (score <= minScore) continue;
      best.push({ id, score });
      if (best.length < topK * 2) continue;
      dropWorst();
      minScore = best.at(-1)?.score ?? minScore;
    }
    dropWorst();
    return best.map((match) => withDocument(match, stored.get(match.id)));
  }

  async delete(namespace: string, ids?: readonly string[]): Promise<void> {
    const stored = this.namespaces.get(namespace);
    for (const id of ids ?? []) stored?.delete(id);
    if (!ids || stored?.size === 0) this.namespaces.delete(namespace);
  }
}

function hasLabels(labels: readonly [string, string][], metadata: VectorMetadata = {}): boolean {
  return labels.every(([name, value]) => Object.hasOwn(metadata, name) && metadata[name] === value);
}

function withDocument(match: VectorMatch, { text, metadata }: Partial<Stored> = {}): VectorMatch {
  return { ...match, ...(text !== undefined && { text }), ...(metadata && { metadata }) };
}

/** Scales a vector to length 1; a zero vector is unchanged. */
function normalize(vector: Vector): Vector {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const length = Math.sqrt(squares) || 1;
  return vector.map((value) => value / length);
}

function cosine(a: Vector, b: Vector): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += (a[at] as number) * (b[at] as number);
  return Math.max(-1, Math.min(1, sum)); // rounding may exceed 1
}

/** @param known a vector of the namespace, unless it is empty */
function checkVector(vector: Vector, name: string, namespace = '', known = vector): void {
  checkOption(WHERE, name, vector, FLOATS);
  const bad = vector.findIndex((value) => !Number.isFinite(value));
  if (bad >= 0) checkOption(WHERE, `${name}[${bad}]`, vector[bad], FINITE);
  if (vector.length !== known.length)
    throw new InvalidArgumentError(
      `${WHERE}: ${name} has ${vector.length} dimensions, but the vectors of namespace ${describe(namespace)} have ${known.length}`,
    );
}

/** Rejects undefined values too: a filter must not ignore them. */
function checkMetadata(metadata: VectorMetadata, name: string): void {
  for (const [key, value] of Object.entries(metadata))
    checkOption(WHERE, `${name}.${key}`, value, STRING);
}
