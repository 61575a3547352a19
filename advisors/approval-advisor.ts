import { AdvisorOrder, type Advisor } from '../src/advisor/advisor.js';
import type { ChatClientRequest } from '../src/advisor/chat-client-request.js';
import {
  checkApprovalOptions,
  type ApprovalAdvisorOptions,
} from '../src/approval/approval-options.js';
import { Approver } from '../src/approval/approver.js';
import { PausedTurns } from '../src/approval/paused-turns.js';
import { bindingOf } from '../src/approval/pending-requests.js';
import type { PersonSettings } from '../src/approval/person.js';
import { RememberedApprovals } from '../src/approval/remembered-approvals.js';
import { Policy } from '../src/approval/tool-policy.js';
import { ToolAnswers } from '../src/approval/tool-answers.js';
import { TurnApprovals, type Outcome } from '../src/approval/turn-approvals.js';
import type { ToolResult } from '../src/chat/chat-event.js';
import type { QuestionRequest } from '../src/chat/paused-turn.js';
import { RunRecord } from '../src/chat/run-record.js';
import { RunSlot } from '../src/chat/run-slot.js';
import { ToolError, type ToolQuestionError } from '../src/errors.js';
import { hasCode } from '../src/errors/advisor-chain-error.js';
import { untilCancelled } from '../src/internal/cancellation.js';
import { InMemoryKeyValueStore } from '../src/key-value/in-memory-key-value-store.js';
import { CallContext } from '../src/tool-execution/tool-context.js';
import { setAsker } from '../src/tool-execution/tool-questions.js';
import type { ToolCallHandler, ToolInvocation } from '../src/tool/tool.js';

const NAME = 'ApprovalAdvisor';
const DEFAULT_NAME = 'approval';
const OUTDATED =
  'Not run: the tool has changed since a person allowed this call. Call it again if it is still needed.';
/** A tool whose questions are never the same would ask without an end. */
const MAX_RUNS = 100;

/**
 * Decides for each tool call whether it runs: by a policy, by the effect of the tool, and by people,
 * which may allow, deny or edit it. Lets tools ask the user. Other calls of the batch are not affected.
 */
export class ApprovalAdvisor implements Advisor {
  readonly name: string;
  readonly order: number;
  readonly traits = ['approves-tool-calls'] as const;
  readonly parts: readonly Advisor[];
  private readonly approver: Approver;
  private readonly person: PersonSettings;
  private readonly turns = new RunSlot<TurnApprovals>();

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(options: ApprovalAdvisorOptions = {}) {
    checkApprovalOptions(NAME, options);
    const { policy = {}, effects = {}, decide, timeout = Infinity, scope } = options;
    const { store = options.pause?.store ?? new InMemoryKeyValueStore() } = options;
    const { remember = 'call', ttl = Infinity } = options;
    this.name = options.name ?? DEFAULT_NAME;
    this.order = options.order ?? AdvisorOrder.DURABLE - 100;
    const where = `advisor "${this.name}"`;
    const owner = this.name === DEFAULT_NAME ? undefined : this.name;
    this.person = { where, owner, decide, timeout };
    const remembered = new RememberedApprovals({ where, store, scope, remember, ttl });
    this.approver = new Approver(new Policy(where, policy, effects), remembered, this.person);
    const before = (request: ChatClientRequest): void => this.begin(request);
    const begin = { name: `${this.name}-turn`, order: AdvisorOrder.TURN + 50, before };
    const refuse: Advisor = {
      name: `${this.name}-tools`,
      order: Math.max(this.order, AdvisorOrder.DURABLE) + 10,
      adviseToolCall: (call, next) => this.refuseOutdated(call, next),
    };
    this.parts = [...PausedTurns.partsOf(options.pause, this.name), begin, refuse];
  }

  /** Asks about all calls of a batch at once: a call that waits for another is shown, too. */
  prepareToolCall(call: ToolInvocation): Promise<void> | undefined {
    if (this.approver.isAllowed(call)) return undefined;
    const turn = this.turnOf(call);
    const binding = bindingOf(call);
    const outcome = this.approver.outcomeOf(call, turn);
    turn.prepared.set(call.call, { binding, outcome });
    // an error is that of the call, when it runs
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
        const run = RunRecord.owning(CallContext.cancellationOf(call.context));
        if (!run || !hasCode(error, 'tool_question') || asked === MAX_RUNS) throw error;
        const { request } = error as unknown as ToolQuestionError<QuestionRequest>;
        await this.answersOf(run).ask(request, call.context);
      }
    }
  }

  private begin({ run }: ChatClientRequest): void {
    if (!this.turns.get(run)) this.turns.set(run, new TurnApprovals());
    setAsker(run, (question) => this.answersOf(run).answer(question));
  }

  private answersOf(run: RunRecord): ToolAnswers {
    return new ToolAnswers(run, this.turns.get(run) ?? new TurnApprovals(), this.person);
  }

  /** A call that belongs to no run has no turn. */
  private turnOf({ context }: ToolInvocation): TurnApprovals {
    const run = RunRecord.owning(CallContext.cancellationOf(context));
    return (run && this.turns.get(run)) ?? new TurnApprovals();
  }
}

/** The call with the arguments of a person, which the model sees as those of its call. */
function changed(call: ToolInvocation, outcome: Outcome): ToolInvocation {
  if (outcome.type !== 'edit') return call;
  const edited = { ...call.call, arguments: outcome.text };
  const context = CallContext.withCall(call.context, edited);
  return { ...call, call: edited, arguments: outcome.value, context };
}

function denied(content: string): ToolResult {
  return { content, isError: true, error: new ToolError(content) };
}
