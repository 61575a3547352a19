import type { EmbeddingResponse, Vector } from '../../embedding/embedding-model.js';
import { ModelCallError } from '../../errors.js';
import { ProviderFailure } from './model-errors.js';
import { isWire, textOrNone } from './wire-json.js';
import { toUsage } from './wire-usage.js';

/**
 * The vectors of an answer, in the order of the texts.
 * @param count of the texts
 * @throws {@link ModelCallError} if there is not exactly one usable vector for each
 */
export function readEmbeddings(text: string, count: number): EmbeddingResponse {
  const body = parse(text);
  const whole: unknown = Array.isArray(body) ? body[0] : body; // Google's endpoint wraps errors in a list
  if (!isWire(whole)) throw noEmbeddings('no object');
  const { data, error, object, type, usage, model } = whole;
  if (error) throw new ProviderFailure(error);
  if (object === 'error' || type === 'error') throw new ProviderFailure(whole);
  if (!Array.isArray(data)) throw noEmbeddings('no data');
  return { vectors: inOrder(data, count), usage: toUsage(usage), model: textOrNone(model) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw noEmbeddings('no JSON');
  }
}

function noEmbeddings(what: string): ModelCallError {
  return new ModelCallError(`The server answered, but not with embeddings (${what}). Is the base URL that of an OpenAI-compatible API?`);
}

/** The vectors by the texts they belong to; each must be there exactly once. */
function inOrder(data: readonly unknown[], count: number): readonly Vector[] {
  if (data.length !== count) throw unusable(`${data.length} vectors for ${count} texts`);
  const vectors = new Map<number, Vector>();
  for (const item of data) {
    const { index, embedding } = isWire(item) ? item : {};
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count)
      throw unusable(`a vector whose index is not an integer from 0 to ${count - 1}`);
    if (vectors.has(index)) throw unusable(`two vectors with index ${index}`);
    vectors.set(index, toVector(embedding, index));
  }
  return Array.from({ length: count }, (_, index) => vectors.get(index) as Vector);
}

function toVector(embedding: unknown, index: number): Vector {
  const vector = typeof embedding === 'string' ? decode(embedding) : fromNumbers(embedding);
  if (!vector) throw unusable(`a vector that is neither numbers nor base64 of 32-bit floats (index ${index})`);
  if (vector.length === 0) throw unusable(`an empty vector (index ${index})`);
  if (!vector.every(Number.isFinite)) throw unusable(`a vector with NaN or Infinity (index ${index})`);
  return vector;
}

function fromNumbers(embedding: unknown): Vector | undefined {
  return Array.isArray(embedding) && embedding.every((value) => typeof value === 'number') ? Float32Array.from(embedding) : undefined;
}

/** Little endian, whatever the platform is. The loops are twenty times as fast as `from` with a function. */
function decode(base64: string): Vector | undefined {
  const bytes = toBytes(base64);
  if (!bytes || bytes.length % 4 !== 0) return undefined;
  const view = new DataView(bytes.buffer);
  const vector = new Float32Array(bytes.length / 4);
  for (let at = 0; at < vector.length; at++) vector[at] = view.getFloat32(at * 4, true);
  return vector;
}

function toBytes(base64: string): Uint8Array | undefined {
  try {
    const binary = atob(base64);
    const bytes = new Uint8Array(binary.length);
    for (let at = 0; at < bytes.length; at++) bytes[at] = binary.charCodeAt(at);
    return bytes;
  } catch {
    return undefined;
  }
}

/** @throws {@link ModelCallError} if a vector has another length than those before it */
export function ofLength(vector: Vector, dimensions: number | undefined): Vector {
  if (vector.length === dimensions) return vector;
  throw unusable(`vectors of ${vector.length} dimensions where ${dimensions} were expected`);
}

function unusable(what: string): ModelCallError {
  return new ModelCallError(`The server answered with unusable embeddings: ${what}.`);
}
