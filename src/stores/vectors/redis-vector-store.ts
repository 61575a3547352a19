import type { Document } from '../../core/chat/document.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import { checkOptions } from '../../core/internal/options.js';
import {
  REDIS_RULES,
  RedisConnection,
  type RedisClient,
  type RedisOptions,
} from '../databases/redis.js';
import {
  CheckedVectorStore,
  type CheckedVectorQuery,
  type EmbeddedDocument,
} from './checked-vector-store.js';
import { compareTexts } from './compare-texts.js';
import { INDEXED_KEY, indexedText, type Condition } from './condition.js';
import type { CheckedListQuery, Selection } from './document-checks.js';
import { documentOfRow } from './document-row.js';
import type { Vector } from './embedding-model.js';
import { LIST, REMOVE, SEARCH, WRITE } from './redis-vector-scripts.js';

export type { RedisClient };

/** Options of a {@link RedisVectorStore}. */
export interface RedisVectorStoreOptions extends RedisOptions {
  /** Prefix of the keys, without braces. @default 'vectors' */
  readonly keyPrefix?: string | undefined;
}

/** Id, text, metadata as JSON or '', score or '', and the vector if it was asked for. */
type Row = readonly [id: string, text: string, metadata: string, score: string, string[]?];

const WHERE = 'RedisVectorStore';
const KINDS = ['vectors', 'texts', 'metadata', 'ids', 'documents'];

/**
 * Stores documents and their vectors in vector sets of Redis (8.0 or later), as durable as the
 * configuration of its server. Each operation is one script, with keys of one slot of a cluster. A search is
 * approximate (HNSW) in a namespace of more than 1,000 documents, and exact where the index finds too few.
 */
export class RedisVectorStore extends CheckedVectorStore {
  protected readonly where = WHERE;
  private readonly redis: RedisConnection;

  /** @throws {@link InvalidArgumentError} if an option breaks its rule */
  constructor(options: RedisVectorStoreOptions) {
    super();
    checkOptions(WHERE, options, REDIS_RULES);
    const { keyPrefix = 'vectors' } = options;
    this.redis = new RedisConnection(WHERE, { ...options, keyPrefix }, false);
  }

  /**
   * Reads how the server keeps its data, once; the first use does it, too.
   * @throws {@link InvalidArgumentError} if the server evicts keys
   */
  async migrate(): Promise<void> {
    await this.redis.open();
  }

  protected async write(
    namespace: string,
    documents: readonly EmbeddedDocument[],
    replaces: Condition | undefined,
  ): Promise<void> {
    const given = documents.map(({ id, text, metadata, vector }) => {
      const document = metadata?.[INDEXED_KEY];
      return {
        id,
        text,
        vector: numbersOf(vector),
        ...(metadata && { metadata: JSON.stringify(metadata) }),
        ...(typeof document === 'string' && { document }),
      };
    });
    const known = await this.run(WRITE, namespace, JSON.stringify(given), ...argsOf(replaces));
    const [first] = documents;
    if (first && Number(known) > 0)
      this.checkDimensions(namespace, 'documents[0].vector', first.vector.length, Number(known));
  }

  protected async nearest(
    namespace: string,
    { vector, topK, minScore, condition }: CheckedVectorQuery,
  ): Promise<readonly Document[]> {
    const [filter] = argsOf(condition);
    const numbers = JSON.stringify(numbersOf(vector));
    const found = await this.run(SEARCH, namespace, numbers, `${topK}`, `${minScore}`, filter);
    if (!Array.isArray(found)) {
      this.checkDimensions(namespace, 'vector', vector.length, Number(found));
      return [];
    }
    const documents = (found as readonly Row[]).map(toDocument);
    return documents.sort((a, b) => (b.score ?? 0) - (a.score ?? 0) || compareTexts(a.id, b.id));
  }

  protected async page(
    namespace: string,
    { condition, after, limit, withVectors }: CheckedListQuery,
  ): Promise<readonly Document[]> {
    const start = after === undefined ? '-' : `(${after}`;
    const count = limit === Infinity ? '-1' : `${limit}`;
    const vectors = withVectors ? '1' : '';
    const rows = await this.run(LIST, namespace, start, count, vectors, ...argsOf(condition));
    return (rows as readonly Row[]).map(toDocument);
  }

  protected async remove(namespace: string, selection: Selection): Promise<void> {
    if ('type' in selection) await this.run(REMOVE, namespace, '', ...argsOf(selection));
    else if (selection.length > 0)
      await this.run(REMOVE, namespace, JSON.stringify(selection), '', '');
  }

  protected async removeAll(namespace: string): Promise<void> {
    await this.redis.open();
    await this.redis.send('DEL', ...this.keysOf(namespace));
  }

  private keysOf(namespace: string): readonly string[] {
    return KINDS.map((kind) => this.redis.keyOf(namespace, kind));
  }

  private async run(script: string, namespace: string, ...values: string[]): Promise<unknown> {
    await this.redis.open();
    const keys = this.keysOf(namespace);
    try {
      return await this.redis.send('EVAL', script, `${keys.length}`, ...keys, ...values);
    } catch (cause) {
      if (!/unknown redis command/i.test((cause as Partial<Error> | null)?.message ?? ''))
        throw cause;
      const text = `${WHERE} needs vector sets: Redis 8.0 or later`;
      throw new InvalidArgumentError(text, { cause });
    }
  }
}

/** A condition as JSON, and the document whose chunks it selects behind a mark; both may be ''. */
function argsOf(condition: Condition | undefined): [condition: string, document: string] {
  const document = condition && indexedText(condition);
  return [condition ? JSON.stringify(condition) : '', document === undefined ? '' : `=${document}`];
}

function toDocument([id, text, metadata, score, vector]: Row): Document {
  const row = { id, text, metadata: metadata === '' ? null : metadata };
  const scored = score === '' ? row : { ...row, score: Math.max(-1, Math.min(1, Number(score))) };
  return documentOfRow(scored, vector && new Float32Array(vector.map(Number)));
}

/** Nine digits are exact for numbers of 32 bits. */
function numbersOf(vector: Vector): readonly number[] {
  return Array.from(vector, (value) => Number(value.toPrecision(9)));
}
