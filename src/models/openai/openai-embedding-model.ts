import { isPlainObject, type JsonObject, nonEmptyString } from '../../core/internal/options.js';
import { unusable } from '../http/embedding-vector.js';
import { unexpectedBody } from '../http/http-error.js';
import {
  HttpEmbeddingModel,
  type HttpEmbeddingModelOptions,
  type ReceivedVectors,
} from '../http/http-embedding-model.js';
import { connectToOpenAI, type OpenAIConnectionOptions } from './client.js';
import { toUsage } from './response.js';

/** Options of an {@link OpenAIEmbeddingModel}: the form of the vectors, and the connection. */
export interface OpenAIEmbeddingModelOptions
  extends HttpEmbeddingModelOptions, OpenAIConnectionOptions {}

const NAME = 'OpenAIEmbeddingModel';

/** Embeddings of OpenAI and of compatible servers. May be shared by concurrent requests. */
export class OpenAIEmbeddingModel extends HttpEmbeddingModel {
  /** @throws {@link InvalidArgumentError} if an option is out of range or there is no API key */
  constructor({ client, ...options }: OpenAIEmbeddingModelOptions) {
    super(options, {
      name: NAME,
      maxBatchSize: 2048,
      connect: (connection) => connectToOpenAI(NAME, { ...connection, client }),
    });
  }

  protected request(texts: readonly string[]) {
    const { model, dimensions } = this;
    const body = { model, encoding_format: 'base64', dimensions, input: texts };
    return { path: '/embeddings', body };
  }

  protected read({ data, usage, model }: JsonObject, count: number): ReceivedVectors {
    if (!Array.isArray(data)) throw unexpectedBody('embeddings', 'no data');
    return { vectors: inOrder(data, count), usage: toUsage(usage), model: nonEmptyString(model) };
  }
}

/** The vectors sorted by index; each index must occur exactly once. */
function inOrder(data: readonly unknown[], count: number): readonly unknown[] {
  if (data.length !== count) throw unusable(`${data.length} vectors for ${count} texts`);
  const items = data.map((item) => (isPlainObject(item) ? item : {}));
  items.sort((a, b) => Number(a['index']) - Number(b['index']));
  return items.map(({ index, embedding }, at) => {
    if (index !== at) throw unusable(`vectors whose indexes are not 0 to ${count - 1}`);
    return embedding;
  });
}
