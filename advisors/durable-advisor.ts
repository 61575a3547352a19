import { AdvisorOrder, type Advisor } from '../src/advisor/advisor.js';
import type { ChatClientRequest } from '../src/advisor/chat-client-request.js';
import type { ToolResult } from '../src/chat/chat-event.js';
import { RunRecord } from '../src/chat/run-record.js';
import type { DurableEngine } from '../src/durable/durable-engine.js';
import { DurableRun, OUTER_CALL } from '../src/durable/durable-run.js';
import { recordToolCall, type DecideUnknown } from '../src/durable/tool-step.js';
import { DurableTurnError } from '../src/errors/durable-errors.js';
import {
  checkOption,
  checkOptions,
  FINITE,
  hasMethods,
  oneOf,
  orFunction,
  rule,
  TEXT,
} from '../src/internal/options.js';
import { OUTCOME, type UnknownOutcome } from '../src/recorded-calls/tool-ledger-options.js';
import { CallContext } from '../src/tool-execution/tool-context.js';
import type { ToolCallHandler, ToolInvocation } from '../src/tool/tool.js';

/** Options of a {@link DurableAdvisor}. */
export interface DurableAdvisorOptions {
  /**
   * The engine that records the steps of the turn in which it is called, or a function that returns
   * the engine of a turn. A turn without an engine fails.
   */
  readonly engine: DurableEngine | EngineOfTurn;
  /**
   * Handling of a call of a tool with an effect (`write`, or none declared) that an interrupted
   * execution of the turn has begun, so that it may have had its effect: `refuse` it with a
   * `ToolOutcomeUnknownError`, `run` it again, `ask` a person by the `ApprovalAdvisor` of the chain
   * (refuses without one), or a function that finds out, which may return the result. Calls of `read`
   * and `idempotent` tools run again.
   * @default 'ask'
   */
  readonly onUnknown?: 'ask' | 'refuse' | 'run' | UnknownOutcome | undefined;
  /** @default 'durable' */
  readonly name?: string | undefined;
  /** Position around tool calls: approvals stand before it, caches after it. @default AdvisorOrder.DURABLE */
  readonly order?: number | undefined;
}

/** Returns the engine of a turn. */
export type EngineOfTurn = (
  request: ChatClientRequest,
) => DurableEngine | undefined | Promise<DurableEngine | undefined>;

const NAME = 'DurableAdvisor';
const isEngine = (value: unknown): boolean => hasMethods(value, ['step', 'sleep', 'waitFor']);
const ENGINE = orFunction(rule('a DurableEngine with step, sleep and waitFor', isEngine));
const RULES = {
  onUnknown: orFunction(oneOf('ask', 'refuse', 'run')),
  name: TEXT,
  order: FINITE,
};

/**
 * Records each model call and each tool call of a turn as a step of an engine, so that the turn can
 * run again, in another process, and goes on where it was: recorded calls get their recorded results.
 */
export class DurableAdvisor implements Advisor {
  readonly name: string;
  readonly order: number;
  readonly parts: readonly Advisor[];

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(private readonly options: DurableAdvisorOptions) {
    checkOption(NAME, 'engine', options?.engine, ENGINE);
    checkOptions(NAME, options, RULES);
    this.name = options.name ?? 'durable';
    this.order = options.order ?? AdvisorOrder.DURABLE;
    // outside of advisors that pause turns, which find the engine then
    const begin = (request: ChatClientRequest): Promise<void> | void => this.begin(request);
    this.parts = [
      {
        name: `${this.name}-turn`,
        order: AdvisorOrder.TURN - 100,
        traits: ['records-turns'],
        before: begin,
      },
    ];
  }

  adviseToolCall(call: ToolInvocation, next: ToolCallHandler): Promise<ToolResult> {
    const run = RunRecord.owning(CallContext.cancellationOf(call.context));
    return run ? recordToolCall(run, call, next, this.decide) : next(call);
  }

  /** A turn that is repeated in one run goes on with the engine, and with the names of its steps. */
  private begin(request: ChatClientRequest): Promise<void> | void {
    const { run, context } = request;
    const known = DurableRun.of(run) ?? DurableRun.beginNested(run, context.get(OUTER_CALL));
    if (known || isWithinStep(run)) return;
    const { engine } = this.options;
    if (typeof engine !== 'function') return void DurableRun.begin(run, engine);
    return this.beginWith(request, engine);
  }

  /** @throws {@link DurableTurnError} if there is no engine, the error of the function */
  private async beginWith(request: ChatClientRequest, engineOf: EngineOfTurn): Promise<void> {
    const engine = await engineOf(request);
    if (engine === undefined)
      throw new DurableTurnError(
        `advisor "${this.name}": the turn has no engine, since it does not run in a workflow; start it in one, or leave the advisor out`,
      );
    checkOption(NAME, 'the result of engine', engine, ENGINE);
    DurableRun.begin(request.run, engine);
  }

  private readonly decide: DecideUnknown = async (call) => {
    const { onUnknown = 'ask' } = this.options;
    if (typeof onUnknown !== 'function') return onUnknown;
    const decision = await onUnknown(call);
    checkOption(NAME, 'the result of onUnknown', decision, OUTCOME);
    return decision;
  };
}

/** True for a turn within a tool call that is one step. */
function isWithinStep({ parent }: RunRecord): boolean {
  return parent !== undefined && (DurableRun.of(parent) !== undefined || isWithinStep(parent));
}
