import type { Decision, PendingRequest } from '../../core/chat/paused-turn.js';
import { isPlainObject } from '../../core/internal/options.js';
import { invalidInput } from '../http/request-input.js';
import { outputDecision, type SentOutput } from '../http/tool-output.js';

type Fields = Readonly<Record<string, unknown>>;

const MAX_REASON = 10_000;

/**
 * The answers in a message of a page: approvals by the ids of their requests, outputs by the ids of their calls. Undefined
 * without any. Outputs of the server's own tools are among them, which no request asks for.
 */
export function decisionsOf(
  parts: readonly Fields[],
  maxCharacters: number,
  by: string | undefined,
): ((request: PendingRequest) => Decision | undefined) | undefined {
  const approvals = new Map(parts.flatMap((part) => approvalIn(part, by)));
  const outputs = new Map(parts.flatMap(outputIn));
  if (approvals.size + outputs.size === 0) return undefined;
  return (request) => {
    if (request.type === 'approval') return approvals.get(request.id);
    const output = request.type === 'client-tool' ? outputs.get(request.callId) : undefined;
    if (output?.toolName !== request.toolName) return undefined;
    return outputDecision(output.sent, maxCharacters, by);
  };
}

function approvalIn(
  { state, approval }: Fields,
  by: string | undefined,
): readonly (readonly [id: string, Decision])[] {
  if (state !== 'approval-responded' || !isPlainObject(approval)) return [];
  const { id, approved, reason } = approval;
  if (typeof id !== 'string' || id === '' || typeof approved !== 'boolean')
    throw invalidInput('An answer to an approval request needs `id` and `approved`.');
  const person = by === undefined ? {} : { by };
  if (approved) return [[id, { type: 'allow', ...person }]];
  const because = typeof reason === 'string' && reason.trim() !== '' ? reason : undefined;
  if (because !== undefined && because.length > MAX_REASON)
    throw invalidInput(`A reason has more than ${MAX_REASON} characters.`);
  return [[id, { type: 'deny', ...(because !== undefined && { reason: because }), ...person }]];
}

/** The output of a call, also of a tool that the server runs. */
interface PartOutput {
  readonly toolName: string;
  readonly sent: SentOutput;
}

function outputIn(part: Fields): readonly (readonly [callId: string, PartOutput])[] {
  const { type, toolCallId, state, output, errorText, preliminary } = part;
  if (typeof type !== 'string' || typeof toolCallId !== 'string') return [];
  const toolName = type === 'dynamic-tool' ? part['toolName'] : type.replace(/^tool-/, '');
  if (typeof toolName !== 'string') return [];
  if (state === 'output-available' && preliminary !== true)
    return [[toolCallId, { toolName, sent: { value: output } }]];
  if (state !== 'output-error') return [];
  const error = typeof errorText === 'string' ? errorText : '';
  return [[toolCallId, { toolName, sent: { error } }]];
}
