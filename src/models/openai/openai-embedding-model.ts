import type OpenAI from 'openai';
import { onAbort } from '../../chat/abort.js';
import { cancellationOf } from '../../chat/cancellation.js';
import type { ModelRun } from '../../chat/chat-model.js';
import { describe } from '../../chat/message.js';
import { addUsage } from '../../chat/usage.js';
import type { EmbeddingModel, EmbeddingResponse, Vector } from '../../embedding/embedding-model.js';
import { InvalidArgumentError, ModelTimeoutError } from '../../errors.js';
import { withErrorBodies } from './error-bodies.js';
import { ofLength, readEmbeddings } from './embedding-answer.js';
import { toModelError } from './model-errors.js';
import { createClient } from './openai-client.js';
import { withRetries } from './retry.js';
import { secretsOf } from './secrets.js';

/** Options of an {@link OpenAIEmbeddingModel}: what to ask for, and how to reach the server. */
export interface OpenAIEmbeddingModelOptions {
  /** Name of the model, such as `text-embedding-3-small`. */
  readonly model: string;
  /** @default the environment variable `OPENAI_API_KEY` */
  readonly apiKey?: string | undefined;
  /** Address of an OpenAI-compatible API, such as `http://127.0.0.1:11434/v1`. @default that of OpenAI */
  readonly baseURL?: string | undefined;
  /** A ready client of the `openai` package (Azure, proxies, own headers), in place of `apiKey` and `baseURL`. */
  readonly client?: OpenAI | undefined;
  /** Numbers in a vector, 1 or more; an answer with others is refused. @default what the model makes, which is not asked for */
  readonly dimensions?: number | undefined;
  /** Most texts in one request, from 1 to 2048; further texts follow in requests one after another. @default 256 */
  readonly batchSize?: number | undefined;
  /** How often a request that failed for a passing reason (429, 5xx, connection, timeout) is sent again; 0 or more. @default 2 */
  readonly maxRetries?: number | undefined;
  /** Milliseconds for one request and its whole answer, anew for each retry; `Infinity` for no limit. @default 60_000 */
  readonly timeout?: number | undefined;
}

interface EmbeddingSettings {
  readonly client: OpenAI;
  readonly model: string;
  readonly dimensions: number | undefined;
  readonly batchSize: number;
  readonly maxRetries: number;
  readonly timeout: number;
}

/** Embeddings of OpenAI and of every server that speaks the same protocol. Keeps no state of a request; may be shared. */
export class OpenAIEmbeddingModel implements EmbeddingModel {
  readonly #settings: EmbeddingSettings;

  /** @throws {@link InvalidArgumentError} if an option is out of range or there is no API key */
  constructor(options: OpenAIEmbeddingModelOptions) {
    const { model, apiKey, baseURL, client, dimensions, batchSize = 256, maxRetries = 2, timeout = 60_000, ...unknown } = options;
    const [name] = Object.keys(unknown);
    if (name !== undefined) throw refusal(`unknown option "${name}"`);
    if (!isText(model)) throw refusal('give the name of a model, such as { model: "text-embedding-3-small" }');
    if (apiKey !== undefined && !isText(apiKey)) throw refusal('apiKey must be a non-blank string');
    if (dimensions !== undefined && !(Number.isInteger(dimensions) && dimensions > 0))
      throw refusal(`dimensions must be an integer of 1 or more, not ${describe(dimensions)}`);
    if (!Number.isInteger(batchSize) || batchSize < 1 || batchSize > 2048)
      throw refusal(`batchSize must be an integer from 1 to 2048, not ${describe(batchSize)}`);
    if (!Number.isInteger(maxRetries) || maxRetries < 0)
      throw refusal(`maxRetries must be an integer of 0 or more, not ${describe(maxRetries)}`);
    if (!(timeout > 0)) throw refusal(`timeout must be a number of milliseconds above 0, not ${describe(timeout)}`);
    const used = client ?? createClient(OWNER, apiKey, baseURL).withOptions({ fetch: send });
    this.#settings = { client: used, model, dimensions, batchSize, maxRetries, timeout };
  }

  /**
   * @throws {@link InvalidArgumentError} if a text is blank; nothing was sent then
   * @throws {@link ModelCallError} if a request failed or its answer is unusable; vectors of earlier batches are lost
   */
  async embed(texts: readonly string[], run: ModelRun = {}): Promise<EmbeddingResponse> {
    const inputs = checkTexts(texts);
    const controller = new AbortController();
    const onCancel = run.onCancel ?? (run.signal && cancellationOf(run.signal).onCancel);
    const release = onCancel?.((reason) => controller.abort(reason));
    try {
      return await this.embedAll(inputs, controller.signal);
    } catch (error) {
      throw this.wrap(error, controller.signal);
    } finally {
      release?.();
    }
  }

  private async embedAll(texts: readonly string[], signal: AbortSignal): Promise<EmbeddingResponse> {
    const { batchSize, maxRetries } = this.#settings;
    const vectors: Vector[] = [];
    let { dimensions } = this.#settings;
    let told: Omit<EmbeddingResponse, 'vectors'> = { usage: undefined, model: undefined };
    for (let start = 0; start < texts.length; start += batchSize) {
      const batch = texts.slice(start, start + batchSize);
      const answer = await withRetries({ maxRetries, signal }, () => this.ask(batch, signal));
      dimensions ??= answer.vectors[0]?.length;
      for (const vector of answer.vectors) vectors.push(ofLength(vector, dimensions));
      told = { usage: addUsage(told.usage, answer.usage), model: told.model ?? answer.model };
    }
    return { vectors, ...told };
  }

  /** One request, sent once. */
  private async ask(texts: readonly string[], signal: AbortSignal): Promise<EmbeddingResponse> {
    const { timeout } = this.#settings;
    const controller = new AbortController();
    const release = onAbort(signal, () => controller.abort(signal.reason));
    const late = new ModelTimeoutError(`The embeddings did not arrive within ${timeout} ms (option timeout).`, { retryable: true });
    const timer = setTimeout(() => controller.abort(late), toTimer(timeout));
    let partialText: string | undefined;
    try {
      const response = await this.post(texts, controller.signal);
      partialText = '';
      return readEmbeddings(await response.text(), texts.length);
    } catch (error) {
      throw this.wrap(error, controller.signal, partialText);
    } finally {
      clearTimeout(timer);
      release();
    }
  }

  private post(texts: readonly string[], signal: AbortSignal): Promise<Response> {
    const { client, model, dimensions, timeout } = this.#settings;
    const body = { model, input: texts, encoding_format: 'base64', ...(dimensions !== undefined && { dimensions }) };
    return client.post('/embeddings', { body, signal, timeout: toTimer(timeout), maxRetries: 0 }).asResponse();
  }

  /** @param partialText empty if the answer had begun, for an embedding has no text of its own */
  private wrap(error: unknown, signal: AbortSignal, partialText?: string): Error {
    return toModelError(error, { secrets: secretsOf(this.#settings.client), signal, partialText });
  }
}

const OWNER = 'OpenAIEmbeddingModel';
const send = withErrorBodies((url, init) => fetch(url, init));

function refusal(message: string): InvalidArgumentError {
  return new InvalidArgumentError(`${OWNER}: ${message}`);
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}

/** A copy, since the caller may change the array between two batches. */
function checkTexts(texts: readonly string[]): readonly string[] {
  if (!Array.isArray(texts as unknown)) throw refusal(`texts must be an array of strings, not ${describe(texts)}`);
  const copy = [...texts];
  const bad = copy.findIndex((text) => !isText(text));
  if (bad >= 0) throw refusal(`texts[${bad}] must be a non-blank string, not ${describe(copy[bad])}; leave it out`);
  return copy;
}

/** A time that timers of the platform and of the `openai` package accept: whole milliseconds, 24 days at most. */
function toTimer(milliseconds: number): number {
  return Math.min(Math.ceil(milliseconds), 2 ** 31 - 1);
}
