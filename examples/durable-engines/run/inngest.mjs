// The recipe, its functions in a process of their own. Inngest's server is a download, so this stands in for it: it asks for the
// steps over HTTP as the server does, keeps their values, and asks again with a higher attempt if the process is gone.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { bundle } from './bundle.mjs';
import { freePort, start } from './processes.mjs';
import { runScenario } from './scenario.mjs';

const service = join(import.meta.dirname, '..', 'node_modules', '.inngest.mjs');

class Executor {
  steps = {};
  waits = new Map();
  sent = new Map();
  isRunning = false;

  constructor(url) {
    this.url = url;
    this.result = new Promise((resolve) => (this.resolve = resolve));
  }

  /** Runs the function on the values so far, until it ends or waits for a signal. */
  async run() {
    if (this.isRunning) return;
    this.isRunning = true;
    while (await this.advance());
    this.isRunning = false;
  }

  async advance() {
    const { isEnd, body } = await this.ask('step');
    if (isEnd) return this.resolve(body);
    const values = await Promise.all(body.map((operation) => this.perform(operation)));
    return values.some(Boolean);
  }

  /** True if there is a value. */
  async perform({ op, id, data, opts }) {
    if (op === 'StepRun') return this.keep(id, data);
    if (op === 'WaitForSignal') return this.wait(id, opts.signal);
    if (op !== 'StepPlanned') throw new Error(`no ${op} here`);
    const { body } = await this.ask(id);
    return this.keep(id, body[0].data);
  }

  /** Asks for one step, or for what follows on the values so far. */
  async ask(stepId, attempt = 0) {
    const { steps, data } = this;
    const ctx = { run_id: 'run', attempt, disable_immediate_execution: false, use_api: false };
    const response = await fetch(`${this.url}/api/inngest?fnId=support-turn&stepId=${stepId}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ version: 2, event: { name: 'support/asked', data }, steps, ctx }),
    }).catch((error) => (error.cause?.code === 'ECONNREFUSED' ? 'down' : 'gone'));
    if (response === 'down') return setTimeout(50).then(() => this.ask(stepId, attempt));
    if (response === 'gone') return this.ask(stepId, attempt + 1);
    const body = await response.json();
    if (response.status > 206) throw new Error(`${response.status}: ${JSON.stringify(body)}`);
    return { isEnd: response.status === 200, body };
  }

  keep(id, data) {
    this.steps[id] = { type: 'data', data };
    return true;
  }

  wait(id, signal) {
    if (this.sent.has(signal)) return this.keep(id, { signal, data: this.sent.get(signal) });
    this.waits.set(signal, id);
    return false;
  }

  send(signal, data) {
    this.sent.set(signal, data);
    if (!this.waits.has(signal)) return;
    this.keep(this.waits.get(signal), { signal, data });
    void this.run();
  }
}

async function open(server) {
  const port = await freePort();
  const executor = new Executor(`http://127.0.0.1:${port}`);
  let functions;
  return {
    async start() {
      const env = { SERVER: server, PORT: String(port), INNGEST_DEV: '1' };
      functions = start(process.execPath, [service], env);
    },
    kill: () => functions.kill(),
    close: () => functions.kill(),
    async begin(turnId, question) {
      executor.data = { turnId, question };
      void executor.run();
    },
    decide: async (turnId, name, value) => executor.send(`${turnId}/${name}`, value),
    result: () => executor.result,
  };
}

try {
  await bundle('run/inngest-service.mjs', service, { platform: 'node', packages: 'external' });
  await runScenario('Inngest (SDK)', open);
} finally {
  rmSync(service, { force: true });
}
