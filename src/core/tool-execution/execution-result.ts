import { toToolMessage, type ToolResult } from '../chat/chat-event.js';
import type { Generation } from '../chat/chat-response.js';
import { AdvisorContext } from '../chat/context.js';
import {
  callsOf,
  frozenMessage,
  textOf,
  type AssistantMessage,
  type Message,
  type ToolCall,
  type ToolMessage,
} from '../chat/message.js';
import type { Prompt } from '../chat/prompt.js';
import { ToolExecutionError } from '../errors/errors.js';
import type { JsonValue } from '../internal/json.js';
import { safeJson } from '../internal/safe-json.js';
import type { BatchCall } from './batch-call.js';

/** A call and its result. */
export interface ExecutedToolCall {
  readonly call: ToolCall;
  readonly result: ToolResult;
  /** True if the tool is known, the arguments are valid and no limit was reached. */
  readonly accepted: boolean;
}

/** The results of a batch. */
export class ToolExecutionResult {
  constructor(
    /**
     * The prompt with the assistant message and one tool message per call, for the next iteration.
     */
    readonly prompt: Prompt,
    /** The tool messages of this batch, in call order. */
    readonly messages: readonly ToolMessage[],
    /** In call order. */
    readonly results: readonly ExecutedToolCall[],
    /**
     * True if the results are the answer of the turn: every call was accepted, and its tool is
     * `returnDirect`.
     */
    readonly returnDirect: boolean,
    /** Names of unlocked deferred tools, in order. */
    readonly unlocks: readonly string[],
    /** Names of deferred tools to hide again. */
    readonly locks: readonly string[],
    /** Values from the tools for the advisors. */
    readonly context: AdvisorContext,
  ) {}

  /** The results without the prompt, for `JSON.stringify`. */
  toJSON(): JsonValue {
    const { messages, returnDirect, unlocks, locks, context } = this;
    return safeJson({ messages, returnDirect, unlocks, locks, context }, Infinity) ?? null;
  }

  /** The messages of {@link prompt}. */
  get history(): readonly Message[] {
    return this.prompt.messages;
  }
}

/** Appends the assistant message and the results of its calls to the prompt. */
export function toExecutionResult(
  prompt: Prompt,
  message: AssistantMessage,
  calls: readonly BatchCall[],
  before: AdvisorContext = AdvisorContext.empty,
): ToolExecutionResult {
  const results = calls.map(({ ran: call, result, accepted }) => ({ call, result, accepted }));
  const messages = results.map(({ call, result }) => toToolMessage(call, result));
  const returnDirect = calls.every((call) => call.returnDirect);
  const unlocks = results.flatMap(({ result }) => result.unlocks ?? []);
  const locks = results.flatMap(({ result }) => result.locks ?? []);
  const context = results.reduce(
    (merged, { result }) =>
      result.context ? merged.merge(result.context.changesSince(before)) : merged,
    AdvisorContext.empty,
  );
  const asked = withCalls(message, results);
  const next = withoutForcedChoice(prompt).append(asked, ...messages);
  return new ToolExecutionResult(next, messages, results, returnDirect, unlocks, locks, context);
}

/** The message with the calls as they ran: a person, or an advisor, may have changed their arguments. */
function withCalls(
  message: AssistantMessage,
  results: readonly Pick<ExecutedToolCall, 'call'>[],
): AssistantMessage {
  const isSame = callsOf(message).every((call, at) => call === results[at]?.call);
  if (isSame) return message;
  return frozenMessage({
    ...message,
    toolCalls: results.map(({ call }) => call),
  }) as typeof message;
}

/** A copy with a note for the model at the end of its last message. */
export function withNote(result: ToolExecutionResult, note: string): ToolExecutionResult {
  const { prompt, messages, results, returnDirect, unlocks, locks, context } = result;
  const last = messages.at(-1);
  if (!last || prompt.messages.at(-1)?.role !== 'tool') return result;
  const { content } = last;
  const noted: ToolMessage = {
    ...last,
    content:
      typeof content === 'string'
        ? `${content}\n\n${note}`
        : [...content, { type: 'text', text: note }],
  };
  const next = prompt.withMessages(prompt.messages.with(-1, noted));
  const all = messages.with(-1, noted);
  return new ToolExecutionResult(next, all, results, returnDirect, unlocks, locks, context);
}

/** A forced choice applies to the first iteration only; otherwise the model could never answer. */
function withoutForcedChoice(prompt: Prompt): Prompt {
  const choice = prompt.options.toolChoice;
  return choice === undefined || choice === 'auto' || choice === 'none'
    ? prompt
    : prompt.withOptions({ toolChoice: 'auto' });
}

/**
 * Throws the error of the first call in call order that has one, with the results of the batch.
 * @throws {@link ToolExecutionError}, or the error itself
 */
export function throwFirstError(calls: readonly BatchCall[], result: ToolExecutionResult): void {
  const throwing = calls.filter(({ thrown }) => thrown !== undefined);
  const first = throwing.find(({ paused }) => !paused) ?? throwing[0];
  if (!first?.thrown) return;
  const { error, rethrowUnchanged } = first.thrown;
  if (rethrowUnchanged) throw error;
  const { call, result: failed } = first;
  const message = `${textOf(failed.content)} (tool "${call.name}", call ${call.id}; see cause)`;
  throw new ToolExecutionError(message, call.name, call.id, result, { cause: error });
}

/** Keeps the order of discovery, so that the beginning of the request stays cacheable. */
export function unlockedAfter(
  unlocked: readonly string[],
  { unlocks, locks }: ToolExecutionResult,
): readonly string[] {
  if (unlocks.length === 0 && locks.length === 0) return unlocked;
  const kept = unlocked.filter((name) => !locks.includes(name) || unlocks.includes(name));
  return [...new Set([...kept, ...unlocks])];
}

/** The results of return-direct tools as the answer of the turn. */
export function directAnswer({ results }: ToolExecutionResult): readonly Generation[] {
  return results.map(({ call, result: { content } }) => {
    const message = { role: 'assistant', content: textOf(content) } as const;
    const isText = typeof content === 'string';
    const metadata = { toolCallId: call.id, toolName: call.name, ...(!isText && { content }) };
    return { message, finishReason: 'returnDirect', metadata };
  });
}
