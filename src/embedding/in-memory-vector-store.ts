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
  private readonly namespaces = new Map<string, VectorTable>();

  async upsert(namespace: string, entries: readonly VectorEntry[]): Promise<void> {
    const [first] = entries;
    if (!first) return;
    checkVector(first.vector, 'entries[0].vector');
    const table = this.namespaces.get(namespace) ?? new VectorTable(namespace, first.vector.length);
    for (const [at, entry] of entries.entries()) table.checkEntry(entry, `entries[${at}]`);
    for (const entry of entries) table.put(entry);
    this.namespaces.set(namespace, table);
  }

  async search(namespace: string, query: VectorQuery): Promise<readonly VectorMatch[]> {
    checkVector(query.vector, 'vector');
    checkMetadata(query.filter ?? {}, 'filter');
    checkOption(WHERE, 'topK', query.topK, integer(1));
    const table = this.namespaces.get(namespace);
    table?.checkDimensions(query.vector, 'vector');
    return table?.search(query) ?? [];
  }

  async delete(namespace: string, ids?: readonly string[]): Promise<void> {
    const table = this.namespaces.get(namespace);
    for (const id of ids ?? []) table?.remove(id);
    if (!ids || table?.rows.size === 0) this.namespaces.delete(namespace);
  }
}

interface Row {
  readonly slot: number;
  readonly metadata: VectorMetadata;
}

/** The vectors of a namespace in one buffer, scaled to length 1 so that dot products are cosines. */
class VectorTable {
  /** In insertion order. */
  readonly rows = new Map<string, Row>();
  private readonly freeSlots: number[] = [];
  private buffer = new Float32Array(0);
  private slots = 0;

  constructor(
    private readonly namespace: string,
    private readonly dimensions: number,
  ) {}

  checkEntry({ id, vector, metadata = {} }: VectorEntry, name: string): void {
    checkOption(WHERE, `${name}.id`, id, STRING);
    checkVector(vector, `${name}.vector`);
    this.checkDimensions(vector, `${name}.vector`);
    checkMetadata(metadata, `${name}.metadata`);
  }

  checkDimensions({ length }: Vector, name: string): void {
    if (length === this.dimensions) return;
    throw new InvalidArgumentError(
      `${WHERE}: ${name} has ${length} dimensions, but the vectors of namespace ${describe(this.namespace)} have ${this.dimensions}`,
    );
  }

  put({ id, vector, metadata }: VectorEntry): void {
    const slot = this.rows.get(id)?.slot ?? this.freeSlots.pop() ?? this.addSlot();
    this.buffer.set(normalize(vector), slot * this.dimensions);
    this.rows.set(id, { slot, metadata: { ...metadata } });
  }

  remove(id: string): void {
    const row = this.rows.get(id);
    if (row) this.freeSlots.push(row.slot);
    this.rows.delete(id);
  }

  search({ vector, topK, filter = {} }: VectorQuery): readonly VectorMatch[] {
    const query = normalize(vector);
    const labels = Object.entries(filter);
    const best: VectorMatch[] = [];
    // the sort is stable, so equal scores stay in insertion order
    const dropWorst = (): unknown => best.sort((a, b) => b.score - a.score).splice(topK);
    let minScore = -Infinity;
    for (const [id, { slot, metadata }] of this.rows) {
      const score = hasLabels(metadata, labels) ? this.cosine(slot, query) : -Infinity;
      if (score <= minScore) continue;
      best.push({ id, score });
      if (best.length < topK * 2) continue;
      dropWorst();
      minScore = best.at(-1)?.score ?? minScore;
    }
    dropWorst();
    return best;
  }

  private addSlot(): number {
    const slot = this.slots++;
    if (this.slots * this.dimensions > this.buffer.length) {
      const grown = new Float32Array(Math.max(1, slot * 2) * this.dimensions);
      grown.set(this.buffer);
      this.buffer = grown;
    }
    return slot;
  }

  private cosine(slot: number, query: Vector): number {
    const { buffer, dimensions } = this;
    const start = slot * dimensions;
    let sum = 0;
    for (let at = 0; at < dimensions; at++)
      sum += (buffer[start + at] as number) * (query[at] as number);
    return Math.max(-1, Math.min(1, sum)); // rounding may exceed 1
  }
}

function hasLabels(metadata: VectorMetadata, labels: readonly [string, string][]): boolean {
  return labels.every(([name, value]) => Object.hasOwn(metadata, name) && metadata[name] === value);
}

/** Scales a vector to length 1; a zero vector is unchanged. */
function normalize(vector: Vector): Vector {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const length = Math.sqrt(squares) || 1;
  return vector.map((value) => value / length);
}

function checkVector(vector: Vector, name: string): void {
  checkOption(WHERE, name, vector, FLOATS);
  const bad = vector.findIndex((value) => !Number.isFinite(value));
  if (bad >= 0) checkOption(WHERE, `${name}[${bad}]`, vector[bad], FINITE);
}

/** Rejects undefined values too: a filter must not ignore them. */
function checkMetadata(metadata: VectorMetadata, name: string): void {
  for (const [key, value] of Object.entries(metadata))
    checkOption(WHERE, `${name}.${key}`, value, STRING);
}
