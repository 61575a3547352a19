import { isCancelled } from '../../core/advisor/attempts.js';
import type { ToolResult } from '../../core/chat/chat-event.js';
import { randomId } from '../../core/chat/context.js';
import type { ToolCall } from '../../core/chat/message.js';
import type { RunRecord } from '../../core/chat/run-record.js';
import { hasCode } from '../../core/errors/advisor-chain-error.js';
import { ToolQuestionError } from '../../core/errors/errors.js';
import { truncate } from '../../core/internal/text.js';
import {
  hasToolFailed,
  isToolUntouched,
  noteToolEnd,
} from '../../core/tool-execution/call-state.js';
import { callKeyOf, callNameOf } from '../../core/tool-execution/call-identity.js';
import { CallContext } from '../../core/tool-execution/tool-context.js';
import { canAsk } from '../../core/tool-execution/tool-questions.js';
import {
  reconcileCall,
  unknownOutcome,
  type UnknownOutcomes,
} from '../../core/tool-execution/unknown-outcome.js';
import type { ToolCallHandler, ToolContext, ToolInvocation } from '../../core/tool/tool.js';
import { DurableRun } from './durable-run.js';
import { decodeEnd, recordedResult, type RecordedEnd, type ToolEnd } from './tool-end.js';
import { encodeError } from '../../core/chat/error-codec.js';
import { ledgerSince, replayLedger } from '../../core/chat/ledger-codec.js';

/** The answers of a person. */
const MAX_SHOWN = 1_000;
const ANSWERS = { type: 'string', enum: ['run', 'refuse'] } as const;

/** Codes of errors that suspend the execution, also of a nested turn: never recorded as a result. */
const SUSPENDING = ['turn_paused', 'durable_turn', 'non_determinism'];

/**
 * Runs a tool call as a step of a durable turn. A call with an effect (`write`, or none declared) has
 * a step before it, by which another execution finds out that the tool has begun.
 */
export function recordToolCall(
  run: RunRecord,
  invocation: ToolInvocation,
  next: ToolCallHandler,
  unknownOutcomes: UnknownOutcomes,
): Promise<ToolResult> {
  const durable = DurableRun.of(run);
  const { call } = invocation;
  if (!durable?.beginCall(call)) return next(invocation);
  return new ToolStep(run, durable, invocation, next, unknownOutcomes).end();
}

/** The name of the steps of a call, as by {@link DurableRun.nameOf}. */
export function toolStepOf(toolName: string, context: ToolContext): string {
  return `tool ${toolName} ${callNameOf(context)}`;
}

class ToolStep {
  private readonly kind: string;
  private readonly name: string;
  private readonly attempt: number;
  private live: ToolEnd | undefined;

  constructor(
    private readonly run: RunRecord,
    private readonly durable: DurableRun,
    private readonly invocation: ToolInvocation,
    private readonly next: ToolCallHandler,
    private readonly unknownOutcomes: UnknownOutcomes,
  ) {
    this.kind = toolStepOf(invocation.call.name, invocation.context);
    this.name = durable.nameOf(this.kind);
    this.attempt = durable.attemptOf(this.kind);
  }

  async end(): Promise<ToolResult> {
    const { durable, invocation, name } = this;
    try {
      if (invocation.tool.hasOwnSteps) {
        durable.addNested(callKeyOf(invocation.context), name);
        return await this.next(invocation);
      }
      if (this.hasEffect()) await this.beginOnce();
      let work: Promise<RecordedEnd> | undefined;
      // once, also for an engine that tries a step again
      const recorded = await durable.stepOf(
        name,
        () => (work ??= durable.interrupted.has(name) ? this.decideUnknown() : this.runTool()),
      );
      if (recorded.isAsked) durable.allowResume(this.kind);
      if (recorded.isRepeated && !this.live)
        return await new ToolStep(
          this.run,
          durable,
          invocation,
          this.next,
          this.unknownOutcomes,
        ).end();
      if (this.live) return endOf(this.live);
      durable.addReplayed(invocation.call.id);
      replayLedger(this.run, recorded.calls);
      noteToolEnd(this.invocation.context, recorded.hasToolFailed === true);
      return endOf(decodeEnd(recorded));
    } finally {
      durable.endCall(invocation.call);
    }
  }

  /** The call as the model wrote it: an advisor may have changed the invocation. */
  private get ownCall(): ToolCall {
    return this.invocation.context.call;
  }

  private hasEffect(): boolean {
    const { effect } = this.invocation.tool.metadata;
    return effect !== 'read' && effect !== 'idempotent';
  }

  /** Finds out if an earlier execution of the turn has begun the call; then it was interrupted. */
  private async beginOnce(): Promise<void> {
    const { durable, name } = this;
    if (durable.interrupted.has(name)) return; // a person was asked meanwhile
    const token = randomId();
    const begun = await durable.stepOf(`${name} begin`, async () => token);
    if (begun !== token) durable.interrupted.add(name);
  }

  /** The end of an interrupted call: by its service, or else by a person if one is to be asked. */
  private async decideUnknown(): Promise<RecordedEnd> {
    const { onUnknown, reconcile } = this.unknownOutcomes;
    this.run.beginOperation();
    const { outcome, error } = await reconcileCall(this.invocation, reconcile);
    if (typeof outcome !== 'string') return this.encode({ result: outcome });
    if (outcome === 'not-run') return { isRepeated: true };
    // a person may run it, also if the service could not be asked
    const decision = onUnknown === 'ask' ? await this.ask() : onUnknown;
    if (decision instanceof ToolQuestionError)
      return { ...this.encode({ error: decision }), isAsked: true };
    if (decision === 'run') return { isRepeated: true };
    return this.encode({ error: unknownOutcome(this.invocation, error) });
  }

  /** Resolves to the pending question as an error; the call is repeated after the answer. */
  private async ask(): Promise<'run' | 'refuse' | ToolQuestionError> {
    if (!canAsk(this.run)) return 'refuse';
    const { call, context } = this.invocation;
    // another question for each attempt: the answer to one does not count for the next
    const attempt = this.attempt === 1 ? 'An earlier attempt' : `Attempt ${this.attempt}`;
    const prompt = `${attempt} of this call of "${call.name}" was interrupted, and may have had its effect. Run it again? Arguments: ${truncate(call.arguments, MAX_SHOWN)}`;
    CallContext.questionsOf(context)?.restart(); // the one question before the tool, whenever the call comes here
    try {
      return (await context.ask(ANSWERS, prompt)) as unknown as 'run' | 'refuse';
    } catch (error) {
      if (hasCode(error, 'tool')) return 'refuse'; // the person does not answer
      // engines may record a step that rejects as one that has failed for good
      if (error instanceof ToolQuestionError) return error;
      throw error;
    }
  }

  /**
   * The end of the call: a result, a failure of the tool, or an error for the model. A failure around
   * the tool is none: without a call of the tool, the next step of the call makes it.
   * @throws the error of an execution that ends here, or that leaves the outcome unknown: nothing is recorded
   */
  private async runTool(): Promise<RecordedEnd> {
    const { invocation, next } = this;
    const { context } = invocation;
    noteToolEnd(context, false);
    try {
      return this.encode({ result: await next(invocation) });
    } catch (error) {
      const isUntouched = isToolUntouched(context);
      const { cancelled } = CallContext.cancellationOf(context);
      if ((cancelled && isCancelled(error)) || hasCode(error, ...SUSPENDING)) throw error;
      if (hasToolFailed(context) || isUntouched === undefined || hasCode(error, 'tool'))
        return this.encode({ error });
      if (!isUntouched) throw error;
      this.live = { error };
      return { isRepeated: true };
    }
  }

  /** @throws {@link DurableTurnError} if JSON cannot hold the result */
  private encode(end: ToolEnd): RecordedEnd {
    const { call, context } = this.invocation;
    const recorded: RecordedEnd =
      'error' in end
        ? { error: encodeError(end.error), hasToolFailed: hasToolFailed(context) }
        : recordedResult(end.result, call.name);
    this.live = end;
    return { ...recorded, ...ledgerSince(this.durable.modelCallsOf(this.ownCall.id)) };
  }
}

function endOf(end: ToolEnd): ToolResult {
  if ('error' in end) throw end.error;
  return end.result;
}
