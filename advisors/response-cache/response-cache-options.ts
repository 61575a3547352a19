import { AdvisorOrder } from '../../src/core/advisor/advisor.js';
import {
  placeOf,
  type AdvisorPlace,
  type CheckedPlace,
} from '../../src/core/advisor/advisor-place.js';
import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import type { ChatModel } from '../../src/core/chat/chat-model.js';
import type { AdvisorContext } from '../../src/core/chat/context.js';
import {
  CHECKED_APART,
  checkOptions,
  FUNCTION,
  integer,
  numberBetween,
  oneOf,
  orFunction,
  required,
  rule,
  withMethods,
} from '../../src/core/internal/options.js';
import type { KeyValueStore } from '../../src/stores/key-value/key-value-store.js';
import type { EmbeddingModel } from '../../src/stores/vectors/embedding-model.js';
import type { VectorStore } from '../../src/stores/vectors/vector-store.js';

/** Options of a {@link ResponseCacheAdvisor}. */
export interface ResponseCacheAdvisorOptions extends AdvisorPlace {
  /**
   * Returns the owner of an answer, such as the id of the user or the tenant; undefined: the turn is
   * not cached. Turns of different scopes never share an answer.
   */
  readonly scope: (context: AdvisorContext) => string | undefined;
  /** False for a request that must not be cached, such as one with personal data. @default all may */
  readonly cacheable?: ((request: ChatClientRequest) => boolean) | undefined;
  /**
   * `none`: an answer is kept only if its turn called no tool; `read`: tools with the effect `read`
   * may be called, and the tool context is part of the key. @default 'none'
   */
  readonly toolCalls?: 'none' | 'read' | undefined;
  /** Labels of a request, by which its answer is removed: see `invalidate`. @default none */
  readonly tags?: ((request: ChatClientRequest) => readonly string[]) | undefined;
  /** Store of the answers and the tags. @default the last 1,000, in memory */
  readonly store?: KeyValueStore | undefined;
  /** Lifetime of an answer in milliseconds, > 0 and <= 1e12. @default 300_000 */
  readonly ttl?: number | undefined;
  /** Finds answers of similar questions, too, within the rest of the key. @default equal requests alone */
  readonly semantic?: SemanticCacheOptions | undefined;
  /** Maximum number of characters of an answer, as JSON, >= 1; longer ones are not kept. @default 100_000 */
  readonly maxLength?: number | undefined;
  /** Position: left of the tool loop, right of all that changes the request once per turn. @default AdvisorOrder.TOOL_CALLING - 20 */
  readonly order?: number | undefined;
}

/** Options of similar questions; see {@link ResponseCacheAdvisorOptions.semantic}. */
export interface SemanticCacheOptions {
  /** Embeds the last message of the user; the ledger of the turn has the call. */
  readonly embeddingModel: EmbeddingModel;
  /** Store of the questions; several processes may share it. @default the last 1,000, in memory */
  readonly vectorStore?: VectorStore | undefined;
  /** Minimum cosine similarity of two questions, 0 to 1. @default 0.95 */
  readonly threshold?: number | undefined;
  /**
   * Judges if two questions ask for the same, where numbers, dates, names and negations agree: a
   * function, or a small model. Without it, the two may differ in typography and politeness alone.
   */
  readonly agrees?: QuestionJudge | ChatModel | undefined;
}

/** True if the answer of the cached question answers the question, too. */
export type QuestionJudge = (
  question: string,
  cachedQuestion: string,
  signal: AbortSignal,
) => boolean | Promise<boolean>;

/**
 * Reason for which an answer was not looked up or not kept:
 *
 * - `scope`: there is none for the turn; `cacheable`: the function returned false;
 * - `marked`: a guard has marked a message; `provider-tools`: the provider runs tools unseen;
 * - `not-json`: a part of the request or the answer is not JSON data;
 * - `tool-calls`: the turn called a tool that `toolCalls` does not allow, or one that failed;
 * - `incomplete`: the answer was cut off, refused, stopped at a limit, is empty, or waits for people;
 * - `format`: the answer does not have the output format of the request;
 * - `steered`: the user has added messages while the turn ran;
 * - `too-long`: the answer exceeds `maxLength`; `invalidated`: one of its tags was, meanwhile.
 */
export type ResponseCacheRefusal =
  | 'scope'
  | 'cacheable'
  | 'marked'
  | 'provider-tools'
  | 'not-json'
  | 'tool-calls'
  | 'incomplete'
  | 'format'
  | 'steered'
  | 'too-long'
  | 'invalidated';

/** Data of the event `response-cache`. */
export interface ResponseCacheEvent {
  /**
   * `hit`: the answer is from the cache; `miss`: it has none; `stored`: it keeps the answer of a miss;
   * `refused`: the turn is not looked up, or its answer not kept; `failed`: the cache failed, and the
   * turn did without it.
   */
  readonly outcome: 'hit' | 'miss' | 'stored' | 'refused' | 'failed';
  readonly reason?: ResponseCacheRefusal | undefined;
  /** Cosine similarity of the two questions, of a hit that is not exact. */
  readonly similarity?: number | undefined;
  /** The error of the store, the embedding model or the judge. */
  readonly error?: unknown;
}

declare module '../../src/core/chat/chat-event.js' {
  interface CustomEvents {
    'response-cache': ResponseCacheEvent;
  }
}

/** Name of the advisor in messages of errors. */
export const NAME = 'ResponseCacheAdvisor';
const RULES = {
  scope: required(FUNCTION),
  cacheable: FUNCTION,
  toolCalls: oneOf('none', 'read'),
  tags: FUNCTION,
  store: withMethods('a KeyValueStore', 'get', 'set', 'delete'),
  ttl: rule('a number > 0 and <= 1e12', (ttl) => typeof ttl === 'number' && ttl > 0 && ttl <= 1e12),
  maxLength: integer(1),
  semantic: CHECKED_APART,
};
const CHAT_MODEL = withMethods('a chat model with call and stream', 'call', 'stream');
const SEMANTIC_RULES = {
  embeddingModel: required(withMethods('an EmbeddingModel', 'embed')),
  vectorStore: withMethods('a VectorStore', 'upsert', 'search', 'delete'),
  threshold: numberBetween(0, 1),
  agrees: orFunction(CHAT_MODEL),
};

/** @throws {@link InvalidArgumentError} if an option is invalid */
export function checkResponseCacheOptions(options: ResponseCacheAdvisorOptions): CheckedPlace {
  const place = { name: 'response-cache', order: AdvisorOrder.TOOL_CALLING - 20 };
  const checked = placeOf(NAME, options, RULES, place);
  const { semantic } = options;
  if (semantic !== undefined) checkOptions(NAME, semantic, SEMANTIC_RULES, 'semantic.');
  return checked;
}
