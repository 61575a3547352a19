import type {
  Advisor,
  AdvisorNeighbours,
  AroundChain,
  Hazards,
  Next,
} from '../../src/core/advisor/advisor.js';
import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import type { ChatClientResponse } from '../../src/core/advisor/chat-client-response.js';
import { withTrait } from '../../src/core/advisor/hazards.js';
import type { ChatResponse } from '../../src/core/chat/chat-response.js';
import type { StepCodec } from '../../src/core/chat/run-recorder.js';
import { withModelCalls } from '../../src/core/chat/ledger-codec.js';
import { checkOption, rule, TEXT } from '../../src/core/internal/options.js';
import { hasCode } from '../../src/core/errors/advisor-chain-error.js';
import { InMemoryKeyValueStore } from '../../src/stores/key-value/in-memory-key-value-store.js';
import { cacheKey, type KeySettings } from './cache-key.js';
import { refusalOfAnswer } from './kept-answer.js';
import { KEPT, LOOKUP, type Kept, type Lookup, type Miss } from './lookup.js';
import {
  checkResponseCacheOptions,
  NAME,
  type ResponseCacheAdvisorOptions,
  type ResponseCacheEvent,
  type ResponseCacheRefusal,
} from './response-cache-options.js';
import { ResponseStore, type StoredAnswer } from './response-store.js';
import { SimilarQuestions } from './similar-questions.js';

const TAGS = rule('an array of non-blank strings', (tags) => {
  return Array.isArray(tags) && tags.every(TEXT.accepts);
});

/**
 * Answers a request as an equal one was answered before, within a required scope. Keeps whole answers
 * alone, of turns without effects; the event `response-cache` has the outcome.
 */
export class ResponseCacheAdvisor implements Advisor {
  readonly name: string;
  readonly order: number;
  private readonly store: ResponseStore;
  private readonly similar: SimilarQuestions | undefined;

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(private readonly options: ResponseCacheAdvisorOptions) {
    ({ name: this.name, order: this.order } = checkResponseCacheOptions(options));
    const { ttl = 300_000, maxLength = 100_000 } = options;
    const store = options.store ?? new InMemoryKeyValueStore({ maxKeys: 1_000, onFull: 'evict' });
    this.store = new ResponseStore({ store, ttl, maxLength });
    this.similar = options.semantic && new SimilarQuestions(options.semantic, ttl);
  }

  /**
   * Removes the answers of a tag, in all scopes and in all processes that share the store: no lookup
   * that begins later returns one, nor the answer of a turn that is running.
   * @throws {@link KeyValueError} if the store fails
   */
  async invalidate(tag: string): Promise<void> {
    checkOption(`${NAME}.invalidate`, 'tag', tag, TEXT);
    await this.store.invalidate(tag);
  }

  hazards({ right, isLeftOfLoop, isInsideLoop, memoryRight }: AdvisorNeighbours): Hazards {
    const { name } = this;
    const guard = withTrait(right, 'guards-input')?.name;
    const retriever = withTrait(right, 'retrieves')?.name;
    const router = right.find(({ traits = [] }) => {
      return isLeftOfLoop && traits.includes('chooses-model') && !traits.includes('retries');
    })?.name;
    return [
      isInsideLoop &&
        `"${name}" caches answers inside the tool loop: it is asked in each iteration, and keeps no answer after a tool; give it an order below TOOL_CALLING`,
      memoryRight !== undefined &&
        `"${name}" caches answers left of "${memoryRight}": the conversation is not in its key, and a hit is not stored; give it an order above MEMORY`,
      guard !== undefined &&
        `"${name}" caches answers left of the input guard "${guard}", which does not see a question with a hit; give the guard a lower order`,
      retriever !== undefined &&
        `"${name}" caches answers left of "${retriever}", whose documents are not in its key: a hit may be of other documents; give the cache a higher order`,
      router !== undefined &&
        `"${name}" caches answers left of "${router}", whose choice of a model is not in its key; give the cache a higher order`,
    ];
  }

  async around(request: ChatClientRequest, next: Next, chain: AroundChain): Promise<ChatResponse> {
    const lookup = await this.step(request, 'lookup', () => this.lookUp(request), LOOKUP);
    report(chain, lookup);
    if (lookup.outcome === 'hit') return ofCache(lookup);
    const response = await next(request);
    if (lookup.outcome !== 'miss') return response;
    report(chain, await this.step(request, 'write', () => this.keep(lookup, request, response), KEPT)); // prettier-ignore
    return response;
  }

  /** Runs an operation once, also in a turn that is recorded. */
  private async step<T>(
    { run }: ChatClientRequest,
    place: string,
    operation: () => Promise<T>,
    codec: StepCodec<T>,
  ): Promise<T> {
    let isReplayed = run.recorder.isRecording;
    const live = (): Promise<T> => {
      isReplayed = false;
      return operation();
    };
    const end = await run.recorder.step(`${this.name} ${place}`, live, withModelCalls(run, codec));
    if (run.recorder.isRecording) run.beginOperation(isReplayed);
    return end;
  }

  private async lookUp(request: ChatClientRequest): Promise<Lookup> {
    const scope = this.options.scope(request.context);
    if (scope !== undefined) checkOption(NAME, 'the result of scope', scope, TEXT);
    const reason = this.refusalOf(request, scope);
    if (reason !== undefined || scope === undefined) return refused(reason ?? 'scope');
    const settings = this.settingsOf(scope);
    const key = cacheKey(request, settings);
    if (key === undefined) return refused('not-json');
    const tags = this.options.tags?.(request) ?? [];
    checkOption(NAME, 'the result of tags', tags, TAGS);
    const read = (known: string) => this.store.read(known);
    try {
      const found = (await read(key)) ?? (await this.similar?.find(request, settings, read));
      if (found) return { outcome: 'hit', ...found };
      return { outcome: 'miss', key, scope, stamps: await this.store.stampsOf(tags) };
    } catch (error) {
      return failed(error);
    }
  }

  private settingsOf(scope: string): KeySettings {
    return { scope, withToolContext: this.options.toolCalls === 'read' };
  }

  private refusalOf(
    request: ChatClientRequest,
    scope: string | undefined,
  ): ResponseCacheRefusal | undefined {
    const { messages, options } = request.prompt;
    if (scope === undefined) return 'scope';
    if (messages.some(({ metadata }) => metadata?.['guard'] !== undefined)) return 'marked';
    if ((options.providerTools ?? []).length > 0) return 'provider-tools';
    return this.options.cacheable?.(request) === false ? 'cacheable' : undefined;
  }

  private async keep(
    { key, scope, stamps }: Miss,
    request: ChatClientRequest,
    response: ChatClientResponse,
  ): Promise<Kept> {
    const reason = await refusalOfAnswer(request, response, this.options.toolCalls);
    if (reason !== undefined) return refused(reason);
    try {
      const problem = await this.store.write(key, stamps, response.chatResponse);
      if (problem !== undefined) return refused(problem);
      await this.similar?.add(request, this.settingsOf(scope), key);
      return { outcome: 'stored' };
    } catch (error) {
      return failed(error);
    }
  }
}

function refused(reason: ResponseCacheRefusal) {
  return { outcome: 'refused', reason } as const;
}

/** The turn does without the store; its cancellation ends it. */
function failed(error: unknown) {
  if (hasCode(error, 'cancelled')) throw error;
  return { outcome: 'failed', error } as const;
}

/** The answer of another turn: it has cost nothing in this one. */
function ofCache({ response, storedAt, similarity }: StoredAnswer): ChatResponse {
  const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  const responseCache = similarity === undefined ? { storedAt } : { storedAt, similarity };
  const metadata = { ...response.metadata, responseCache };
  return response.with({ usage, metadata });
}

function report({ emit }: AroundChain, end: Lookup | Kept): void {
  emit({ type: 'custom', name: 'response-cache', data: eventOf(end) });
}

function eventOf(end: Lookup | Kept): ResponseCacheEvent {
  const { outcome } = end;
  if (outcome === 'refused') return { outcome, reason: end.reason };
  if (outcome === 'failed') return { outcome, error: end.error };
  const isSimilar = outcome === 'hit' && end.similarity !== undefined;
  return isSimilar ? { outcome, similarity: end.similarity } : { outcome };
}
