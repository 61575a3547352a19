import { frozenCopy } from '../internal/frozen-copy.js';
import type { JsonValue } from '../internal/json.js';
import { safeJson } from '../internal/safe-json.js';
import { describe } from '../errors/describe.js';
import { checkOption, rule } from '../internal/options.js';
import type { Citation } from './citation.js';
import {
  type AssistantMessage,
  callsOf,
  type Metadata,
  textOf,
  type ToolCall,
  withTextArguments,
} from './message.js';
import type { PausedTurn } from './paused-turn.js';

/** One alternative of an answer. */
export interface Generation {
  readonly message: AssistantMessage;
  /** The finish reason of the provider (`stop`, `tool_calls`, `length`, …), if it sent one. */
  readonly finishReason?: string;
  /** Sources that the answer cites, in order. */
  readonly citations?: readonly Citation[];
  readonly metadata?: Metadata;
}

/** Tokens of one model call, or of a turn. Counts that the provider did not report are absent. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  /** Input tokens read from the provider's prompt cache. */
  readonly cachedInputTokens?: number;
  /** Input tokens written to the provider's prompt cache. */
  readonly cacheWriteTokens?: number;
  /** Output tokens spent on reasoning. */
  readonly reasoningTokens?: number;
}

/** The rate limits reported by the provider; `…Reset` is in its own format, such as `6m0s`. */
export interface RateLimit {
  readonly requestsLimit?: number;
  readonly requestsRemaining?: number;
  readonly requestsReset?: string;
  readonly tokensLimit?: number;
  readonly tokensRemaining?: number;
  readonly tokensReset?: string;
}

/** The fields of a {@link ChatResponse}. */
export interface ChatResponseFields {
  readonly generations: readonly Generation[];
  readonly usage?: Usage | undefined;
  readonly id?: string | undefined;
  readonly model?: string | undefined;
  readonly rateLimit?: RateLimit | undefined;
  /** Other fields of the provider. */
  readonly metadata?: Metadata | undefined;
  /** Set if the turn waits for people, with the finish reason `paused`. */
  readonly paused?: PausedTurn | undefined;
}

const GENERATIONS = rule('an array', Array.isArray);
const NO_MESSAGE: AssistantMessage = frozenCopy({ role: 'assistant', content: null });

/**
 * A complete answer of a model, as a frozen copy. The first generation is the answer; others are
 * kept, nothing more.
 */
export class ChatResponse {
  readonly generations: readonly Generation[];
  readonly usage: Usage | undefined;
  readonly id: string | undefined;
  readonly model: string | undefined;
  readonly rateLimit: RateLimit | undefined;
  readonly metadata: Metadata | undefined;
  /** Set if the turn waits for people; the finish reason is `paused`, and the message empty. */
  declare readonly paused?: PausedTurn;

  /** @throws {@link InvalidArgumentError} if there is no array of generations */
  constructor(fields: ChatResponseFields) {
    checkOption('ChatResponse', 'generations', fields?.generations, GENERATIONS);
    // the fields of a response are frozen
    const copy = fields instanceof ChatResponse ? <T>(value: T): T => value : frozenCopy;
    this.generations = copy(fields.generations);
    this.usage = copy(fields.usage);
    this.id = fields.id;
    this.model = fields.model;
    this.rateLimit = copy(fields.rateLimit);
    this.metadata = copy(fields.metadata);
    if (fields.paused) this.paused = copy(fields.paused);
    if (new.target === ChatResponse) Object.freeze(this); // a subclass has more fields
  }

  /** A response with one text, for advisors that answer themselves. */
  static ofText(text: string, finishReason = 'stop'): ChatResponse {
    return new ChatResponse({
      generations: [{ message: { role: 'assistant', content: text }, finishReason }],
    });
  }

  /** The first generation. */
  get result(): Generation | undefined {
    return this.generations[0];
  }

  /** The message of the first generation; an empty one if there is none. */
  get message(): AssistantMessage {
    return this.result?.message ?? NO_MESSAGE;
  }

  /** The text of the first generation. */
  get text(): string | null {
    const { content } = this.message;
    return content === null ? null : textOf(content);
  }

  /** The finish reason of the first generation. */
  get finishReason(): string | undefined {
    return this.result?.finishReason;
  }

  /** The sources that the first generation cites, in order. */
  get citations(): readonly Citation[] {
    return this.result?.citations ?? [];
  }

  /** True if the first generation asks for tools. */
  hasToolCalls(): boolean {
    return callsOf(this.message).length > 0;
  }

  /** True if the first generation has one of these finish reasons, in upper or lower case. */
  hasFinishReason(...reasons: readonly string[]): boolean {
    const { result } = this;
    const reason = result?.finishReason?.toLowerCase() ?? '';
    return result !== undefined && reasons.some((wanted) => wanted.toLowerCase() === reason);
  }

  /** The fields, for `JSON.stringify`. */
  toJSON(): JsonValue {
    return safeJson({ ...this }, Infinity) ?? null;
  }

  /**
   * A copy whose answer cites these sources, too, after its own; a stream shows them as `citation`
   * events. A response without an answer is returned unchanged.
   */
  withCitations(...citations: readonly Citation[]): this {
    const generations = this.generations.map((each, at) =>
      at === 0 ? { ...each, citations: [...(each.citations ?? []), ...citations] } : each,
    );
    return this.with({ generations }) as this;
  }

  /** A copy with other fields. */
  with(fields: Partial<ChatResponseFields>): ChatResponse {
    const { generations, usage, id, model, rateLimit, metadata, paused } = this;
    const own = { generations, usage, id, model, rateLimit, metadata, paused };
    return new ChatResponse({ ...own, ...fields });
  }
}

const STOPPED = 'stopCondition';

/** The answer of a turn that a stop condition has ended: an empty one, its steps have the rest. */
export function stoppedAnswer(): Generation {
  return { message: NO_MESSAGE, finishReason: STOPPED };
}

/** True for the answer of a turn that a stop condition has ended. */
export function isStopped({ finishReason }: Pick<ChatResponse, 'finishReason'>): boolean {
  return finishReason === STOPPED;
}

const CUT_OFF = ['length', 'max_tokens', 'max_output_tokens', 'model_context_window_exceeded'];

/** True if an answer ended at its token limit. */
export function isCutOff({ finishReason = '' }: Generation): boolean {
  return CUT_OFF.includes(finishReason.toLowerCase());
}

/**
 * Finish reasons of whole answers, without separators and in lower case. The list is one of those
 * that are complete: providers invent others for answers that they break off (`abort`, `safety`,
 * `insufficient_system_resource`), and half a batch must not run. Some servers give no reason.
 */
const WHOLE: ReadonlySet<string> = new Set(
  ' stop stopsequence endturn eos eostoken complete completed toolcall toolcalls tooluse functioncall'.split(
    ' ',
  ),
);

/** True if an answer was not broken off. */
export function isWhole({ finishReason = '' }: Pick<Generation, 'finishReason'>): boolean {
  return WHOLE.has(finishReason.replaceAll(/[-_\s]/g, '').toLowerCase());
}

/**
 * The requirement of a response that a value breaks, as in "must be a ChatResponse, not 42"; models
 * and advisors in JavaScript can return anything.
 */
export function responseProblem(value: ChatResponse): string | undefined {
  if (typeof value?.hasToolCalls !== 'function') return `a ChatResponse, not ${describe(value)}`;
  if (!Array.isArray(value.generations))
    return expected('an array of generations', value.generations);
  const generations: readonly Partial<Generation>[] = value.generations;
  for (let at = 0; at < generations.length; at++) {
    const problem = messageProblem(generations[at]?.message, at);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function messageProblem(message: unknown, at: number): string | undefined {
  if (typeof message !== 'object' || message === null)
    return expected(`generations[${at}].message`, message);
  const { content, toolCalls = [] } = message as Partial<AssistantMessage>;
  if (typeof content !== 'string' && content !== null && !Array.isArray(content))
    return expected(`a string, null or parts as generations[${at}].message.content`, content);
  if (!Array.isArray(toolCalls))
    return expected(`an array as generations[${at}].message.toolCalls`, toolCalls);
  const calls: readonly Partial<ToolCall>[] = toolCalls;
  const bad = calls.findIndex((call) => typeof call?.name !== 'string');
  if (bad < 0) return undefined;
  const name = calls[bad]?.name;
  return expected(`a name in generations[${at}].message.toolCalls[${bad}]`, name);
}

function expected(field: string, found: unknown): string {
  return `a ChatResponse with ${field}, not ${describe(found)}`;
}

/** A response of a model, of well-formed texts, that its model cannot change later. */
export function ownResponse(response: ChatResponse): ChatResponse {
  const isOwn = Object.getPrototypeOf(response) === ChatResponse.prototype;
  const own = isOwn ? response : new ChatResponse(response);
  const { generations } = own;
  const hasTexts = ({ message: { toolCalls } }: Generation): boolean =>
    toolCalls === undefined || withTextArguments(toolCalls) === toolCalls;
  if (generations.every(hasTexts)) return own;
  return own.with({
    generations: generations.map((generation) => {
      const { message } = generation;
      const toolCalls = withTextArguments(callsOf(message));
      return { ...generation, message: { ...message, toolCalls } };
    }),
  });
}

/** The sum of two usages; undefined only if both are. */
export function addUsage(a: Usage | undefined, b: Usage | undefined): Usage | undefined {
  if (!a || !b) return a ?? b;
  const cached = addOptional(a.cachedInputTokens, b.cachedInputTokens);
  const written = addOptional(a.cacheWriteTokens, b.cacheWriteTokens);
  const reasoning = addOptional(a.reasoningTokens, b.reasoningTokens);
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    totalTokens: a.totalTokens + b.totalTokens,
    ...(cached !== undefined && { cachedInputTokens: cached }),
    ...(written !== undefined && { cacheWriteTokens: written }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
  };
}

function addOptional(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0);
}
