import { sha256Hex } from '../chat/hash.js';
import type { EmbeddingModel, Vector } from '../embedding/embedding-model.js';
import { ModelCallError } from '../errors.js';

/** The vectors of texts, each asked for once; of those asked for last so many are kept. */
export class EmbeddingCache {
  /** By hash of the text; the one that was used last is last. */
  private readonly vectors = new Map<string, Vector>();

  constructor(
    private readonly model: EmbeddingModel,
    private readonly maxVectors: number,
  ) {}

  /** @throws whatever the model throws, and if it gives another number of vectors */
  async embed(texts: readonly string[]): Promise<readonly Vector[]> {
    const hashes = texts.map(sha256Hex);
    const missing = new Map(hashes.map((hash, at) => [hash, texts[at] as string] as const).filter(([hash]) => !this.vectors.has(hash)));
    const known = new Map(hashes.map((hash) => [hash, this.vectors.get(hash)] as const));
    if (missing.size > 0) {
      const { vectors } = await this.model.embed([...missing.values()]);
      if (vectors.length !== missing.size)
        throw new ModelCallError(`The embedding model gave ${vectors.length} vectors for ${missing.size} texts.`);
      for (const [at, hash] of [...missing.keys()].entries()) known.set(hash, vectors[at]);
    }
    for (const [hash, vector] of known) this.keep(hash, vector as Vector);
    return hashes.map((hash) => known.get(hash) as Vector);
  }

  private keep(hash: string, vector: Vector): void {
    this.vectors.delete(hash);
    this.vectors.set(hash, vector);
    const [oldest] = this.vectors.keys();
    if (oldest !== undefined && this.vectors.size > this.maxVectors) this.vectors.delete(oldest);
  }
}
