import type { CustomEvent, ToolResult } from '../chat/chat-event.js';
import type { AdvisorContext } from '../chat/context.js';
import type { Message, ToolMessage } from '../chat/message.js';
import type { RunRecord } from '../chat/run-record.js';
import { DurableRun } from '../durable/durable-run.js';
import { ToolError } from '../errors.js';
import { hasCode } from '../errors/advisor-chain-error.js';
import { cancellationOf } from '../internal/cancellation.js';
import type { ToolCallHandler, ToolInvocation } from '../tool/tool.js';
import type { CheckScope } from './check-run.js';
import type { Gate } from './gate.js';
import { guardEvent, guardEvents } from './guard-event.js';
import { blockedAnswer } from './guarded-answer.js';
import { judgeContent } from './judge.js';
import { kindsOf, stopOf, type Policies } from './policies.js';
import { delimited, isTainted, isUntrusted, runOf, taint } from './taint.js';

const WITHHELD = 'The result of this tool was withheld.';

/** Settings of a {@link ToolGuard}. */
export interface ToolGuardSettings {
  readonly guard: string;
  readonly results: Policies;
  /** For results that are answers. */
  readonly output: Policies;
  readonly untrusted: (toolName: string) => boolean;
  readonly approve: (call: ToolInvocation) => boolean | Promise<boolean>;
  /** The verdict on the question, if it is not there yet. */
  readonly gateOf: (context: AdvisorContext) => Gate | undefined;
}

type Content = ToolMessage['content'];

/** Decides if a tool runs, and what the model gets of its result. */
export class ToolGuard {
  constructor(private readonly settings: ToolGuardSettings) {}

  async adviseToolCall(call: ToolInvocation, next: ToolCallHandler): Promise<ToolResult> {
    await this.settings.gateOf(call.context.advisorContext)?.opened;
    if (isTainted(runOf(call)) && !(await this.mayRun(call))) return this.refuse(call);
    let result: ToolResult;
    try {
      result = await next(call);
    } catch (error) {
      throw await this.cleanedError(error, call);
    }
    return this.guardResult(result, call);
  }

  /** Notes content that an earlier turn has left in the conversation. */
  readHistory(messages: readonly Message[], run: RunRecord): void {
    if (!isTainted(run) && messages.some((each) => isUntrusted(each, this.settings.untrusted)))
      taint(run);
  }

  private async mayRun(call: ToolInvocation): Promise<boolean> {
    return call.tool.metadata.effect === 'read' || (await this.settings.approve(call)) === true;
  }

  private refuse({ call: { name }, context }: ToolInvocation): ToolResult {
    const { guard } = this.settings;
    const rules = ['untrusted-content'];
    context.emit(
      guardEvent(this.settings.results.options, {
        guard,
        where: 'tool-call',
        action: 'refuse',
        rules,
        kinds: rules,
        toolName: name,
      }),
    );
    const content = `"${name}" did not run: this turn has read content that others wrote, and this tool may change something. Answer with what you would do, and let the user decide.`;
    return { content, isError: true };
  }

  private async guardResult(result: ToolResult, call: ToolInvocation): Promise<ToolResult> {
    const { returnDirect } = call.tool.metadata;
    const { results, output } = this.settings;
    const guarded = await this.guardContent(result.content, call, results);
    const answer =
      returnDirect && guarded.content !== undefined
        ? await this.guardContent(guarded.content, call, output)
        : guarded;
    if (answer.refusal !== undefined)
      return { content: answer.refusal, isError: answer === guarded };
    const { content } = answer;
    if (content === undefined || content === result.content) return result;
    const { value: _value, ...kept } = result; // has what was removed
    return { ...kept, content };
  }

  /** The content as the model gets it, or the text in its place. */
  private async guardContent(
    given: Content,
    invocation: ToolInvocation,
    policies: Policies,
  ): Promise<{ readonly content?: Content; readonly refusal?: string }> {
    const { context, tool } = invocation;
    const { name } = invocation.call;
    const { advisorContext, signal } = context;
    const scope: CheckScope = {
      cancellation: cancellationOf(signal),
      context: advisorContext,
      toolName: name,
    };
    const { value, hits } = await judgeContent(policies, given, scope);
    for (const event of guardEvents(policies, hits, name)) context.emit(event as CustomEvent);
    const stop = stopOf(hits);
    if (stop?.policy.action === 'throw') throw policies.error(stop);
    if (stop && policies === this.settings.output)
      return { refusal: blockedAnswer(stop).text ?? '' };
    if (stop) return { refusal: stop.policy.answer ?? WITHHELD };
    const isMarked = kindsOf(hits, 'mark').length > 0 || this.settings.untrusted(name);
    if (!isMarked || policies === this.settings.output) return { content: value };
    taint(runOf(invocation));
    // marks are for the model; an answer is for the user
    if (tool.metadata.returnDirect) return { content: value };
    // a durable turn may run again in another process, and sends the same marks
    const run = runOf(invocation);
    const secret = run && (await DurableRun.of(run)?.secret(invocation.call));
    return { content: delimited(value, context.idempotencyKey, secret) };
  }

  /** The text of an error for the model is content of the tool, too. */
  private async cleanedError(error: unknown, call: ToolInvocation): Promise<unknown> {
    if (!hasCode(error, 'tool')) return error;
    const { content, refusal } = await this.guardContent(
      error.message,
      call,
      this.settings.results,
    );
    if (content === error.message) return error;
    return new ToolError((refusal ?? content) as string);
  }
}
