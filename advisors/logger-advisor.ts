import { AdvisorOrder, type Advisor, type Next } from '../src/core/advisor/advisor.js';
import { placeOf, type AdvisorPlace } from '../src/core/advisor/advisor-place.js';
import type { ChatClientRequest } from '../src/core/advisor/chat-client-request.js';
import type { ChatClientResponse } from '../src/core/advisor/chat-client-response.js';
import { callsOf, type AssistantMessage, type Message } from '../src/core/chat/message.js';
import type { ModelCallRecord } from '../src/core/chat/run-report.js';
import type { OfferedTool } from '../src/core/chat/tool-definition.js';
import { reportUnhandledError } from '../src/core/internal/notify.js';
import {
  BOOLEAN,
  checkOption,
  CHECKED_APART,
  FUNCTION,
  hasMethods,
  TEXT,
  withMethods,
} from '../src/core/internal/options.js';
import {
  className,
  codeOf,
  isCancellation,
  messageOf,
  OTHER,
} from '../src/core/errors/error-type.js';

/** Log entry of a request or its result: names, counts and times, and content if configured. */
export interface LogEntry {
  readonly message: 'chat request' | 'chat response' | 'chat failed' | 'chat cancelled';
  /** The same for all entries of a turn. */
  readonly turnId: string;
  readonly mode: 'call' | 'stream';
  /** Index of the iteration, from 0. */
  readonly iteration: number;
  /** Model of the request, or the model that answered. */
  readonly model?: string | undefined;
  /** Number of messages in the request. */
  readonly messages?: number;
  /** Names of the tools that the request offers. */
  readonly tools?: readonly string[];
  readonly finishReason?: string | undefined;
  /** Names of the tools that the response calls. */
  readonly toolCalls?: readonly string[];
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /** True for a recorded answer or error of a resumed or durable turn, which has no tokens here. */
  readonly isReplayed?: true;
  /** Time from the request to its result. */
  readonly milliseconds?: number;
  /** Class of an error, and the code of an error of this library. */
  readonly error?: { readonly name: string; readonly code?: string };
  /** Messages of the request, message of the response, or text of the error. */
  readonly content?: readonly Message[] | AssistantMessage | string;
}

/** Options of a {@link LoggerAdvisor}. */
export interface LoggerAdvisorOptions extends AdvisorPlace {
  /**
   * An object with the method of `level`: a logger of pino or winston.
   * @default console, which gets a line of text for each entry
   */
  readonly logger?: object | undefined;
  /** Name of the logger's method to call; `'debug'` logs details, too. @default 'info' */
  readonly level?: string | undefined;
  /** Method to call for a failure; a logger without it is called by `level`. @default 'error' */
  readonly errorLevel?: string | undefined;
  /** Converts an entry to the argument of the logger. @default the entry; for `console` a line, without details */
  readonly format?: ((entry: LogEntry) => unknown) | undefined;
  /** Logs details, and includes content in entries: messages, answers, texts of errors. @default false */
  readonly includeContent?: boolean | undefined;
  /**
   * Position in the chain: inside the tool loop each iteration is logged, before it each turn.
   * @default AdvisorOrder.LOGGER
   */
  readonly order?: number | undefined;
}

const NAME = 'LoggerAdvisor';
const RULES = {
  logger: CHECKED_APART,
  level: TEXT,
  errorLevel: TEXT,
  format: FUNCTION,
  includeContent: BOOLEAN,
};

/**
 * Logs one entry for each request, when it has ended, for call and stream alike; with details, another
 * one before it. Errors of the logger never fail a turn; they are reported to `config.onUnhandledError`
 * of RxJS.
 */
export class LoggerAdvisor implements Advisor {
  readonly name: string;
  readonly order: number;
  private readonly isDetailed: boolean;
  private readonly format: (entry: LogEntry) => unknown;

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(private readonly options: LoggerAdvisorOptions = {}) {
    const { logger = console, level = 'info' } = options;
    const place = { name: 'logger', order: AdvisorOrder.LOGGER };
    ({ name: this.name, order: this.order } = placeOf(NAME, options, RULES, place));
    const hasLevel = withMethods(`an object with the method "${level}"`, level);
    checkOption(NAME, 'logger', logger, hasLevel);
    this.isDetailed = level === 'debug' || options.includeContent === true;
    const isBrief = logger === console && !this.isDetailed;
    this.format = options.format ?? (isBrief ? lineOf : (entry) => entry);
  }

  async around(request: ChatClientRequest, next: Next): Promise<ChatClientResponse> {
    const { level = 'info', errorLevel = 'error', includeContent } = this.options;
    const { turnId, mode, iteration, prompt, offeredTools } = request;
    const { model } = prompt.options;
    const run = { turnId, mode, iteration, ...(model !== undefined && { model }) };
    const asked: LogEntry = {
      message: 'chat request',
      ...run,
      messages: prompt.length,
      tools: namesOf(offeredTools),
      ...(includeContent && { content: prompt.messages }),
    };
    // in a replay it is logged with its result: only then it is known if it is a recorded one
    const { isReplaying } = request.run.recorder;
    if (this.isDetailed && !isReplaying) this.log(level, asked);
    const before = request.run.ledger.length;
    const end = (own: string, entry: LogEntry): void => {
      const replayed = isReplaying && isReplayed(request.run.ledger.slice(before));
      const mark = replayed ? ({ isReplayed: true } as const) : undefined;
      if (this.isDetailed && isReplaying) this.log(level, { ...asked, ...mark });
      this.log(own, { ...entry, ...mark, ...(mark && WITHOUT_TOKENS) });
    };
    const start = performance.now();
    const fields = (): Omit<LogEntry, 'message'> => ({
      ...run,
      milliseconds: performance.now() - start,
    });
    try {
      const response = await next(request);
      const answer = this.responseFields(response, request);
      end(level, { message: 'chat response', ...fields(), ...answer });
      return response;
    } catch (error) {
      if (isCancellation(error)) end(level, { message: 'chat cancelled', ...fields() });
      else end(errorLevel, { message: 'chat failed', ...fields(), ...this.errorFields(error) });
      throw error;
    }
  }

  /** Names of unknown tools, which the model makes up, are content. */
  private responseFields(
    response: ChatClientResponse,
    request: ChatClientRequest,
  ): Partial<LogEntry> {
    const { includeContent } = this.options;
    const { model, usage, finishReason, message } = response;
    const tools = new Set(namesOf(response.hasToolCalls() ? request.tools : []));
    const isLogged = (name: string): boolean => includeContent === true || tools.has(name);
    return {
      ...(model !== undefined && { model }),
      ...(finishReason !== undefined && { finishReason }),
      toolCalls: callsOf(message).map(({ name }) => (isLogged(name) ? name : OTHER)),
      ...(usage && { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens }),
      ...(includeContent && { content: message }),
    };
  }

  private errorFields(error: unknown): Partial<LogEntry> {
    const code = codeOf(error);
    return {
      error: { name: className(error), ...(code !== undefined && { code }) },
      ...(this.options.includeContent && { content: messageOf(error) }),
    };
  }

  /** Reports errors of the logger and the format, synchronous or not, without failing the turn. */
  private log(level: string, entry: LogEntry): void {
    const { logger = console, level: usual = 'info' } = this.options;
    const methods = logger as Readonly<Record<string, (entry: unknown) => unknown>>;
    const method = hasMethods(logger, [level]) ? level : usual;
    const write = async (): Promise<unknown> => methods[method]?.(this.format(entry));
    void write().catch(reportUnhandledError);
  }
}

/** They were logged when the model answered. */
const WITHOUT_TOKENS = { inputTokens: undefined, outputTokens: undefined };

/** True if all model calls are recorded ones. */
function isReplayed(calls: readonly ModelCallRecord[]): boolean {
  return calls.length > 0 && calls.every((call) => call.isReplayed === true);
}

function namesOf(tools: readonly OfferedTool[]): readonly string[] {
  return tools.map(({ definition }) => definition.name);
}

/** An entry as text: `chat response: scripted, iteration 0, 812 ms, 120 tokens in, 30 out, stop`. */
function lineOf(entry: LogEntry): string {
  const { message, iteration, model, milliseconds = 0, inputTokens, outputTokens } = entry;
  const { finishReason, toolCalls = [], isReplayed, error } = entry;
  const code = error?.code === undefined ? '' : ` (${error.code})`;
  const parts = [
    model,
    `iteration ${iteration}`,
    `${Math.round(milliseconds)} ms`,
    inputTokens !== undefined && `${inputTokens} tokens in`,
    outputTokens !== undefined && `${outputTokens} out`,
    finishReason,
    toolCalls.length > 0 && `calls ${toolCalls.join(', ')}`,
    isReplayed && 'replayed',
    error && `${error.name}${code}`,
  ];
  const text = `${message}: ${parts.filter((part) => typeof part === 'string').join(', ')}`;
  return text.replaceAll(/\s+/g, ' '); // one line, whatever a model calls itself
}
