import { InvalidArgumentError } from '../../core/errors/errors.js';
import { type JsonObject, TEXT } from '../../core/internal/options.js';
import { objectOf } from '../http/fields.js';
import { unexpectedBody } from '../http/http-error.js';
import {
  HttpEmbeddingModel,
  type HttpEmbeddingModelOptions,
  type ReceivedVectors,
} from '../http/http-embedding-model.js';
import { connectToGoogle, isVertex, pathOf } from './connection.js';

/** Options of a {@link GoogleEmbeddingModel}: the form of the vectors, and the connection. */
export interface GoogleEmbeddingModelOptions extends HttpEmbeddingModelOptions {
  /**
   * Purpose of the texts, such as `RETRIEVAL_DOCUMENT` or `RETRIEVAL_QUERY`; use one model for each.
   * @default decided by the model
   */
  readonly taskType?: string | undefined;
}

const NAME = 'GoogleEmbeddingModel';

/** Embeddings of the Gemini API. May be shared by concurrent requests. */
export class GoogleEmbeddingModel extends HttpEmbeddingModel {
  private readonly taskType: string | undefined;

  /**
   * @throws {@link InvalidArgumentError} if an option is unknown or out of range, there is no key, or
   * `baseURL` leads to Vertex AI, which has another API for embeddings
   */
  constructor(options: GoogleEmbeddingModelOptions) {
    super(options, {
      name: NAME,
      maxBatchSize: 100,
      rules: { taskType: TEXT },
      connect: (connection) => connectToGoogle(NAME, connection),
    });
    if (isVertex(this.connection.baseURL))
      throw new InvalidArgumentError(
        `${NAME}: Vertex AI has another API for embeddings; use the address of the Gemini API`,
      );
    this.taskType = options.taskType;
  }

  protected request(texts: readonly string[]) {
    const { model, taskType, dimensions } = this;
    const path = pathOf(this.connection, model);
    const requests = texts.map((text) => ({
      model: path.replace(/^\/v\w+\//, ''),
      content: { parts: [{ text }] },
      taskType,
      outputDimensionality: dimensions,
    }));
    return { path: `${path}:batchEmbedContents`, body: { requests } };
  }

  protected read({ embeddings }: JsonObject): ReceivedVectors {
    if (!Array.isArray(embeddings)) throw unexpectedBody('embeddings', 'no embeddings');
    return { vectors: embeddings.map((each) => objectOf(each)['values']) };
  }
}
