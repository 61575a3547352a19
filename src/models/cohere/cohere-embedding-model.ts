import { type JsonObject, oneOf } from '../../core/internal/options.js';
import { listOf } from '../../core/json-schema/json-pointer.js';
import { connect } from '../http/connection.js';
import { inputUsage, objectOf } from '../http/fields.js';
import { unexpectedBody } from '../http/http-error.js';
import {
  HttpEmbeddingModel,
  type HttpEmbeddingModelOptions,
  type ReceivedVectors,
} from '../http/http-embedding-model.js';
import { COHERE, pathUnder } from './cohere-chat-model.js';

/** Options of a {@link CohereEmbeddingModel}: the form of the vectors, and the connection. */
export interface CohereEmbeddingModelOptions extends HttpEmbeddingModelOptions {
  /**
   * Purpose of the texts: documents to be found, or the queries that find them. Use one model for
   * each. @default 'search_document'
   */
  readonly inputType?:
    'search_document' | 'search_query' | 'classification' | 'clustering' | undefined;
}

const NAME = 'CohereEmbeddingModel';

/** Embeddings of Cohere. May be shared by concurrent requests. */
export class CohereEmbeddingModel extends HttpEmbeddingModel {
  private readonly inputType: string;

  /** @throws {@link InvalidArgumentError} if an option is unknown or out of range, or there is no key */
  constructor(options: CohereEmbeddingModelOptions) {
    super(options, {
      name: NAME,
      maxBatchSize: 96,
      rules: {
        inputType: oneOf('search_document', 'search_query', 'classification', 'clustering'),
      },
      connect: (connection) => connect(NAME, connection, COHERE),
    });
    this.inputType = options.inputType ?? 'search_document';
  }

  protected request(texts: readonly string[]) {
    const body = {
      model: this.model,
      texts,
      input_type: this.inputType,
      embedding_types: ['float'],
      output_dimension: this.dimensions,
    };
    return { path: pathUnder(this.connection.baseURL, 'embed'), body };
  }

  protected read({ embeddings, meta }: JsonObject): ReceivedVectors {
    const vectors = Array.isArray(embeddings) ? embeddings : objectOf(embeddings)['float'];
    if (!Array.isArray(vectors)) throw unexpectedBody('embeddings', 'no embeddings');
    const { input_tokens: count } = objectOf(objectOf(meta)['billed_units']);
    return { vectors: listOf(vectors), usage: inputUsage(count) };
  }
}
