import type { ChatModel } from '../../src/core/chat/chat-model.js';
import {
  ChatClient,
  ContextKey,
  InMemoryVectorStore,
  VectorMemoryAdvisor,
  type Advisor,
  type EmbeddingModel,
  type PromptSpec,
  type VectorMemoryAdvisorOptions,
} from '../../src/index.js';

/** The owner of the memories of a request. */
export const USER = new ContextKey<string | undefined>('test.user');

/** Embeds the words of texts, without a model: texts with the same words are near. */
export class WordEmbeddings implements EmbeddingModel {
  /** The texts of all calls. */
  readonly texts: string[] = [];

  async embed(texts: readonly string[]): ReturnType<EmbeddingModel['embed']> {
    this.texts.push(...texts);
    const usage = { inputTokens: texts.length, outputTokens: 0, totalTokens: texts.length };
    return { vectors: texts.map(vectorOf), usage, model: 'words' };
  }
}

function vectorOf(text: string): Float32Array {
  const vector = new Float32Array(64).fill(0.01);
  for (const word of text.toLowerCase().match(/[\p{L}\d]+/gu) ?? []) {
    let hash = 7;
    for (const character of word) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 64;
    vector[hash] = (vector[hash] ?? 0) + 1;
  }
  return vector;
}

/** The parts of a memory under test. */
export interface MemoryParts {
  readonly store: InMemoryVectorStore;
  readonly embeddingModel: WordEmbeddings;
  readonly memory: VectorMemoryAdvisor;
}

/** A memory of each `USER`. */
export function memoryParts(
  options: Partial<VectorMemoryAdvisorOptions> = {},
  store = new InMemoryVectorStore(),
): MemoryParts {
  const embeddingModel = new WordEmbeddings();
  const scope: VectorMemoryAdvisorOptions['scope'] = (context) => context.get(USER);
  const memory = new VectorMemoryAdvisor({ store, embeddingModel, scope, ...options });
  return { store, embeddingModel, memory };
}

/** Asks a question as a user. */
export function asUser(
  user: string,
  question: string,
  model: ChatModel,
  ...advisors: readonly Advisor[]
): PromptSpec {
  return ChatClient.builder(model)
    .defaultAdvisors(...advisors)
    .build()
    .prompt(question)
    .advisors((a) => a.param(USER, user));
}

/** The texts of the memories of a user. */
export async function textsIn(store: InMemoryVectorStore, user: string): Promise<string[]> {
  return (await store.list(user)).map(({ text }) => text).toSorted();
}
