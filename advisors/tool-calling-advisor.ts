import { AdvisorOrder } from '../src/advisor/advisor-order.js';
import type { Advisor, AdvisorChain } from '../src/advisor/advisor.js';
import type { ChatClientRequest } from '../src/advisor/chat-client-request.js';
import { ToolLoop, type ToolLoopOptions } from '../src/advisor/tool-loop.js';
import type { ChatEvent } from '../src/chat/chat-event.js';
import type { ChatResponse } from '../src/chat/chat-response.js';
import { InvalidArgumentError } from '../src/errors.js';
import { Observable } from '../src/rxjs.js';
import { ToolCallingManager } from '../src/tool/tool-calling-manager.js';

/** Options of a {@link ToolCallingAdvisor}. */
export interface ToolCallingAdvisorOptions {
  /** Runs the calls; has the limits per tool and turn. @default new ToolCallingManager() */
  readonly manager?: ToolCallingManager | undefined;
  /** Most iterations of a turn in which the model may ask for tools, 1 or more; `Infinity` for no limit. @default 25 */
  readonly maxIterations?: number | undefined;
  /** How often in a row the same calls may run before the model is told, and then stopped; 1 or more, or `Infinity`. @default 3 */
  readonly maxIdenticalCalls?: number | undefined;
  /**
   * What happens at a limit: `answer` asks the model once more, without tools; `throw` ends with a `LimitExceededError`;
   * `return` answers with a text that names the limit. @default 'answer'
   */
  readonly onLimit?: 'answer' | 'throw' | 'return' | undefined;
  /** Decides whether a response asks for tools. @default response.hasToolCalls() */
  readonly toolExecutionEligibilityChecker?: ((response: ChatResponse) => boolean) | undefined;
  /** Whether the loop itself keeps the messages of the turn; false where an advisor inside the loop does. @default true */
  readonly keepHistory?: boolean | undefined;
  /** @default AdvisorOrder.TOOL_CALLING */
  readonly order?: number | undefined;
}

/** Runs the tools that the model asks for and asks it again, until it answers. A `ChatClient` has one by itself. */
export class ToolCallingAdvisor implements Advisor {
  readonly name = 'tool-calling';
  readonly role = 'tool-loop';
  readonly order: number;
  private readonly options: ToolLoopOptions;

  /** @throws {@link InvalidArgumentError} if an option is out of range */
  constructor(options: ToolCallingAdvisorOptions = {}) {
    const {
      manager = new ToolCallingManager(),
      maxIterations = 25,
      maxIdenticalCalls = 3,
      onLimit = 'answer',
      keepHistory = true,
    } = options;
    const { toolExecutionEligibilityChecker = (response: ChatResponse): boolean => response.hasToolCalls() } = options;
    this.order = options.order ?? AdvisorOrder.TOOL_CALLING;
    check('order', this.order, 'a finite number', Number.isFinite(this.order));
    check('manager', manager, 'a ToolCallingManager', typeof manager?.executeToolCalls === 'function');
    check('maxIterations', maxIterations, 'an integer of 1 or more (or Infinity)', isCount(maxIterations));
    check('maxIdenticalCalls', maxIdenticalCalls, 'an integer of 1 or more (or Infinity)', isCount(maxIdenticalCalls));
    check('keepHistory', keepHistory, 'true or false', typeof keepHistory === 'boolean');
    check('onLimit', onLimit, "'answer', 'throw' or 'return'", ['answer', 'throw', 'return'].includes(onLimit));
    check(
      'toolExecutionEligibilityChecker',
      toolExecutionEligibilityChecker,
      'a function',
      typeof toolExecutionEligibilityChecker === 'function',
    );
    this.options = { manager, maxIterations, maxIdenticalCalls, onLimit, keepHistory, isToolCall: toolExecutionEligibilityChecker };
  }

  /** Whether the loop keeps the messages of the turn by itself. */
  get keepsHistory(): boolean {
    return this.options.keepHistory;
  }

  advise(request: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent> {
    return new Observable((subscriber) => {
      const loop = new ToolLoop(this.options, request, chain, subscriber);
      void loop.run();
      return () => loop.stop();
    });
  }
}

function isCount(value: number): boolean {
  return value >= 1 && (Number.isInteger(value) || value === Infinity);
}

function check(name: string, value: unknown, rule: string, holds: boolean): void {
  if (!holds) throw new InvalidArgumentError(`ToolCallingAdvisor: ${name} must be ${rule}, not ${String(value)}`);
}
