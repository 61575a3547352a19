import type { Advisor, InspectedState } from '../../src/core/advisor/advisor.js';
import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import type { PromptSpec } from '../../src/index.js';
import { failureOf, runSpec, type Mode } from './modes.js';

/** Runs a turn, and returns the state of an advisor after it, as an inspector reads it. */
export async function stateAfter(
  mode: Mode,
  spec: PromptSpec,
  advisor: Advisor,
): Promise<InspectedState> {
  const requests: ChatClientRequest[] = [];
  const before = (request: ChatClientRequest): void => void requests.push(request);
  await failureOf(runSpec(mode, spec.advisors({ name: 'inspector', order: 0, before })));
  const [request] = requests;
  if (!request || !advisor.inspect) throw new Error('nothing to inspect');
  return roundTrip(await advisor.inspect(request));
}

/** The state as a page gets it: JSON loses nothing of it. */
function roundTrip(state: InspectedState): InspectedState {
  return JSON.parse(JSON.stringify(state)) as InspectedState;
}
