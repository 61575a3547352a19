import type { ModelRun } from '../../core/chat/chat-model.js';
import { addUsage, type Usage } from '../../core/chat/chat-response.js';
import type {
  EmbeddingModel,
  EmbeddingResponse,
  Vector,
} from '../../stores/vectors/embedding-model.js';
import { hasMoreValues } from '../../core/internal/json.js';
import {
  CHECKED_APART,
  checkOption,
  checkOptions,
  integer,
  integerOrInfinity,
  type JsonObject,
  required,
  rule,
  type Rule,
  TEXT,
  TIMEOUT,
} from '../../core/internal/options.js';
import { isCutJson } from '../../core/internal/partial-json.js';
import { tooManyValues } from './body-reader.js';
import {
  CONNECTION_RULES,
  jsonBody,
  MAX_RESPONSE_BYTES,
  type Connection,
  type ConnectionOptions,
} from './connection.js';
import { toVector, unusable } from './embedding-vector.js';
import { objectOf } from './fields.js';
import { throwReportedError, unusableBody } from './http-error.js';
import { HttpRequest, type RequestSettings } from './http-request.js';
import { withRetries } from './retries.js';

/** Options of every embedding model on this transport. */
export interface HttpEmbeddingModelOptions extends ConnectionOptions {
  /** Name of the model, such as `text-embedding-3-small`. */
  readonly model: string;
  /** Length of a vector, >= 1; others are rejected. @default decided by the model */
  readonly dimensions?: number | undefined;
  /** Maximum number of texts in one request, >= 1. @default the limit of the API, at most 256 */
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

/** Vectors as an API sends them, in the order of the texts. */
export interface ReceivedVectors {
  /** Each as a list of numbers, or as 32-bit floats in base64. */
  readonly vectors: readonly unknown[];
  readonly usage?: Usage | undefined;
  readonly model?: string | undefined;
}

/** Differences of an API from others. */
export interface EmbeddingApi {
  /** Name of the class, which begins the messages of errors. */
  readonly name: string;
  /** Maximum number of texts that the API takes in one request. */
  readonly maxBatchSize: number;
  /** Rules of the options that only this API has. */
  readonly rules?: Readonly<Record<string, Rule>>;
  readonly connect: (options: ConnectionOptions) => Connection;
}

/** A batch of 256 vectors with 4,096 numbers each has about a million. */
const MAX_RESPONSE_VALUES = 2_000_000;
const BATCH_SIZE = 256;
const TEXTS = rule('an array of strings', Array.isArray);

/**
 * An embedding model over HTTP. An API adds the request of a batch and the reading of its answer;
 * batches, limits and checks are the same for all.
 */
export abstract class HttpEmbeddingModel implements EmbeddingModel {
  readonly id: string;
  protected readonly connection: Connection;
  protected readonly model: string;
  protected readonly dimensions: number | undefined;
  private readonly name: string;
  private readonly batchSize: number;
  private readonly maxRetries: number;
  private readonly maxResponseValues: number;
  private readonly settings: RequestSettings;

  /** @throws {@link InvalidArgumentError} if an option is unknown or out of range, or there is no key */
  protected constructor(options: HttpEmbeddingModelOptions, api: EmbeddingApi) {
    const { name, maxBatchSize, rules = {} } = api;
    const all = { ...rulesWith(maxBatchSize), ...rules };
    checkOptions<object>(name, options, all);
    const { model, apiKey, baseURL, fetch, headers, dimensions, batchSize } = options;
    const { maxRetries = 2, timeout = 60_000, maxResponseBytes = MAX_RESPONSE_BYTES } = options;
    this.connection = api.connect({ apiKey, baseURL, fetch, headers });
    this.model = model;
    this.dimensions = dimensions;
    this.id = dimensions === undefined ? model : `${model} ${dimensions}`;
    this.name = name;
    this.batchSize = batchSize ?? Math.min(maxBatchSize, BATCH_SIZE);
    this.maxRetries = maxRetries;
    this.maxResponseValues = options.maxResponseValues ?? MAX_RESPONSE_VALUES;
    const { secrets } = this.connection;
    this.settings = { kind: 'embedding', model, maxRetries: 0, timeout, maxResponseBytes, secrets };
  }

  /**
   * @throws {@link InvalidArgumentError} if a text is blank; nothing was sent then
   * @throws {@link ModelCallError} if a request failed or its response is unusable; vectors of
   * earlier batches are lost
   * @throws {@link LimitExceededError} if a response is larger than a limit
   */
  async embed(texts: readonly string[], run: ModelRun = {}): Promise<EmbeddingResponse> {
    const inputs = this.checkedCopy(texts);
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

  /** Path of the requests, and the body for a batch. */
  protected abstract request(texts: readonly string[]): {
    readonly path: string;
    readonly body: JsonObject;
  };

  /** @throws {@link ModelCallError} if the body is not one of this API */
  protected abstract read(body: JsonObject, count: number): ReceivedVectors;

  private embedBatch(texts: readonly string[], run: ModelRun): Promise<EmbeddingResponse> {
    const { path, body } = this.request(texts);
    const send = this.connection.post(
      path,
      jsonBody(() => body),
    );
    const request = new HttpRequest<Uint8Array>(this.settings, run, send);
    return request.call((text, headers) => {
      const document = this.parse(text, headers);
      throwReportedError(document);
      const { vectors, usage, model } = this.read(objectOf(document), texts.length);
      if (vectors.length !== texts.length)
        throw unusable(`${vectors.length} vectors for ${texts.length} texts`);
      return { vectors: vectors.map(toVector), usage, model };
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

  /** A copy, since the caller may change the array between two batches. */
  private checkedCopy(texts: readonly string[]): readonly string[] {
    checkOption(this.name, 'texts', texts, TEXTS);
    for (const [index, text] of texts.entries())
      checkOption(this.name, `texts[${index}]`, text, TEXT);
    return [...texts];
  }
}

function rulesWith(maxBatchSize: number): Readonly<Record<string, Rule>> {
  return {
    ...CONNECTION_RULES,
    model: required(TEXT),
    baseURL: CHECKED_APART,
    timeout: TIMEOUT,
    maxResponseValues: integerOrInfinity(1),
    dimensions: integer(1),
    batchSize: rule(
      maxBatchSize === Infinity ? 'an integer >= 1' : `an integer from 1 to ${maxBatchSize}`,
      (value) => integer(1).accepts(value) && (value as number) <= maxBatchSize,
    ),
  };
}
