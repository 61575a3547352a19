import type { RunRecord } from '../../core/chat/run-record.js';
import { ModelCallError } from '../../core/errors/errors.js';
import { SharedWork } from '../../core/internal/shared-work.js';
import { sha256Hex } from '../../core/internal/text.js';
import { embedInRun, type EmbeddingModel, type Vector } from './embedding-model.js';

/** A vector that the model has not returned yet. */
interface PendingVector {
  readonly request: SharedWork<readonly Vector[]>;
  /** Position among the vectors of the request. */
  readonly at: number;
}

/** The most recently used vectors; concurrent requests for a text share one. */
export class EmbeddingCache {
  /** By hash of the text, in the order of their last use. */
  private readonly vectors = new Map<string, Vector | PendingVector>();

  constructor(
    private readonly model: EmbeddingModel,
    private readonly maxVectors: number,
  ) {}

  /**
   * @param signal ends the wait, and the request if no one else waits for it
   * @throws whatever the model throws; {@link ModelCallError} for a wrong number of vectors
   */
  async embed(
    texts: readonly string[],
    record: RunRecord | undefined,
    signal: AbortSignal,
  ): Promise<readonly Vector[]> {
    const hashes = texts.map(sha256Hex);
    const missing = new Map<string, string>();
    for (const [at, hash] of hashes.entries())
      if (!this.vectors.has(hash)) missing.set(hash, texts[at] as string);
    if (missing.size > 0) this.request(missing, record);
    const used = hashes.map((hash) => this.use(hash));
    for (const hash of this.vectors.keys()) {
      if (this.vectors.size <= this.maxVectors) break;
      this.vectors.delete(hash);
    }
    const requests = new Set(used.flatMap((each) => ('request' in each ? each.request : [])));
    const waits = [...requests].map(async (each) => [each, await each.wait(signal)] as const);
    const received = new Map(await Promise.all(waits));
    return used.map((each) =>
      'request' in each ? (received.get(each.request)?.[each.at] as Vector) : each,
    );
  }

  private request(texts: ReadonlyMap<string, string>, record: RunRecord | undefined): void {
    const hashes = [...texts.keys()];
    const replace = (vectors: readonly Vector[]): void => {
      for (const [at, hash] of hashes.entries()) {
        const known = this.vectors.get(hash);
        if (!known || !('request' in known) || known.request !== request) continue;
        const vector = vectors[at];
        if (vector) this.vectors.set(hash, vector);
        else this.vectors.delete(hash);
      }
    };
    const load = async (signal: AbortSignal): Promise<readonly Vector[]> => {
      try {
        const { vectors } = await embedInRun(this.model, [...texts.values()], { signal }, record);
        if (vectors.length !== texts.size)
          throw new ModelCallError(
            `The embedding model returned ${vectors.length} vectors for ${texts.size} texts.`,
          );
        replace(vectors);
        return vectors;
      } catch (error) {
        replace([]);
        throw error;
      }
    };
    const request = new SharedWork(load, () => replace([]));
    for (const [at, hash] of hashes.entries()) this.vectors.set(hash, { request, at });
  }

  private use(hash: string): Vector | PendingVector {
    const vector = this.vectors.get(hash) as Vector | PendingVector;
    this.vectors.delete(hash);
    this.vectors.set(hash, vector);
    return vector;
  }
}
