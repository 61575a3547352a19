import {
  AdvisorOrder,
  type Advisor,
  type AdvisorNeighbours,
  type Hazards,
  type InspectedState,
} from '../../src/core/advisor/advisor.js';
import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import { inspectedState } from '../../src/core/advisor/inspected-state.js';
import {
  checkApprovalOptions,
  DEFAULT_NAME,
  type ApprovalAdvisorOptions,
} from './approval-options.js';
import { withTrait } from '../../src/core/advisor/hazards.js';
import { Approver } from './approver.js';
import { Audience } from './audience.js';
import { PausedTurns, recordPausableCall } from './paused-turns.js';
import { bindingOf } from './pending-requests.js';
import type { PersonSettings } from './person.js';
import {
  RememberedApprovals,
  type RememberedDecision,
  type RememberedOf,
} from './remembered-approvals.js';
import { Policy } from './tool-policy.js';
import { ToolAnswers } from './tool-answers.js';
import { TurnApprovals, type Outcome } from './turn-approvals.js';
import type { ToolResult } from '../../src/core/chat/chat-event.js';
import type { ToolRequest } from '../../src/core/chat/paused-turn.js';
import type { OfferedTool } from '../../src/core/chat/tool-definition.js';
import type { RunRecord } from '../../src/core/chat/run-record.js';
import { CONVERSATION_ID, RunSlot } from '../../src/core/chat/context.js';
import { ChainError, ToolError, type ToolQuestionError } from '../../src/core/errors/errors.js';
import { hasCode } from '../../src/core/errors/advisor-chain-error.js';
import { hasMethods } from '../../src/core/internal/options.js';
import { untilCancelled } from '../../src/core/internal/cancellation.js';
import { InMemoryKeyValueStore } from '../../src/stores/key-value/in-memory-key-value-store.js';
import { CallContext, runOf } from '../../src/core/tool-execution/tool-context.js';
import { setAsker } from '../../src/core/tool-execution/tool-questions.js';
import type { Tool, ToolCallHandler, ToolInvocation } from '../../src/core/tool/tool.js';

const OUTDATED =
  'Not run: the tool has changed since a person allowed this call. Call it again if it is still needed.';
/** A tool whose questions are never the same would ask without an end. */
const MAX_RUNS = 100;

/**
 * Decides for each tool call whether it runs: by a policy, by the effect of the tool, and by people,
 * which may allow, deny or edit it. Lets tools ask the user. Other calls of the batch are not affected.
 * With `T`, such as `typeof refund | typeof search`, the policy has the types of these tools.
 */
export class ApprovalAdvisor<T extends OfferedTool = never> implements Advisor {
  readonly name: string;
  readonly order: number;
  readonly parts: readonly Advisor[];
  /** @internal As they were given, for inspectors; not enumerable, since they have secrets. */
  declare readonly options: ApprovalAdvisorOptions;
  private readonly approver: Approver;
  private readonly person: PersonSettings;
  private readonly policy: Policy;
  private readonly approvals: RememberedApprovals;
  /** True if `decide`, `pause` or what records the turn asks people. */
  private readonly hasPeople: boolean;
  /** True when a request with tools has shown which rules have none. */
  private isReported = false;
  private readonly turns = new RunSlot<TurnApprovals>();
  private readonly audience: Audience;

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(typed: ApprovalAdvisorOptions<T> = {}) {
    const options = typed as ApprovalAdvisorOptions;
    ({ name: this.name, order: this.order } = checkApprovalOptions(options));
    Object.defineProperty(this, 'options', { value: options });
    const { policy = {}, effects = {}, timeout = Infinity, scope } = options;
    const decide = typeof options.decide === 'function' ? options.decide : undefined;
    const { store = options.pause?.store ?? new InMemoryKeyValueStore() } = options;
    const { remember = 'call', ttl = Infinity } = options;
    const where = `advisor "${this.name}"`;
    const owner = this.name === DEFAULT_NAME ? undefined : this.name;
    this.person = { where, owner, decide, timeout };
    this.approvals = new RememberedApprovals({ where, store, scope, remember, ttl });
    this.policy = new Policy(where, policy, effects);
    this.approver = new Approver(this.policy, this.approvals, this.person);
    this.hasPeople = (options.decide ?? options.pause) !== undefined;
    const begin = (request: ChatClientRequest): void => this.begin(request);
    const tools: Advisor = {
      name: `${this.name}-tools`,
      order: Math.max(this.order, AdvisorOrder.DURABLE) + 10,
      before: ({ tools, iteration }) => (iteration === 0 ? this.reportUnused(tools) : undefined),
      adviseToolCall: (call, next) =>
        recordPausableCall(call, (recorded) => this.refuseOutdated(recorded, next)),
    };
    this.audience = new Audience(this.name, where, scope);
    const turns = PausedTurns.partOf(options.pause, `${this.name}-turn`, begin, this.audience);
    this.parts = [turns, tools];
  }

  /** The paused turns of the conversation that are `pending`, and the `remembered` decisions. */
  async inspect({ toolContext, context, signal }: ChatClientRequest): Promise<InspectedState> {
    const id = context.get(CONVERSATION_ID);
    const place = this.audience.placeOf({ toolContext, context, signal }, id);
    const remembered = await this.remembered(place);
    const [turns] = this.parts;
    if (id === undefined || !(turns instanceof PausedTurns)) return inspectedState({ remembered });
    const pending = await turns.pendingTurns(id, { toolContext, params: context, signal });
    return inspectedState({ pending, remembered });
  }

  /**
   * The decisions that allow later calls: of an owner in all conversations, and of a conversation of the
   * owner.
   */
  remembered(of: RememberedOf): Promise<readonly RememberedDecision[]> {
    return this.approvals.list(of);
  }

  /** Revokes a remembered decision, by its id in the list; resolves with false if there is none. */
  revoke(of: RememberedOf, id: string): Promise<boolean> {
    return this.approvals.revoke(of, id);
  }

  problems({ left, isDurable, tools }: AdvisorNeighbours): Hazards {
    if (this.hasPeople || isDurable || left.some(pausesTurns)) return [];
    const asked = tools && this.policy.askedOf(tools);
    return [(asked !== undefined || this.policy.asksPeople) && noPerson(this.person.where, asked)];
  }

  hazards({ left }: AdvisorNeighbours): Hazards {
    const recording = withTrait(left, 'records-tool-calls');
    const timed = withTrait(left, 'limits-turns');
    return [
      recording &&
        `"${recording.name}" is left of "${this.name}": it gives a call its recorded result without a decision; give it a higher order`,
      timed &&
        `"${this.name}" is right of "${timed.name}", whose timer keeps running while a person decides; give the turn enough time`,
    ];
  }

  /** Asks about all calls of a batch at once: a call that waits for another is shown, too. */
  prepareToolCall(call: ToolInvocation): Promise<void> | undefined {
    if (this.approver.isAllowed(call)) return undefined;
    const turn = this.turnOf(call);
    const binding = bindingOf(call);
    const outcome = this.approver.outcomeOf(call, turn);
    turn.prepared.set(call.call, { binding, outcome });
    // the call reports an error when it runs
    return outcome.then(
      () => undefined,
      () => undefined,
    );
  }

  /**
   * Runs the call if it may run.
   * @throws {@link ApprovalError} if that cannot be decided, {@link TurnPausedError} if it has to wait
   */
  async adviseToolCall(call: ToolInvocation, next: ToolCallHandler): Promise<ToolResult> {
    const outcome = await this.outcomeOf(call);
    if (outcome?.type === 'deny') return denied(outcome.reason);
    if (!outcome) return this.run(call, next);
    const allowed = changed(call, outcome);
    if (outcome.isOutdated) this.turnOf(call).outdated.add(allowed.call);
    return this.run(allowed, next);
  }

  /** Right of a durable record, which this does not reach if the call has run before. */
  private async refuseOutdated(call: ToolInvocation, next: ToolCallHandler): Promise<ToolResult> {
    return this.turnOf(call).outdated.has(call.call) ? denied(OUTDATED) : next(call);
  }

  private async outcomeOf(call: ToolInvocation): Promise<Outcome | undefined> {
    if (this.approver.isAllowed(call)) return undefined;
    const turn = this.turnOf(call);
    const prepared = turn.prepared.get(call.call);
    // an advisor left of this one may have changed the arguments: the person has seen others
    const outcome =
      prepared && prepared.binding === bindingOf(call)
        ? prepared.outcome
        : this.approver.outcomeOf(call, turn);
    turn.prepared.delete(call.call); // a call that is repeated is asked for again
    return untilCancelled(outcome, CallContext.cancellationOf(call.context));
  }

  /** Runs a tool, again whenever it has ended for the answer to a question. */
  private async run(call: ToolInvocation, next: ToolCallHandler): Promise<ToolResult> {
    for (let asked = 0; ; asked++) {
      try {
        return await next(call);
      } catch (error) {
        const run = runOf(call.context);
        if (!run || !hasCode(error, 'tool_question') || asked === MAX_RUNS) throw error;
        const { request } = error as unknown as ToolQuestionError<ToolRequest>;
        await this.answersOf(run).ask(request, call.context);
      }
    }
  }

  /** @throws {@link ChainError} if no person can decide about a tool: before a model is asked */
  private begin({ run, tools }: ChatClientRequest): void {
    const canAsk = this.hasPeople || run.recorder.isRecording;
    const asked = canAsk ? undefined : this.policy.askedOf(tools);
    if (asked !== undefined) throw new ChainError(noPerson(this.person.where, asked));
    if (!this.turns.get(run)) this.turns.set(run, new TurnApprovals());
    setAsker(run, (question) => this.answersOf(run).answer(question));
  }

  /**
   * A misspelt name is known when all tools are: of the request, of providers, and of advisors. Later
   * requests may have other ones, and so has an agent that shares this advisor.
   */
  private reportUnused(tools: readonly Tool[]): void {
    if (this.isReported || tools.length === 0) return;
    this.isReported = true;
    for (const name of this.policy.unusedFor(tools))
      console.warn(
        `advisor-chain: the policy of "${this.name}" has a rule for "${name}", which the request does not have: correct the name, or remove the rule`,
      );
  }

  private answersOf(run: RunRecord): ToolAnswers {
    return new ToolAnswers(run, this.turns.get(run) ?? new TurnApprovals(), this.person);
  }

  /** A call that belongs to no run has no turn. */
  private turnOf({ context }: ToolInvocation): TurnApprovals {
    const run = runOf(context);
    return (run && this.turns.get(run)) ?? new TurnApprovals();
  }
}

function noPerson(where: string, asked: string | undefined): string {
  const about = asked === undefined ? '' : ` about "${asked}"`;
  return `${where} has no person to ask${about}: give it decide or pause, or add a DurableAdvisor; if a request adds one, or the turn around an agent asks, set decide: 'elsewhere'`;
}

const pausesTurns = (advisor: Advisor): boolean => hasMethods(advisor, ['openState']);

/** The call with the arguments of a person, which replace the model's in the conversation. */
function changed(call: ToolInvocation, outcome: Outcome): ToolInvocation {
  if (outcome.type !== 'edit') return call;
  const edited = { ...call.call, arguments: outcome.text };
  const context = CallContext.withCall(call.context, edited);
  return { ...call, call: edited, arguments: outcome.value, context };
}

function denied(content: string): ToolResult {
  return { content, isError: true, error: new ToolError(content) };
}
