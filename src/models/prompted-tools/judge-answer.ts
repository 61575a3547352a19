import type { AssistantMessage } from '../../chat/message.js';
import type { AnswerReader } from './answer-reader.js';
import type { Offer } from './offer.js';
import type { PlanSyntax } from './plan-syntax.js';
import { toWrittenCalls, type WrittenCall } from './written-calls.js';

/** Calls, none of a plain answer; or the issues because of which an answer is neither. */
export type Verdict = readonly WrittenCall[] | { readonly issues: readonly string[] };

/** Judges an answer that has ended. Shows the rest of its text if that was no plan after all. */
export function judgeAnswer(
  { toolCalls, refusal }: AssistantMessage,
  reader: AnswerReader,
  syntax: PlanSyntax,
  offer: Offer,
): Verdict {
  // of a model that calls tools, although it was sent none
  if (toolCalls.length > 0) return judgeCalls(toWrittenCalls(toolCalls.map(withoutId)), offer);
  const calls = reader.plan === undefined ? undefined : syntax.readCalls(reader.plan);
  if (typeof calls === 'string') return { issues: [calls] };
  if (calls && calls.length > 0) return judgeCalls(calls, offer);
  if (calls && reader.text.trim() === '')
    return { issues: ['no tool is called, and there is no answer'] };
  if (calls === undefined) reader.showPlan();
  if (reader.showsMark) return { issues: ['it has a part of a call that is not in this form'] };
  if (offer.requiresCall && refusal === undefined) return { issues: ['no tool is called'] };
  return [];
}

function judgeCalls(calls: readonly WrittenCall[] | string, offer: Offer): Verdict {
  if (typeof calls === 'string') return { issues: [calls] };
  const issues = offer.issuesOf(calls);
  return issues.length > 0 ? { issues } : calls;
}

const withoutId = ({ name, arguments: args }: { name: string; arguments: string }): object => {
  return { name, arguments: args };
};
