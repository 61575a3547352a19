import { AdvisorOrder } from '../src/advisor/advisor-order.js';
import type { Advisor, AdvisorChain } from '../src/advisor/advisor.js';
import { runAround, type Next } from '../src/advisor/around.js';
import type { ChatClientRequest } from '../src/advisor/chat-client-request.js';
import type { ChatClientResponse } from '../src/advisor/chat-client-response.js';
import type { ChatEvent } from '../src/chat/chat-event.js';
import { describe } from '../src/chat/message.js';
import { InvalidArgumentError } from '../src/errors.js';
import { failureEntry, requestEntry, responseEntry, type LogEntry } from '../src/observability/log-entry.js';
import type { Tool } from '../src/tool/tool.js';
import { reportUnhandledError, type Observable } from '../src/rxjs.js';

/** Options of a {@link LoggerAdvisor}. */
export interface LoggerAdvisorOptions {
  /** What has a method for the level: `console`, a logger of pino or winston. @default console */
  readonly logger?: object | undefined;
  /** The method that is called. @default 'info' */
  readonly level?: string | undefined;
  /** The method that is called for a failure; where there is none, that of the level is. @default 'error' */
  readonly errorLevel?: string | undefined;
  /** What the logger is given of an entry. @default the entry itself */
  readonly format?: ((entry: LogEntry) => unknown) | undefined;
  /** Whether entries have what was said: messages, answers, texts of errors. @default false */
  readonly includeContent?: boolean | undefined;
  /** Where two of them are in one chain, each needs a name. @default 'logger' */
  readonly name?: string | undefined;
  /** Inside the tool loop each iteration is logged, left of it each turn. @default AdvisorOrder.LOGGER */
  readonly order?: number | undefined;
}

/**
 * Logs each request and its complete answer, for call and stream alike. A logger that fails changes no turn; its error is reported like
 * one of an RxJS observer, to `config.onUnhandledError`.
 */
export class LoggerAdvisor implements Advisor {
  readonly name: string;
  readonly order: number;
  private readonly options: LoggerAdvisorOptions;

  /** @throws {@link InvalidArgumentError} if an option cannot be used */
  constructor(options: LoggerAdvisorOptions = {}) {
    const { logger = console, level = 'info', format, includeContent, name = 'logger', order = AdvisorOrder.LOGGER } = options;
    check('logger', logger, `an object with a method "${level}", as level says`, methodOf(logger, level) !== undefined);
    check('format', format, 'a function', format === undefined || typeof format === 'function');
    check('includeContent', includeContent, 'true or false', ['boolean', 'undefined'].includes(typeof includeContent));
    check('order', order, 'a finite number', Number.isFinite(order));
    this.name = name;
    this.order = order;
    this.options = options;
  }

  advise(request: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent> {
    return runAround({ name: this.name, around: (asked, next) => this.around(asked, next) }, request, chain.next);
  }

  private async around(request: ChatClientRequest, next: Next): Promise<ChatClientResponse> {
    const { includeContent = false, level = 'info', errorLevel = 'error' } = this.options;
    const { turnId, mode, iteration, prompt, offeredTools } = request;
    const run = { turnId, mode, iteration };
    const tools = offeredTools.map(({ definition }) => definition.name);
    this.log(level, requestEntry(run, prompt, tools, includeContent));
    const start = performance.now();
    try {
      const response = await next(request);
      const known = namesOf(response.hasToolCalls() ? request.tools : []);
      this.log(level, responseEntry({ ...run, milliseconds: performance.now() - start }, response, known, includeContent));
      return response;
    } catch (error) {
      const entry = failureEntry(run, error, performance.now() - start, includeContent);
      this.log(entry.message === 'chat failed' ? errorLevel : level, entry);
      throw error;
    }
  }

  /** Whatever logger and format do, at once or later, is no business of the turn. */
  private log(level: string, entry: LogEntry): void {
    void this.write(level, entry).catch(reportUnhandledError);
  }

  /** Calls the logger before it returns. */
  private async write(level: string, entry: LogEntry): Promise<void> {
    const { logger = console, level: usual = 'info', format } = this.options;
    const method = methodOf(logger, level) ?? methodOf(logger, usual);
    await method?.call(logger, format ? format(entry) : entry);
  }
}

function namesOf(tools: readonly Tool[]): ReadonlySet<string> {
  return new Set(tools.map(({ definition }) => definition.name));
}

function methodOf(logger: object | null, level: string): ((entry: unknown) => unknown) | undefined {
  const method: unknown = typeof logger === 'object' ? (logger as Readonly<Record<string, unknown>> | null)?.[level] : undefined;
  return typeof method === 'function' ? (method as (entry: unknown) => unknown) : undefined;
}

function check(option: string, value: unknown, rule: string, isRight: boolean): void {
  if (!isRight) throw new InvalidArgumentError(`LoggerAdvisor: ${option} must be ${rule}, not ${describe(value)}`);
}
