import type {
  EmbeddingModel,
  EmbeddingResponse,
} from '../../src/stores/vectors/embedding-model.js';
import type { ModelRun } from '../../src/core/chat/chat-model.js';
import { Random } from './random.js';

/** An embedding model that keeps each text it was asked for; equal texts have equal vectors. */
export class CountingEmbeddingModel implements EmbeddingModel {
  readonly requests: (readonly string[])[] = [];
  /** Called before each answer; may throw or wait. */
  before: (texts: readonly string[], run: ModelRun) => unknown = () => undefined;

  constructor(
    readonly id = 'counting 8',
    private readonly dimensions = 8,
  ) {}

  get texts(): readonly string[] {
    return this.requests.flat();
  }

  async embed(texts: readonly string[], run: ModelRun = {}): Promise<EmbeddingResponse> {
    this.requests.push([...texts]);
    await this.before(texts, run);
    const vectors = texts.map((text) => this.vectorOf(text));
    return { vectors, usage: undefined, model: this.id };
  }

  private vectorOf(text: string): Float32Array {
    let seed = 7;
    for (let at = 0; at < text.length; at++) seed = (seed * 31 + text.charCodeAt(at)) | 0;
    const random = new Random(seed);
    return Float32Array.from({ length: this.dimensions }, () => random.next() - 0.5);
  }
}
