import { isCancelled } from '../advisor/attempts.js';
import type { ToolResult } from '../chat/chat-event.js';
import { randomId } from '../chat/context.js';
import type { ToolCall } from '../chat/message.js';
import type { RunRecord } from '../chat/run-record.js';
import { hasCode } from '../errors/advisor-chain-error.js';
import { ToolQuestionError } from '../errors/approval-error.js';
import { DurableTurnError } from '../errors/durable-errors.js';
import type { JsonValue } from '../internal/json.js';
import { reasonOf, truncate } from '../internal/text.js';
import type { UnknownOutcome } from '../recorded-calls/tool-ledger-options.js';
import { unknownOutcome } from '../recorded-calls/call-outcome.js';
import { decodeResult, encodeResult } from '../recorded-calls/result-codec.js';
import { hasToolFailed, noteToolEnd } from '../tool-execution/failed-calls.js';
import { callNameOf } from '../tool-execution/call-key.js';
import { CallContext } from '../tool-execution/tool-context.js';
import { canAsk, restartQuestions } from '../tool-execution/tool-questions.js';
import type { ToolCallHandler, ToolContext, ToolInvocation } from '../tool/tool.js';
import { DurableRun } from './durable-run.js';
import { decodeError, encodeError, type EncodedError } from './error-codec.js';
import { ledgerSince, replayLedger, type EncodedCalls } from './ledger-codec.js';

/**
 * Decides about a call with an effect that an interrupted execution may have made. `ask` asks a
 * person, if an advisor of the chain can, and refuses otherwise.
 */
export type DecideUnknown = (call: ToolInvocation) => UnknownDecision | Promise<UnknownDecision>;
type UnknownDecision = Awaited<ReturnType<UnknownOutcome>> | 'ask';

/** The answers of a person. */
const MAX_SHOWN = 1_000;
const ANSWERS = { type: 'string', enum: ['run', 'refuse'] } as const;

/** The recorded end of a tool call. */
type RecordedEnd = {
  readonly result?: string;
  /** The content of a result that has no more than a text, a scalar value and `isError`. */
  readonly text?: string;
  readonly isError?: true;
  readonly value?: JsonValue;
  readonly error?: EncodedError;
  /** False if an advisor between the step and the tool has failed, not the tool. */
  readonly hasToolFailed?: boolean;
  /** True if an interrupted call is to run again, as the next step: that can be interrupted, too. */
  readonly isRepeated?: true;
  /** True if `error` is the question about an interrupted call: the next step of the call has the answer. */
  readonly isAsked?: true;
  /** Model calls of an agent. */
  readonly calls?: EncodedCalls;
};

/** The error of an execution that ends here, and goes on later: it is not the end of the call. */
const NOT_AN_END = ['turn_paused', 'durable_turn', 'non_determinism'];

/**
 * Runs a tool call as a step of a durable turn. A call with an effect (`write`, or none declared) has
 * a step before it, by which another execution finds out that the tool has begun; it is not run again.
 */
export function recordToolCall(
  run: RunRecord,
  invocation: ToolInvocation,
  next: ToolCallHandler,
  decide: DecideUnknown,
): Promise<ToolResult> {
  const durable = DurableRun.of(run);
  const { call } = invocation;
  if (!durable?.beginCall(call)) return next(invocation);
  return new ToolStep(run, durable, invocation, next, decide).end();
}

/** The name of the steps of a call, as those of {@link DurableRun.nameOf}. */
export function toolStepOf(toolName: string, context: ToolContext): string {
  return `tool ${toolName} ${callNameOf(context)}`;
}

class ToolStep {
  private readonly kind: string;
  private readonly name: string;
  private readonly attempt: number;
  private live: { readonly result: ToolResult } | { readonly error: unknown } | undefined;

  constructor(
    private readonly run: RunRecord,
    private readonly durable: DurableRun,
    private readonly invocation: ToolInvocation,
    private readonly next: ToolCallHandler,
    private readonly decide: DecideUnknown,
  ) {
    this.kind = toolStepOf(invocation.call.name, invocation.context);
    this.name = durable.nameOf(this.kind);
    this.attempt = durable.attemptOf(this.kind);
  }

  async end(): Promise<ToolResult> {
    const { durable, invocation, name } = this;
    try {
      if (invocation.tool.hasOwnSteps) {
        durable.addNested(callNameOf(invocation.context), name);
        return await this.next(invocation);
      }
      if (this.hasEffect()) await this.beginOnce();
      const recorded = await durable.stepOf(name, () =>
        durable.interrupted.has(name) ? this.decideUnknown() : this.runTool(),
      );
      if (recorded.isAsked) durable.noteAsked(this.kind);
      if (recorded.isRepeated)
        return await new ToolStep(this.run, durable, invocation, this.next, this.decide).end();
      if (this.live) return endOf(this.live);
      durable.addReplayed(invocation.call.id);
      replayLedger(this.run, recorded.calls);
      noteToolEnd(this.ownCall, recorded.hasToolFailed === true);
      return endOf(decodeEnd(recorded));
    } finally {
      durable.endCall(invocation.call);
    }
  }

  /** The call as the model wrote it: an advisor may have changed that of the invocation. */
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

  private async decideUnknown(): Promise<RecordedEnd> {
    const decided = await this.decide(this.invocation);
    const decision = decided === 'ask' ? await this.ask() : decided;
    if (decision instanceof ToolQuestionError)
      return { ...this.encode({ error: decision }), isAsked: true };
    if (decision === 'run') return { isRepeated: true };
    if (decision !== 'refuse') return this.encode({ result: decision });
    return this.encode({ error: unknownOutcome(this.invocation) });
  }

  /** Resolves to the error of a question that is open: the call comes again when it is answered. */
  private async ask(): Promise<'run' | 'refuse' | ToolQuestionError> {
    if (!canAsk(this.run)) return 'refuse';
    const { call, context } = this.invocation;
    // another question for each attempt: the answer to one does not count for the next
    const attempt = this.attempt === 1 ? 'An earlier attempt' : `Attempt ${this.attempt}`;
    const prompt = `${attempt} of this call of "${call.name}" was interrupted, and may have had its effect. Run it again? Arguments: ${truncate(call.arguments, MAX_SHOWN)}`;
    restartQuestions(CallContext.askOf(context)); // the one question before the tool, whenever the call comes here
    try {
      return (await context.ask(ANSWERS, prompt)) as unknown as 'run' | 'refuse';
    } catch (error) {
      if (hasCode(error, 'tool')) return 'refuse'; // the person does not answer
      // engines may record a step that rejects as one that has failed for good
      if (error instanceof ToolQuestionError) return error;
      throw error;
    }
  }

  /** Rejects if the execution ends here: nothing is recorded then. */
  private async runTool(): Promise<RecordedEnd> {
    const { invocation, next } = this;
    try {
      return this.encode({ result: await next(invocation) });
    } catch (error) {
      const { cancelled } = CallContext.cancellationOf(invocation.context);
      if ((cancelled && isCancelled(error)) || hasCode(error, ...NOT_AN_END)) throw error;
      return this.encode({ error });
    }
  }

  private encode(end: NonNullable<ToolStep['live']>): RecordedEnd {
    const recorded: RecordedEnd =
      'error' in end
        ? { error: encodeError(end.error), hasToolFailed: hasToolFailed(this.ownCall) }
        : { ...this.encodeResult(end.result), ...errorOf(end.result) };
    this.live = end;
    return { ...recorded, ...ledgerSince(this.durable.modelCallsOf(this.ownCall.id)) };
  }

  /** @throws {@link DurableTurnError} if JSON cannot hold what the model or an advisor gets */
  private encodeResult(result: ToolResult): RecordedEnd {
    const plain = plainEnd(result);
    if (plain) return plain;
    const { name } = this.invocation.call;
    try {
      return { result: encodeResult(result).text };
    } catch (error) {
      const problem = `the result of the tool "${name}" cannot be recorded as a step of a durable turn`;
      throw new DurableTurnError(`${problem}: ${reasonOf(error)}`, { cause: error });
    }
  }
}

/** The error in a result, for the application. */
const errorOf = ({ error }: ToolResult): Pick<RecordedEnd, 'error'> =>
  error === undefined ? {} : { error: encodeError(error) };

/** Most results are a text: encoding them as a message costs more than the step. */
function plainEnd({
  content,
  isError,
  value,
  unlocks,
  locks,
  context,
}: ToolResult): RecordedEnd | undefined {
  if (typeof content !== 'string' || unlocks || locks || context) return undefined;
  if (value !== undefined && typeof value !== 'string' && typeof value !== 'boolean')
    return undefined;
  return {
    text: content,
    ...(isError && { isError }),
    ...(value !== undefined && { value }),
  };
}

function decodeEnd({
  result,
  text,
  isError,
  value,
  error,
}: RecordedEnd): NonNullable<ToolStep['live']> {
  if (result === undefined && text === undefined) return { error: error && decodeError(error) };
  const plain = {
    content: text ?? '',
    ...(isError && { isError }),
    ...(value !== undefined && { value }),
  };
  const decoded: ToolResult = result === undefined ? plain : decodeResult(result);
  return { result: error ? { ...decoded, error: decodeError(error) } : decoded };
}

function endOf(end: NonNullable<ToolStep['live']>): ToolResult {
  if ('error' in end) throw end.error;
  return end.result;
}
