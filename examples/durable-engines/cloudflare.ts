/// <reference types="@cloudflare/workers-types" />
import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from 'cloudflare:workers';
import { DurableAdvisor, type DurableEngine } from 'advisor-chain';
import { showRequest, supportClient } from './client.js';

const YEAR = 365 * 86_400_000;
/** A lost process repeats the step; failures of models and tools are values, for the advisors. */
const STEP = { retries: { limit: 0, delay: 0 }, timeout: '30 minutes' } as const;
/** Types of events have at most 100 letters, digits, `-` and `_`. */
export const eventType = (name: string): string => name.replaceAll(/[^\w-]/g, '_');

function cloudflareEngine(workflow: WorkflowStep, server: string): DurableEngine {
  let isReplaying = true; // until the first step that is not recorded
  return {
    step: (name, run) =>
      workflow.do<never>(name, STEP, () => ((isReplaying = false), run() as Promise<never>)),
    sleep: (name, milliseconds) => workflow.sleep(name, milliseconds),
    async waitFor(name, { timeout = YEAR, request } = {}) {
      await workflow.do(`show ${name}`, () => showRequest(server, request));
      const options = { type: eventType(name), timeout: Math.min(timeout, YEAR) };
      try {
        return (await workflow.waitForEvent<never>(name, options)).payload;
      } catch (error) {
        if (/timed out/.test(String(error))) return undefined;
        throw error;
      }
    },
    get isReplaying() {
      return isReplaying;
    },
  };
}

export class Turn extends WorkflowEntrypoint<{ SERVER: string }, { question: string }> {
  override run(event: WorkflowEvent<{ question: string }>, step: WorkflowStep) {
    const durable = new DurableAdvisor({ engine: cloudflareEngine(step, this.env.SERVER) });
    const client = supportClient(this.env.SERVER);
    return client.prompt(event.payload.question).advisors(durable).call().content();
  }
}
