import type { ApprovalRequest, Decision, Decisions, PendingRequest } from '../chat/paused-turn.js';
import { InvalidArgumentError } from '../errors.js';
import { PausedStateError, type PausedStateReason } from '../errors/paused-state-error.js';
import { canonicalJson, jsonData } from '../internal/json.js';
import { checkOption, isPlainObject, oneOf, PLAIN_OBJECT, TEXT } from '../internal/options.js';
import { toValidator } from '../json-schema/validator.js';
import { toolFingerprint } from '../tool/pin-tools.js';
import type { Tool } from '../tool/tool.js';
import { editArguments } from './edited-call.js';
import type { DecidedRequest, TurnState } from './turn-state.js';

/** Types of decisions by the type of their request. */
const FITTING = { approval: ['allow', 'deny', 'edit'], question: ['answer', 'cancel'] } as const;
const TYPE = oneOf(...FITTING.approval, ...FITTING.question);
const SCOPE = oneOf('once', 'conversation', 'always');

const typesOf = ({ type }: PendingRequest): readonly string[] => FITTING[type];

/** @throws {@link InvalidArgumentError} if a value is no decision */
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
  if (type === 'deny' && decision.reason !== undefined)
    checkOption(path, 'reason', decision.reason, TEXT);
  if (type === 'edit') checkOption(path, 'arguments', decision.arguments, PLAIN_OBJECT);
  if (type === 'edit') checkJson(decision.arguments, 'arguments', path);
  if (type === 'answer') checkJson(decision.value, 'value', path);
}

function checkJson(value: unknown, name: string, path: string): void {
  if (jsonData(value) !== undefined) return;
  throw new InvalidArgumentError(`${path}: ${name} must be JSON, without dates or other objects`);
}

/**
 * The requests of a state that are decided now, with those that were decided before. Requests without
 * a decision stay open.
 * @param tools the tools of the request; those that advisors add are checked when they are called
 * @throws {@link PausedStateError} `decision`, `expired` or `tool-changed`; nothing is decided then
 */
export async function decide(
  { requests, decided }: TurnState,
  decisions: Decisions,
  tools: readonly Tool[],
): Promise<readonly DecidedRequest[]> {
  const added: DecidedRequest[] = [];
  for (const [id, decision] of Object.entries(decisions)) {
    const request = requests.find((each) => each.id === id);
    const before = decided.find((each) => each.request.id === id);
    if (before) checkRepeated(before, decision);
    else if (!request) throw refused(id, 'decision', 'the turn does not wait for such a request');
    else {
      await checkFits(request, decision, tools);
      added.push({ request, decision });
    }
  }
  return [...decided, ...added];
}

function checkRepeated({ request: { id }, decision }: DecidedRequest, again: Decision): void {
  if (canonicalJson(jsonData(decision) ?? null) === canonicalJson(jsonData(again) ?? null)) return;
  const by = decision.by === undefined ? '' : ` by ${decision.by}`;
  throw refused(id, 'decision', `it was decided${by} before, as "${decision.type}"`);
}

async function checkFits(
  request: PendingRequest,
  decision: Decision,
  tools: readonly Tool[],
): Promise<void> {
  const { id, type, expiresAt = Infinity } = request;
  if (!typesOf(request).includes(decision.type))
    throw refused(
      id,
      'decision',
      `"${decision.type}" is no decision on a request of type "${type}"`,
    );
  if (expiresAt <= Date.now()) throw refused(id, 'expired', 'its time is over');
  if (request.type === 'approval') await checkApproval(request, decision, tools);
  if (request.type === 'question' && decision.type === 'answer') {
    const validation = await toValidator(request.schema, request.schema)(decision.value);
    if (!('value' in validation)) throw refused(id, 'decision', issuesOf(validation.issues));
  }
}

async function checkApproval(
  request: ApprovalRequest,
  decision: Decision,
  tools: readonly Tool[],
): Promise<void> {
  const { id, toolName, fingerprint, scopes, agents } = request;
  // a tool of an agent is another one, whatever its name
  const tool = agents ? undefined : tools.find(({ definition }) => definition.name === toolName);
  const { scope = 'once' } = decision.type === 'allow' ? decision : {};
  if (!scopes.includes(scope))
    throw refused(id, 'decision', `its scope must be ${scopes.join(' or ')}, not ${scope}`);
  if (decision.type === 'deny' || !tool) return;
  if (toolFingerprint(tool) !== fingerprint)
    throw refused(id, 'tool-changed', `the tool "${toolName}" has changed since it was asked for`);
  if (decision.type !== 'edit') return;
  const { problem } = await editArguments(tool, decision.arguments, request);
  if (problem !== undefined) throw refused(id, 'decision', problem.replace(/\.$/, ''));
}

const issuesOf = (issues: readonly string[]): string =>
  `its value does not fit the schema: ${issues.join('; ')}`;

function refused(id: string, reason: PausedStateReason, problem: string): PausedStateError {
  return new PausedStateError(`Request ${JSON.stringify(id)}: ${problem}.`, reason, id);
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
