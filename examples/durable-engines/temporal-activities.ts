import { heartbeat } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { runTurn, type Journal, type Outcome } from './journal.js';
import { keep, kept } from './temporal-workflow.js';

/** The activities of a worker, which run the turn outside of the sandbox of workflows. */
export const createActivities = (client: Client) => ({
  async attempt(turnId: string, question: string): Promise<Outcome> {
    const workflow = client.workflow.getHandle(turnId);
    const journal: Journal = {
      read: async (name) => (await workflow.query(kept, name)) ?? undefined,
      write: (name, value) => workflow.signal(keep, name, value),
    };
    const beat = setInterval(heartbeat, 10_000);
    try {
      return await runTurn(journal, process.env['SERVER'] ?? '', question);
    } finally {
      clearInterval(beat);
    }
  },
});
