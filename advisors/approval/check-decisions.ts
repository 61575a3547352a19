import { checkDecisions, isFitting } from '../../src/core/chat/decisions.js';
import type {
  ApprovalRequest,
  Decision,
  Decisions,
  PendingRequest,
  ResumeDecisions,
} from '../../src/core/chat/paused-turn.js';
import { messageOf } from '../../src/core/errors/error-type.js';
import { PausedStateError, type PausedStateReason } from '../../src/core/errors/errors.js';
import { jsonData } from '../../src/core/internal/json-data.js';
import { canonicalJson } from '../../src/core/internal/json.js';
import { toValidator } from '../../src/core/json-schema/validator.js';
import { toolFingerprint } from '../../src/core/tool/pin-tools.js';
import type { Tool } from '../../src/core/tool/tool.js';
import { editArguments } from './edited-call.js';
import type { DecidedRequest, TurnState } from './turn-state.js';

/**
 * The decisions of a resume; a function is asked about each request, one after the other.
 * @throws {@link PausedStateError} `decision` if the function fails, {@link InvalidArgumentError} if it
 * returns something else than a decision
 */
export async function askedDecisions(
  decisions: ResumeDecisions,
  requests: readonly PendingRequest[],
): Promise<Decisions> {
  if (typeof decisions !== 'function') return decisions;
  const made: [id: string, decision: Decision][] = [];
  for (const request of requests) {
    const { id } = request;
    try {
      // a copy: what was shown is what runs
      const decision = await decisions(structuredClone(request));
      if (decision !== undefined) made.push([id, decision]);
    } catch (cause) {
      const problem = `the function of resume(…) has failed: ${messageOf(cause)}`;
      throw refused(id, 'decision', problem, { cause });
    }
  }
  const asked = Object.fromEntries(made);
  checkDecisions(asked, 'resume(…)');
  return asked;
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
    else if (!request)
      throw refused(id, 'decision', `the turn does not wait for it, but for ${namesOf(requests)}`);
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
  if (!isFitting(request, decision))
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
  if (problem !== undefined) throw refused(id, 'decision', problem);
}

const issuesOf = (issues: readonly string[]): string =>
  `its value does not fit the schema: ${issues.join('; ')}`;

function refused(
  id: string,
  reason: PausedStateReason,
  problem: string,
  options?: ErrorOptions,
): PausedStateError {
  const text = `Request ${JSON.stringify(id)}: ${problem.replace(/\.$/, '')}.`;
  return new PausedStateError(text, reason, id, options);
}

function namesOf(requests: readonly PendingRequest[]): string {
  return requests.map(({ id }) => JSON.stringify(id)).join(', ') || 'nothing';
}
