import { describe } from '../internal/text.js';
import type { AssistantMessage, Metadata, ToolCall } from './message.js';

/** One alternative of an answer. */
export interface Generation {
  readonly message: AssistantMessage;
  /** The finish reason of the provider (`stop`, `tool_calls`, `length`, …), if it sent one. */
  readonly finishReason?: string;
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
}

const NO_MESSAGE: AssistantMessage = { role: 'assistant', text: null, toolCalls: [] };

/** A complete answer of a model. */
export class ChatResponse {
  readonly generations: readonly Generation[];
  readonly usage: Usage | undefined;
  readonly id: string | undefined;
  readonly model: string | undefined;
  readonly rateLimit: RateLimit | undefined;
  readonly metadata: Metadata | undefined;

  constructor(fields: ChatResponseFields) {
    this.generations = fields.generations;
    this.usage = fields.usage;
    this.id = fields.id;
    this.model = fields.model;
    this.rateLimit = fields.rateLimit;
    this.metadata = fields.metadata;
  }

  /** A response with one text, for advisors that answer themselves. */
  static ofText(text: string, finishReason = 'stop'): ChatResponse {
    return new ChatResponse({
      generations: [{ message: { role: 'assistant', text, toolCalls: [] }, finishReason }],
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
    return this.message.text;
  }

  /** The finish reason of the first generation. */
  get finishReason(): string | undefined {
    return this.result?.finishReason;
  }

  /** True if any generation asks for tools. */
  hasToolCalls(): boolean {
    return this.generations.some((generation) => generation.message.toolCalls.length > 0);
  }

  /** True if any generation has one of these finish reasons, in upper or lower case. */
  hasFinishReason(...reasons: readonly string[]): boolean {
    const wanted = reasons.map((reason) => reason.toLowerCase());
    return this.generations.some((generation) =>
      wanted.includes(generation.finishReason?.toLowerCase() ?? ''),
    );
  }

  /** A copy with other fields. */
  with(fields: Partial<ChatResponseFields>): ChatResponse {
    return new ChatResponse({ ...this, ...fields });
  }
}

/** The tool calls of all generations. */
export function callsOf({ generations }: ChatResponse): readonly ToolCall[] {
  return generations.flatMap(({ message }) => message.toolCalls);
}

/**
 * The requirement of a response that a value breaks, as in "must be a ChatResponse, not 42"; models
 * and advisors in JavaScript can return anything.
 */
export function responseProblem(value: ChatResponse): string | undefined {
  if (typeof value?.hasToolCalls !== 'function') return `a ChatResponse, not ${describe(value)}`;
  const { generations } = value;
  const expected = (what: string, found: unknown): string =>
    `a ChatResponse with ${what}, not ${describe(found)}`;
  if (!Array.isArray(generations)) return expected('an array of generations', generations);
  for (const [at, generation] of (generations as readonly Partial<Generation>[]).entries()) {
    const path = `generations[${at}].message`;
    const message = generation?.message;
    if (typeof message !== 'object' || message === null) return expected(path, message);
    const { text, toolCalls } = message;
    if (typeof text !== 'string' && text !== null)
      return expected(`a string or null as ${path}.text`, text);
    if (!Array.isArray(toolCalls)) return expected(`an array of ${path}.toolCalls`, toolCalls);
    const names = (toolCalls as readonly Partial<ToolCall>[]).map((call) => call?.name);
    const bad = names.findIndex((name) => typeof name !== 'string');
    if (bad >= 0) return expected(`a name in ${path}.toolCalls[${bad}]`, names[bad]);
  }
  return undefined;
}

/**
 * The response with text as the arguments of each call, which stores and providers need: models in
 * JavaScript also return the parsed arguments, or null for none.
 */
export function withArgumentTexts(response: ChatResponse): ChatResponse {
  const isText = (call: ToolCall): boolean => typeof call.arguments === 'string';
  const { generations } = response;
  if (generations.every(({ message }) => message.toolCalls.every(isText))) return response;
  const toText = (call: ToolCall): ToolCall =>
    isText(call) ? call : { ...call, arguments: argumentText(call.arguments) };
  return response.with({
    generations: generations.map((generation) => {
      const { message } = generation;
      return { ...generation, message: { ...message, toolCalls: message.toolCalls.map(toText) } };
    }),
  });
}

function argumentText(value: unknown): string {
  try {
    return JSON.stringify(value ?? null) ?? String(value);
  } catch {
    return String(value); // no JSON: the model is asked to correct it
  }
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
