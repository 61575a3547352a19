import type {
  ApprovalRequest,
  Decision,
  PausedTurn,
  QuestionRequest,
} from '../../core/chat/paused-turn.js';
import type { JsonValue } from '../../core/internal/json.js';
import { isPlainObject, type JsonObject } from '../../core/internal/options.js';
import { invalidInput } from '../http/request-input.js';

/** The answer of a client to an interrupt. */
export interface Answer {
  readonly status: 'resolved' | 'cancelled';
  readonly payload: JsonValue;
}

/** A request to a person. */
export type PersonRequest = ApprovalRequest | QuestionRequest;

/** Requests to people; each has the turn in its metadata, for `client.resume`. */
export function toInterrupts(
  requests: readonly PersonRequest[],
  { id, state }: PausedTurn,
  toolCallId: (callId: string) => string,
): readonly object[] {
  return requests.map((request) => {
    const { callId, agents, prompt, expiresAt } = request;
    return {
      id: request.id,
      reason: request.type === 'approval' ? 'tool_call' : 'input_required',
      message: prompt,
      // the calls of inner agents are not in the stream
      ...(agents === undefined && { toolCallId: toolCallId(callId) }),
      responseSchema: schemaOf(request),
      ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
      metadata: { turn: id ?? state, ...detailsOf(request) },
    };
  });
}

/** Details for the person. Undefined fields are left out by JSON. */
function detailsOf(request: PersonRequest): object {
  const { toolName, hiddenText, problem } = request;
  if (request.type === 'question') return { toolName, hiddenText, problem };
  const { arguments: value, argumentsText, effect, risk, details } = request;
  const ofCall = { arguments: value, argumentsText, effect, risk, details };
  return { toolName, hiddenText, problem, ...ofCall };
}

function schemaOf(request: PersonRequest): unknown {
  if (request.type === 'question') return isPlainObject(request.schema) ? request.schema : {};
  return {
    type: 'object',
    properties: {
      approved: { type: 'boolean' },
      editedArgs: { type: 'object' },
      reason: { type: 'string' },
      scope: { enum: request.scopes },
    },
    required: ['approved'],
  };
}

/**
 * The decision of a client on a request.
 * @throws InvalidArgumentError if it does not fit, which is answered by 400
 */
export function decisionOf(
  request: PersonRequest,
  { status, payload }: Answer,
  by: string | undefined,
): Decision {
  const person = by === undefined ? {} : { by };
  const isCancelled = status === 'cancelled';
  if (request.type === 'question')
    return isCancelled
      ? { type: 'cancel', ...person }
      : { type: 'answer', value: payload, ...person };
  if (isCancelled) return { type: 'deny', ...person };
  return { ...approvalOf(payload), ...person };
}

function approvalOf(payload: JsonValue): Decision {
  const { approved, reason, editedArgs, scope } = fieldsOf(payload);
  if (approved === false) return { type: 'deny', ...(typeof reason === 'string' && { reason }) };
  if (approved !== true) throw notApproval();
  if (editedArgs === undefined)
    return { type: 'allow', ...(isScope(scope) ? { scope } : rejectedScope(scope)) };
  if (!isPlainObject(editedArgs)) throw notApproval();
  return { type: 'edit', arguments: editedArgs as JsonValue };
}

const SCOPES: readonly unknown[] = ['once', 'conversation', 'always'];

function isScope(scope: unknown): scope is 'once' | 'conversation' | 'always' {
  return SCOPES.includes(scope);
}

function rejectedScope(scope: unknown): object {
  if (scope === undefined) return {};
  throw notApproval();
}

function fieldsOf(payload: JsonValue): JsonObject {
  if (isPlainObject(payload)) return payload;
  throw notApproval();
}

function notApproval(): Error {
  return invalidInput(
    'The payload of an answer to an approval must be { approved: true or false }, with editedArgs, reason or scope as the interrupt allows.',
  );
}
