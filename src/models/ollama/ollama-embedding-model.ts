import { type JsonObject, nonEmptyString } from '../../core/internal/options.js';
import { connect } from '../http/connection.js';
import { inputUsage } from '../http/fields.js';
import { unexpectedBody } from '../http/http-error.js';
import {
  HttpEmbeddingModel,
  type HttpEmbeddingModelOptions,
  type ReceivedVectors,
} from '../http/http-embedding-model.js';
import { KEEP_ALIVE, OLLAMA, pathUnder } from './ollama-chat-model.js';

/** Options of an {@link OllamaEmbeddingModel}: the form of the vectors, and the connection. */
export interface OllamaEmbeddingModelOptions extends HttpEmbeddingModelOptions {
  /**
   * Time for which the model stays loaded after a request: a duration such as `10m`, or seconds;
   * negative for ever. @default decided by the server: 5 minutes
   */
  readonly keepAlive?: string | number | undefined;
}

const NAME = 'OllamaEmbeddingModel';

/** Embeddings of an Ollama server. May be shared by concurrent requests. */
export class OllamaEmbeddingModel extends HttpEmbeddingModel {
  private readonly keepAlive: string | number | undefined;

  /** @throws {@link InvalidArgumentError} if an option is unknown or out of range */
  constructor(options: OllamaEmbeddingModelOptions) {
    super(options, {
      name: NAME,
      maxBatchSize: Infinity,
      rules: { keepAlive: KEEP_ALIVE },
      connect: (connection) => connect(NAME, connection, OLLAMA),
    });
    this.keepAlive = options.keepAlive;
  }

  protected request(texts: readonly string[]) {
    const { model, dimensions, keepAlive } = this;
    const body = { model, input: texts, dimensions, keep_alive: keepAlive };
    return { path: pathUnder(this.connection.baseURL, 'embed'), body };
  }

  protected read({ embeddings, model, prompt_eval_count: count }: JsonObject): ReceivedVectors {
    if (!Array.isArray(embeddings)) throw unexpectedBody('embeddings', 'no embeddings');
    return { vectors: embeddings, usage: inputUsage(count), model: nonEmptyString(model) };
  }
}
