import { toToolMessage, type ChatEvent } from '../../src/core/chat/chat-event.js';
import {
  type AssistantMessage,
  callsOf,
  type Message,
  type ToolCall,
} from '../../src/core/chat/message.js';
import type { RunReport, Step } from '../../src/core/chat/run-report.js';
import { isSummary } from '../../src/core/chat/summary-message.js';
import { mapOrSame } from '../../src/core/internal/map-or-same.js';

/** The parts of a turn that failed. */
export interface PartialTurn {
  readonly question: readonly Message[];
  /** User messages that advisors have added to the transcript. */
  readonly added: readonly Message[];
  /** Text of the unfinished iteration. */
  readonly text: string;
  /** Iterations that are not stored yet. */
  readonly steps: readonly Step[];
  readonly transcript: readonly Message[];
}

/**
 * Selects the messages of a turn that failed, with `incomplete: true` in the metadata of its answer;
 * none if it has no text, and no tool has run.
 * @param withTools true if tool calls and their results are stored too; otherwise the text that was
 * shown last is the answer
 */
export function partialTurn(
  { question, added, text: latest, steps, transcript }: PartialTurn,
  withTools: boolean,
): readonly Message[] {
  const tools = toolMessages(steps);
  const unstored = withTools ? steps.filter((step) => !hasStarted(step)) : steps;
  const text = latest.trim() === '' ? lastTextOf(unstored) : latest;
  const hasResults = tools.length > 0 || question.some(({ role }) => role === 'tool');
  if (text.trim() === '' && !hasResults) return [];
  const stored = withTools ? tools : [];
  const messages = added.reduceRight((all, each) => inserted(each, all, transcript), stored);
  const metadata = { incomplete: true };
  return [...question, ...messages, { role: 'assistant', content: text, metadata }];
}

/** The text that the iterations have shown last. */
function lastTextOf(steps: readonly Step[]): string {
  return steps.findLast(({ response }) => response.text?.trim())?.response.text ?? '';
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
  return steps.filter(hasStarted).flatMap(({ response, toolCalls }) => {
    const results = toolCalls.flatMap(({ call, result }) =>
      result ? toToolMessage(call, result) : [],
    );
    const calls = toolCalls.map(({ call }) => call);
    return [withCalls(response.message, calls), ...results];
  });
}

function hasStarted({ toolCalls }: Step): boolean {
  return toolCalls.some(({ status }) => status !== 'requested');
}

/** The message with the calls as they ran: an advisor may have replaced their arguments. */
function withCalls(message: AssistantMessage, ran: readonly ToolCall[]): AssistantMessage {
  const byId = new Map(ran.map((call) => [call.id, call]));
  const calls = callsOf(message);
  const toolCalls = mapOrSame(calls, (call) => byId.get(call.id) ?? call);
  return toolCalls === calls ? message : { ...message, toolCalls };
}

/**
 * Selects the messages of a turn to store, besides its question and its answer, in the order of the
 * transcript. Iterations that a summary has replaced there are stored nevertheless.
 * @param run the turn so far
 * @param sent the messages that the turn began with
 * @param added user messages that advisors have added to the transcript
 * @param withTools true if tool calls and their results are stored too
 */
export function turnMessages(
  run: Pick<RunReport, 'transcript' | 'toolCalls' | 'steps'>,
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
  const keptIds = new Set(kept.flatMap(callIdsOf));
  const isRemoved = ({ toolCalls }: Step): boolean =>
    !toolCalls.some(({ call }) => keptIds.has(call.id));
  const removed = run.transcript.some(isSummary) ? run.steps.filter(isRemoved) : [];
  // the first ones are those that a view has replaced before the loop began
  const hidden = added.filter((message) => !kept.includes(message));
  return [...hidden, ...toolMessages(removed), ...kept];
}

function callIdsOf(message: Message): readonly string[] {
  if (message.role === 'tool') return [message.toolCallId];
  return message.role === 'assistant' ? callsOf(message).map(({ id }) => id) : [];
}

/**
 * Selects the messages to store in place of the answer of a turn that a stop condition has ended:
 * none after its calls and results, or else the text that was shown last.
 */
export function stoppedMessages(
  { steps }: Pick<RunReport, 'steps'>,
  hasTools: boolean,
): readonly AssistantMessage[] {
  return hasTools ? [] : [{ role: 'assistant', content: lastTextOf(steps) }];
}

/** The text of the unfinished iteration of a run. */
export class PartialText {
  text = '';

  readonly record = (event: ChatEvent): void => {
    if (event.type === 'text-delta') this.text += event.text;
    else if (event.type === 'iteration' || event.type === 'retract') this.text = '';
  };
}
