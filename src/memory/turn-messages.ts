import { toToolMessage } from '../chat/chat-event.js';
import type { ChatResponse } from '../chat/chat-response.js';
import type { AssistantMessage, Message, ToolCall } from '../chat/message.js';
import type { RunReport, Step } from '../chat/run-report.js';

/**
 * Selects the messages of a turn that failed, with `incomplete: true` in the metadata of its answer;
 * none if it has no text and no tool result.
 * @param added user messages that advisors have added to the transcript
 * @param withTools true if tool calls and their results are stored too
 */
export function partialTurn(
  question: readonly Message[],
  added: readonly Message[],
  { steps, transcript }: Pick<RunReport, 'steps' | 'transcript'>,
  text: string,
  withTools: boolean,
): readonly Message[] {
  const tools = withTools ? toolMessages(steps) : [];
  if (text.trim() === '' && tools.length === 0) return [];
  const messages = added.reduceRight((all, each) => inserted(each, all, transcript), tools);
  const metadata = { incomplete: true };
  return [...question, ...messages, { role: 'assistant', text, toolCalls: [], metadata }];
}

/** Inserts a message after the results that it follows in the transcript, or else after all results. */
function inserted(
  message: Message,
  messages: readonly Message[],
  transcript: readonly Message[],
): readonly Message[] {
  const place = transcript.indexOf(message);
  const before = place < 0 ? messages : transcript.slice(0, place);
  const last = before.findLast((each) => each.role === 'tool');
  const at = messages.findLastIndex(
    (each) => each.role === 'tool' && each.toolCallId === last?.toolCallId,
  );
  return messages.toSpliced(last ? at + 1 : 0, 0, message);
}

/** Returns the tool calls that were started and their results, in the order of the calls. */
export function toolMessages(steps: readonly Step[]): readonly Message[] {
  const executed = steps.filter(({ toolCalls }) =>
    toolCalls.some(({ status }) => status !== 'requested'),
  );
  return executed.flatMap(({ response, toolCalls }) => {
    const results = toolCalls.flatMap(({ call, result }) =>
      result ? toToolMessage(call, result) : [],
    );
    const calls = toolCalls.map(({ call }) => call);
    return [withCalls(response.message, calls), ...results];
  });
}

/** The message with the calls as they ran: their arguments may be those of an advisor. */
function withCalls(message: AssistantMessage, ran: readonly ToolCall[]): AssistantMessage {
  const byId = new Map(ran.map((call) => [call.id, call]));
  const toolCalls = message.toolCalls.map((call) => byId.get(call.id) ?? call);
  return toolCalls.every((call, at) => call === message.toolCalls[at])
    ? message
    : { ...message, toolCalls };
}

/**
 * Selects the messages of a turn to store, besides its question and its answer, in the order of the
 * transcript.
 * @param run the turn so far
 * @param sent the messages that the turn began with
 * @param added user messages that advisors have added to the transcript
 * @param withTools true if tool calls and their results are stored too
 */
export function turnMessages(
  run: Pick<RunReport, 'transcript' | 'toolCalls'>,
  sent: readonly Message[],
  added: readonly Message[],
  withTools: boolean,
): readonly Message[] {
  if (!withTools) return added;
  const known = new Set(sent);
  const ids = new Set(run.toolCalls.map(({ call }) => call.id));
  const isOfTurn = (message: Message): boolean =>
    !known.has(message) && callIdsOf(message).some((id) => ids.has(id));
  const kept = run.transcript.filter((each) => added.includes(each) || isOfTurn(each));
  // those that a view has replaced before the loop began
  return [...added.filter((message) => !kept.includes(message)), ...kept];
}

function callIdsOf(message: Message): readonly string[] {
  if (message.role === 'tool') return [message.toolCallId];
  return message.role === 'assistant' ? message.toolCalls.map(({ id }) => id) : [];
}

/**
 * Selects the messages of an answer to store; results of return-direct tools become one message.
 * @param withCalls true if open tool calls of the answer are stored too
 */
export function answerMessages(
  response: ChatResponse,
  withCalls: boolean,
): readonly AssistantMessage[] {
  const { generations, message, finishReason } = response;
  if (generations.length > 1 && finishReason === 'returnDirect') {
    const texts = generations.map((generation) => generation.message.text ?? '');
    return [{ ...message, text: texts.join('\n') }];
  }
  return [withCalls || message.toolCalls.length === 0 ? message : { ...message, toolCalls: [] }];
}
