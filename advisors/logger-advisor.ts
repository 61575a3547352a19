import { AdvisorOrder, type Advisor, type Next } from '../src/advisor/advisor.js';
import type { ChatClientRequest } from '../src/advisor/chat-client-request.js';
import type { ChatClientResponse } from '../src/advisor/chat-client-response.js';
import type { AssistantMessage, Message } from '../src/chat/message.js';
import type { OfferedTool } from '../src/chat/tool-definition.js';
import { reportUnhandledError } from '../src/internal/notify.js';
import {
  BOOLEAN,
  checkOption,
  checkOptions,
  FINITE,
  FUNCTION,
  hasMethods,
  TEXT,
  withMethods,
} from '../src/internal/options.js';
import { className, codeOf, isCancellation, messageOf } from '../src/observability/error-type.js';
import { OTHER } from '../src/observability/names.js';

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
  /** Time from the request to its result. */
  readonly milliseconds?: number;
  /** Class of an error, and the code of an error of this library. */
  readonly error?: { readonly name: string; readonly code?: string };
  /** Messages of the request, message of the response, or text of the error. */
  readonly content?: readonly Message[] | AssistantMessage | string;
}

/** Options of a {@link LoggerAdvisor}. */
export interface LoggerAdvisorOptions {
  /** An object with the method of `level`: a logger of pino or winston. @default console */
  readonly logger?: object | undefined;
  /** Name of the logger's method to call. @default 'info' */
  readonly level?: string | undefined;
  /** Method to call for a failure; a logger without it is called by `level`. @default 'error' */
  readonly errorLevel?: string | undefined;
  /** Converts an entry to the argument of the logger. @default the entry itself */
  readonly format?: ((entry: LogEntry) => unknown) | undefined;
  /** Includes content in entries: messages, answers, texts of errors. @default false */
  readonly includeContent?: boolean | undefined;
  /** Name of the advisor; two loggers in one chain need different names. @default 'logger' */
  readonly name?: string | undefined;
  /**
   * Position in the chain: inside the tool loop each iteration is logged, before it each turn.
   * @default AdvisorOrder.LOGGER
   */
  readonly order?: number | undefined;
}

const RULES = {
  level: TEXT,
  errorLevel: TEXT,
  format: FUNCTION,
  includeContent: BOOLEAN,
  name: TEXT,
  order: FINITE,
};

/**
 * Logs each request and its complete response, for call and stream alike. Errors of the logger
 * never fail a turn; they are reported to `config.onUnhandledError` of RxJS.
 */
export class LoggerAdvisor implements Advisor {
  readonly name: string;
  readonly order: number;

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(private readonly options: LoggerAdvisorOptions = {}) {
    const { logger = console, level = 'info' } = options;
    checkOptions('LoggerAdvisor', options, RULES);
    const hasLevel = withMethods(`an object with the method "${level}"`, level);
    checkOption('LoggerAdvisor', 'logger', logger, hasLevel);
    this.name = options.name ?? 'logger';
    this.order = options.order ?? AdvisorOrder.LOGGER;
  }

  async around(request: ChatClientRequest, next: Next): Promise<ChatClientResponse> {
    const { level = 'info', errorLevel = 'error', includeContent } = this.options;
    const { turnId, mode, iteration, prompt, offeredTools } = request;
    const { model } = prompt.options;
    const run = { turnId, mode, iteration };
    this.log(level, {
      message: 'chat request',
      ...run,
      ...(model !== undefined && { model }),
      messages: prompt.length,
      tools: namesOf(offeredTools),
      ...(includeContent && { content: prompt.messages }),
    });
    const start = performance.now();
    const fields = (): Omit<LogEntry, 'message'> => ({
      ...run,
      milliseconds: performance.now() - start,
    });
    try {
      const response = await next(request);
      const answer = this.responseFields(response, request);
      this.log(level, { message: 'chat response', ...fields(), ...answer });
      return response;
    } catch (error) {
      if (isCancellation(error)) this.log(level, { message: 'chat cancelled', ...fields() });
      else
        this.log(errorLevel, { message: 'chat failed', ...fields(), ...this.errorFields(error) });
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
      toolCalls: message.toolCalls.map(({ name }) => (isLogged(name) ? name : OTHER)),
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
    const { logger = console, level: usual = 'info', format } = this.options;
    const methods = logger as Readonly<Record<string, (entry: unknown) => unknown>>;
    const method = hasMethods(logger, [level]) ? level : usual;
    const write = async (): Promise<unknown> => methods[method]?.(format ? format(entry) : entry);
    void write().catch(reportUnhandledError);
  }
}

function namesOf(tools: readonly OfferedTool[]): readonly string[] {
  return tools.map(({ definition }) => definition.name);
}
