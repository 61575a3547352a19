import { DurableAdvisor, TurnPausedError, type DurableEngine } from 'advisor-chain';
import { showRequest, supportClient } from './client.js';

type Value = Awaited<ReturnType<DurableEngine['waitFor']>> | null;
export type Wait = { readonly name: string; readonly timeout: number | undefined };
export type Outcome = { answer: string | null } | { error: string } | { waits: readonly Wait[] };

/** The values of a turn that runs as one activity of a workflow: the workflow keeps them. */
export interface Journal {
  read(name: string): Promise<{ readonly value: Value } | undefined>;
  write(name: string, value: Value): Promise<void>;
}

export async function runTurn(
  journal: Journal,
  server: string,
  question: string,
): Promise<Outcome> {
  const waits: Wait[] = [];
  let isReplaying = true; // until the first step that is not recorded
  const wait = async (name: string, timeout: number | undefined): Promise<Value> => {
    const sent = await journal.read(name);
    if (sent) return sent.value;
    waits.push({ name, timeout });
    // the activity ends when the other calls of the batch have ended; the workflow waits without it
    throw new TurnPausedError(`the turn waits for "${name}"`);
  };
  const engine: DurableEngine = {
    async step(name, run) {
      const recorded = await journal.read(name);
      if (recorded) return recorded.value as Awaited<ReturnType<typeof run>>;
      isReplaying = false;
      const value = await run();
      await journal.write(name, value);
      return value;
    },
    sleep: async (name, milliseconds) => void (await wait(name, milliseconds)),
    async waitFor(name, { timeout, request } = {}) {
      await this.step(`show ${name}`, () => showRequest(server, request));
      return (await wait(name, timeout)) ?? undefined;
    },
    get isReplaying() {
      return isReplaying;
    },
  };
  const spec = supportClient(server).prompt(question).advisors(new DurableAdvisor({ engine }));
  return spec
    .call()
    .content()
    .then(
      (answer) => ({ answer }),
      (error: unknown) => (waits.length > 0 ? { waits } : { error: String(error) }),
    );
}
