import { setImmediate } from 'node:timers/promises';
import * as restate from '@restatedev/restate-sdk';
import { DurableAdvisor, type DurableEngine } from 'advisor-chain';
import { showRequest, supportClient } from './client.js';

const SERVER = process.env['SERVER'] ?? '';
const YEAR = 365 * 86_400_000;

function restateEngine(context: restate.WorkflowContext): DurableEngine {
  let isReplaying = true; // until the first step that is not recorded
  let isWaiting = false;
  const open = new Set<restate.RestatePromise<void>>();
  // the SDK waits for one promise at a time, and repeats the order in which a race ended
  const wait = async (): Promise<void> => {
    isWaiting = true;
    for (; open.size > 0; await setImmediate()) await restate.RestatePromise.race([...open]);
    isWaiting = false;
  };
  const result = <T>(operation: restate.RestatePromise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const done = operation.map((value, failure) => {
        open.delete(done);
        return failure ? reject(failure) : resolve(value as T);
      });
      open.add(done);
      if (!isWaiting) void wait();
    });
  return {
    // a lost process repeats the step; failures of models and tools are values, for the advisors
    step: (name, run) =>
      result(context.run(name, () => ((isReplaying = false), run()), { maxRetryAttempts: 1 })),
    sleep: (name, milliseconds) => result(context.sleep(milliseconds, name)),
    waitFor: async (name, { timeout = YEAR, request } = {}) => {
      await result(context.run(`show ${name}`, () => showRequest(SERVER, request)));
      const value = context.promise<never>(name).get().orTimeout(Math.min(timeout, YEAR));
      return result(value).catch((error: unknown) => {
        if (!(error instanceof restate.TimeoutError)) throw error;
        return undefined;
      });
    },
    get isReplaying() {
      return isReplaying;
    },
  };
}

async function run(context: restate.WorkflowContext, question: string): Promise<string | null> {
  const durable = new DurableAdvisor({ engine: restateEngine(context) });
  const turn = supportClient(SERVER).prompt(question).advisors(durable).call();
  // Restate runs a turn that fails again, except for this error
  return turn.content().catch((error) => Promise.reject(new restate.TerminalError(String(error))));
}
const decide = (context: restate.WorkflowSharedContext, sent: { name: string; value: object }) =>
  context.promise(sent.name).resolve(sent.value);

export const turns = restate.workflow({ name: 'turns', handlers: { run, decide } });
