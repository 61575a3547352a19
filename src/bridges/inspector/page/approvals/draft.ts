import type { JsonValue } from '../../../../core/internal/json.js';
import type { Decision, PendingRequest } from '../../../../core/chat/paused-turn.js';
import { writtenJson } from '../parts/parsed-json.js';
import { answerOf, fieldsOf, type AnswerTexts } from './answer-fields.js';

/** A decision that a reader writes. */
export interface Draft {
  /** Undefined until one is chosen. */
  readonly type?: Decision['type'] | undefined;
  readonly scope: 'once' | 'conversation' | 'always';
  readonly reason: string;
  /** JSON of changed arguments, or of the output of a tool. */
  readonly json: string;
  readonly answer: AnswerTexts;
}

/** The draft of a request before its reader has chosen. */
export function draftOf(request: PendingRequest): Draft {
  const json = request.type === 'approval' ? prettyArguments(request) : '';
  return { scope: 'once', reason: '', json, answer: {} };
}

/** Digits of numbers beyond 2^53 are exact only in the text of the model. */
function prettyArguments(request: Extract<PendingRequest, { readonly type: 'approval' }>): string {
  return /\d{16}/.test(request.argumentsText)
    ? request.argumentsText
    : JSON.stringify(request.arguments, null, 2);
}

/** The decision of a draft, or the problem of what is written; undefined if nothing is chosen. */
export function decisionOf(
  request: PendingRequest,
  { type, scope, reason, json, answer }: Draft,
):
  | { readonly decision: Decision }
  | { readonly problem: string; readonly field?: string }
  | undefined {
  const why = reason.trim() === '' ? {} : { reason };
  switch (type) {
    case undefined:
      return undefined;
    case 'allow':
      return { decision: scope === 'once' ? { type } : { type, scope } };
    case 'deny':
    case 'cancel':
      return { decision: { type, ...why } };
    case 'edit': {
      const written = checkedJson(json);
      return 'problem' in written ? written : { decision: { type, arguments: written.value } };
    }
    case 'answer': {
      const schema = request.type === 'approval' ? undefined : request.schema;
      const written = schema ? answerOf(fieldsOf(schema), answer) : checkedJson(json);
      return 'problem' in written ? written : { decision: { type, value: written.value } };
    }
  }
}

function checkedJson(text: string): { readonly value: JsonValue } | { readonly problem: string } {
  const written = writtenJson(text);
  if ('value' in written && hasInexactInteger(written.value))
    return {
      problem:
        'An integer has more than 15 digits, which a number cannot keep: write it as a text.',
    };
  return written;
}

function hasInexactInteger(value: JsonValue): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((each: JsonValue) => hasInexactInteger(each));
}
