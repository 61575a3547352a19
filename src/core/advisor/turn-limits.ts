import type { ChatResponse } from '../chat/chat-response.js';
import { callsOf, textOf } from '../chat/message.js';
import type { ChatEvent } from '../chat/chat-event.js';
import type { RunRecord } from '../chat/run-record.js';
import { LimitExceededError } from '../errors/errors.js';
import type { Subscriber } from '../internal/rxjs.js';
import type { ToolExecutionResult } from '../tool-execution/execution-result.js';

/** Limits of a turn as a whole; see the options of `ToolCallingAdvisor`. */
export interface TurnLimitSettings {
  readonly maxDuration: number;
  readonly maxModelCalls: number;
  readonly maxTurnLength: number;
  readonly maxCallsPerAnswer: number;
}

/** Ends a turn that lasts too long, calls models too often, or has become too large. */
export class TurnLimits {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private length = 0;

  constructor(
    private readonly settings: TurnLimitSettings,
    private readonly run: RunRecord,
    private readonly subscriber: Subscriber<ChatEvent>,
  ) {}

  start(): void {
    const { maxDuration: value } = this.settings;
    this.run.limits = this;
    if (value === Infinity) return; // setTimeout takes it for 1 ms
    this.timer = setTimeout(() => {
      const problem = `The turn was stopped: it lasted more than ${value} ms`;
      const details = { limit: 'duration', value, spent: value, option: 'maxDuration' };
      this.subscriber.error(new LimitExceededError(problem, details));
    }, value);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.run.limits === this) this.run.limits = undefined; // keeps all subscribers otherwise
  }

  /** @throws {@link LimitExceededError} if an answer asks for too many calls at once */
  checkAnswer(response: ChatResponse): void {
    const { maxCallsPerAnswer: value } = this.settings;
    const spent = callsOf(response.message).length;
    if (spent <= value) return;
    throw new LimitExceededError(
      `The turn was stopped: an answer asks for more than ${value} tool calls`,
      { limit: 'calls-per-answer', value, spent, option: 'maxCallsPerAnswer' },
    );
  }

  /** @throws {@link LimitExceededError} if the answers and results so far are too large */
  add(response: ChatResponse, result: ToolExecutionResult): void {
    const { maxTurnLength: value } = this.settings;
    this.length += (response.text ?? '').length;
    for (const call of callsOf(response.message)) this.length += call.arguments?.length ?? 0;
    for (const { content } of result.messages) this.length += textOf(content).length;
    if (this.length <= value) return;
    const problem = `The turn was stopped: its answers and tool results have more than ${value} characters`;
    const details = { limit: 'turn-length', value, spent: this.length, option: 'maxTurnLength' };
    throw new LimitExceededError(problem, details);
  }

  /** Ends the turn if it may not call one more model. */
  admitModelCall(): boolean {
    const { maxModelCalls: value } = this.settings;
    if (this.run.ledger.length < value) return true;
    const spent = this.run.ledger.filter(({ kind }) => kind === 'chat').length;
    if (spent < value) return true;
    const problem = `The turn was stopped: it called models ${value} times`;
    const error = new LimitExceededError(problem, {
      limit: 'model-calls',
      value,
      spent,
      option: 'maxModelCalls',
    });
    this.stop();
    // in a task: an advisor that retries at once and without end must leave the others their turns
    this.timer = setTimeout(() => this.subscriber.error(error), 0);
    return false;
  }
}
