import type {
  EmbeddingModel,
  EmbeddingResponse,
} from '../../src/stores/vectors/embedding-model.js';
import { STOP_WORDS, stem } from '../../src/stores/texts/terms.js';

/** Weight of a word beside its n-grams. */
const WORD = 3;

/** Embeds texts by hashes of their words and n-grams of letters: deterministic, and near for texts with the same words. */
export class HashedEmbeddingModel implements EmbeddingModel {
  constructor(private readonly dimensions = 1024) {}

  async embed(texts: readonly string[]): Promise<EmbeddingResponse> {
    const vectors = texts.map((text) => this.vectorOf(text));
    return { vectors, usage: undefined, model: 'hashed' };
  }

  private vectorOf(text: string): Float32Array {
    const counts = new Map<string, number>();
    for (const part of partsOf(text)) counts.set(part, (counts.get(part) ?? 0) + 1);
    const vector = new Float32Array(this.dimensions);
    for (const [part, count] of counts) {
      const hash = hashOf(part);
      const weight = (part.startsWith(' ') ? WORD : 1) * (1 + Math.log(count));
      const at = hash % this.dimensions;
      vector[at] = (vector[at] ?? 0) + (hash >>> 31 === 1 ? weight : -weight);
    }
    return vector;
  }
}

function partsOf(text: string): readonly string[] {
  const words = (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter(
    (word) => !STOP_WORDS.has(word),
  );
  return words.flatMap((word) => [
    ` ${stem(word)}`,
    ...[3, 4, 5].flatMap((length) => gramsOf(`^${word}$`, length)),
  ]);
}

function gramsOf(word: string, length: number): readonly string[] {
  return Array.from({ length: Math.max(0, word.length - length + 1) }, (_, at) =>
    word.slice(at, at + length),
  );
}

function hashOf(text: string): number {
  let hash = 2_166_136_261;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 16_777_619);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 12)) >>> 0;
}
