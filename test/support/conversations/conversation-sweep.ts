import type { CaseSweep, Verdict } from '../case-sweep.js';
import type { StoreKind } from '../key-value-stores.js';
import type { SweepStores } from '../sweep-stores.js';
import { Conversation } from './conversation.js';
import {
  anyConversation,
  simplerConversations,
  type ConversationPlan,
} from './conversation-plan.js';
import { problemsOf } from './conversation-oracle.js';

/** Conversations of turns that end in all ways, whose models, texts, ids and names are hostile. */
export function conversationSweep(
  stores: SweepStores,
  kinds?: readonly StoreKind[],
): CaseSweep<ConversationPlan> {
  return {
    name: 'conversations',
    cases: anyConversation(kinds),
    check: (plan) => checkConversation(plan, stores),
    simpler: simplerConversations,
  };
}

async function checkConversation(plan: ConversationPlan, stores: SweepStores): Promise<Verdict> {
  const conversation = new Conversation(plan, await stores.open(plan.store));
  await conversation.run();
  const problems = await problemsOf(conversation);
  return problems.length === 0 ? {} : { problem: problems.join('\n  ') };
}
