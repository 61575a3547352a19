import { TurnId } from '../../core/chat/context.js';
import { RunRecord } from '../../core/chat/run-record.js';
import { embedText, MAX_EMBEDDED_TEXT } from '../vectors/embed-text.js';
import type { EmbeddingModel, Vector } from '../vectors/embedding-model.js';
import { EmbeddingCache } from '../vectors/embedding-cache.js';
import { InMemoryVectorStore } from '../vectors/in-memory-vector-store.js';
import type { VectorStore } from '../vectors/vector-store.js';
import { checkOptions, numberBetween, required, withMethods } from '../../core/internal/options.js';
import { SharedWork } from '../../core/internal/shared-work.js';
import { truncate } from '../../core/internal/text.js';
import {
  checkIndexRequest,
  checkSearchRequest,
  type ToolIndexRequest,
  type ToolReference,
  type ToolSearchRequest,
  type ToolSearchResponse,
} from './tool-index.js';
import { EditableToolIndex } from './editable-tool-index.js';
import { SchemaTexts } from './schema-texts.js';
import { ToolSets } from './tool-sets.js';

/** Options of a {@link VectorToolIndex}. */
export interface VectorToolIndexOptions {
  readonly embeddingModel: EmbeddingModel;
  /** Store of the vectors, in namespaces of this index. @default new InMemoryVectorStore() */
  readonly vectorStore?: VectorStore | undefined;
  /** Minimum cosine similarity of a match, -1 to 1; useful values depend on the model. @default 0.2 */
  readonly minScore?: number | undefined;
  /** Maximum number of cached vectors, so that known tools are not embedded again; >= 0. @default 10_000 */
  readonly maxCachedVectors?: number | undefined;
}

/** A set of tools with its vectors in the store. */
interface VectorToolSet {
  readonly namespace: string;
  readonly references: readonly ToolReference[];
  /** Ends when the store has all vectors. */
  readonly stored: SharedWork<void>;
}

const WHERE = 'VectorToolIndex';
const RULES = {
  embeddingModel: required(withMethods('an EmbeddingModel', 'embed')),
  vectorStore: withMethods('a VectorStore', 'upsert', 'search', 'clear'),
  minScore: numberBetween(-1, 1),
  maxCachedVectors: numberBetween(0, Infinity),
};

/** Finds tools by meaning: by the vectors of their names, descriptions and parameters. */
export class VectorToolIndex extends EditableToolIndex {
  protected readonly where = WHERE;
  private readonly sets: ToolSets<VectorToolSet>;
  private readonly store: VectorStore;
  private readonly embeddings: EmbeddingCache;
  private readonly model: EmbeddingModel;
  private readonly minScore: number;
  /** Sets without sessions that the store has not deleted yet. */
  private readonly unused = new Set<VectorToolSet>();
  /** Resolves when all deletions so far have ended. */
  private deletions: Promise<unknown> = Promise.resolve();

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(options: VectorToolIndexOptions) {
    super();
    checkOptions(WHERE, options, RULES);
    const { embeddingModel, vectorStore = new InMemoryVectorStore() } = options;
    const { minScore = 0.2, maxCachedVectors = 10_000 } = options;
    this.store = vectorStore;
    this.model = embeddingModel;
    this.embeddings = new EmbeddingCache(embeddingModel, maxCachedVectors);
    this.minScore = minScore;
    const discard = (set: VectorToolSet): unknown => this.unused.add(set);
    this.sets = new ToolSets({ build: this.build, discard }, 0);
  }

  /** @throws whatever the model or the store throws; the session then finds nothing */
  async index(request: ToolIndexRequest): Promise<void> {
    checkIndexRequest(request, `${WHERE}.index`);
    const set = this.sets.set(request);
    try {
      await set.stored.wait(request.signal);
    } finally {
      // in the background, without errors: other sets do not concern this session
      this.deleteUnused().catch(() => undefined);
    }
  }

  /** @throws whatever the model or the store throws */
  async search(request: ToolSearchRequest): Promise<ToolSearchResponse> {
    const checked = checkSearchRequest(request, `${WHERE}.search`);
    const { session, query, category, maxResults, accepts, signal } = checked;
    const set = this.sets.get(session);
    if (!set) return { references: [] };
    if (query.trim() === '')
      return { references: set.references.filter(accepts).slice(0, maxResults) };
    await set.stored.wait(signal);
    const vector = await embedText(this.model, query, { signal });
    const filter = category === undefined ? undefined : { category: category.toLowerCase() };
    const vectorQuery = { vector, topK: maxResults, minScore: this.minScore, filter };
    const matches = await this.store.search(set.namespace, vectorQuery, { signal });
    const references = matches.flatMap(({ id, score }) => {
      const reference = set.references[Number(id)];
      return reference ? [{ ...reference, score }] : [];
    });
    return { references };
  }

  /**
   * Removes a session, and its vectors from the store if no other session has the same tools.
   * @throws whatever the store throws; the next call deletes again
   */
  async clear(session: string): Promise<void> {
    this.sets.delete(session);
    await this.deleteUnused();
  }

  /**
   * Removes all sessions, and everything that this index has written to the store.
   * @throws whatever the store throws; the next call deletes again
   */
  async close(): Promise<void> {
    this.sets.clear();
    await this.deletions;
    await this.deleteUnused();
  }

  protected referencesOf(session: string): readonly ToolReference[] {
    return this.sets.referencesOf(session);
  }

  private deleteUnused(): Promise<unknown> {
    const sets = [...this.unused];
    this.unused.clear();
    const deleted = sets.map((set) => this.deleteSet(set));
    this.deletions = Promise.allSettled([this.deletions, ...deleted]);
    return Promise.all(deleted);
  }

  private async deleteSet(set: VectorToolSet): Promise<void> {
    if (set.references.length === 0) return; // nothing was stored
    await set.stored.end(); // a pending upsert would restore the namespace
    try {
      await this.store.clear(set.namespace);
    } catch (error) {
      this.unused.add(set);
      throw error;
    }
  }

  private readonly build = (
    references: readonly ToolReference[],
    { signal }: ToolIndexRequest,
  ): VectorToolSet => {
    // a random name: another process with the same tools may share the store
    const namespace = `advisor-chain.tools.${new TurnId().id}`;
    const record = RunRecord.of(signal);
    const forget = (): void => this.sets.forget(set);
    const store = async (whenAbandoned: AbortSignal): Promise<void> => {
      try {
        await this.storeVectors(namespace, references, record, whenAbandoned);
      } catch (error) {
        forget();
        throw error;
      }
    };
    const set: VectorToolSet = { namespace, references, stored: new SharedWork(store, forget) };
    return set;
  };

  private async storeVectors(
    namespace: string,
    references: readonly ToolReference[],
    record: RunRecord | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    if (references.length === 0) return;
    const vectors = await this.embeddings.embed(references.map(toEmbeddedText), record, signal);
    const documents = references.map(({ name, category }, at) => ({
      id: String(at),
      text: name,
      vector: vectors[at] as Vector,
      ...(category !== undefined && { metadata: { category: category.toLowerCase() } }),
    }));
    await this.store.upsert(namespace, documents, { signal });
  }
}

/** Text of a tool for the embedding model. */
function toEmbeddedText({ name, description, inputSchema }: ToolReference): string {
  const { parameterNames, parameterDescriptions } = new SchemaTexts(inputSchema);
  const lines = [name, description, parameterNames.join(', '), ...parameterDescriptions];
  return truncate(lines.join('\n'), MAX_EMBEDDED_TEXT);
}
