import type { ModelRun } from '../../core/chat/chat-model.js';
import {
  CHECKED_APART,
  checkOption,
  checkOptions,
  integer,
  required,
  rule,
  TEXT,
  TIMEOUT,
} from '../../core/internal/options.js';
import { isCutJson } from '../../core/internal/partial-json.js';
import { listOf } from '../../core/json-schema/json-pointer.js';
import type { Reranker, RerankResponse } from '../../stores/vectors/reranker.js';
import {
  connect,
  CONNECTION_RULES,
  jsonBody,
  MAX_RESPONSE_BYTES,
  type Connection,
  type ConnectionOptions,
} from '../http/connection.js';
import { inputUsage, objectOf } from '../http/fields.js';
import { throwReportedError, unexpectedBody, unusableBody } from '../http/http-error.js';
import { HttpRequest, type RequestSettings } from '../http/http-request.js';
import { COHERE, pathUnder } from './cohere-chat-model.js';

/** Options of a {@link CohereReranker}. */
export interface CohereRerankerOptions extends ConnectionOptions {
  /** Name of the model, such as `rerank-v3.5`. */
  readonly model: string;
  /** Maximum number of tokens of a text that are read, an integer >= 1. @default 4_096, by the API */
  readonly maxTokensPerDocument?: number | undefined;
  /**
   * Time limit in milliseconds for the request with its retries and its whole response; `Infinity`
   * for none. @default 60_000
   */
  readonly timeout?: number | undefined;
}

const NAME = 'CohereReranker';
const EXPECTED = 'a reranking';
const RULES = {
  ...CONNECTION_RULES,
  baseURL: CHECKED_APART,
  model: required(TEXT),
  maxTokensPerDocument: integer(1),
  timeout: TIMEOUT,
};
const TEXTS = rule(
  'an array of strings',
  (value) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
);

/** Rerankers of Cohere, and of servers with its API. May be shared by concurrent requests. */
export class CohereReranker implements Reranker {
  private readonly connection: Connection;
  private readonly settings: RequestSettings;
  private readonly model: string;
  private readonly maxTokensPerDocument: number | undefined;

  /** @throws {@link InvalidArgumentError} if an option is unknown or out of range, or there is no key */
  constructor(options: CohereRerankerOptions) {
    checkOptions(NAME, options, RULES);
    const { model, maxTokensPerDocument, apiKey, baseURL, fetch, headers } = options;
    const { maxRetries = 2, timeout = 60_000, maxResponseBytes = MAX_RESPONSE_BYTES } = options;
    this.connection = connect(NAME, { apiKey, baseURL, fetch, headers }, COHERE);
    const { secrets } = this.connection;
    this.settings = { kind: 'rerank', model, maxRetries, timeout, maxResponseBytes, secrets };
    this.model = model;
    this.maxTokensPerDocument = maxTokensPerDocument;
  }

  /**
   * @throws {@link InvalidArgumentError} if the query is blank, or a text is no string
   * @throws {@link ModelCallError} if the request failed or its response is unusable
   * @throws {@link LimitExceededError} if the response is larger than its limit
   */
  async rerank(
    query: string,
    texts: readonly string[],
    run: ModelRun = {},
  ): Promise<RerankResponse> {
    checkOption(NAME, 'query', query, TEXT);
    checkOption(NAME, 'texts', texts, TEXTS);
    if (texts.length === 0) return { scores: [], model: this.model };
    const body = {
      model: this.model,
      query,
      documents: texts,
      max_tokens_per_doc: this.maxTokensPerDocument,
    };
    const send = this.connection.post(
      pathUnder(this.connection.baseURL, 'rerank'),
      jsonBody(() => body),
    );
    return new HttpRequest<Uint8Array>(this.settings, run, send).call((text, headers) =>
      this.read(this.parse(text, headers), texts.length),
    );
  }

  private parse(text: string, headers: Headers): unknown {
    try {
      return JSON.parse(text);
    } catch {
      throw unusableBody(EXPECTED, isCutJson(text), headers, this.settings.secrets());
    }
  }

  private read(document: unknown, count: number): RerankResponse {
    throwReportedError(document);
    const { results, meta } = objectOf(document);
    if (!Array.isArray(results)) throw unexpectedBody(EXPECTED, 'no results');
    const scores = new Map<number, number>();
    for (const { index, relevance_score: score } of listOf(results).map(objectOf))
      if (typeof index === 'number' && Number.isFinite(score)) scores.set(index, score as number);
    const ordered = Array.from({ length: count }, (_, at) => scores.get(at));
    const known = ordered.filter((score) => score !== undefined);
    if (known.length < count)
      throw unexpectedBody(EXPECTED, `${known.length} scores for ${count} texts`);
    const { input_tokens: tokens } = objectOf(objectOf(meta)['tokens']);
    return { scores: known, usage: inputUsage(tokens), model: this.model };
  }
}
