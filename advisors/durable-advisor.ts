import {
  AdvisorOrder,
  type Advisor,
  type AdvisorNeighbours,
  type Hazards,
  type InspectedState,
} from '../src/core/advisor/advisor.js';
import { placeOf, type AdvisorPlace } from '../src/core/advisor/advisor-place.js';
import type { ChatClientRequest } from '../src/core/advisor/chat-client-request.js';
import { inspectedState } from '../src/core/advisor/inspected-state.js';
import { withTrait } from '../src/core/advisor/hazards.js';
import type { ToolResult } from '../src/core/chat/chat-event.js';
import type { RunRecord } from '../src/core/chat/run-record.js';
import type { DurableEngine } from '../src/engines/durable-engine.js';
import { DurableRun } from '../src/engines/recorder/durable-run.js';
import { recordToolCall } from '../src/engines/recorder/tool-step.js';
import { DurableTurnError } from '../src/core/errors/errors.js';
import {
  checkOption,
  FUNCTION,
  hasMethods,
  oneOf,
  orFunction,
  required,
  rule,
} from '../src/core/internal/options.js';
import { AGENT_PATH } from '../src/core/tool-execution/call-identity.js';
import type { ReconcileOption } from '../src/core/tool-execution/unknown-outcome.js';
import { runOf } from '../src/core/tool-execution/tool-context.js';
import type { ToolCallHandler, ToolInvocation } from '../src/core/tool/tool.js';

/** Options of a {@link DurableAdvisor}. */
export interface DurableAdvisorOptions extends AdvisorPlace, ReconcileOption {
  /**
   * The engine that records the steps of the turn in which it is called, or a function that returns
   * the engine of a turn. A turn without an engine fails.
   */
  readonly engine: DurableEngine | EngineOfTurn;
  /**
   * Handling of a call of a tool with an effect (`write`, or none declared) that an interrupted
   * execution of the turn has begun, so that it may have had its effect, if `reconcile` does not know:
   * `refuse` it with a `ToolOutcomeUnknownError`, `run` it again, or `ask` a person by the
   * `ApprovalAdvisor` of the chain (refuses without one). Calls of `read` and `idempotent` tools run
   * again.
   * @default 'ask'
   */
  readonly onUnknown?: 'ask' | 'refuse' | 'run' | undefined;
  /** Position around tool calls: approvals stand before it, caches after it. @default AdvisorOrder.DURABLE */
  readonly order?: number | undefined;
}

/** Returns the engine of a turn. */
export type EngineOfTurn = (
  request: ChatClientRequest,
) => DurableEngine | undefined | Promise<DurableEngine | undefined>;

const NAME = 'DurableAdvisor';
const isEngine = (value: unknown): boolean => hasMethods(value, ['step', 'sleep', 'waitFor']);
const ENGINE = orFunction(
  rule('a DurableEngine with step, sleep and waitFor, such as dbosEngine,', isEngine),
);
const RULES = {
  engine: required(ENGINE),
  reconcile: FUNCTION,
  onUnknown: oneOf('ask', 'refuse', 'run'),
};

/**
 * Records each model call and each tool call of a turn as a step of an engine, so that another
 * process can replay the turn and continue it: recorded calls get their recorded results.
 */
export class DurableAdvisor implements Advisor {
  readonly name: string;
  readonly order: number;
  readonly parts: readonly Advisor[];

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(private readonly options: DurableAdvisorOptions) {
    const place = { name: 'durable', order: AdvisorOrder.DURABLE };
    ({ name: this.name, order: this.order } = placeOf(NAME, options, RULES, place));
    // outside of advisors that pause turns, which find the engine then
    this.parts = [
      {
        name: `${this.name}-turn`,
        order: AdvisorOrder.TURN - 100,
        role: 'turn-recorder',
        hazards: ({ right }) => this.hazardsOfTurn(right),
        before: (request) => this.begin(request),
      },
    ];
  }

  hazards({ left }: AdvisorNeighbours): Hazards {
    const cache = withTrait(left, 'records-tool-calls');
    return [
      cache &&
        `"${cache.name}" keeps results of tools left of "${this.name}", which does not record what it answers; give it a higher order`,
    ];
  }

  adviseToolCall(call: ToolInvocation, next: ToolCallHandler): Promise<ToolResult> {
    const run = runOf(call.context);
    const { onUnknown = 'ask', reconcile } = this.options;
    return run ? recordToolCall(run, call, next, { onUnknown, reconcile }) : next(call);
  }

  /** The `steps` of the turn: recorded, replayed, failed or running, and those that had been interrupted. */
  inspect(request: ChatClientRequest): InspectedState {
    return inspectedState(DurableRun.of(request.run)?.inspect() ?? {});
  }

  private hazardsOfTurn(right: readonly Advisor[]): Hazards {
    const other = right.find(({ role }) => role === 'turn-recorder');
    return [
      other && `"${this.name}-turn" and "${other.name}" both record the turn: keep one of them`,
    ];
  }

  /** A turn that is repeated in one run keeps the engine, and the names of its steps. */
  private begin(request: ChatClientRequest): Promise<void> | void {
    const { run, context } = request;
    if (run.recorder.isRecording) return;
    const call = context.get(AGENT_PATH).at(-1);
    const nested = call && run.parent?.recorder.nested(call.key);
    if (nested) run.recorder = nested;
    if (nested || isWithinStep(run)) return;
    const { engine } = this.options;
    if (typeof engine === 'function') return this.beginWith(request, engine);
    run.recorder = new DurableRun(engine);
  }

  /** @throws {@link DurableTurnError} if there is no engine, the error of the function */
  private async beginWith(request: ChatClientRequest, engineOf: EngineOfTurn): Promise<void> {
    const engine = await engineOf(request);
    if (engine === undefined)
      throw new DurableTurnError(
        `advisor "${this.name}": the turn has no engine, since it does not run in a workflow; start it in one, or leave the advisor out`,
      );
    checkOption(NAME, 'the result of engine', engine, ENGINE);
    request.run.recorder = new DurableRun(engine);
  }
}

/** True for a turn within a tool call that is one step. */
function isWithinStep({ parent }: RunRecord): boolean {
  return parent !== undefined && (parent.recorder.isRecording || isWithinStep(parent));
}
