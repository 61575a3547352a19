import { ChatClient, defineAdvisor } from '../../src/index.js';
import type { Query } from '../../src/knowledge/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { runSpec } from './modes.js';
import { queryOf } from './queries.js';

/** Runs work on a query within a turn, which a model named `chat` answers; returns the ledger. */
export async function ledgerOfTurn(work: (query: Query) => unknown) {
  const during = defineAdvisor({
    name: 'during',
    order: 0,
    before: async (request) => {
      await work(queryOf('When was it founded?', { signal: request.signal }));
      return request;
    },
  });
  const client = ChatClient.builder(new ScriptedChatModel([{ text: 'Hi.', model: 'chat' }]))
    .defaultAdvisors(during)
    .build();
  const response = await runSpec('call', client.prompt('Hello.'));
  return response.run?.ledger ?? [];
}
