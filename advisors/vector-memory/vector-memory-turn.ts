import type { AroundChain, Next } from '../../src/core/advisor/advisor.js';
import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import type { ChatClientResponse } from '../../src/core/advisor/chat-client-response.js';
import { judgedText, UNTRUSTED } from '../../src/core/advisor/untrusted-text.js';
import { isStopped } from '../../src/core/chat/chat-response.js';
import type { Document } from '../../src/core/chat/document.js';
import { withModelCalls } from '../../src/core/chat/ledger-codec.js';
import { textOf } from '../../src/core/chat/message.js';
import { hasCode } from '../../src/core/errors/advisor-chain-error.js';
import { MemoryWriteError, ModelCallError } from '../../src/core/errors/errors.js';
import { sha256Hex, truncateText } from '../../src/core/internal/text.js';
import type { MemoryExtractor } from '../../src/knowledge/memories.js';
import { observeRetrieval } from '../../src/core/observation/observe-retrieval.js';
import { toReadError, toWriteError } from '../../src/stores/chat-memory/write-outcome.js';
import {
  embedInRun,
  type EmbeddingModel,
  type Vector,
} from '../../src/stores/vectors/embedding-model.js';
import type { VectorStore } from '../../src/stores/vectors/vector-store.js';
import { beforeQuestion, exchangesIn, storableText, toEntries } from './memory-entries.js';
import { MEMORIES_FOUND, MEMORIES_WRITTEN } from './memory-steps.js';

/** The options of the advisor with their defaults. */
export interface MemorySettings {
  readonly name: string;
  readonly store: VectorStore;
  readonly embeddingModel: EmbeddingModel;
  readonly topK: number;
  readonly minScore: number | undefined;
  readonly maxLength: number;
  readonly trusted: boolean;
  readonly extract: MemoryExtractor;
  readonly template: (memories: string) => string;
}

/** One run of the memory advisor. */
export class VectorMemoryTurn {
  /** Text of the last message of the user. */
  private readonly question: string;

  constructor(
    private readonly settings: MemorySettings,
    private readonly request: ChatClientRequest,
    private readonly namespace: string,
    private readonly emit: AroundChain['emit'],
  ) {
    this.question = textOf(request.prompt.userMessage?.content ?? '').trim();
  }

  async run(next: Next): Promise<ChatClientResponse> {
    const memories = this.question === '' ? [] : await this.find();
    const response = await next(await this.withMemories(memories));
    const answer = answerOf(response);
    if (answer !== '') await this.store(answer, memories, response);
    return response;
  }

  private async withMemories(found: readonly Document[]): Promise<ChatClientRequest> {
    const { request, settings } = this;
    const { template, maxLength, trusted } = settings;
    const { messages } = request.prompt;
    const known = exchangesIn(messages, maxLength);
    const memories = await this.judged(found.filter(({ text }) => !known.has(text)));
    if (memories.length === 0) return request;
    const content = template(toEntries(memories, maxLength));
    const message = { role: 'user', content, ...(!trusted && { metadata: UNTRUSTED }) } as const;
    return request.withMessages(beforeQuestion(messages, message));
  }

  /** The memories as the guards of the run let them pass; one that is withheld is left out. */
  private async judged(memories: readonly Document[]): Promise<readonly Document[]> {
    const { settings, emit } = this;
    if (settings.trusted) return memories;
    const { run, context, cancellation } = this.request;
    const place = { origin: settings.name, run, context, cancellation, emit };
    const judged = memories.map(async (memory) => {
      const text = await judgedText({
        ...place,
        text: truncateText(memory.text, settings.maxLength),
      });
      return text === undefined ? [] : [{ ...memory, text }];
    });
    return (await Promise.all(judged)).flat();
  }

  private async find(): Promise<readonly Document[]> {
    const { name } = this.settings;
    const { run, observation, signal } = this.request;
    try {
      const query = { text: this.question, signal };
      const search = (): Promise<readonly Document[]> =>
        observeRetrieval(observation, name, query, () => this.search());
      const codec = withModelCalls(run, MEMORIES_FOUND);
      return await run.recorder.step(`${name} read`, search, codec);
    } catch (cause) {
      throw toReadError(cause, this.namespace);
    }
  }

  private async search(): Promise<readonly Document[]> {
    const { store, topK, minScore, maxLength } = this.settings;
    const { signal, turnId } = this.request;
    const [vector] = await this.embed([storableText(this.question, maxLength)]);
    // a turn that is attempted again must not find what it has stored before
    const filter = { not: { turn: turnId } };
    return store.search(
      this.namespace,
      { vector: vector as Vector, topK, minScore, filter },
      { signal },
    );
  }

  private async embed(texts: readonly string[]): Promise<readonly Vector[]> {
    const { signal, run } = this.request;
    const { vectors } = await embedInRun(this.settings.embeddingModel, texts, { signal }, run);
    if (vectors.length === texts.length) return vectors;
    throw new ModelCallError(
      `The embedding model returned ${vectors.length} vectors for ${texts.length} texts.`,
    );
  }

  private async store(
    answer: string,
    memories: readonly Document[],
    response: ChatClientResponse,
  ): Promise<void> {
    const { name } = this.settings;
    const { run, turnId } = this.request;
    const write = async (): Promise<{ readonly count: number }> => {
      const documents = await this.prepare(answer, memories, response);
      await this.write(documents);
      return { count: documents.length };
    };
    try {
      await run.recorder.step(`${name} write`, write, withModelCalls(run, MEMORIES_WRITTEN));
    } catch (error) {
      if (hasCode(error, 'cancelled')) throw error;
      throw toWriteError(error, this.namespace, { turnId, response });
    }
  }

  /** @throws {@link MemoryWriteError} if a model has failed: nothing is stored */
  private async prepare(
    answer: string,
    memories: readonly Document[],
    response: ChatClientResponse,
  ): Promise<readonly Document[]> {
    const { question, settings, request, namespace } = this;
    const { context, signal, run, turnId } = request;
    try {
      const exchange = { question, answer, memories, run, context, signal };
      const extracted = await settings.extract(exchange);
      const texts = extracted.map(({ text }) => storableText(text, settings.maxLength));
      const vectors = await this.embed(texts);
      const time = new Date().toISOString();
      const origin = { turn: turnId, memory: settings.name, time };
      return extracted.map(({ type, metadata }, at) => ({
        id: sha256Hex(JSON.stringify([turnId, settings.name, at])).slice(0, 32),
        text: texts[at] as string,
        metadata: { ...metadata, ...origin, type },
        vector: vectors[at],
      }));
    } catch (cause) {
      if (hasCode(cause, 'cancelled')) throw cause;
      throw new MemoryWriteError(namespace, { outcome: 'not-stored', turnId, response, cause });
    }
  }

  /** Replaces what an earlier attempt of the turn has stored. */
  private write(documents: readonly Document[]): Promise<void> {
    const { settings, request, namespace } = this;
    const replaces = { turn: request.turnId, memory: settings.name };
    return settings.store.upsert(namespace, documents, { signal: request.signal, replaces });
  }
}

/** The text of an answer that ends its turn; empty for one that a stop condition or open calls end. */
function answerOf(response: ChatClientResponse): string {
  if (response.hasToolCalls() || isStopped(response)) return '';
  const { generations, finishReason } = response;
  const answers = finishReason === 'returnDirect' ? generations : generations.slice(0, 1);
  const texts = answers.map(({ message }) => textOf(message.content ?? ''));
  return texts.join('\n').trim();
}
