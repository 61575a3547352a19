import { AdvisorOrder, type Advisor, type AdvisorChain } from '../src/core/advisor/advisor.js';
import { orderOf } from '../src/core/advisor/advisor-place.js';
import type { ChatClientRequest } from '../src/core/advisor/chat-client-request.js';
import { Position } from '../src/core/advisor/position.js';
import type { NoProgressOptions } from '../src/core/advisor/progress-detector.js';
import type { StopCondition } from '../src/core/advisor/stop-condition.js';
import { ToolLoop, type ToolLoopOptions } from '../src/core/advisor/tool-loop.js';
import type { ChatEvent } from '../src/core/chat/chat-event.js';
import type { ChatResponse } from '../src/core/chat/chat-response.js';
import type { Step } from '../src/core/chat/run-report.js';
import {
  BOOLEAN,
  checkOptions,
  FUNCTION,
  integerOrInfinity,
  isPlainObject,
  oneOf,
  rule,
  TIMEOUT,
  withMethods,
} from '../src/core/internal/options.js';
import { Observable } from '../src/core/internal/rxjs.js';
import { ToolCallingManager } from '../src/core/tool-execution/tool-calling-manager.js';
import type { ToolManager } from '../src/core/tool-execution/tool-manager.js';

/** Options of a {@link ToolCallingAdvisor}. */
export interface ToolCallingAdvisorOptions {
  /** Runs the calls; has the limits per tool and turn. @default new ToolCallingManager() */
  readonly manager?: ToolManager | undefined;
  /** Maximum number of iterations of a turn that may call tools, >= 1 or `Infinity`. @default 25 */
  readonly maxIterations?: number | undefined;
  /**
   * Maximum number of consecutive responses with identical calls, >= 1 or `Infinity`. Calls beyond
   * it are answered with a warning, then the turn ends. @default 3
   */
  readonly maxIdenticalCalls?: number | undefined;
  /**
   * Measures against iterations that bring nothing new: each result is one that the tool gave for
   * the same arguments before, or an error, or the result of a `read` tool, that it gave before for
   * any arguments; or the same text and calls of readings. `false` turns them off.
   * @default { hintAfter: 3, toolOffAfter: 6, answerAfter: 8 }
   */
  readonly noProgress?: NoProgressOptions | false | undefined;
  /**
   * Behaviour at a limit: `answer` calls the model once more, without tools; `throw` ends with a
   * `LimitExceededError`; `return` answers with a text that names the limit. @default 'answer'
   */
  readonly onLimit?: 'answer' | 'throw' | 'return' | undefined;
  /**
   * Maximum time of the loop in milliseconds, from the first model call to the answer, or `Infinity`.
   * Beyond this and the next three limits the turn ends with a `LimitExceededError`, whatever `onLimit`
   * is; its `run` has what happened.
   * @default 3_600_000
   */
  readonly maxDuration?: number | undefined;
  /**
   * Maximum number of model calls of a turn, retries, nested runs and memory included, >= 1 or
   * `Infinity`.
   * @default 10_000
   */
  readonly maxModelCalls?: number | undefined;
  /**
   * Maximum number of characters of the answers that ask for tools, and of the results, of a turn,
   * >= 1 or `Infinity`.
   * @default 100_000_000
   */
  readonly maxTurnLength?: number | undefined;
  /**
   * Maximum number of calls of one answer, >= 1 or `Infinity`; of an answer with more, none runs.
   * @default 1_000
   */
  readonly maxCallsPerAnswer?: number | undefined;
  /**
   * Ends a turn after an iteration whose calls have results, if a condition holds: with the finish
   * reason `stopCondition`, no text and no further model call. An error that it throws fails the
   * turn. @default none
   */
  readonly stopWhen?: StopCondition | undefined;
  /**
   * Listener for each iteration with its results, the last answer included. `isReplayed` is true
   * if an earlier execution of the turn may have passed it. The turn does not wait for it, and its
   * errors are reported to `config.onUnhandledError` of RxJS. @default none
   */
  readonly onStep?: ((step: Step, isReplayed: boolean) => unknown) | undefined;
  /** Decides whether a response asks for tools. @default response.hasToolCalls() */
  readonly toolExecutionEligibilityChecker?: ((response: ChatResponse) => boolean) | undefined;
  /** Keeps the history of the turn in the loop; false if an advisor inside does. @default true */
  readonly keepHistory?: boolean | undefined;
  /** @default AdvisorOrder.TOOL_CALLING */
  readonly order?: number | undefined;
}

const NAME = 'ToolCallingAdvisor';
const RULES = {
  manager: withMethods('a ToolManager', 'executeToolCalls'),
  maxIterations: integerOrInfinity(1),
  maxIdenticalCalls: integerOrInfinity(1),
  noProgress: rule('an object or false', (value) => value === false || isPlainObject(value)),
  onLimit: oneOf('answer', 'throw', 'return'),
  maxDuration: TIMEOUT,
  maxModelCalls: integerOrInfinity(1),
  maxTurnLength: integerOrInfinity(1),
  maxCallsPerAnswer: integerOrInfinity(1),
  stopWhen: FUNCTION,
  onStep: FUNCTION,
  toolExecutionEligibilityChecker: FUNCTION,
  keepHistory: BOOLEAN,
};

const NO_PROGRESS_RULES = {
  hintAfter: integerOrInfinity(1),
  toolOffAfter: integerOrInfinity(1),
  answerAfter: integerOrInfinity(1),
};
const NEVER = { hintAfter: Infinity, toolOffAfter: Infinity, answerAfter: Infinity };

/** Executes the tool calls of the model until it answers. A `ChatClient` registers one itself. */
export class ToolCallingAdvisor implements Advisor {
  readonly name = 'tool-calling';
  readonly role = 'tool-loop';
  readonly order: number;
  /** @internal As they were given, to show them and to make a loop with others. */
  readonly options: ToolCallingAdvisorOptions;
  private readonly settings: ToolLoopOptions;

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(options: ToolCallingAdvisorOptions = {}) {
    this.options = options;
    this.order = orderOf(NAME, options, RULES, AdvisorOrder.TOOL_CALLING);
    const { noProgress = {} } = options;
    const progress = noProgress === false ? NEVER : noProgress;
    checkOptions(NAME, progress, NO_PROGRESS_RULES, 'noProgress.');
    this.settings = {
      manager: options.manager ?? new ToolCallingManager(),
      maxIterations: options.maxIterations ?? 25,
      maxIdenticalCalls: options.maxIdenticalCalls ?? 3,
      hintAfter: progress.hintAfter ?? 3,
      toolOffAfter: progress.toolOffAfter ?? 6,
      answerAfter: progress.answerAfter ?? 8,
      onLimit: options.onLimit ?? 'answer',
      maxDuration: options.maxDuration ?? 3_600_000,
      maxModelCalls: options.maxModelCalls ?? 10_000,
      maxTurnLength: options.maxTurnLength ?? 100_000_000,
      maxCallsPerAnswer: options.maxCallsPerAnswer ?? 1_000,
      keepHistory: options.keepHistory ?? true,
      stopWhen: options.stopWhen,
      onStep: options.onStep,
      isToolCall:
        options.toolExecutionEligibilityChecker ?? ((response) => response.hasToolCalls()),
    };
  }

  /** True if the loop itself keeps the messages of the turn. */
  get keepsHistory(): boolean {
    return this.settings.keepHistory;
  }

  advise(request: ChatClientRequest, chain: Omit<AdvisorChain, 'tools'>): Observable<ChatEvent> {
    return new Observable((subscriber) => {
      const loop = new ToolLoop(this.settings, request, Position.of(chain, this.name), subscriber);
      loop.run().catch((error: unknown) => subscriber.error(error));
      return () => loop.stop();
    });
  }
}
