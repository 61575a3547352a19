import { sha256Hex } from '../chat/hash.js';
import type { EmbeddingModel, Vector } from '../embedding/embedding-model.js';
import { ModelCallError } from '../errors.js';

/** The vectors of texts, each asked for once, also by several at the same time; of those asked for last so many are kept. */
export class EmbeddingCache {
  /** By hash of the text; the one that was used last is last. */
  private readonly vectors = new Map<string, Promise<Vector>>();

  constructor(
    private readonly model: EmbeddingModel,
    private readonly maxVectors: number,
  ) {}

  /** @throws whatever the model throws, and if it gives another number of vectors */
  async embed(texts: readonly string[]): Promise<readonly Vector[]> {
    const hashed = texts.map((text) => ({ hash: sha256Hex(text), text }));
    const missing = new Map(hashed.filter(({ hash }) => !this.vectors.has(hash)).map(({ hash, text }) => [hash, text]));
    if (missing.size > 0) this.ask(missing);
    const vectors = hashed.map(({ hash }) => this.use(hash));
    this.cut();
    return Promise.all(vectors);
  }

  private ask(texts: ReadonlyMap<string, string>): void {
    const answer = this.model.embed([...texts.values()]).then(({ vectors }) => {
      if (vectors.length !== texts.size)
        throw new ModelCallError(`The embedding model gave ${vectors.length} vectors for ${texts.size} texts.`);
      return vectors;
    });
    for (const [at, hash] of [...texts.keys()].entries()) {
      const vector = answer.then((vectors) => vectors[at] as Vector);
      this.vectors.set(hash, vector);
      vector.catch(() => {
        if (this.vectors.get(hash) === vector) this.vectors.delete(hash);
      });
    }
  }

  private use(hash: string): Promise<Vector> {
    const vector = this.vectors.get(hash) as Promise<Vector>;
    this.vectors.delete(hash);
    this.vectors.set(hash, vector);
    return vector;
  }

  private cut(): void {
    for (const hash of this.vectors.keys()) {
      if (this.vectors.size <= this.maxVectors) return;
      this.vectors.delete(hash);
    }
  }
}
