import type { ChatResponse } from '../chat/chat-response.js';
import type { AssistantMessage, Message } from '../chat/message.js';
import type { Prompt } from '../chat/prompt.js';
import { className, codeOf, isCancellation, messageOf } from './error-type.js';
import { OTHER } from './names.js';

/** What is told of a request or of what came of it: names, counts and times; what was said only where that is asked for. */
export interface LogEntry {
  readonly message: 'chat request' | 'chat response' | 'chat failed' | 'chat cancelled';
  /** The same for all entries of a turn. */
  readonly turnId: string;
  readonly mode: 'call' | 'stream';
  /** From 0. */
  readonly iteration: number;
  /** The model that was asked for, or that answered. */
  readonly model?: string | undefined;
  /** How many messages the request has. */
  readonly messages?: number;
  /** Names of the tools that the request offers. */
  readonly tools?: readonly string[];
  readonly finishReason?: string | undefined;
  /** Names of the tools that the answer asks for. */
  readonly toolCalls?: readonly string[];
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /** From the request to what came of it. */
  readonly milliseconds?: number;
  /** The class of an error, and its code if it is one of this library. */
  readonly error?: { readonly name: string; readonly code?: string };
  /** What was said: the messages of the request, the message of the answer, the text of the error. */
  readonly content?: readonly Message[] | AssistantMessage | string;
}

/** What all entries of a run have in common. */
export type LoggedRun = Pick<LogEntry, 'turnId' | 'mode' | 'iteration'>;

/** @param includeContent whether the entry has what was said */
export function requestEntry(run: LoggedRun, prompt: Prompt, tools: readonly string[], includeContent: boolean): LogEntry {
  const { model } = prompt.options;
  const content = includeContent ? { content: prompt.messages } : {};
  return { message: 'chat request', ...run, ...(model !== undefined && { model }), messages: prompt.length, tools, ...content };
}

/**
 * @param tools names that there are; any other is the model's invention, and so is content
 * @param includeContent whether the entry has what was said
 */
export function responseEntry(
  run: LoggedRun & { readonly milliseconds: number },
  response: ChatResponse,
  tools: ReadonlySet<string>,
  includeContent: boolean,
): LogEntry {
  const { model, usage, finishReason, message } = response;
  return {
    message: 'chat response',
    ...run,
    ...(model !== undefined && { model }),
    ...(finishReason !== undefined && { finishReason }),
    toolCalls: message.toolCalls.map(({ name }) => (includeContent || tools.has(name) ? name : OTHER)),
    ...(usage && { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens }),
    ...(includeContent && { content: message }),
  };
}

/** @param includeContent whether the entry has the text of the error, which may repeat what was said */
export function failureEntry(run: LoggedRun, error: unknown, milliseconds: number, includeContent: boolean): LogEntry {
  const code = codeOf(error);
  const isCancelled = isCancellation(error);
  return {
    message: isCancelled ? 'chat cancelled' : 'chat failed',
    ...run,
    milliseconds,
    ...(!isCancelled && { error: { name: className(error), ...(code !== undefined && { code }) } }),
    ...(includeContent && !isCancelled && { content: messageOf(error) }),
  };
}
