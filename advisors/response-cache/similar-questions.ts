import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import type { Document } from '../../src/core/chat/document.js';
import type { ContentPart } from '../../src/core/chat/message.js';
import { sha256Hex } from '../../src/core/internal/text.js';
import { EmbeddingCache } from '../../src/stores/vectors/embedding-cache.js';
import type { Vector } from '../../src/stores/vectors/embedding-model.js';
import { InMemoryVectorStore } from '../../src/stores/vectors/in-memory-vector-store.js';
import type { VectorStore } from '../../src/stores/vectors/vector-store.js';
import { cacheKey, type KeySettings } from './cache-key.js';
import { modelJudge } from './model-judge.js';
import type { QuestionJudge, SemanticCacheOptions } from './response-cache-options.js';
import type { StoredAnswer } from './response-store.js';
import { compareQuestions } from './same-question.js';

/** The question of a request, and the hash of all the rest. */
interface Question {
  readonly text: string;
  readonly scope: string;
  readonly rest: string;
}

/** Longer questions are compared as a whole: too many of their words could be the point. */
const MAX_LENGTH = 1_000;
const MAX_CANDIDATES = 5;
const MAX_QUESTIONS = 1_000;
const MAX_VECTORS = 100;

/**
 * Finds answers of similar questions: of the same scope and the same rest of the key, with a vector
 * that is near, without a difference in facts, and by the judge, if there is one.
 */
export class SimilarQuestions {
  private readonly vectors: EmbeddingCache;
  private readonly store: VectorStore;
  private readonly judge: QuestionJudge | undefined;
  /** Namespaces of the questions in the default store, by id, the oldest first. */
  private readonly kept: Map<string, string> | undefined;

  /** @param ttl lifetime of a question in milliseconds */
  constructor(
    private readonly options: SemanticCacheOptions,
    private readonly ttl: number,
  ) {
    const { embeddingModel, vectorStore, agrees } = options;
    this.vectors = new EmbeddingCache(embeddingModel, MAX_VECTORS);
    this.store = vectorStore ?? new InMemoryVectorStore();
    this.judge = agrees && (typeof agrees === 'function' ? agrees : modelJudge(agrees));
    if (!vectorStore) this.kept = new Map();
  }

  /**
   * The answer of the most similar question that asks for the same.
   * @param read returns the answer of a key, unless it is gone
   */
  async find(
    request: ChatClientRequest,
    settings: KeySettings,
    read: (key: string) => Promise<StoredAnswer | undefined>,
  ): Promise<StoredAnswer | undefined> {
    const question = questionOf(request, settings);
    if (!question) return undefined;
    for (const { id, text, score } of await this.search(question, request)) {
      const verdict = compareQuestions(question.text, text);
      if (verdict === 'different' || (verdict === 'unsure' && !this.judge)) continue;
      const answer = await read(id);
      if (!answer) continue;
      if (this.judge && !(await this.judge(question.text, text, request.signal))) return undefined;
      return { ...answer, similarity: score };
    }
    return undefined;
  }

  /** Adds the question of an answer that is stored under a key, and removes those whose time is over. */
  async add(request: ChatClientRequest, settings: KeySettings, key: string): Promise<void> {
    const question = questionOf(request, settings);
    if (!question) return;
    const { text, rest } = question;
    const vector = await this.embed(text, request);
    const namespace = namespaceOf(question, vector);
    const expires = Date.now() + this.ttl;
    const document = { id: key, text, vector, metadata: { rest, expires } };
    const replaces = { expires: { lte: Date.now() } };
    await this.store.upsert(namespace, [document], { signal: request.signal, replaces });
    await this.forgetOldest(key, namespace);
  }

  private async search(
    question: Question,
    request: ChatClientRequest,
  ): Promise<readonly Document[]> {
    const vector = await this.embed(question.text, request);
    const filter = { rest: question.rest, expires: { gt: Date.now() } };
    const query = {
      vector,
      topK: MAX_CANDIDATES,
      minScore: this.options.threshold ?? 0.95,
      filter,
    };
    const { signal } = request;
    return this.store.search(namespaceOf(question, vector), query, { signal });
  }

  private async embed(text: string, { run, signal }: ChatClientRequest): Promise<Vector> {
    const [vector] = await this.vectors.embed([text], run, signal);
    return vector as Vector;
  }

  private async forgetOldest(key: string, namespace: string): Promise<void> {
    const { kept } = this;
    if (!kept) return;
    kept.delete(key);
    kept.set(key, namespace);
    const [oldest] = kept;
    if (!oldest || kept.size <= MAX_QUESTIONS) return;
    kept.delete(oldest[0]);
    await this.store.delete(oldest[1], [oldest[0]]);
  }
}

/** A namespace for each scope, and for each size of vectors, which changes with the model. */
function namespaceOf({ scope }: Question, vector: Vector): string {
  return `response-cache ${vector.length} ${sha256Hex(scope)}`;
}

/** Undefined if the request does not end with a question in text, of a length that can be compared. */
function questionOf(request: ChatClientRequest, settings: KeySettings): Question | undefined {
  const { messages } = request.prompt;
  const last = messages.at(-1);
  if (last?.role !== 'user') return undefined;
  const text = plainText(last.content);
  if (text === undefined || text.trim() === '' || text.length > MAX_LENGTH) return undefined;
  const others = [...messages.slice(0, -1), { ...last, content: 'the question' }];
  const rest = cacheKey(request, settings, others);
  return rest === undefined ? undefined : { text, rest, scope: settings.scope };
}

function plainText(content: string | readonly ContentPart[]): string | undefined {
  if (typeof content === 'string') return content;
  const [part] = content;
  return content.length === 1 && part?.type === 'text' ? part.text : undefined;
}
