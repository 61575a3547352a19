import type { ChatEvent, ToolResult } from '../chat/chat-event.js';
import { ContextKey, type AdvisorContext } from '../chat/context.js';
import type { ChatResponse } from '../chat/chat-response.js';
import type { Prompt } from '../chat/prompt.js';
import { RunRecord, type AnsweredCall } from '../chat/run-record.js';
import type { RunReport } from '../chat/run-report.js';
import { ChainError, InvalidArgumentError, ToolError } from '../errors/errors.js';
import { Cancellation } from '../internal/cancellation.js';
import { describe } from '../errors/describe.js';
import { countCalls } from '../tool-execution/call-limits.js';
import { cancellableRun, type ToolRun } from '../tool-execution/tool-run.js';
import { ToolCallingManager } from '../tool-execution/tool-calling-manager.js';
import type { ToolManager } from '../tool-execution/tool-manager.js';
import { toolsByName } from '../tool/check-tool.js';
import { changeTool } from '../tool/transform-tools.js';
import type {
  Tool,
  ToolCallHandler,
  ToolCallPreparer,
  ToolCallWrapper,
  ToolContext,
  ToolInvocation,
} from '../tool/tool.js';
import type { Advisor } from './advisor.js';
import { stepEvent } from './loop-steps.js';
import { CHANGEABLE_PARTS, type ChatClientRequest } from './chat-client-request.js';

/** In the context of an answer: names of the unlocked deferred tools, in order of discovery. */
export const UNLOCKED_TOOLS = new ContextKey<readonly string[] | undefined>(
  'advisor-chain.unlocked-tools',
);

/** The options with which the calls of an answer to a request run. */
export function toolRunOf(
  request: ChatClientRequest,
  advisors: readonly Advisor[],
): Omit<ToolRun, 'signal'> {
  const { tools, offeredTools, toolContext, context, turn, observation, iteration, run } = request;
  return {
    tools,
    offered: offeredTools,
    toolContext,
    advisorContext: context,
    turn,
    observation,
    iteration,
    prepare: prepareToolCalls(advisors),
    wrap: wrapToolCalls(advisors),
    onEvent: (event) => void run.recordToolEvent(event),
  };
}

/** The request with the tools whose definitions the manager resolves. */
export function resolveTools(manager: ToolManager, request: ChatClientRequest): ChatClientRequest {
  const isDefault =
    manager.resolveToolDefinitions === ToolCallingManager.prototype.resolveToolDefinitions;
  if (isDefault) return request;
  const { tools, toolContext, prompt } = request;
  const byName = toolsByName(tools);
  const definitions = manager.resolveToolDefinitions?.({ ...prompt.options, tools, toolContext });
  const resolved = definitions?.map((definition): Tool => {
    const tool = byName.get(definition.name);
    if (tool?.definition === definition) return tool;
    return tool
      ? changeTool(tool, { definition })
      : { definition, metadata: {}, call: notRunnable };
  });
  return resolved ? request.withTools(resolved) : request;
}

function notRunnable(_: unknown, { call }: ToolContext): never {
  throw new ToolError(`Only the manager of the tool loop can run "${call.name}".`);
}

/** The options of {@link toolRunOf} for a loop of an advisor; see `AdvisorChain.tools`. */
export function toolRunOfLoop(
  request: ChatClientRequest,
  advisors: readonly Advisor[],
  emit: (event: ChatEvent) => void,
): ToolRun {
  const { run, iteration, signal } = request;
  const answered = AnsweredRequest.of(run)?.request;
  const { tools, offeredTools, toolContext } =
    answered?.iteration === iteration ? answered : request;
  const onEvent = (event: ChatEvent): void => {
    const step = run.recordToolEvent(event);
    if (step) emit({ type: 'iteration', index: step.index, response: step.response });
    emit(event);
    const last = run.steps.at(-1);
    if (event.type === 'tool-result' && last?.toolCalls.every((each) => each.result))
      emit(stepEvent(last, run));
  };
  const own = { tools, offered: offeredTools, toolContext, signal, onEvent };
  return { ...toolRunOf(request, advisors), ...own };
}

/**
 * The options of {@link toolRunOf} for the calls of the answer of a run that has ended.
 * @throws {@link InvalidArgumentError} if no model answered in the run
 */
export function toolRunOfAnswer(run: RunReport | undefined): ToolRun {
  const answered = run instanceof RunRecord ? AnsweredRequest.of(run) : undefined;
  if (!answered)
    throw new InvalidArgumentError(
      'tools(): the response comes from no run of a client; an advisor uses chain.tools(request)',
    );
  const { request, advisors } = answered;
  const { prompt, transcript = prompt } = request;
  return cancellableRun(new Cancellation(undefined, request.run), {
    ...toolRunOf(request, advisors),
    counts: countCalls(transcript.messages),
  });
}

/** Runs the `prepareToolCall` methods side by side; undefined if there are none. */
function prepareToolCalls(advisors: readonly Advisor[]): ToolCallPreparer | undefined {
  const preparing = advisors.filter((advisor) => typeof advisor.prepareToolCall === 'function');
  if (preparing.length === 0) return undefined;
  return (invocation) => {
    const prepared = preparing.flatMap((advisor) => advisor.prepareToolCall?.(invocation) ?? []);
    return prepared.length > 0 ? Promise.all(prepared).then(() => undefined) : undefined;
  };
}

/** Composes the `adviseToolCall` methods, the first outermost; undefined if there are none. */
function wrapToolCalls(advisors: readonly Advisor[]): ToolCallWrapper | undefined {
  const wrapping = advisors.filter((advisor) => typeof advisor.adviseToolCall === 'function');
  if (wrapping.length === 0) return undefined;
  return (invocation, tool, onCall) =>
    wrapping.reduceRight<ToolCallHandler>(
      (next, advisor) => (received) =>
        adviseToolCall(advisor, received, (changed) => {
          if (changed.call !== received.call) onCall(changed.call, changed.arguments);
          return next(changed);
        }),
      tool,
    )(invocation);
}

async function adviseToolCall(
  advisor: Advisor,
  invocation: ToolInvocation,
  next: ToolCallHandler,
): Promise<ToolResult> {
  const result = await advisor.adviseToolCall?.(invocation, next);
  if (typeof result?.content === 'string' || Array.isArray(result?.content)) return result;
  throw new ChainError(
    `advisor "${advisor.name}": adviseToolCall must return a tool result with content, not ${describe(result)}`,
  );
}

/** An answer of a model, with the request and the advisors that tools run by hand need. */
export class AnsweredRequest implements AnsweredCall {
  constructor(
    readonly request: ChatClientRequest,
    readonly advisors: readonly Advisor[],
    readonly response: ChatResponse,
    readonly isReplayed?: boolean,
  ) {}

  /** The latest answer of a model in a run. */
  static of({ answered }: RunRecord): AnsweredRequest | undefined {
    return answered instanceof AnsweredRequest ? answered : undefined;
  }

  get iteration(): number {
    return this.request.iteration;
  }

  get prompt(): Prompt {
    return this.request.prompt;
  }

  withResponse(response: ChatResponse): AnsweredRequest {
    return new AnsweredRequest(this.request, this.advisors, response, this.isReplayed);
  }
}

const SENT_REQUEST = new ContextKey<ChatClientRequest | undefined>('advisor-chain.sent-request');

/**
 * The request that the model received for an answer: its tools and its transcript belong to the
 * turn, also if advisors to the right of the caller have changed them.
 */
export function sentRequest(
  request: ChatClientRequest,
  context: AdvisorContext,
): ChatClientRequest {
  const sent = context.get(SENT_REQUEST);
  // an advisor that answers by itself may return the context of an earlier iteration or run
  return sent?.run === request.run && sent.base === request.base ? sent : request;
}

/** The context of an answer to a request, from which {@link sentRequest} finds the request. */
export function withSentRequest(
  context: AdvisorContext,
  sent: ChatClientRequest | undefined,
): AdvisorContext {
  return sent || context.has(SENT_REQUEST) ? context.with(SENT_REQUEST, sent) : context;
}

/** The context of an answer to a request: with the request if advisors have changed parts that the loop adopts. */
export function answerContext(request: ChatClientRequest): AdvisorContext {
  const { base, context, added } = request;
  const isChanged = base
    ? CHANGEABLE_PARTS.some((part) => request[part] !== base[part])
    : added.length > 0;
  return withSentRequest(context, isChanged ? request : undefined);
}
