import { describe } from '../chat/message.js';
import { Turn } from '../chat/turn.js';
import type { EmbeddingModel } from '../embedding/embedding-model.js';
import { InMemoryVectorStore } from '../embedding/in-memory-vector-store.js';
import type { VectorEntry, VectorStore } from '../embedding/vector-store.js';
import { InvalidArgumentError, ModelCallError } from '../errors.js';
import { checkIndexRequest, checkSearchRequest, DEFAULT_MAX_RESULTS, isOfCategory } from '../tool-search/check-search.js';
import { referenceTexts } from '../tool-search/reference-texts.js';
import type { ToolIndex, ToolIndexRequest, ToolReference, ToolSearchRequest, ToolSearchResponse } from '../tool-search/tool-index.js';
import { ToolSets } from '../tool-search/tool-sets.js';
import { EmbeddingCache } from './embedding-cache.js';

/** Options of a {@link VectorToolIndex}. */
export interface VectorToolIndexOptions {
  readonly embeddingModel: EmbeddingModel;
  /** Where the vectors are kept, in namespaces of this index alone. @default new InMemoryVectorStore() */
  readonly vectorStore?: VectorStore | undefined;
  /** Tools less like the query than this are left out: a cosine, from -1 to 1. What is like depends on the model. @default 0.2 */
  readonly minScore?: number | undefined;
  /** Vectors of texts that are kept, so that a tool that comes again is not embedded again; 0 or more. @default 10_000 */
  readonly maxCachedVectors?: number | undefined;
}

/** What is built of a set of tools. */
interface VectorToolSet {
  readonly namespace: string;
  readonly references: readonly ToolReference[];
  /** Resolves when all vectors are in the store. */
  readonly stored: Promise<void>;
}

/** Longer texts say the same again, and models refuse texts that are too long. */
const MAX_TEXT = 6_000;

/** At most so much of a text, in whole characters. */
function cut(text: string): string {
  return text.slice(0, MAX_TEXT).replace(/[\ud800-\udbff]$/, '');
}

/** Finds tools by what they mean: by the vectors of their names, descriptions and parameters. */
export class VectorToolIndex implements ToolIndex {
  private readonly sets: ToolSets<VectorToolSet>;
  private readonly store: VectorStore;
  private readonly embedding: EmbeddingCache;
  private readonly model: EmbeddingModel;
  private readonly minScore: number;
  /** What nobody searches any more, and the store is still to delete. */
  private readonly unused = new Set<VectorToolSet>();

  /** @throws {@link InvalidArgumentError} if an option cannot be used */
  constructor(options: VectorToolIndexOptions) {
    const { embeddingModel, vectorStore = new InMemoryVectorStore(), minScore = 0.2, maxCachedVectors = 10_000 } = options ?? {};
    check('embeddingModel', embeddingModel, 'an EmbeddingModel', typeof embeddingModel?.embed === 'function');
    check('vectorStore', vectorStore, 'a VectorStore', typeof vectorStore?.upsert === 'function');
    check('minScore', minScore, 'a number from -1 to 1', minScore >= -1 && minScore <= 1);
    check('maxCachedVectors', maxCachedVectors, 'a number of 0 or more', maxCachedVectors >= 0);
    this.store = vectorStore;
    this.model = embeddingModel;
    this.embedding = new EmbeddingCache(embeddingModel, maxCachedVectors);
    this.minScore = minScore;
    this.sets = new ToolSets({ build: (references) => this.build(references), discard: (set) => this.unused.add(set) });
  }

  /** @throws whatever the model or the store throws; the session finds nothing then */
  async index(request: ToolIndexRequest): Promise<void> {
    checkIndexRequest(request, 'VectorToolIndex.index');
    const set = this.sets.set(request);
    try {
      await set.stored;
    } catch (error) {
      this.sets.forget(set);
      throw error;
    } finally {
      // nothing to the session that is indexed: it neither waits for it nor hears of it, and what fails is tried again
      this.deleteUnused().catch(() => undefined);
    }
  }

  /** @throws whatever the model or the store throws */
  async search(request: ToolSearchRequest): Promise<ToolSearchResponse> {
    checkSearchRequest(request, 'VectorToolIndex.search');
    const { session, query, category, maxResults = DEFAULT_MAX_RESULTS, signal } = request;
    const set = this.sets.get(session);
    if (!set) return { references: [] };
    if (query.trim() === '') return { references: set.references.filter((one) => isOfCategory(one, category)).slice(0, maxResults) };
    await set.stored;
    const [vector] = (await this.model.embed([cut(query.trim())], { signal })).vectors;
    if (!vector) throw new ModelCallError('The embedding model gave no vector for the query.');
    const filter = category === undefined ? undefined : { category: category.toLowerCase() };
    const matches = await this.store.search(set.namespace, { vector, topK: maxResults, filter }, { signal });
    const references = matches.flatMap(({ id, score }) => {
      const reference = set.references[Number(id)];
      return reference && score >= this.minScore ? [{ ...reference, score }] : [];
    });
    return { references };
  }

  /** @throws whatever the store throws when it deletes what nobody searches any more; it is asked again the next time */
  async clear(session: string): Promise<void> {
    this.sets.delete(session);
    await this.deleteUnused();
  }

  private deleteUnused(): Promise<unknown> {
    const sets = [...this.unused];
    this.unused.clear();
    return Promise.all(sets.map((set) => this.delete(set)));
  }

  private async delete(set: VectorToolSet): Promise<void> {
    // what is still being stored would be there again
    await set.stored.catch(() => undefined);
    try {
      await this.store.delete(set.namespace);
    } catch (error) {
      this.unused.add(set);
      throw error;
    }
  }

  private build(references: readonly ToolReference[]): VectorToolSet {
    // named at random: another process that has the same tools must not lose its vectors when this one is done with them
    const namespace = `advisor-chain.tools.${new Turn().id}`;
    const stored = this.fill(namespace, references);
    stored.catch(() => undefined); // whoever waits for it sees the failure
    return { namespace, references, stored };
  }

  private async fill(namespace: string, references: readonly ToolReference[]): Promise<void> {
    const vectors = await this.embedding.embed(references.map(textOf));
    const entries = references.map(({ category }, at) => ({
      id: String(at),
      vector: vectors[at] as VectorEntry['vector'],
      ...(category !== undefined && { metadata: { category: category.toLowerCase() } }),
    }));
    await this.store.upsert(namespace, entries);
  }
}

/** What is embedded of a tool. */
function textOf(reference: ToolReference): string {
  const { name, description, parameterNames, parameterDescriptions } = referenceTexts(reference);
  return cut([name, description, parameterNames.join(', '), ...parameterDescriptions].join('\n'));
}

function check(option: string, value: unknown, rule: string, isRight: boolean): void {
  if (!isRight) throw new InvalidArgumentError(`VectorToolIndex: ${option} must be ${rule}, not ${describe(value)}`);
}
