// The recipe without Temporal's server: the workflow runs in this process, each attempt of the activity in one of its own.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle } from './bundle.mjs';
import { start } from './processes.mjs';
import { runScenario } from './scenario.mjs';

const folder = mkdtempSync(join(import.meta.dirname, '..', 'node_modules', '.temporal-'));
const shim = join(import.meta.dirname, 'temporal-shim.mjs');
const workflow = join(folder, 'workflow.mjs');
const service = join(folder, 'service.mjs');

/** Serves the handlers of the workflow, and the end of an attempt. */
async function serve(handlers) {
  const listener = async (request, response) => {
    const value = handlers.get(request.url.slice(1))(...(await json(request)));
    response.end(JSON.stringify(value ?? null));
  };
  const http = createServer((request, response) => void listener(request, response));
  await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve));
  return http;
}

async function open(SERVER) {
  const { server, turn } = await import(pathToFileURL(workflow).href);
  const http = await serve(server.handlers);
  const WORKFLOW = `http://127.0.0.1:${http.address().port}`;
  let activity;
  let result;
  let isRunning = false;
  let env;
  const attempt = () => (activity = start(process.execPath, [service], env));
  server.attempt = (TURN, QUESTION) => {
    isRunning = true;
    env = { SERVER, WORKFLOW, TURN, QUESTION };
    attempt();
    return new Promise((resolve) => {
      server.handlers.set('outcome', (outcome) => {
        isRunning = false;
        resolve(outcome);
      });
    });
  };
  return {
    // as the server does after `heartbeatTimeout`
    start: async () => void (isRunning && attempt()),
    kill: async () => activity.kill(),
    close: async () => {
      await activity?.kill();
      http.close();
    },
    begin: async (_id, question) => void (result = turn(question)),
    decide: async (_id, name, value) => server.handlers.get('keep')(name, value),
    result: () => result,
  };
}

try {
  const alias = { '@temporalio/workflow': shim, '@temporalio/activity': shim };
  const platform = 'node';
  const footer = { js: `export { server } from ${JSON.stringify(shim)};` };
  await bundle('temporal-workflow.ts', workflow, { alias, platform, external: [shim], footer });
  await bundle('run/temporal-service.mjs', service, { alias, platform });
  await runScenario('Temporal (without its server)', open);
} finally {
  rmSync(folder, { recursive: true });
}
