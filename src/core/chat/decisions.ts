import { InvalidArgumentError } from '../errors/errors.js';
import { jsonData } from '../internal/json-data.js';
import { checkOption, isPlainObject, oneOf, PLAIN_OBJECT, TEXT } from '../internal/options.js';
import type { Decision, Decisions, PendingRequest } from './paused-turn.js';

/** Types of decisions by the type of their request. */
const FITTING = {
  approval: ['allow', 'deny', 'edit'],
  question: ['answer', 'cancel'],
  'client-tool': ['answer', 'cancel'],
} as const;
const TYPE = oneOf(...FITTING.approval, ...FITTING.question);
const SCOPE = oneOf('once', 'conversation', 'always');

const typesOf = ({ type }: PendingRequest): readonly string[] => FITTING[type];

/** True if a decision is of a type that answers the request. */
export const isFitting = (request: PendingRequest, { type }: Decision): boolean =>
  typesOf(request).includes(type);

/** @throws {@link InvalidArgumentError} if a value is not a decision */
export function checkDecisions(decisions: Decisions, where: string): void {
  checkOption(where, 'decisions', decisions, PLAIN_OBJECT);
  for (const [id, decision] of Object.entries(decisions)) {
    const path = `${where}: decisions[${JSON.stringify(id)}]`;
    checkOption(path, 'the decision', decision, PLAIN_OBJECT);
    checkOption(path, 'type', decision.type, TYPE);
    if (decision.by !== undefined) checkOption(path, 'by', decision.by, TEXT);
    checkFields(decision, path);
  }
}

function checkFields(decision: Decision, path: string): void {
  const { type } = decision;
  if (type === 'allow' && decision.scope !== undefined)
    checkOption(path, 'scope', decision.scope, SCOPE);
  if ((type === 'deny' || type === 'cancel') && decision.reason !== undefined)
    checkOption(path, 'reason', decision.reason, TEXT);
  if (type === 'edit') checkOption(path, 'arguments', decision.arguments, PLAIN_OBJECT);
  if (type === 'edit') checkJson(decision.arguments, 'arguments', path);
  if (type === 'answer') checkJson(decision.value, 'value', path);
}

function checkJson(value: unknown, name: string, path: string): void {
  if (jsonData(value) !== undefined) return;
  throw new InvalidArgumentError(`${path}: ${name} must be JSON, without dates or other objects`);
}

/** True if a value has the form of a decision. */
export function isDecision(value: unknown): value is Decision {
  if (!isPlainObject(value) || !TYPE.accepts(value['type'])) return false;
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
  if (!typesOf(request).includes(type))
    return `A request of the type ${request.type} needs ${typesOf(request).join(', ')}, not ${type}.`;
  if (type !== 'allow' || request.type !== 'approval') return undefined;
  const { scope = 'once' } = decision;
  return request.scopes.includes(scope)
    ? undefined
    : `The scope must be one of ${request.scopes.join(', ')}, not ${String(scope)}.`;
}
