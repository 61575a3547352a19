import type { Decision, PendingRequest } from '../chat/paused-turn.js';
import { isPlainObject } from '../internal/options.js';

const TYPES: Readonly<Record<PendingRequest['type'], readonly string[]>> = {
  approval: ['allow', 'deny', 'edit'],
  question: ['answer', 'cancel'],
};

/** True if a value has the form of a decision. */
export function isDecision(value: unknown): value is Decision {
  if (
    !isPlainObject(value) ||
    !Object.values(TYPES)
      .flat()
      .includes(value['type'] as string)
  )
    return false;
  const { by, reason } = value;
  const isText = (text: unknown): boolean => text === undefined || typeof text === 'string';
  const hasField =
    (value['type'] !== 'edit' || isPlainObject(value['arguments'])) &&
    (value['type'] !== 'answer' || value['value'] !== undefined);
  return isText(by) && isText(reason) && hasField;
}

/** The reason for which a decision does not answer a request; undefined if it does. */
export function decisionProblem(request: PendingRequest, decision: unknown): string | undefined {
  if (!isDecision(decision)) return 'The decision is none of allow, deny, edit, answer and cancel.';
  const { type } = decision;
  if (!TYPES[request.type].includes(type))
    return `A request of the type ${request.type} needs ${TYPES[request.type].join(', ')}, not ${type}.`;
  if (type !== 'allow' || request.type !== 'approval') return undefined;
  const { scope = 'once' } = decision;
  return request.scopes.includes(scope)
    ? undefined
    : `The scope must be one of ${request.scopes.join(', ')}, not ${String(scope)}.`;
}
