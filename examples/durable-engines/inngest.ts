import { Inngest, NonRetriableError, type GetStepTools } from 'inngest';
import { DurableAdvisor, type DurableEngine } from 'advisor-chain';
import { showRequest, supportClient } from './client.js';

export const inngest = new Inngest({ id: 'support' });
const SERVER = process.env['SERVER'] ?? '';
const YEAR = 365 * 86_400_000;
export const signalOf = (turnId: string, name: string): string => `${turnId}/${name}`;

type Steps = GetStepTools<typeof inngest>;

function inngestEngine(steps: Steps, turnId: string, attempt: number): DurableEngine {
  let isReplaying = true; // until the first step that is not recorded
  return {
    async step(name, run) {
      // each step has an execution of its own, so whether a call was interrupted is known by its attempt
      if (name.endsWith(' begin')) return attempt === 0 ? run() : (null as never);
      return (await steps.run(name, () => ((isReplaying = false), run()))) as never;
    },
    sleep: (name, milliseconds) => steps.sleep(name, milliseconds),
    async waitFor(name, { timeout = YEAR, request } = {}) {
      await steps.run(`show ${name}`, () => showRequest(SERVER, request));
      const signal = await steps.waitForSignal<never>(name, {
        signal: signalOf(turnId, name),
        timeout: Math.min(timeout, YEAR),
        onConflict: 'replace',
      });
      return signal?.data;
    },
    get isReplaying() {
      return isReplaying;
    },
  };
}

export const turn = inngest.createFunction(
  // a lost process repeats the step; failures of models and tools are values, for the advisors
  { id: 'turn', triggers: { event: 'support/asked' }, retries: 20 },
  async ({ event, step, attempt }) => {
    const { turnId, question } = event.data as { turnId: string; question: string };
    const durable = new DurableAdvisor({ engine: inngestEngine(step, turnId, attempt) });
    const run = supportClient(SERVER).prompt(question).advisors(durable).call();
    return run.content().catch((cause: unknown) => {
      throw new NonRetriableError(String(cause), { cause });
    });
  },
);
