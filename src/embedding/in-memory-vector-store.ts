import { describe } from '../chat/message.js';
import { InvalidArgumentError } from '../errors.js';
import type { Vector } from './embedding-model.js';
import type { VectorEntry, VectorMatch, VectorMetadata, VectorQuery, VectorStore } from './vector-store.js';

/**
 * Keeps vectors in the memory of the process and compares every one of a namespace with what is looked for: exact, and fast
 * enough for some ten thousand entries. Equal scores come in the order of insertion, where replacing keeps the place.
 *
 * Its methods throw {@link InvalidArgumentError} for a vector that is empty, holds a number that is not finite or has not the
 * dimensions of its namespace; an `upsert` that is refused writes nothing.
 */
export class InMemoryVectorStore implements VectorStore {
  private readonly spaces = new Map<string, Space>();

  async upsert(namespace: string, entries: readonly VectorEntry[]): Promise<void> {
    const [first] = entries;
    if (!first) return;
    const space = this.spaces.get(namespace) ?? new Space(checkVector(first.vector, 'entries[0].vector').length);
    for (const [at, entry] of entries.entries()) checkEntry(entry, `entries[${at}]`, namespace, space.dimensions);
    for (const entry of entries) space.put(entry);
    this.spaces.set(namespace, space);
  }

  async search(namespace: string, { vector, topK, filter = {} }: VectorQuery): Promise<readonly VectorMatch[]> {
    checkVector(vector, 'vector');
    checkMetadata(filter, 'filter');
    if (!Number.isInteger(topK) || topK < 1) throw refusal(`topK must be an integer of 1 or more, not ${describe(topK)}`);
    const space = this.spaces.get(namespace);
    if (!space) return [];
    checkDimensions(vector, 'vector', namespace, space.dimensions);
    return space.search(vector, topK, Object.entries(filter));
  }

  async delete(namespace: string, ids?: readonly string[]): Promise<void> {
    const space = this.spaces.get(namespace);
    for (const id of ids ?? []) space?.remove(id);
    if (!ids || space?.size === 0) this.spaces.delete(namespace);
  }
}

interface Place {
  /** Counts vectors, from 0. */
  readonly slot: number;
  readonly metadata: VectorMetadata;
}

/** The vectors of a namespace, one behind the other, each of length 1 (or 0), so that a dot product is a cosine. */
class Space {
  /** In the order of insertion. */
  private readonly places = new Map<string, Place>();
  private readonly free: number[] = [];
  private numbers = new Float32Array(0);
  private slots = 0;

  constructor(readonly dimensions: number) {}

  get size(): number {
    return this.places.size;
  }

  put({ id, vector, metadata }: VectorEntry): void {
    const slot = this.places.get(id)?.slot ?? this.free.pop() ?? this.append();
    this.numbers.set(normalise(vector), slot * this.dimensions);
    this.places.set(id, { slot, metadata: { ...metadata } });
  }

  remove(id: string): void {
    const place = this.places.get(id);
    if (!place) return;
    this.places.delete(id);
    this.free.push(place.slot);
  }

  search(vector: Vector, topK: number, filter: readonly (readonly [string, string])[]): readonly VectorMatch[] {
    const wanted = normalise(vector);
    const best = new BestMatches(topK);
    for (const [id, { slot, metadata }] of this.places) {
      const fits = filter.every(([name, value]) => Object.hasOwn(metadata, name) && metadata[name] === value);
      if (fits) best.offer(id, this.cosine(slot, wanted));
    }
    return best.all();
  }

  private append(): number {
    const slot = this.slots++;
    if (this.slots * this.dimensions > this.numbers.length) {
      const grown = new Float32Array(Math.max(1, slot * 2) * this.dimensions);
      grown.set(this.numbers);
      this.numbers = grown;
    }
    return slot;
  }

  private cosine(slot: number, wanted: Vector): number {
    const { numbers, dimensions } = this;
    const start = slot * dimensions;
    let sum = 0;
    for (let at = 0; at < dimensions; at++) sum += (numbers[start + at] as number) * (wanted[at] as number);
    return Math.max(-1, Math.min(1, sum)); // rounding may lead a little beyond
  }
}

/** Holds at most twice as many matches as are wanted: when it is full, the worse half goes. */
class BestMatches {
  private readonly matches: VectorMatch[] = [];
  /** A match must be better than this. */
  private bar = -Infinity;

  constructor(private readonly topK: number) {}

  offer(id: string, score: number): void {
    if (score <= this.bar) return;
    this.matches.push({ id, score });
    if (this.matches.length < this.topK * 2) return;
    this.prune();
    this.bar = this.matches.at(-1)?.score ?? this.bar;
  }

  all(): readonly VectorMatch[] {
    this.prune();
    return this.matches;
  }

  /** The sort is stable, so equal scores stay in the order in which they were offered. */
  private prune(): void {
    this.matches.sort((a, b) => b.score - a.score).splice(this.topK);
  }
}

/** A vector of the same direction with length 1; one without direction stays zero. */
function normalise(vector: Vector): Vector {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const length = Math.sqrt(squares) || 1;
  return vector.map((value) => value / length);
}

function checkEntry({ id, vector, metadata = {} }: VectorEntry, where: string, namespace: string, dimensions: number): void {
  if (typeof id !== 'string') throw refusal(`${where}.id must be a string, not ${describe(id)}`);
  checkVector(vector, `${where}.vector`);
  checkDimensions(vector, `${where}.vector`, namespace, dimensions);
  checkMetadata(metadata, `${where}.metadata`);
}

function checkVector(vector: Vector, where: string): Vector {
  if (!(vector instanceof Float32Array)) throw refusal(`${where} must be a Float32Array, not ${describe(vector)}`);
  if (vector.length === 0) throw refusal(`${where} must have at least one number`);
  const bad = vector.findIndex((value) => !Number.isFinite(value));
  if (bad >= 0) throw refusal(`${where}[${bad}] must be a finite number, not ${vector[bad]}`);
  return vector;
}

function checkDimensions(vector: Vector, where: string, namespace: string, dimensions: number): void {
  if (vector.length !== dimensions)
    throw refusal(`${where} has ${vector.length} dimensions, but the vectors of namespace ${describe(namespace)} have ${dimensions}`);
}

/** A filter that is let through with a value of undefined would look like one that holds. */
function checkMetadata(metadata: VectorMetadata, where: string): void {
  for (const [name, value] of Object.entries(metadata))
    if (typeof value !== 'string') throw refusal(`${where}.${name} must be a string, not ${describe(value)}`);
}

function refusal(message: string): InvalidArgumentError {
  return new InvalidArgumentError(`InMemoryVectorStore: ${message}`);
}
