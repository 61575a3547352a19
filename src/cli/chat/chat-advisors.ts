import { ApprovalAdvisor, type Advisor, type EffectPolicy } from '../../index.js';
import type { ChatSettings } from './chat-settings.js';
import type { TerminalDecisions } from './terminal-decisions.js';

const EFFECTS: Readonly<Record<NonNullable<ChatSettings['approve']>, EffectPolicy>> = {
  ask: { read: 'ask', idempotent: 'ask', write: 'ask' },
  writes: { read: 'allow', idempotent: 'ask', write: 'ask' },
  never: { read: 'allow', idempotent: 'allow', write: 'allow' },
};

/** Asks the person at the terminal, also questions of tools. */
export function approvalAdvisor(
  approve: NonNullable<ChatSettings['approve']>,
  decisions: TerminalDecisions,
): Advisor {
  return new ApprovalAdvisor({
    effects: EFFECTS[approve],
    // "always" is meant for the tool: its arguments are rarely the same again
    remember: 'tool',
    decide: (request, { signal }) => decisions.decide(request, signal),
  });
}
