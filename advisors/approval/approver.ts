import { decisionProblem } from '../../src/core/chat/decisions.js';
import type { ApprovalRequest, Decision } from '../../src/core/chat/paused-turn.js';
import { jsonStep, LIVE } from '../../src/core/chat/run-recorder.js';
import { ApprovalError } from '../../src/core/errors/errors.js';
import { hasCode } from '../../src/core/errors/advisor-chain-error.js';
import { jsonData } from '../../src/core/internal/json-data.js';
import { reasonOf } from '../../src/core/errors/describe.js';
import { callNameOf } from '../../src/core/tool-execution/call-identity.js';
import { runOf } from '../../src/core/tool-execution/tool-context.js';
import type { ToolInvocation } from '../../src/core/tool/tool.js';
import { emitApproval } from './approval-event.js';
import { editArguments, type ShownArguments } from './edited-call.js';
import { approvalRequest, askedAgain, bindingOf, shownArguments } from './pending-requests.js';
import { PausingRecorder } from './pausing-recorder.js';
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

  /** True if the call runs, by a rule other than a function: nothing has to be awaited. */
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

  /** A function as a policy may decide otherwise in a replay: it is a step. */
  private async verdictOf(call: ToolInvocation): Promise<FullVerdict> {
    const rule = this.policy.ruleOf(call);
    if (typeof rule !== 'function') return rule;
    return this.recorded<FullVerdict>(call, 'policy', async () => {
      const verdict = jsonData(await this.callPolicy(rule, call));
      if (verdict !== undefined) return verdict as unknown as FullVerdict;
      throw failure(call, 'the policy must return JSON data');
    });
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
    const allowed = await this.recorded<Remembered | null>(call, 'remembered', async () => {
      try {
        return (await this.remembered.find(call)) ?? null;
      } catch (error) {
        failed = { error };
        return null;
      }
    });
    return failed ?? { allowed: allowed ?? undefined };
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
      await this.remember(call, decision.scope, decision.by).catch(
        (error: unknown) => void (failed = { error }),
      );
    emitApproval(call.context, { state: 'decided', request, decision, ...failed });
    return outcome;
  }

  /** A step: a replay must not bring back what was revoked meanwhile. */
  private async remember(
    call: ToolInvocation,
    scope: Remembered['scope'],
    by: string | undefined,
  ): Promise<void> {
    await this.recorded(call, 'remember', async () => {
      await this.remembered.add(call, scope, by);
      return null;
    });
  }

  /**
   * The binding of a call when the turn reached it first. A newer deployment, whose tool differs,
   * may continue a durable turn; a turn that pauses checks that when it is resumed.
   */
  private async firstBinding(call: ToolInvocation, binding: string): Promise<string> {
    const run = runOf(call.context);
    return run?.recorder instanceof PausingRecorder
      ? binding
      : this.recorded(call, 'asked', async () => binding);
  }

  /** In a durable turn, a step: of this advisor, since others decide about the call side by side. */
  private recorded<T>(
    { call, context }: ToolInvocation,
    kind: string,
    work: () => Promise<T>,
  ): Promise<T> {
    const run = runOf(context);
    const { recorder } = run ?? { recorder: LIVE };
    const { owner } = this.person;
    const own = owner === undefined ? kind : `${kind} of ${owner}:`;
    return recorder.step(`${own} ${call.name} ${callNameOf(context)}`, work, jsonStep());
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
