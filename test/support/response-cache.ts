import {
  ChatClient,
  ContextKey,
  ResponseCacheAdvisor,
  type Advisor,
  type ChatClientResponse,
  type ChatEvent,
  type PromptSpec,
  type ResponseCacheAdvisorOptions,
  type ResponseCacheEvent,
} from '../../src/index.js';
import { ScriptedChatModel, type Script } from '../../src/testing/index.js';
import { finish } from './durable.js';
import type { Mode } from './modes.js';

/** The user of a request, which is its scope. */
export const USER = new ContextKey<string | undefined>('test.user');
export const EVERYONE = { scope: () => 'everyone' };
export const BY_USER: ResponseCacheAdvisorOptions = { scope: (context) => context.get(USER) };

/** Counts its answers: the number of an answer shows which call of the model it is from. */
export const COUNTING: Script = (_, index) => `Answer ${index}.`;

export interface CachedClient {
  readonly model: ScriptedChatModel;
  readonly cache: ResponseCacheAdvisor;
  readonly client: ChatClient;
}

export function cachedClient(
  options: Partial<ResponseCacheAdvisorOptions> = {},
  script: Script = COUNTING,
  ...others: readonly Advisor[]
): CachedClient {
  const model = new ScriptedChatModel(script);
  const cache = new ResponseCacheAdvisor({ ...EVERYONE, ...options });
  const client = ChatClient.builder(model)
    .defaultAdvisors(cache, ...others)
    .build();
  return { model, cache, client };
}

/** A turn that has ended. */
export interface CachedTurn {
  readonly text: string | null | undefined;
  readonly response: ChatClientResponse | undefined;
  readonly error: unknown;
  readonly events: readonly ChatEvent[];
  /** Data of its events `response-cache`; of a stream alone. */
  readonly reports: readonly ResponseCacheEvent[];
  /** Their outcomes, with the reason. */
  readonly outcomes: readonly string[];
}

export async function turnOf(spec: PromptSpec, mode: Mode = 'stream'): Promise<CachedTurn> {
  const { response, error, events } = await finish(spec, mode);
  const reports = events.flatMap((event) =>
    event.type === 'custom' && event.name === 'response-cache' ? [event.data] : [],
  );
  const outcomes = reports.map(({ outcome, reason }) =>
    [outcome, reason].filter(Boolean).join(' '),
  );
  return { text: response?.text, response, error, events, reports, outcomes };
}
