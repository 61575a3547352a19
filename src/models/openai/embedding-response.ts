import type { EmbeddingResponse, Vector } from '../../embedding/embedding-model.js';
import { ModelCallError } from '../../errors.js';
import { isPlainObject } from '../../internal/options.js';
import { throwReportedError } from '../http/http-error.js';
import { nonEmptyString } from '../http/json-object.js';
import { toUsage, unexpectedBody } from './response.js';

/**
 * The vectors of a response, in the order of the texts.
 * @param count number of texts
 * @throws {@link ModelCallError} if there is not exactly one usable vector for each
 */
export function readEmbeddings(text: string, count: number): EmbeddingResponse {
  const body = parse(text);
  throwReportedError(body);
  if (!isPlainObject(body)) throw unexpectedBody('embeddings', 'no object');
  const { data, usage, model } = body;
  if (!Array.isArray(data)) throw unexpectedBody('embeddings', 'no data');
  return { vectors: inOrder(data, count), usage: toUsage(usage), model: nonEmptyString(model) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unexpectedBody('embeddings', 'no JSON');
  }
}

/** The vectors sorted by index; each index must occur exactly once. */
function inOrder(data: readonly unknown[], count: number): readonly Vector[] {
  if (data.length !== count) throw unusable(`${data.length} vectors for ${count} texts`);
  const vectors = new Map<number, Vector>();
  for (const item of data) {
    const { index, embedding } = isPlainObject(item) ? item : {};
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count)
      throw unusable(`a vector whose index is not an integer from 0 to ${count - 1}`);
    if (vectors.has(index)) throw unusable(`two vectors with index ${index}`);
    vectors.set(index, toVector(embedding, index));
  }
  return Array.from({ length: count }, (_, index) => vectors.get(index) as Vector);
}

function toVector(embedding: unknown, index: number): Vector {
  const vector = typeof embedding === 'string' ? decode(embedding) : fromNumbers(embedding);
  if (!vector)
    throw unusable(`a vector that is neither numbers nor base64 of 32-bit floats (index ${index})`);
  if (vector.length === 0) throw unusable(`an empty vector (index ${index})`);
  if (!vector.every(Number.isFinite))
    throw unusable(`a vector with NaN or Infinity (index ${index})`);
  return vector;
}

function fromNumbers(embedding: unknown): Vector | undefined {
  return Array.isArray(embedding) && embedding.every((value) => typeof value === 'number')
    ? Float32Array.from(embedding)
    : undefined;
}

/** Decodes little-endian floats. The loops are twenty times as fast as `from` with a function. */
function decode(base64: string): Vector | undefined {
  const binary = toBinary(base64);
  if (binary === undefined || binary.length % 4 !== 0) return undefined;
  const view = new DataView(new ArrayBuffer(binary.length));
  for (let at = 0; at < binary.length; at++) view.setUint8(at, binary.charCodeAt(at));
  const vector = new Float32Array(binary.length / 4);
  for (let at = 0; at < vector.length; at++) vector[at] = view.getFloat32(at * 4, true);
  return vector;
}

function toBinary(base64: string): string | undefined {
  try {
    return atob(base64);
  } catch {
    return undefined;
  }
}

/** @throws {@link ModelCallError} if a vector has another length */
export function checkDimensions(vector: Vector, dimensions: number | undefined): Vector {
  if (vector.length === dimensions) return vector;
  throw unusable(`vectors of ${vector.length} dimensions where ${dimensions} were expected`);
}

function unusable(what: string): ModelCallError {
  return new ModelCallError(`The server answered with unusable embeddings: ${what}.`);
}
