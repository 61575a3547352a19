import {
  AdvisorOrder,
  type Advisor,
  type AdvisorChain,
  type InspectedState,
} from '../src/core/advisor/advisor.js';
import { placeOf, type AdvisorPlace } from '../src/core/advisor/advisor-place.js';
import {
  isCancelled,
  runAttempts,
  type AttemptEnd,
  type NextAttempt,
} from '../src/core/advisor/attempts.js';
import { CHAT_MODEL, type ChatClientRequest } from '../src/core/advisor/chat-client-request.js';
import { inspectedState } from '../src/core/advisor/inspected-state.js';
import { ModelHealth } from '../src/core/advisor/model-health.js';
import type { ChatEvent } from '../src/core/chat/chat-event.js';
import type { ChatResponse } from '../src/core/chat/chat-response.js';
import type { ChatModel } from '../src/core/chat/chat-model.js';
import {
  checkChatOptions,
  frozenOptions,
  type ChatOptions,
} from '../src/core/chat/chat-options.js';
import { modelCallError } from '../src/core/chat/run-record.js';
import { hasCode } from '../src/core/errors/advisor-chain-error.js';
import {
  checkOption,
  FUNCTION,
  integer,
  isPlainObject,
  required,
  rule,
  WAIT,
} from '../src/core/internal/options.js';
import type { Observable } from '../src/core/internal/rxjs.js';

/** A model to fall back on. */
export interface FallbackModel {
  readonly model: ChatModel;
  /** Options on top of the request's, such as another `maxTokens`. */
  readonly options?: ChatOptions | undefined;
}

/** Options of a {@link FallbackAdvisor}. */
export interface FallbackAdvisorOptions extends AdvisorPlace {
  /** The models to ask in turn after the model of the request; at least one. */
  readonly models: readonly (ChatModel | FallbackModel)[];
  /**
   * Returns true for an error, or a response, after which the next model is asked; the error is
   * undefined if there is a response. The end of the last model is always kept.
   * @default errors of model calls, except for requests that the model rejects with status 400 or 422
   */
  readonly when?:
    | ((error: unknown, response: ChatResponse | undefined) => boolean | Promise<boolean>)
    | undefined;
  /** Number of errors of a model in a row after which it is skipped for a while, >= 1. @default 3 */
  readonly maxFailures?: number | undefined;
  /** Milliseconds for which it is skipped, or longer if its server asks for it. @default 30_000 */
  readonly cooldown?: number | undefined;
  /** Position, right of the tool loop and left of a retry. @default AdvisorOrder.RESILIENCE - 200 */
  readonly order?: number | undefined;
}

const NAME = 'FallbackAdvisor';
const MODELS = rule(
  'an array with at least one chat model, or { model, options }',
  (value) => Array.isArray(value) && value.length > 0,
);
const RULES = {
  models: required(MODELS),
  when: FUNCTION,
  maxFailures: integer(1),
  cooldown: WAIT,
};
/** Statuses of requests that are at fault themselves. */
const REJECTED: readonly unknown[] = [400, 422];

/**
 * Asks another model when one fails, from the start of the iteration. A model that fails again and
 * again is skipped for a while by all runs that share the advisor.
 */
export class FallbackAdvisor implements Advisor {
  readonly name: string;
  readonly order: number;
  readonly traits = ['retries', 'chooses-model'] as const;
  /** In the order in which they are asked; the first is the model of the request. */
  private readonly candidates: readonly Candidate[];

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(private readonly options: FallbackAdvisorOptions) {
    const place = { name: 'fallback', order: AdvisorOrder.RESILIENCE - 200 };
    ({ name: this.name, order: this.order } = placeOf(NAME, options, RULES, place));
    const { maxFailures = 3, cooldown = 30_000 } = options;
    this.candidates = [undefined, ...options.models.map(toFallback)].map((fallback) => ({
      fallback,
      health: new ModelHealth(maxFailures, cooldown),
    }));
  }

  advise(request: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent> {
    return runAttempts(chain, request, () => {
      const rest = [...this.candidates];
      // if each one is to be skipped, the model of the request is asked all the same
      let asked = takeUsable(rest) ?? (this.candidates[0] as Candidate);
      const next = async (end: AttemptEnd): Promise<NextAttempt | undefined> => {
        if (isCancelled(end.error)) return undefined;
        const isBad = await (this.options.when ?? isModelFailure)(end.error, end.response);
        if (end.response) asked.health.succeed();
        else if (isBad) asked.health.fail(modelCallError(end.error)?.retryAfter);
        const other = isBad ? takeUsable(rest) : undefined;
        if (!other) return undefined;
        asked = other;
        return { request: requestFor(asked, request) };
      };
      return { first: requestFor(asked, request), next };
    });
  }

  /** The `models` in the order in which they are asked, with their failures in a row. */
  inspect(): InspectedState {
    const models = this.candidates.map(({ fallback, health }) => {
      return { model: nameOf(fallback), ...health.inspect() };
    });
    return inspectedState({ models });
  }
}

/** Name of a model; of the request, if there is no other. */
function nameOf(fallback: FallbackModel | undefined): string {
  const { model, options } = fallback ?? {};
  if (!model) return 'the model of the request';
  return options?.model ?? model.defaultOptions?.model ?? model.provider?.name ?? 'model';
}

/** A model that may be asked; without `fallback` the model of the request. */
interface Candidate {
  readonly fallback: FallbackModel | undefined;
  readonly health: ModelHealth;
}

/** @throws {@link InvalidArgumentError} if it is not a model, or its options are invalid */
function toFallback(entry: ChatModel | FallbackModel, index: number): FallbackModel {
  if (CHAT_MODEL.accepts(entry)) return { model: entry as ChatModel };
  const { model, options = {} } = (
    isPlainObject(entry) ? entry : { model: entry }
  ) as FallbackModel;
  checkOption(NAME, `models[${index}]`, model, CHAT_MODEL);
  checkChatOptions(options, `${NAME}: models[${index}].options`);
  return { model, options: frozenOptions(options) };
}

/** Removes the candidates up to the first one that is not skipped, and returns that one. */
function takeUsable(rest: Candidate[]): Candidate | undefined {
  for (let next = rest.shift(); next; next = rest.shift()) if (next.health.admit()) return next;
  return undefined;
}

function requestFor({ fallback }: Candidate, request: ChatClientRequest): ChatClientRequest {
  if (!fallback) return request;
  const { model, options } = fallback;
  const changed = request.withModel(model);
  return options ? changed.withOptions(options) : changed;
}

function isModelFailure(error: unknown): boolean {
  return (
    hasCode(error, 'model_call', 'incomplete_response', 'model_timeout') &&
    !REJECTED.includes(modelCallError(error)?.status)
  );
}
