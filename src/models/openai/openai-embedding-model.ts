import type { ModelRun } from '../../chat/chat-model.js';
import { addUsage } from '../../chat/chat-response.js';
import type { EmbeddingModel, EmbeddingResponse, Vector } from '../../embedding/embedding-model.js';
import { InvalidArgumentError, ModelCallError } from '../../errors.js';
import {
  checkOption,
  checkOptions,
  integer,
  integerOrInfinity,
  isPlainObject,
  type JsonObject,
  nonEmptyString,
  rule,
  TEXT,
  TIMEOUT,
} from '../../internal/options.js';
import { hasMoreValues } from '../../internal/json.js';
import { isCutJson } from '../../internal/partial-json.js';
import { tooManyValues } from '../http/body-reader.js';
import {
  CONNECTION_RULES,
  jsonBody,
  MAX_RESPONSE_BYTES,
  type Connection,
} from '../http/connection.js';
import { throwReportedError, unexpectedBody, unusableBody } from '../http/http-error.js';
import { HttpRequest, type RequestSettings } from '../http/http-request.js';
import { withRetries } from '../http/retries.js';
import { connectToOpenAI, type OpenAIConnectionOptions } from './client.js';
import { toUsage } from './response.js';

/** Options of an {@link OpenAIEmbeddingModel}: the form of the vectors, and the connection. */
export interface OpenAIEmbeddingModelOptions extends OpenAIConnectionOptions {
  /** Name of the model, such as `text-embedding-3-small`. */
  readonly model: string;
  /** Length of a vector, >= 1; others are rejected. @default decided by the model */
  readonly dimensions?: number | undefined;
  /** Maximum number of texts in one request, from 1 to 2048. @default 256 */
  readonly batchSize?: number | undefined;
  /**
   * Time limit in milliseconds for one attempt with its whole response, which is retried then;
   * `Infinity` for none. @default 60_000
   */
  readonly timeout?: number | undefined;
  /**
   * Maximum number of JSON values in the answer to one request, >= 1; `Infinity` for none. A server
   * that sends vectors as numbers needs one for each. @default 2_000_000
   */
  readonly maxResponseValues?: number | undefined;
}

const NAME = 'OpenAIEmbeddingModel';
const RULES = {
  ...CONNECTION_RULES,
  timeout: TIMEOUT,
  maxResponseValues: integerOrInfinity(1),
  dimensions: integer(1),
  batchSize: rule(
    'an integer from 1 to 2048',
    (value) => integer(1).accepts(value) && (value as number) <= 2048,
  ),
};
/** A batch of 256 vectors with 4,096 numbers each has about a million. */
const MAX_RESPONSE_VALUES = 2_000_000;
const TEXTS = rule('an array of strings', Array.isArray);

/** Embeddings of OpenAI and of compatible servers. May be shared by concurrent requests. */
export class OpenAIEmbeddingModel implements EmbeddingModel {
  private readonly fields: JsonObject;
  private readonly dimensions: number | undefined;
  private readonly batchSize: number;
  private readonly maxRetries: number;
  private readonly maxResponseValues: number;
  private readonly post: Connection['post'];
  private readonly settings: RequestSettings;

  /** @throws {@link InvalidArgumentError} if an option is out of range or there is no API key */
  constructor(options: OpenAIEmbeddingModelOptions) {
    const { model, apiKey, baseURL, fetch, headers, client, ...others } = options;
    const { dimensions, batchSize = 256, maxRetries = 2, timeout = 60_000, ...limits } = others;
    const { maxResponseBytes = MAX_RESPONSE_BYTES, maxResponseValues, ...unknown } = limits;
    const [name] = Object.keys(unknown);
    if (name !== undefined) throw new InvalidArgumentError(`${NAME}: unknown option "${name}"`);
    checkOption(NAME, 'model', model, TEXT);
    checkOptions(NAME, options, RULES);
    const connection = { apiKey, baseURL, fetch, headers, client };
    const { post, secrets } = connectToOpenAI(NAME, connection);
    this.fields = { model, encoding_format: 'base64', dimensions };
    this.dimensions = dimensions;
    this.batchSize = batchSize;
    this.maxRetries = maxRetries;
    this.maxResponseValues = maxResponseValues ?? MAX_RESPONSE_VALUES;
    this.post = post;
    this.settings = { kind: 'embedding', model, maxRetries: 0, timeout, maxResponseBytes, secrets };
  }

  /**
   * @throws {@link InvalidArgumentError} if a text is blank; nothing was sent then
   * @throws {@link ModelCallError} if a request failed or its response is unusable; vectors of
   * earlier batches are lost
   * @throws {@link LimitExceededError} if a response is larger than a limit
   */
  async embed(texts: readonly string[], run: ModelRun = {}): Promise<EmbeddingResponse> {
    const inputs = checkedCopy(texts);
    const vectors: Vector[] = [];
    let { dimensions } = this;
    let usage: EmbeddingResponse['usage'];
    let model: EmbeddingResponse['model'];
    for (let start = 0; start < inputs.length; start += this.batchSize) {
      const batch = inputs.slice(start, start + this.batchSize);
      const response = await withRetries(this.maxRetries, run, () => this.embedBatch(batch, run));
      for (const vector of response.vectors) {
        dimensions ??= vector.length;
        if (vector.length !== dimensions)
          throw unusable(`${vector.length} dimensions where ${dimensions} were expected`);
        vectors.push(vector);
      }
      usage = addUsage(usage, response.usage);
      model ??= response.model;
    }
    return { vectors, usage, model };
  }

  private embedBatch(texts: readonly string[], run: ModelRun): Promise<EmbeddingResponse> {
    const body = { ...this.fields, input: texts };
    const send = this.post(
      '/embeddings',
      jsonBody(() => body),
    );
    const request = new HttpRequest(this.settings, run, send);
    return request.call((text, headers) => {
      const body = this.parse(text, headers);
      return readEmbeddings(body, texts.length);
    });
  }

  private parse(text: string, headers: Headers): unknown {
    if (hasMoreValues(text, this.maxResponseValues)) throw tooManyValues(this.maxResponseValues);
    try {
      return JSON.parse(text);
    } catch {
      throw unusableBody('embeddings', isCutJson(text), headers, this.settings.secrets());
    }
  }
}

/** A copy, since the caller may change the array between two batches. */
function checkedCopy(texts: readonly string[]): readonly string[] {
  checkOption(NAME, 'texts', texts, TEXTS);
  for (const [index, text] of texts.entries()) checkOption(NAME, `texts[${index}]`, text, TEXT);
  return [...texts];
}

/** @throws {@link ModelCallError} if there is not exactly one usable vector for each text */
function readEmbeddings(body: unknown, count: number): EmbeddingResponse {
  throwReportedError(body);
  const { data, usage, model } = isPlainObject(body) ? body : {};
  if (!Array.isArray(data)) throw unexpectedBody('embeddings', 'no data');
  return { vectors: inOrder(data, count), usage: toUsage(usage), model: nonEmptyString(model) };
}

/** The vectors sorted by index; each index must occur exactly once. */
function inOrder(data: readonly unknown[], count: number): readonly Vector[] {
  if (data.length !== count) throw unusable(`${data.length} vectors for ${count} texts`);
  const items = data.map((item) => (isPlainObject(item) ? item : {}));
  items.sort((a, b) => Number(a['index']) - Number(b['index']));
  return items.map(({ index, embedding }, at) => {
    if (index !== at) throw unusable(`vectors whose indexes are not 0 to ${count - 1}`);
    return toVector(embedding, at);
  });
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

/** Decodes little-endian floats. The loop is twenty times as fast as `from` with a function. */
function decode(base64: string): Vector | undefined {
  try {
    const binary = atob(base64);
    const bytes = new Uint8Array(binary.length);
    for (let at = 0; at < bytes.length; at++) bytes[at] = binary.charCodeAt(at);
    return new Float32Array(bytes.buffer);
  } catch {
    return undefined; // not base64, or not whole floats
  }
}

function unusable(what: string): ModelCallError {
  return new ModelCallError(`The server answered with unusable embeddings: ${what}.`);
}
