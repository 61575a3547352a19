import type { ApprovalRequest, Decision } from '../chat/paused-turn.js';
import { RunRecord } from '../chat/run-record.js';
import { DurableRun } from '../durable/durable-run.js';
import { ApprovalError } from '../errors.js';
import { hasCode } from '../errors/advisor-chain-error.js';
import { jsonData, type JsonValue } from '../internal/json.js';
import { reasonOf } from '../internal/text.js';
import { callNameOf } from '../tool-execution/call-key.js';
import { CallContext } from '../tool-execution/tool-context.js';
import type { ToolInvocation } from '../tool/tool.js';
import { emitApproval } from './approval-event.js';
import { decisionProblem } from './check-decisions.js';
import { editArguments, type ShownArguments } from './edited-call.js';
import { approvalRequest, askedAgain, bindingOf, shownArguments } from './pending-requests.js';
import { PausedRun } from './paused-run.js';
import { askPerson, type PersonSettings } from './person.js';
import type { Remembered, RememberedApprovals } from './remembered-approvals.js';
import type { AskVerdict, FullVerdict, Policy, PolicyFunction } from './tool-policy.js';
import type { Outcome, TurnApprovals } from './turn-approvals.js';

/** Number of times that a person is asked about a call, if no decision is valid. */
export const MAX_QUESTIONS = 5;

export const ALLOWED: Outcome = { type: 'allow' };

/** Decides which calls run, by a policy and by people. */
export class Approver {
  constructor(
    private readonly policy: Policy,
    private readonly remembered: RememberedApprovals,
    private readonly person: PersonSettings,
  ) {}

  /** True if the call runs, by a rule that is no function: nothing has to be awaited. */
  isAllowed(call: ToolInvocation): boolean {
    const rule = this.policy.ruleOf(call);
    return typeof rule !== 'function' && rule.type === 'allow';
  }

  /**
   * The outcome of a call.
   * @throws {@link ApprovalError} if it cannot be decided
   * @throws {@link TurnPausedError} if the turn has to pause for a decision
   */
  async outcomeOf(call: ToolInvocation, turn: TurnApprovals): Promise<Outcome> {
    const verdict = await this.verdictOf(call);
    switch (verdict.type) {
      case 'allow':
        return ALLOWED;
      case 'deny':
        return { type: 'deny', reason: deniedBy('the policy', call, verdict.reason) };
      case 'edit':
        return this.edit(call, verdict.arguments);
      case 'ask':
        return this.ask(call, verdict, turn);
      default: // a call whose verdict is not known must not run
        throw failure(call, 'the policy has no verdict');
    }
  }

  /** A policy that is a function may decide otherwise when the turn runs again: it is a step. */
  private async verdictOf(call: ToolInvocation): Promise<FullVerdict> {
    const rule = this.policy.ruleOf(call);
    if (typeof rule !== 'function') return rule;
    return this.recorded(call, 'policy', async () => {
      const verdict = jsonData(await this.callPolicy(rule, call));
      if (verdict !== undefined) return verdict;
      throw failure(call, 'the policy must return JSON data');
    }) as unknown as Promise<FullVerdict>;
  }

  private async callPolicy(rule: PolicyFunction, call: ToolInvocation): Promise<FullVerdict> {
    try {
      return await this.policy.call(rule, call);
    } catch (cause) {
      // its message is for the model
      if (hasCode(cause, 'tool')) return { type: 'deny', reason: cause.message };
      throw failure(call, `the policy failed: ${reasonOf(cause)}`, cause);
    }
  }

  private async edit(call: ToolInvocation, given: unknown): Promise<Outcome> {
    const edited = await editArguments(call.tool, given, shownOf(call));
    if (edited.problem !== undefined) throw failure(call, `the policy failed: ${edited.problem}`);
    return { type: 'edit', text: edited.text, value: edited.value };
  }

  private async ask(
    call: ToolInvocation,
    verdict: AskVerdict,
    turn: TurnApprovals,
  ): Promise<Outcome> {
    const binding = bindingOf(call);
    const denied = turn.denied.get(binding);
    if (denied !== undefined) return { type: 'deny', reason: denied };
    const isOutdated = (await this.firstBinding(call, binding)) !== binding;
    const { allowed, error } = await this.find(call);
    if (allowed) {
      const { id: callId, name: toolName } = call.call;
      emitApproval(call.context, { state: 'remembered', toolName, callId, ...allowed });
      return { type: 'allow', isOutdated };
    }
    const request = approvalRequest(
      call,
      verdict,
      this.remembered.scopesOf(call),
      this.person.owner,
    );
    const outcome = await this.askUntilValid(call, request, error);
    if (outcome.type !== 'deny') return { ...outcome, isOutdated };
    turn.denied.set(binding, outcome.reason);
    return outcome;
  }

  /** A store that fails remembers nothing: a person is asked, and sees why. */
  private async find(
    call: ToolInvocation,
  ): Promise<{ readonly allowed?: Remembered | undefined; readonly error?: unknown }> {
    if (this.remembered.scopesOf(call).length === 1) return {};
    let failed: { readonly error: unknown } | undefined;
    const allowed = await this.recorded(call, 'remembered', async () => {
      try {
        return (await this.remembered.find(call)) ?? null;
      } catch (error) {
        failed = { error };
        return null;
      }
    });
    return failed ?? { allowed: (allowed ?? undefined) as Remembered | undefined };
  }

  private async askUntilValid(
    call: ToolInvocation,
    first: ApprovalRequest,
    error: unknown,
  ): Promise<Outcome> {
    let request = first;
    for (let attempt = 2; ; attempt++) {
      emitApproval(call.context, {
        state: 'asked',
        request,
        ...(error !== undefined && { error }),
      });
      const decision = await askPerson(request, call.context, this.person);
      const outcome = await this.outcomeOfDecision(call, request, decision);
      if ('type' in outcome) return this.settle(call, request, decision, outcome);
      if (attempt > MAX_QUESTIONS)
        throw failure(
          call,
          `no decision was valid in ${MAX_QUESTIONS} attempts: ${outcome.problem}`,
        );
      request = askedAgain(first, attempt, outcome.problem);
    }
  }

  private async outcomeOfDecision(
    call: ToolInvocation,
    request: ApprovalRequest,
    decision: Decision | undefined,
  ): Promise<Outcome | { readonly problem: string }> {
    if (!decision)
      return { type: 'deny', reason: `Not run: there was no decision about this call in time.` };
    const problem = decisionProblem(request, decision);
    if (problem !== undefined) return { problem };
    if (decision.type === 'deny')
      return { type: 'deny', reason: deniedBy('the user', call, decision.reason) };
    if (decision.type !== 'edit') return ALLOWED;
    const edited = await editArguments(call.tool, decision.arguments, request);
    return edited.problem === undefined ? { type: 'edit', ...edited } : { problem: edited.problem };
  }

  private async settle(
    call: ToolInvocation,
    request: ApprovalRequest,
    decision: Decision | undefined,
    outcome: Outcome,
  ): Promise<Outcome> {
    let failed: { readonly error: unknown } | undefined;
    if (decision?.type === 'allow' && decision.scope !== undefined && decision.scope !== 'once')
      await this.remembered
        .add(call, decision.scope, decision.by)
        .catch((error: unknown) => void (failed = { error }));
    emitApproval(call.context, { state: 'decided', request, decision, ...failed });
    return outcome;
  }

  /**
   * The binding of a call when the turn came to it first. A durable turn may go on with a newer
   * deployment, whose tool differs; a turn that pauses checks that when it is resumed.
   */
  private async firstBinding(call: ToolInvocation, binding: string): Promise<string> {
    const run = RunRecord.owning(CallContext.cancellationOf(call.context));
    return run && PausedRun.of(run) ? binding : this.recorded(call, 'asked', async () => binding);
  }

  /** In a durable turn, a step: of this advisor, since others decide about the call side by side. */
  private recorded<T extends JsonValue>(
    { call, context }: ToolInvocation,
    kind: string,
    work: () => Promise<T>,
  ): Promise<T> {
    const run = RunRecord.owning(CallContext.cancellationOf(context));
    const durable = run && DurableRun.of(run);
    const { owner } = this.person;
    const own = owner === undefined ? kind : `${kind} of ${owner}:`;
    return durable ? durable.step(`${own} ${call.name} ${callNameOf(context)}`, work) : work();
  }
}

const shownOf = (call: ToolInvocation): ShownArguments => ({
  arguments: shownArguments(call),
  argumentsText: call.call.arguments,
});

function deniedBy(source: string, { call }: ToolInvocation, reason: string | undefined): string {
  const text = reason?.trim() ? ` Reason: ${reason.trim()}` : '';
  return `Not run: ${source} denied this call of "${call.name}".${text}`;
}

function failure({ call }: ToolInvocation, problem: string, cause?: unknown): ApprovalError {
  const options = cause === undefined ? {} : { cause };
  return new ApprovalError(`tool "${call.name}": ${problem}`, call.name, call.id, options);
}
